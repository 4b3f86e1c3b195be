package sparse

import (
	"math/bits"
	"slices"
	"sync"
	"weak"

	"github.com/edgewise-ml/edgewise/internal/pages"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// scratch keeps the working rows of kernels between calls, so that a step of
// training allocates none. There is a pool for each power of two, so that a few
// rows do not take what was made for a whole graph.
var scratch [largeBits + 1]sync.Pool

// From 1<<largeBits elements on, buffers are in a list: a pool would keep one for
// each processor.
const largeBits = 18

// large are the free ones of these. The collector takes what no call has in use.
var large struct {
	sync.Mutex
	free []weak.Pointer[[]tensor.Float]
}

// borrow returns n elements of any value, which the caller hands back by repay.
func borrow(n int) *[]tensor.Float {
	class := bits.Len(uint(max(n-1, 0)))
	if class > largeBits {
		return borrowLarge(n)
	}
	s, _ := scratch[class].Get().(*[]tensor.Float)
	if s == nil {
		s = new([]tensor.Float)
		*s = make([]tensor.Float, n, 1<<class)
	}
	*s = (*s)[:n]
	spoil.Floats(*s)
	return s
}

// borrowLarge returns the smallest free buffer of n elements, or a new one.
func borrowLarge(n int) *[]tensor.Float {
	large.Lock()
	defer large.Unlock()
	var best *[]tensor.Float
	for _, w := range large.free {
		if s := w.Value(); s != nil && cap(*s) >= n && (best == nil || cap(*s) < cap(*best)) {
			best = s
		}
	}
	large.free = slices.DeleteFunc(large.free, func(w weak.Pointer[[]tensor.Float]) bool {
		s := w.Value()
		return s == nil || s == best
	})
	if best == nil {
		best = new([]tensor.Float)
		*best = pages.Make[tensor.Float](n, n)
	}
	*best = (*best)[:n]
	spoil.Floats(*best)
	return best
}

// repay takes back what borrow returned.
func repay(s *[]tensor.Float) {
	if class := bits.Len(uint(cap(*s) - 1)); class <= largeBits {
		scratch[class].Put(s)
		return
	}
	large.Lock()
	large.free = append(large.free, weak.Make(s))
	large.Unlock()
}
