package datasets

import "iter"

// The least and the most elements of a piece.
const (
	pieceLeast = 1 << 8
	pieceMost  = 1 << 16
)

// chunkedSlice is a long slice while it is read, in pieces. It grows without being copied:
// an append that copies holds twice what it has, and leaves that behind.
type chunkedSlice[T any] struct {
	full [][]T
	last []T
	n    int
}

// add adds an element.
func (p *chunkedSlice[T]) add(v T) {
	if len(p.last) == cap(p.last) {
		if p.n > 0 {
			p.full = append(p.full, p.last)
		}
		p.last = make([]T, 0, min(max(p.n, pieceLeast), pieceMost))
	}
	p.last = append(p.last, v)
	p.n++
}

// taken yields the pieces in order. None is kept: p is empty in the end.
func (p *chunkedSlice[T]) taken() iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		whole := *p
		*p = chunkedSlice[T]{}
		for i, part := range whole.full {
			whole.full[i] = nil
			if !yield(part) {
				return
			}
		}
		yield(whole.last)
	}
}

// join returns the slice. p is empty in the end.
func (p *chunkedSlice[T]) join() []T {
	out := make([]T, 0, p.n)
	for part := range p.taken() {
		out = append(out, part...)
	}
	return out
}
