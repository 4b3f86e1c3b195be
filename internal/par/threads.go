package par

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var (
	chosen atomic.Int32 // by SetThreads; 0 is the default
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

// measure looks up what available returns.
func measure() int {
	n := runtime.GOMAXPROCS(0)
	if a := affinity(); a > 0 {
		n = min(n, a)
	}
	if q := quota(); q > 0 {
		n = min(n, int(q)) // down: a thread that is throttled holds up all others
	}
	n = min(max(n, 1), maxThreads)
	limit.Store(int32(n))
	return n
}

// spinning reports whether anybody may spin: with more threads than the machine
// gives us, a thread that spins takes the time from one that works.
func spinning() bool { return Threads() <= available() }
