package train

import (
	"fmt"
	"math"
	"path"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Optimiser changes Params along their gradients. Those of this package have
// much in common: LR is the rate, WeightDecay the decay of the weights, Groups
// what some Params have instead, and Schedule what the rates are multiplied by.
// A field whose 0 means a preset says 0 as [grad.Zero]; an LR has no preset.
// They count the steps of each Param from its own first one, and allocate what
// they remember of a Param in that step only.
type Optimiser interface {
	// Bind reads the paths of the model's Params, which Init has made, and checks
	// the settings. It comes before the first Step; without it an optimiser
	// treats all Params alike. Then Step takes Params of that model only, and
	// panics on others.
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
	fields() []field
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

// field is a number that an optimiser is set by besides rates and decay. It is
// finite, not negative, and less than below, unless that is 0.
type field struct {
	name         string
	value, below float64
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
	groups map[*grad.Param]*Group // of each Param of the model that is bound; nil: none is, or of no group
	sound  bool                   // the settings were checked
}

func (c *core) memory() *core { return c }

// bind assigns the model's Params to the groups. Its error names a group whose
// pattern is broken or matches no Param, a setting that cannot be, or a Param
// that nobody can find. What the optimiser remembers of earlier steps stays.
func (c *core) bind(r rule, model any) error {
	if err := grad.CheckParams(model); err != nil {
		return fmt.Errorf("train: Bind: %w", err)
	}
	s := r.settings()
	matched := make([]bool, len(s.groups))
	groups := map[*grad.Param]*Group{}
	for name, p := range grad.Params(model) {
		groups[p] = nil
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
	if err := s.check(r.fields()); err != nil {
		return err
	}
	for name, p := range grad.Params(model) {
		if g := groups[p]; s.lr == 0 && !p.Frozen && (g == nil || g.LR == 0 && !g.Frozen) {
			return fmt.Errorf("train: %s: LR is 0, so %s would never change; set LR, or freeze what is not to be trained", s.name, name)
		}
	}
	c.groups, c.sound = groups, true
	return nil
}

// unbound panics if an optimiser without a model cannot make its first step.
func (c *core) unbound(r rule) {
	s := r.settings()
	err := s.check(r.fields())
	switch {
	case err != nil:
		panic(err)
	case s.lr == 0:
		panic(fmt.Errorf("train: %s: LR is 0, so nothing would ever change; set LR", s.name))
	case len(s.groups) > 0:
		panic(fmt.Errorf("train: %s: Groups need the paths of the Params: call Bind before the first Step", s.name))
	}
	c.sound = true
}

// check reports settings that cannot be.
func (s settings) check(fields []field) error {
	all := append([]field{{"LR", s.lr, 0}, {"WeightDecay", s.decay, 0}}, fields...)
	for i, g := range s.groups {
		all = append(all, field{fmt.Sprintf("Groups[%d].LR", i), g.LR, 0}, field{fmt.Sprintf("Groups[%d].WeightDecay", i), g.WeightDecay, 0})
	}
	for _, f := range all {
		switch {
		case f.value < 0 || !finite(f.value):
			return fmt.Errorf("train: %s: %s is %v; it must be a finite number and not negative", s.name, f.name, f.value)
		case f.below > 0 && f.value >= f.below:
			return fmt.Errorf("train: %s: %s is %v; it must be less than %v", s.name, f.name, f.value, f.below)
		}
	}
	for _, wrong := range []string{s.wrong, wrongSchedule(s.schedule)} {
		if wrong != "" {
			return fmt.Errorf("train: %s: %s", s.name, wrong)
		}
	}
	return nil
}

// step is one step of every Param that gs names.
func (c *core) step(r rule, gs grad.Grads) {
	if !c.sound {
		c.unbound(r)
	}
	s := r.settings()
	gs.MustLive("train.Optimiser.Step")
	factor := s.factor(c.steps)
	c.steps++
	for i := range gs {
		p := gs[i].Param
		g, held := c.groups[p]
		if p == nil || p.Frozen || g != nil && g.Frozen {
			continue
		}
		if !held && c.groups != nil {
			panic(fmt.Errorf("train: %s: the gradients are of a Param of shape %v that the model given to Bind does not hold; bind the model that is trained, after its Init", s.name, p.Value.Shape()))
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
		p.Changed()
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
	vec.Scale.Forward(u.w, u.w, tensor.Float(1-u.rate*u.decay))
	u.decay = 0
}

func sqrt(v tensor.Float) tensor.Float { return tensor.Float(math.Sqrt(float64(v))) }

// partSize is how many numbers are updated at a time: some microseconds of Adam.
const partSize = 1 << 13

// parts is one step of an optimiser, cut up. Small Params go together, since to hand one over
// to another thread takes longer than its update.
type parts struct {
	rule rule
	list []update
	ends []int // of those that go together, in list
	held int   // numbers of the last of them
}

// add counts a step of a Param and cuts its update into parts.
func (p *parts) add(r rule, s *slot, u update) {
	s.steps++
	u.steps, u.number = s.steps, s.number
	if c, ok := r.(carrier); ok {
		s.number = c.carry(s.number, s.steps)
	}
	for lo := 0; lo < len(u.w); lo += partSize {
		hi := min(lo+partSize, len(u.w))
		part := u
		part.w, part.g = u.w[lo:hi], u.g[lo:hi]
		for i := range s.count() {
			part.arrays[i] = s.arrays[i][lo:hi]
		}
		p.append(part)
	}
}

// append puts a part behind the others.
func (p *parts) append(u update) {
	if p.held += len(u.w); len(p.ends) == 0 || p.held > partSize {
		p.ends, p.held = append(p.ends, 0), len(u.w)
	}
	p.list = append(p.list, u)
	p.ends[len(p.ends)-1] = len(p.list)
}

// run makes the step, and forgets it but for the memory.
func (p *parts) run(r rule) {
	p.rule = r
	par.Run(len(p.ends), p)
	clear(p.list)
	p.rule, p.list, p.ends = nil, p.list[:0], p.ends[:0]
}

// Chunk makes those parts of the step that go together.
func (p *parts) Chunk(i int) {
	lo := 0
	if i > 0 {
		lo = p.ends[i-1]
	}
	for j := range p.list[lo:p.ends[i]] {
		p.rule.update(&p.list[lo+j])
	}
}
