package message

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd"
)

// reads says which values the gradient of a step is computed from.
type reads struct{ a, b, own bool }

func (p *plan) reads(s *step) reads {
	need := func(i int) bool { return i >= 0 && p.steps[i].needs }
	switch s.kind {
	case unary:
		if s.linear() {
			return reads{}
		}
		return reads{a: !s.byResult(), own: s.byResult() || s.un == simd.SiLU}
	case binary:
		if s.bin == simd.Add || s.bin == simd.Sub {
			return reads{}
		}
		if s.bin == simd.Mul {
			return reads{a: need(s.b), b: need(s.a)}
		}
		return reads{a: true, b: true}
	case affine:
		return reads{b: p.steps[s.ends.u].needs}
	case matMul:
		return reads{a: p.steps[s.ends.w].needs}
	case scaleBy, dotLast:
		return reads{a: need(s.b), b: need(s.a)}
	case maxLast, logSumExpLast:
		return reads{a: true, own: true}
	case softmax, logSoftmax, normalise:
		return reads{own: true}
	case topK:
		return reads{a: true}
	}
	return reads{}
}

// byResult reports whether a function's slope is told by its result alone.
func (s *step) byResult() bool {
	switch s.un {
	case simd.ReLU, simd.ELU, simd.Sigmoid, simd.Tanh, simd.Exp, simd.Sqrt, simd.Reciprocal:
		return true
	}
	return s.un == simd.LeakyReLU && s.c > 0
}

// linear reports whether a function has the same slope everywhere.
func (s *step) linear() bool {
	return s.un == simd.Scale || s.un == simd.Shift || s.un == simd.Neg || s.un == simd.Sign
}

// hands reports whether the gradient of a step's operand x is the step's own, so
// that it needs no room.
func (p *plan) hands(s *step, x int) bool {
	o := &p.steps[x]
	if o.uses != 1 || o.gathers() {
		return false
	}
	switch s.kind {
	case unary:
		return s.un == simd.Shift
	case binary:
		return s.bin == simd.Add || s.bin == simd.Sub && x == s.a
	}
	return s.kind == gumbel
}

// backLayout places, in an edge's scratch, the values that backward needs, and
// the gradients. A place is used again where its time is over: values that are
// not needed as in forward, the others once their step's gradient is through.
// message says that the value of the whole is needed.
func (p *plan) backLayout(message bool) {
	b := backArranger{plan: p, keep: make([]bool, len(p.steps))}
	b.arranger = arranger{plan: p, last: p.lastUses(), free: map[int][]int{}, keep: b.keep, width: &p.all, back: true}
	p.all = 0
	b.mark(message)
	for i := range p.steps {
		b.placeValue(i)
	}
	b.placeGradients()
}

type backArranger struct {
	*plan
	arranger
	keep []bool // a value that gradients read
	refs map[int]int
}

// mark finds the values to keep, and those that nobody needs.
func (b *backArranger) mark(message bool) {
	steps := b.plan.steps
	for i := range steps {
		s := &steps[i]
		steps[i].grad = -1
		if !s.needs || s.kind <= leafW {
			continue
		}
		r := b.reads(s)
		b.keep[i] = b.keep[i] || r.own
		if s.a >= 0 {
			b.keep[s.a] = b.keep[s.a] || r.a
		}
		if s.b >= 0 {
			b.keep[s.b] = b.keep[s.b] || r.b
		}
	}
	last := len(steps) - 1
	b.keep[last] = b.keep[last] || message
	for i := last; i >= 0; i-- {
		s := &steps[i]
		s.dead = !b.keep[i] && !slices.ContainsFunc(steps[i+1:], func(o step) bool { return !o.dead && (o.a == i || o.b == i) })
	}
}

func (b *backArranger) placeValue(i int) {
	s := &b.plan.steps[i]
	switch {
	case s.inArray() || s.dead:
		s.full = 0
	case s.fixed:
		s.full = b.plan.all
		b.plan.all += s.width
	case s.inPlace():
		b.release(i)
		s.full = b.take(s.width)
	default:
		s.full = b.take(s.width)
		b.release(i)
	}
}

func (b *backArranger) placeGradients() {
	steps := b.plan.steps
	last := len(steps) - 1
	b.refs = map[int]int{}
	switch s := &steps[last]; {
	case b.lazy:
		if b.both >= 0 { // it is written before all values are there
			b.free[steps[s.b].width] = nil
		}
		if steps[s.b].needs {
			b.placeGradient(s.b)
		}
	case !s.gathers():
		b.placeGradient(last)
	}
	for i := last; i >= 0; i-- {
		s := &steps[i]
		if s.kind <= leafW || !s.needs || s.grad < 0 {
			continue
		}
		for _, x := range []int{s.a, s.b} {
			switch {
			case x < 0 || !steps[x].needs || steps[x].grad >= 0 || steps[x].gathers():
			case b.hands(s, x):
				steps[x].grad = s.grad
				b.refs[s.grad]++
			default:
				b.placeGradient(x)
			}
		}
		if b.refs[s.grad]--; b.refs[s.grad] == 0 {
			b.free[s.width] = append(b.free[s.width], s.grad)
		}
		if b.keep[i] && !s.fixed && !s.inArray() && (b.both < 0 || i != steps[last].b) {
			b.free[s.width] = append(b.free[s.width], s.full)
		}
	}
}

func (b *backArranger) placeGradient(i int) {
	s := &b.plan.steps[i]
	s.grad = b.take(s.width)
	b.refs[s.grad] = 1
}
