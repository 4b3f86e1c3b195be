package par

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var (
	chosen atomic.Int32 // by SetThreads; 0 is the default
	fewer  atomic.Int32 // threads that loops run on, by CutFor; 0: as many as Threads says
	limit  atomic.Int32 // what the machine gives us; 0 is not known yet
)

// Threads is how many threads a loop may use. Without [SetThreads] it is the
// least of GOMAXPROCS, the processors that this process may run on, and the
// whole processors in its CPU quota, and at least 1. These are looked up when
// first needed, by SetThreads(0) and by the first of nested calls of [Hot].
func Threads() int {
	if n := chosen.Load(); n > 0 {
		return int(n)
	}
	return available()
}

// SetThreads sets the number of threads and returns a function that restores
// the number before. 0 (or less) restores the default. Loops that are running
// keep their threads.
//
//	defer par.SetThreads(1)()
func SetThreads(n int) (undo func()) {
	if n <= 0 {
		measure()
	}
	old := chosen.Swap(int32(min(max(n, 0), maxThreads)))
	shared.trim()
	return func() {
		chosen.Store(old)
		shared.trim()
	}
}

// CutFor has loops cut as for so many threads, which is what Threads returns until undo is called, and
// run on the threads that there were: a record of them shows what more threads would do.
func CutFor(threads int) (undo func()) {
	old := fewer.Swap(int32(crew()))
	back := SetThreads(threads)
	return func() {
		fewer.Store(old)
		back()
	}
}

// crew is how many threads loops run on.
func crew() int {
	if n := fewer.Load(); n > 0 {
		return min(int(n), Threads())
	}
	return Threads()
}

// maxThreads keeps a mistyped number from making a thread for each of its ones.
const maxThreads = 1024

// Hot says that loops will follow each other closely: until undo is called,
// workers spin up to 1.3 ms for the next one, as long as that pays. Calls may
// overlap, and only the first call of an undo counts.
func Hot() (undo func()) {
	if shared.hot.Add(1) == 1 {
		measure()
	}
	return sync.OnceFunc(func() { shared.hot.Add(-1) })
}

// available is the number of threads that this machine gives us.
func available() int {
	if n := limit.Load(); n > 0 {
		return int(n)
	}
	return measure()
}

// Limits are what bounds the number of threads.
type Limits struct {
	Go         int     // GOMAXPROCS
	Processors int     // that this process may run on; 0: not known
	Quota      float64 // of processors, by its control groups; 0: none, or not known
}

// LimitsNow returns the limits of this moment.
func LimitsNow() Limits { return Limits{runtime.GOMAXPROCS(0), affinity(), quota()} }

// measure looks up what available returns.
func measure() int {
	l := LimitsNow()
	n := l.Go
	if l.Processors > 0 {
		n = min(n, l.Processors)
	}
	if l.Quota > 0 {
		n = min(n, int(l.Quota)) // down: a thread that is throttled holds up all others
	}
	n = min(max(n, 1), maxThreads)
	limit.Store(int32(n))
	return n
}

// spinning reports whether anybody may spin: with more threads than the machine
// gives us, a thread that spins takes the time from one that works.
func spinning() bool { return crew() <= available() }
