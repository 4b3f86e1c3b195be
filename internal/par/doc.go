// Package par runs loops on several threads: a call hands out the chunks of a
// loop to the threads of one pool, takes chunks itself, and returns when all
// are done.
//
// Its nouns are the [Task], a loop body that is told which chunk to do, and the
// pool, of which there is one and nobody sees it. A kernel keeps its task
// structs in a sync.Pool, so that a call allocates nothing; where that does not
// matter, [For] takes a closure:
//
//	par.For(len(y), 1<<14, func(lo, hi int) {
//		for i := lo; i < hi; i++ {
//			y[i] = max(y[i], 0)
//		}
//	})
//
// [Split] cuts the rows of a sparse matrix into ranges of about equal work.
//
// Which thread does a chunk, and when, is left to chance, so a chunk must write
// only what is its own. No bit of a result may depend on the threads. So where
// each chunk has a sum of its own, how many there are follows from the shape
// alone. Where results are the same however a loop is cut, its chunks may be as
// many as suit [Threads]: a multiple of them, about four each where there is the work.
//
// The pool has one job at a time. A call that finds it taken, from another
// goroutine or from inside a chunk, runs all its chunks itself: n goroutines
// are n serial loops. Nobody waits for a thread that has not begun.
//
// Workers are parked when there is nothing to do. A parked one costs tens of
// microseconds to wake, so a worker first looks out for more work: for 20 µs or,
// between [Hot] and its undo, for up to 1.3 ms, as long as would have cost least
// in its last waits. With more threads than the machine gives us nobody looks
// out. Work below about 5 µs is not worth a call.
package par
