package train

import (
	"fmt"
	"math"
	"path"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Optimiser changes Params along their gradients.
type Optimiser interface {
	// Bind reads the paths of the model's Params. It comes before the first
	// Step; without it an optimiser treats all Params alike.
	Bind(model any) error
	// Step changes each Param that g names, except frozen ones.
	Step(g grad.Grads)
}

// Adam is the optimiser of Kingma and Ba (2015), with weight decay as an L2
// term in the gradient. For a Param θ with the gradient g, in its step t:
//
//	g ← g + decay·θ
//	m ← β₁·m + (1−β₁)·g
//	v ← β₂·v + (1−β₂)·g²
//	θ ← θ − rate · m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + ε)
//
// A Param counts its steps from its own first one. Adam holds two numbers for
// each number it trains and allocates them in that first step only.
type Adam struct {
	LR          float64 // the rate
	WeightDecay float64
	Beta1       float64 // 0 means 0.9
	Beta2       float64 // 0 means 0.999
	Eps         float64 // 0 means 1e-8
	Groups      []Group // the first that matches a Param's path is the Param's

	state  map[*grad.Param]*moments
	groups map[*grad.Param]*Group
}

// Group is a set of Params that an optimiser treats in a way of their own. It
// needs the paths, so the optimiser must be bound.
type Group struct {
	Match       string  // a pattern of path.Match for the path, such as "Conv1.*"
	LR          float64 // 0 means the optimiser's
	WeightDecay float64 // instead of the optimiser's, even if 0
	Frozen      bool    // left as they are
}

// moments is what Adam remembers of one Param.
type moments struct {
	steps int
	m, v  []tensor.Float
}

// Bind assigns the model's Params to the groups. It returns an error that names
// a group whose pattern is broken or matches no Param. What the optimiser
// remembers of earlier steps stays.
func (a *Adam) Bind(model any) error {
	matched := make([]bool, len(a.Groups))
	groups := map[*grad.Param]*Group{}
	for name, p := range grad.Params(model) {
		for i := range a.Groups {
			ok, err := path.Match(a.Groups[i].Match, name)
			if err != nil {
				return fmt.Errorf("train: group %d: pattern %q: %w", i, a.Groups[i].Match, err)
			}
			matched[i] = matched[i] || ok
			if ok && groups[p] == nil {
				groups[p] = &a.Groups[i]
			}
		}
	}
	for i, ok := range matched {
		if !ok {
			return fmt.Errorf("train: group %d: no Param of the model has a path that matches %q", i, a.Groups[i].Match)
		}
	}
	a.groups = groups
	return nil
}

// Step changes each Param by its gradient. It does not look for NaN: [Fit] does
// that before it calls Step.
func (a *Adam) Step(g grad.Grads) {
	for i := range g {
		p := g[i].Param
		if p == nil || p.Frozen {
			continue
		}
		rate, decay := a.LR, a.WeightDecay
		if group := a.groups[p]; group != nil {
			if group.Frozen {
				continue
			}
			decay = group.WeightDecay
			if group.LR != 0 {
				rate = group.LR
			}
		}
		a.moments(p).step(a, p.Value.Data, g[i].Value.Data, rates{rate, decay})
	}
}

type rates struct{ lr, decay float64 }

// moments returns the state of p, made on first use.
func (a *Adam) moments(p *grad.Param) *moments {
	s := a.state[p]
	if s == nil || len(s.m) != len(p.Value.Data) {
		if a.state == nil {
			a.state = map[*grad.Param]*moments{}
		}
		n := len(p.Value.Data)
		s = &moments{m: make([]tensor.Float, n), v: make([]tensor.Float, n)}
		a.state[p] = s
	}
	return s
}

// step is one update of w, written so that an element costs one root and one
// division: both corrections are scalars.
func (s *moments) step(a *Adam, w, dw []tensor.Float, r rates) {
	b1, b2, eps := or(a.Beta1, 0.9), or(a.Beta2, 0.999), tensor.Float(or(a.Eps, 1e-8))
	s.steps++
	t := float64(s.steps)
	k := simd.Adam{
		Rate:  tensor.Float(r.lr / (1 - math.Pow(b1, t))),
		Decay: tensor.Float(r.decay),
		Gain1: tensor.Float(1 - b1),
		Keep2: tensor.Float(b2),
		Gain2: tensor.Float(1 - b2),
		Root:  tensor.Float(1 / math.Sqrt(1-math.Pow(b2, t))),
		Eps:   eps,
	}
	u := updates.Get().(*update)
	*u = update{k, w, dw, s.m, s.v}
	par.Run((len(w)+updateWork-1)/updateWork, u)
	*u = update{}
	updates.Put(u)
}

// updateWork is how many numbers a chunk of an update has: some microseconds.
const updateWork = 1 << 14

// update is one step of a Param, cut into chunks.
type update struct {
	simd.Adam
	w, dw, m, v []tensor.Float
}

var updates = sync.Pool{New: func() any { return new(update) }}

// Chunk changes a part of the numbers.
func (u *update) Chunk(i int) {
	lo := i * updateWork
	hi := min(lo+updateWork, len(u.w))
	u.Step(u.w[lo:hi], u.dw[lo:hi], u.m[lo:hi], u.v[lo:hi])
}

func or(v, preset float64) float64 {
	if v == 0 {
		return preset
	}
	return v
}
