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

// pile is a slab of any type.
type pile interface{ empty() }

// slab hands out values of one type and takes them back all at once.
type slab[T any] struct {
	all  []*T
	used int
}

// slabBlock is how many values a slab makes at a time.
const slabBlock = 16

func (s *slab[T]) take() *T {
	n, all := s.used, s.all
	for n >= len(all) {
		block := make([]T, slabBlock)
		for i := range block {
			all = append(all, &block[i])
		}
		s.all = all
	}
	s.used = n + 1
	return all[n]
}

// empty takes all values back, as zeros.
func (s *slab[T]) empty() { s.cut(0) }

// cut takes back all but the first n values.
func (s *slab[T]) cut(n int) {
	used := s.used
	s.used = n
	if n > used || used > len(s.all) {
		panic(shared("Reset"))
	}
	for _, p := range s.all[n:used] {
		*p = *new(T)
	}
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
