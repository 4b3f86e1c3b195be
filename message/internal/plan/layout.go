package plan

import "github.com/edgewise-ml/edgewise/message/internal/ir"

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
		case s.overwrites():
			l.release(i)
			s.At = l.take(s.Width)
		default:
			s.At = l.take(s.Width)
			l.release(i)
		}
	}
}

// overwrites reports whether a step's results may overwrite its operands.
func (s *Step) overwrites() bool {
	switch s.Kind {
	case ir.Unary, ir.Binary, ir.ScaleBy, ir.Softmax, ir.LogSoftmax, ir.Normalise, ir.TopK, ir.Sparsemax, ir.Gumbel:
		return true
	}
	return false
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
