package plan

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
)

// slopeReads says which values the gradient of a step is computed from.
type slopeReads struct{ a, b, own bool }

func (p *Plan) slopeReads(s *Step) slopeReads {
	need := func(i int) bool { return i >= 0 && p.Steps[i].Needs }
	switch s.Kind {
	case ir.Unary:
		if s.Linear() {
			return slopeReads{}
		}
		return slopeReads{a: !s.SlopeFromResult(), own: s.SlopeFromResult() || s.Unary == vec.SiLU}
	case ir.Binary:
		if s.Binary == vec.Add || s.Binary == vec.Sub {
			return slopeReads{}
		}
		if s.Binary == vec.Mul {
			return slopeReads{a: need(s.B), b: need(s.A)}
		}
		return slopeReads{a: true, b: true}
	case ir.Affine:
		return slopeReads{b: p.Steps[s.Near.U].Needs}
	case ir.MatMul:
		return slopeReads{a: p.Steps[s.Near.W].Needs}
	case ir.ScaleBy, ir.DotLast:
		return slopeReads{a: need(s.B), b: need(s.A)}
	case ir.MaxLast, ir.LogSumExpLast:
		return slopeReads{a: true, own: true}
	case ir.Softmax, ir.LogSoftmax, ir.Normalise, ir.Sparsemax:
		return slopeReads{own: true}
	case ir.TopK:
		return slopeReads{a: true}
	}
	return slopeReads{}
}

// handsOn reports whether the gradient of a step's operand x is the step's own, so
// that it needs no room.
func (p *Plan) handsOn(s *Step, x int) bool {
	o := &p.Steps[x]
	if o.Uses != 1 || o.Gathers() {
		return false
	}
	switch s.Kind {
	case ir.Unary:
		return s.Unary == vec.Shift
	case ir.Binary:
		return s.Binary == vec.Add || s.Binary == vec.Sub && x == s.A
	}
	return s.Kind == ir.Gumbel
}

// backLayout places, in an edge's scratch, the values that backward needs, and
// the gradients. A place is used again where its time is over: values that are
// not needed as in forward, the others once their step's gradient is through.
func (p *Plan) backLayout() {
	keep := make([]bool, len(p.Steps))
	b := backPlaces{plan: p, keep: keep, refs: map[int]int{}}
	b.places = places{plan: p, last: p.lastUses(), free: map[int][]int{}, keep: keep, width: &p.BackWidth, back: true}
	p.BackWidth = 0
	b.mark()
	for i := range p.Steps {
		b.placeValue(i)
	}
	b.placeGradients()
}

// backPlaces are the places of backward.
type backPlaces struct {
	plan   *Plan
	places places
	keep   []bool      // a value that gradients read
	refs   map[int]int // how many steps have their gradient at a place
}

// mark finds the values to keep, and those that nobody needs.
func (b *backPlaces) mark() {
	steps := b.plan.Steps
	for i := range steps {
		s := &steps[i]
		steps[i].GradAt = -1
		if !s.Needs || s.Kind.IsLeaf() {
			continue
		}
		r := b.plan.slopeReads(s)
		b.keep[i] = b.keep[i] || r.own
		if s.A >= 0 {
			b.keep[s.A] = b.keep[s.A] || r.a
		}
		if s.B >= 0 {
			b.keep[s.B] = b.keep[s.B] || r.b
		}
	}
	last := len(steps) - 1
	b.keep[last] = b.keep[last] || b.plan.Result == Reduced // whose gradients look at each message
	for i := last; i >= 0; i-- {
		s := &steps[i]
		s.Skipped = !b.keep[i] && !slices.ContainsFunc(steps[i+1:], func(o Step) bool { return !o.Skipped && (o.A == i || o.B == i) })
	}
}

func (b *backPlaces) placeValue(i int) {
	s := &b.plan.Steps[i]
	switch {
	case s.InArray() || s.Skipped:
		s.BackAt = 0
	case s.Fixed:
		s.BackAt = b.plan.BackWidth
		b.plan.BackWidth += s.Width
	case s.overwrites():
		b.places.release(i)
		s.BackAt = b.places.take(s.Width)
	default:
		s.BackAt = b.places.take(s.Width)
		b.places.release(i)
	}
}

func (b *backPlaces) placeGradients() {
	steps := b.plan.Steps
	last := len(steps) - 1
	switch s := &steps[last]; {
	case b.plan.Result == SumWithoutMessage:
		if b.plan.ScoreIsValue >= 0 { // it is written before all values are there
			b.places.free[steps[s.B].Width] = nil
		}
		if steps[s.B].Needs {
			b.placeGradient(s.B)
		}
	case !s.Gathers():
		b.placeGradient(last)
	}
	for i := last; i >= 0; i-- {
		s := &steps[i]
		if s.Kind.IsLeaf() || !s.Needs || s.GradAt < 0 {
			continue
		}
		for _, x := range []int{s.A, s.B} {
			switch {
			case x < 0 || !steps[x].Needs || steps[x].GradAt >= 0 || steps[x].Gathers():
			case b.plan.handsOn(s, x):
				steps[x].GradAt = s.GradAt
				b.refs[s.GradAt]++
			default:
				b.placeGradient(x)
			}
		}
		if b.refs[s.GradAt]--; b.refs[s.GradAt] == 0 {
			b.places.free[s.Width] = append(b.places.free[s.Width], s.GradAt)
		}
		if b.keep[i] && !s.Fixed && !s.InArray() && (b.plan.ScoreIsValue < 0 || i != steps[last].B) {
			b.places.free[s.Width] = append(b.places.free[s.Width], s.BackAt)
		}
	}
}

func (b *backPlaces) placeGradient(i int) {
	s := &b.plan.Steps[i]
	s.GradAt = b.places.take(s.Width)
	b.refs[s.GradAt] = 1
}
