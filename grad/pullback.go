package grad

import "github.com/edgewise-ml/edgewise/tensor"

// Pullback is what an operation does in Backward: it is given the gradient of
// the operation's result and adds to those of the operands, like the function of
// [Op.Record]. dy is nil of an operation with several results.
type Pullback interface{ Pull(dy *tensor.Dense) }

// Notes returns a zero T that lives until the tape's next Reset, and is another
// operation's afterwards. A [Pullback] that is one knows its operands without
// garbage, as operations want that a [Loop] runs round by round.
func Notes[T any](op Op) *T {
	t := op.tape
	if t == nil {
		return new(T)
	}
	for _, p := range t.notes {
		if s, ok := p.(*slab[T]); ok {
			return s.take()
		}
	}
	s := new(slab[T])
	t.notes = append(t.notes, s)
	return s.take()
}

// several returns a copy of ys that lives until the next Reset.
func (t *Tape) several(ys []*Var) []*Var {
	n := len(t.results)
	t.results = append(t.results, ys...)
	return t.results[n:len(t.results):len(t.results)]
}

// resetNotes takes back what operations noted.
func (t *Tape) resetNotes() {
	for _, s := range t.notes {
		s.empty()
	}
	clear(t.results)
	t.results = t.results[:0]
}
