package par

import "sync"

// For runs f on the ranges of 0 to n−1 that are grain long, the last one maybe
// shorter. A grain below 1 is 1. The closure may be an allocation: in a hot
// kernel use [Run].
func For(n, grain int, f func(lo, hi int)) {
	grain = max(grain, 1)
	if n <= 0 {
		return
	}
	if n <= grain && recorder.Load() == nil {
		f(0, n)
		return
	}
	t := ranges.Get().(*rangeTask)
	t.n, t.grain, t.f = n, grain, f
	Run((n-1)/grain+1, t)
	t.f = nil
	ranges.Put(t) // after a panic it is left to the collector
}

// rangeTask is the loop of For.
type rangeTask struct {
	n, grain int
	f        func(lo, hi int)
}

var ranges = sync.Pool{New: func() any { return new(rangeTask) }}

// Chunk runs f on range i.
func (t *rangeTask) Chunk(i int) {
	lo := i * t.grain
	t.f(lo, lo+min(t.grain, t.n-lo))
}
