package plan

import (
	"slices"

	"github.com/edgewise-ml/edgewise/message/internal/ops"
)

// layout gives every step its place in an edge's scratch: the values of a step
// make room when the last step that reads them is through.
func (p *Plan) layout() {
	l := places{plan: p, last: p.lastUses(), free: map[int][]int{}, keep: make([]bool, len(p.Steps)), width: &p.Width}
	for i := range p.Steps {
		s := &p.Steps[i]
		p.BackWidth += s.Width
		if s.InArray() {
			continue // is read where it stands
		}
		switch {
		case s.Fixed: // is computed once, so nobody else may have its place
			s.At = p.Width
			p.Width += s.Width
		case s.Kind.Op().InPlace:
			l.release(i)
			s.At = l.take(s.Width)
		default:
			s.At = l.take(s.Width)
			l.release(i)
		}
	}
}

// lastUses returns for each step the last that reads it.
func (p *Plan) lastUses() []int {
	last := make([]int, len(p.Steps))
	for i, s := range p.Steps {
		for _, x := range []int{s.A, s.B} {
			if x >= 0 {
				last[x] = i
			}
		}
	}
	return last
}

// places hands out places in an edge's scratch.
type places struct {
	plan  *Plan
	last  []int         // for each step, the last that reads it
	free  map[int][]int // places by their width
	keep  []bool        // values that stay
	width *int          // of all places
	back  bool          // for backward
}

func (l *places) take(width int) int {
	if list := l.free[width]; len(list) > 0 {
		l.free[width] = list[:len(list)-1]
		return list[len(list)-1]
	}
	*l.width += width
	return *l.width - width
}

// release frees the operands that step i is the last to read. A step that is not
// read at all is the last one of the plan.
func (l *places) release(i int) {
	s := &l.plan.Steps[i]
	if s.A >= 0 {
		l.releaseOperand(s.A, i)
	}
	if s.B >= 0 && s.B != s.A {
		l.releaseOperand(s.B, i)
	}
}

func (l *places) releaseOperand(x, i int) {
	if o := &l.plan.Steps[x]; l.last[x] == i && !l.keep[x] && !o.Fixed && !o.InArray() {
		at := o.At
		if l.back {
			at = o.BackAt
		}
		l.free[o.Width] = append(l.free[o.Width], at)
	}
}

// handsOn reports whether the gradient of an operand, step x, is the step's own, so
// that it needs no room.
func (p *Plan) handsOn(s *Step, operand, x int) bool {
	return s.Reads(operand)&ops.Same != 0 && p.Steps[x].Uses == 1 && !p.Steps[x].Gathers()
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
		for k := range s.Kind.Op().Operands {
			if !steps[b.plan.Operand(s, k)].Needs {
				continue
			}
			r := s.Reads(k)
			b.keep[i] = b.keep[i] || r&ops.Own != 0
			if r&ops.First != 0 {
				b.keep[s.A] = true
			}
			if r&ops.Second != 0 {
				b.keep[s.B] = true
			}
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
	case s.Kind.Op().InPlace:
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
		for k, x := range []int{s.A, s.B} {
			switch {
			case x < 0 || !steps[x].Needs || steps[x].GradAt >= 0 || steps[x].Gathers():
			case b.plan.handsOn(s, k, x):
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
