package par

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sort"
	"sync"
)

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

// Split cuts rows into parts ranges of about equal work and returns their
// bounds, appended to cuts[:0]: range i is cuts[i] ≤ row < cuts[i+1], and may
// be empty. Row r has the edges offsets[r] ≤ e < offsets[r+1]; its work is
// their number and 1. A range exceeds its share by less than its heaviest row.
//
// The bounds follow from the arguments alone. Less than 1 part is 1.
func Split(offsets []int64, parts int, cuts []int) []int {
	parts = max(parts, 1)
	rows := max(len(offsets)-1, 0)
	cuts = append(cuts[:0], 0)
	if rows == 0 {
		for range parts {
			cuts = append(cuts, 0)
		}
		return cuts
	}
	total := before(offsets, rows)
	share, rest := total/int64(parts), total%int64(parts)
	for i, r := 1, 0; i < parts; i++ {
		// total·i/parts, which would overflow
		want := share*int64(i) + rest*int64(i)/int64(parts)
		r = firstAt(offsets, want, r, r+(rows-r)/(parts-i+1))
		if lo := cuts[i-1]; r > lo && want-before(offsets, r-1) < before(offsets, r)-want {
			r-- // the bound below is nearer
		}
		cuts = append(cuts, r)
	}
	return append(cuts, rows)
}

// before is the work of the rows before r.
func before(offsets []int64, r int) int64 { return offsets[r] - offsets[0] + int64(r) }

// firstAt returns the first row, from lo on, before which there is at least so
// much work; before the end there is. It looks around a guess, further and
// further away, since rows that are about even are cut near there: a bisection
// of all of them would miss the cache at each step.
func firstAt(offsets []int64, want int64, lo, guess int) int {
	hi := len(offsets) - 1
	for step := 4; hi-lo > step; step *= 4 {
		if before(offsets, guess) >= want {
			hi = guess
			guess = max(lo, hi-step)
		} else {
			lo = guess + 1
			guess = min(hi, lo+step)
		}
	}
	return lo + sort.Search(hi-lo, func(d int) bool { return before(offsets, lo+d) >= want })
}

// Panic is the value that a call panics with when a chunk panicked on a worker.
// As an error it wraps the value, if that is one, so errors.As finds it whether
// or not the chunk ran on the calling goroutine.
type Panic struct {
	Value any    // what the chunk panicked with
	Stack []byte // the worker's stack, where it did
}

// errGoexit stands for the value of a chunk that ended its goroutine.
var errGoexit = errors.New("par: a chunk called runtime.Goexit on a worker (Fatal and FailNow of package testing do)")

func newPanic(v any) *Panic { return &Panic{Value: v, Stack: debug.Stack()} }

func (p *Panic) Error() string {
	return fmt.Sprintf("%v\n\nin a worker:\n%s", p.Value, p.Stack)
}

func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}
