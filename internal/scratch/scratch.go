package scratch

import (
	"math/bits"
	"slices"
	"sync"
	"weak"

	"github.com/edgewise-ml/edgewise/internal/pages"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/spoil"
)

// pools keep the working rows of kernels between calls, so that a step of
// training allocates none. There is a pool for each power of two, so that a few
// rows do not take what was made for a whole graph.
var pools [largeBits + 1]sync.Pool

// From 1<<largeBits elements on, buffers are in a list: a pool would keep one for
// each processor.
const largeBits = 18

// large are the free ones of these. The collector takes what no call has in use.
var large struct {
	sync.Mutex
	free []weak.Pointer[[]cpu.Float]
}

// Borrow returns n elements of any value, which the caller hands back by Repay.
func Borrow(n int) *[]cpu.Float {
	class := bits.Len(uint(max(n-1, 0)))
	if class > largeBits {
		return borrowLarge(n)
	}
	s, _ := pools[class].Get().(*[]cpu.Float)
	if s == nil {
		s = new([]cpu.Float)
		*s = make([]cpu.Float, n, 1<<class)
	}
	*s = (*s)[:n]
	spoil.Floats(*s)
	return s
}

// borrowLarge returns the smallest free buffer of n elements, or a new one.
func borrowLarge(n int) *[]cpu.Float {
	large.Lock()
	defer large.Unlock()
	var best *[]cpu.Float
	for _, w := range large.free {
		if s := w.Value(); s != nil && cap(*s) >= n && (best == nil || cap(*s) < cap(*best)) {
			best = s
		}
	}
	large.free = slices.DeleteFunc(large.free, func(w weak.Pointer[[]cpu.Float]) bool {
		s := w.Value()
		return s == nil || s == best
	})
	if best == nil {
		best = new([]cpu.Float)
		*best = pages.Make[cpu.Float](n, n)
	}
	*best = (*best)[:n]
	spoil.Floats(*best)
	return best
}

// Repay takes back what Borrow returned.
func Repay(s *[]cpu.Float) {
	if class := bits.Len(uint(cap(*s) - 1)); class <= largeBits {
		pools[class].Put(s)
		return
	}
	large.Lock()
	large.free = append(large.free, weak.Make(s))
	large.Unlock()
}
