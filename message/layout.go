package message

// layout gives every step its place in an edge's scratch: the values of a step
// make room when the last step that reads them is through.
func (p *plan) layout() {
	l := arranger{plan: p, last: p.lastUses(), free: map[int][]int{}, keep: make([]bool, len(p.steps)), width: &p.width}
	for i := range p.steps {
		s := &p.steps[i]
		p.all += s.width
		if s.inArray() {
			continue // is read where it stands
		}
		switch {
		case s.fixed: // is computed once, so nobody else may have its place
			s.at = p.width
			p.width += s.width
		case s.inPlace():
			l.release(i)
			s.at = l.take(s.width)
		default:
			s.at = l.take(s.width)
			l.release(i)
		}
	}
}

// inPlace reports whether a step's results may overwrite its operands.
func (s *step) inPlace() bool {
	switch s.kind {
	case unary, binary, scaleBy, softmax, logSoftmax, normalise, topK, gumbel:
		return true
	}
	return false
}

// lastUses returns for each step the last that reads it.
func (p *plan) lastUses() []int {
	last := make([]int, len(p.steps))
	for i, s := range p.steps {
		for _, x := range []int{s.a, s.b} {
			if x >= 0 {
				last[x] = i
			}
		}
	}
	return last
}

// arranger hands out places in an edge's scratch.
type arranger struct {
	*plan
	last  []int
	free  map[int][]int // places by their width
	keep  []bool        // values that stay
	width *int          // of all places
	back  bool          // for backward
}

func (l *arranger) take(width int) int {
	if list := l.free[width]; len(list) > 0 {
		l.free[width] = list[:len(list)-1]
		return list[len(list)-1]
	}
	*l.width += width
	return *l.width - width
}

// release frees the operands that step i is the last to read. A step that is not
// read at all is the last one of the plan.
func (l *arranger) release(i int) {
	s := &l.steps[i]
	if s.a >= 0 {
		l.give(s.a, i)
	}
	if s.b >= 0 && s.b != s.a {
		l.give(s.b, i)
	}
}

func (l *arranger) give(x, i int) {
	if o := &l.steps[x]; l.last[x] == i && !l.keep[x] && !o.fixed && !o.inArray() {
		at := o.at
		if l.back {
			at = o.full
		}
		l.free[o.width] = append(l.free[o.width], at)
	}
}

// inArray reports whether a leaf's values are read where they stand.
func (s *step) inArray() bool { return s.kind == leafE && !s.taken || s.there }
