package decode

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// choice is a token that a row may take.
type choice struct {
	score float64
	row   int32
	token int32
}

// before reports whether a comes before b: by score, then row, then token.
func (a choice) before(b choice) bool {
	switch {
	case a.score != b.score:
		return a.score > b.score
	case a.row != b.row:
		return a.row < b.row
	}
	return a.token < b.token
}

// compare is before, for slices.SortFunc.
func (a choice) compare(b choice) int {
	switch {
	case a == b:
		return 0
	case a.before(b):
		return -1
	}
	return 1
}

// top keeps the first n choices of those it is shown, in a heap whose root is the
// last of them.
type top struct {
	heap   []choice
	n      int
	maxima []tensor.Float // of the blocks of a row
}

// begin forgets all and keeps n from now on, in buf.
func (t *top) begin(n int, buf []choice) { t.n, t.heap = n, buf[:0] }

func (t *top) full() bool { return len(t.heap) == t.n }

// show takes c if it is among the first n, n being at least 1.
func (t *top) show(c choice) {
	if !t.full() {
		t.heap = append(t.heap, c)
		h := t.heap
		for i := len(h) - 1; i > 0; {
			up := (i - 1) / 2
			if !h[up].before(h[i]) {
				break
			}
			h[up], h[i] = h[i], h[up]
			i = up
		}
		return
	}
	if c.before(t.heap[0]) {
		t.heap[0] = c
		siftDown(t.heap, choice.before)
	}
}

// siftDown moves the root of a heap down until nothing below it comes after it, in the
// sense of first.
func siftDown(h []choice, first func(a, b choice) bool) {
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h) {
			return
		}
		if down+1 < len(h) && first(h[down], h[down+1]) {
			down++
		}
		if !first(h[i], h[down]) {
			return
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}

// sorted returns what was kept, the first first.
func (t *top) sorted() []choice {
	slices.SortFunc(t.heap, choice.compare)
	return t.heap
}

// block is how many logits are passed over together if none is large enough.
const block = 64

// survey notes the largest element of each block of x for largest, and returns that
// of all: NaN where there is one, −Inf of none.
func (t *top) survey(x []tensor.Float) tensor.Float {
	m := negInf
	t.maxima = t.maxima[:0]
	for lo := 0; lo < len(x); lo += block {
		v := vec.MaxOf(x[lo:min(lo+block, len(x))])
		t.maxima = append(t.maxima, v)
		m = max(m, v)
	}
	return m
}

// largest fills buf with the n largest elements of x that are not −Inf, the largest
// first, of equal ones the earlier. x was surveyed: most of its blocks are passed
// over, and no row is sorted.
func (t *top) largest(x []tensor.Float, n int, buf []choice) []choice {
	if n = min(n, len(x)); n < 1 {
		return buf[:0]
	}
	least := t.least(n, buf)
	t.begin(n, buf)
	for i, m := range t.maxima {
		if m < least || m == negInf || t.full() && m == least {
			continue
		}
		lo := i * block
		for k, v := range x[lo:min(lo+block, len(x))] {
			if v < least || v == negInf || v == least && t.full() {
				continue
			}
			t.show(choice{score: float64(v), token: int32(lo + k)})
			if t.full() {
				least = tensor.Float(t.heap[0].score)
			}
		}
	}
	return t.sorted()
}

// least returns a number that the n-th largest element is not below: the n-th
// largest maximum of a block.
func (t *top) least(n int, buf []choice) tensor.Float {
	if n > len(t.maxima) {
		return negInf
	}
	t.begin(n, buf)
	for _, m := range t.maxima {
		t.show(choice{score: float64(m)})
	}
	return tensor.Float(t.heap[0].score)
}
