package tensor

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/spoil"
)

// share is the work of a chunk, in elements of a stream: some microseconds. A
// loop of less than two chunks stays on the calling goroutine. Tests set it.
var share = 1 << 15

// What is computed costs more than a stream; these are about how many elements.
const (
	costFunction = 4 // of an element of exp and the like
	costGather   = 2

	costGathered = 16 // of a gathered row, at least: it is elsewhere
)

// jobs runs loops with the operands T. Nothing that a part computes depends on where a
// loop is cut.
type jobs[T any] struct{ pool sync.Pool }

// job is one loop, reused, since a closure would be an allocation.
type job[T any] struct {
	args    T
	n, step int
	part    func(a *T, lo, hi int)
}

// Chunk does one part.
func (j *job[T]) Chunk(i int) {
	lo := i * j.step
	j.part(&j.args, lo, min(lo+j.step, j.n))
}

// run calls part with ranges of 0 to n−1, on several threads where that pays;
// cost is the work of one of the n. part is a function without a closure.
func (p *jobs[T]) run(args T, n, cost int, part func(a *T, lo, hi int)) {
	if n <= 0 {
		return
	}
	j, ok := p.pool.Get().(*job[T])
	if !ok {
		j = new(job[T])
	}
	j.args, j.n, j.part = args, n, part
	j.step = max(1, share/max(1, cost))
	if alone(n, cost) {
		j.step = n
	} else if threads := par.Threads(); threads > 2 {
		j.step = even(n, j.step, threads)
	}
	par.Run((n-1)/j.step+1, j)
	*j = job[T]{}
	p.pool.Put(j) // after a panic it is left to the collector
}

// even returns a shorter step, but not less than half of it, so that the threads have as many
// chunks of n each.
func even(n, step, threads int) int {
	chunks := (n-1)/step + 1
	most := min((chunks+threads-1)/threads*threads, 2*chunks)
	shorter := (n-1)/most + 1
	if shorter > 4*line {
		shorter = (shorter + line - 1) / line * line
	}
	return min(step, shorter)
}

// line is how many elements threads had better not share: those of a line of the cache.
const line = 16

// alone reports whether a loop of n of a cost is one chunk, and not worth a task:
// its caller may as well run the part itself.
func alone(n, cost int) bool { return max(1, share/max(1, cost)) > n/2 }

// partsMost is into how many parts a long sum is cut at most. Each part has a
// sum of its own, and these are added in order.
const partsMost = 16

// partsOf returns into how many parts n things of a cost are cut.
func partsOf(n, cost int) int { return max(1, min(n, partsMost, n*max(1, cost)/share)) }

// floats lends memory for the sums of parts.
var floats = sync.Pool{New: func() any { return new([]Float) }}

// lend returns n elements, of any value, and what gives them back to floats.
func lend(n int) ([]Float, *[]Float) {
	p := floats.Get().(*[]Float)
	if cap(*p) < n {
		*p = make([]Float, n)
	}
	spoil.Floats((*p)[:n])
	return (*p)[:n], p
}
