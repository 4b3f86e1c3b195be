package train

import (
	"fmt"
	"math"
	"path"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Optimiser changes Params along their gradients. Those of this package have
// much in common: LR is the rate, WeightDecay the decay of the weights, Groups
// what some Params have instead, and Schedule what the rates are multiplied by.
// They count the steps of each Param from its own first one, and allocate what
// they remember of a Param in that step only.
type Optimiser interface {
	// Bind reads the paths of the model's Params. It comes before the first
	// Step; without it an optimiser treats all Params alike.
	Bind(model any) error
	// Step changes each Param that g names, except frozen ones.
	Step(g grad.Grads)
}

// Group is a set of Params that an optimiser treats in a way of their own. It
// needs the paths, so the optimiser must be bound. A decay that leaves the
// biases alone is
//
//	opt := &train.Adam{LR: 5e-3, WeightDecay: 5e-4, Groups: []train.Group{{Match: "*.B", WeightDecay: 0}}}
type Group struct {
	Match       string  // a pattern of path.Match for the path: "Conv1.*"; a star also matches dots
	LR          float64 // 0 means the optimiser's
	WeightDecay float64 // instead of the optimiser's, even if 0
	Frozen      bool    // left as they are
}

// rule is what tells one optimiser from another.
type rule interface {
	settings() settings
	// update changes some numbers of one Param and what is remembered of them,
	// each by itself: Params are cut into parts, which run on several threads.
	update(u *update)
}

// carrier is a rule that remembers one number more of a Param. carry returns it
// after a step, before's being 0 at first.
type carrier interface {
	carry(before float64, steps int) float64
}

// settings is what every optimiser can be asked.
type settings struct {
	name      string
	lr, decay float64
	groups    []Group
	schedule  Schedule
	arrays    []string // the names of a slot's arrays
	wrong     string   // why the fields contradict each other, or nothing
}

// slot is what an optimiser remembers of one Param.
type slot struct {
	steps  int
	number float64 // of a carrier
	arrays         // as long as the Param, 0 at first
}

// arrays are those that settings names, in that order; the others are nil.
type arrays [3][]tensor.Float

// update is one step of a part of a Param.
type update struct {
	w, g   []tensor.Float // the numbers and their gradients
	arrays                // of the slot, the same part
	steps  int            // of the Param, with this one
	number float64        // of a carrier, after the step before

	rate, decay float64
}

// core is what every optimiser of this package embeds.
type core struct {
	steps  int
	parts  parts
	slots  map[*grad.Param]*slot
	groups map[*grad.Param]*Group
}

func (c *core) memory() *core { return c }

// bind assigns the model's Params to the groups. Its error names a group whose
// pattern is broken or matches no Param, or a setting that cannot be. What the
// optimiser remembers of earlier steps stays.
func (c *core) bind(r rule, model any) error {
	s := r.settings()
	matched := make([]bool, len(s.groups))
	groups := map[*grad.Param]*Group{}
	for name, p := range grad.Params(model) {
		for i := range s.groups {
			ok, err := path.Match(s.groups[i].Match, name)
			if err != nil {
				return fmt.Errorf("train: group %d: pattern %q: %w", i, s.groups[i].Match, err)
			}
			matched[i] = matched[i] || ok
			if ok && groups[p] == nil {
				groups[p] = &s.groups[i]
			}
		}
	}
	for i, ok := range matched {
		if !ok {
			return fmt.Errorf("train: group %d: no Param of the model has a path that matches %q", i, s.groups[i].Match)
		}
	}
	c.groups = groups
	return s.check()
}

// check reports settings that cannot be.
func (s settings) check() error {
	rates := []float64{s.lr, s.decay}
	for _, g := range s.groups {
		rates = append(rates, g.LR, g.WeightDecay)
	}
	for i, v := range rates {
		if v < 0 || !finite(v) {
			name := [...]string{"LR", "WeightDecay"}[i%2]
			if i > 1 {
				name = fmt.Sprintf("Groups[%d].%s", i/2-1, name)
			}
			return fmt.Errorf("train: %s: %s is %v; it must be a finite number and not negative", s.name, name, v)
		}
	}
	if s.wrong != "" {
		return fmt.Errorf("train: %s: %s", s.name, s.wrong)
	}
	return nil
}

// step is one step of every Param that gs names.
func (c *core) step(r rule, gs grad.Grads) {
	s := r.settings()
	factor := s.factor(c.steps)
	c.steps++
	for i := range gs {
		p, g := gs[i].Param, c.groups[gs[i].Param]
		if p == nil || p.Frozen || g != nil && g.Frozen {
			continue
		}
		u := update{w: p.Value.Data, g: gs[i].Value.Data, rate: s.lr, decay: s.decay}
		if len(u.w) != len(u.g) {
			panic(tensor.Mismatch("train."+s.name, p.Value, gs[i].Value))
		}
		if g != nil {
			u.decay = g.WeightDecay
			if g.LR != 0 {
				u.rate = g.LR
			}
		}
		u.rate *= factor
		c.parts.add(r, c.slot(p, len(s.arrays)), u)
	}
	c.parts.run(r)
}

// factor is what the rates are multiplied by in a step.
func (s settings) factor(step int) float64 {
	if s.schedule == nil {
		return 1
	}
	return s.schedule.Factor(step)
}

// plateau returns the schedule that has to be shown scores, if it is one.
func (s settings) plateau() *Plateau {
	for at := s.schedule; ; {
		switch v := at.(type) {
		case Warmup:
			at = v.Then
		case *Warmup:
			at = v.Then
		case *Plateau:
			return v
		default:
			return nil
		}
	}
}

// slot returns what is remembered of p, made on first use.
func (c *core) slot(p *grad.Param, arrays int) *slot {
	s := c.slots[p]
	if s == nil || s.count() != arrays || arrays > 0 && len(s.arrays[0]) != len(p.Value.Data) {
		s = newSlot(arrays, len(p.Value.Data))
		c.put(p, s)
	}
	return s
}

func (c *core) put(p *grad.Param, s *slot) {
	if c.slots == nil {
		c.slots = map[*grad.Param]*slot{}
	}
	c.slots[p] = s
}

func newSlot(arrays, n int) *slot {
	s := new(slot)
	for i := range arrays {
		s.arrays[i] = make([]tensor.Float, n)
	}
	return s
}

func (a *arrays) count() int {
	n := 0
	for n < len(a) && a[n] != nil {
		n++
	}
	return n
}

// shrink is decay apart from the gradient: w ← (1 − rate·decay)·w.
func (u *update) shrink() {
	if u.decay == 0 {
		return
	}
	simd.Scale.Forward(u.w, u.w, tensor.Float(1-u.rate*u.decay))
	u.decay = 0
}

func or(v, preset float64) float64 {
	if v == 0 {
		return preset
	}
	return v
}

func sqrt(v tensor.Float) tensor.Float { return tensor.Float(math.Sqrt(float64(v))) }
