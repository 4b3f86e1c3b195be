package fused

import "github.com/edgewise-ml/edgewise/tensor"

// sums are the gradients of some rows of one head, to which tile after tile is added: where they
// are or, as the elements of a head in rows of all heads share few sets of a cache and many pages,
// copied row after row.
type sums struct {
	headOf
	of       []tensor.Float // rows of all heads
	first, n int
	copied   []tensor.Float
	isCopied bool
	x        []tensor.Float // row first, and what follows
	ld       int
}

// begin makes s n rows of x from first on, of one head.
func (s *sums) begin(of []tensor.Float, first, n int, h headOf, copied bool) {
	s.headOf, s.first, s.n, s.isCopied = h, first, n, copied && len(of) > 0
	s.of, s.x, s.ld = of, nil, h.all
	if len(of) == 0 {
		return
	}
	s.x = of[first*h.all+h.at:]
	if !s.isCopied {
		return
	}
	s.copied = room(s.copied, n*h.d)
	for i := range n {
		copy(s.copied[i*h.d:(i+1)*h.d], s.x[i*h.all:])
	}
	s.x, s.ld = s.copied, h.d
}

// end copies the rows back, if they were.
func (s *sums) end() {
	if s.isCopied {
		for i := range s.n {
			copy(s.of[(s.first+i)*s.all+s.at:], s.copied[i*s.d:(i+1)*s.d])
		}
	}
	s.of, s.x = nil, nil
}

// same makes s the same rows as t, which ends them.
func (s *sums) same(t *sums) {
	s.x, s.first, s.ld, s.isCopied = t.x, t.first, t.ld, false
}

// row returns the elements from row i on.
func (s *sums) row(i int) []tensor.Float { return s.x[(i-s.first)*s.ld:] }

// ahead returns the elements of n rows from i on, if they lie together.
func (s *sums) ahead(i, n int) []tensor.Float {
	if !s.isCopied || i >= s.first+s.n {
		return nil
	}
	return s.copied[(i-s.first)*s.d : (min(i+n, s.first+s.n)-s.first)*s.d]
}
