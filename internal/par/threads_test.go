package par

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/internal/sparing"
)

func TestSetThreads(t *testing.T) {
	auto := Threads()
	if auto < 1 || auto > runtime.GOMAXPROCS(0) {
		t.Fatalf("the default is %d threads of %d", auto, runtime.GOMAXPROCS(0))
	}
	undo3 := SetThreads(3)
	undo5 := SetThreads(5)
	if n := Threads(); n != 5 {
		t.Errorf("%d threads, want 5", n)
	}
	undo5()
	if n := Threads(); n != 3 {
		t.Errorf("%d threads after undo, want 3", n)
	}
	for _, n := range []int{0, -1} {
		undo := SetThreads(n)
		if got := Threads(); got != auto {
			t.Errorf("SetThreads(%d): %d threads, want %d", n, got, auto)
		}
		undo()
	}
	undo3()
	if n := Threads(); n != auto {
		t.Errorf("%d threads at last, want %d", n, auto)
	}
}

// The default follows GOMAXPROCS, at SetThreads(0) and at Hot.
func TestDefaultFollowsGOMAXPROCS(t *testing.T) {
	undo := SetThreads(0)
	defer func() { undo(); measure() }()
	old := runtime.GOMAXPROCS(1)
	SetThreads(0)
	if n := Threads(); n != 1 {
		t.Errorf("%d threads of 1", n)
	}
	runtime.GOMAXPROCS(old)
	cool := Hot()
	defer cool()
	if n := Threads(); n < 1 || n > old || (n == 1 && old > 1 && affinity() > 1 && quota() == 0) {
		t.Errorf("%d threads of %d", n, old)
	}
}

func TestSetThreadsWhileRunning(t *testing.T) {
	defer SetThreads(0)()
	stop := make(chan bool)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for n := 0; ; n = (n + 1) % 50 {
				select {
				case <-stop:
					return
				default:
				}
				hits := make([]int32, n)
				Run(n, task(func(i int) {
					hits[i]++
					if i == 7 {
						SetThreads(1 + n%4) // from inside a chunk, too
					}
				}))
				for i, h := range hits {
					if h != 1 {
						t.Errorf("chunk %d of %d ran %d times", i, n, h)
					}
				}
			}
		})
	}
	changes := 60
	if sparing.Full() {
		changes = 300
	}
	for i := range changes {
		SetThreads(i % 6)
		time.Sleep(50 * time.Microsecond)
	}
	close(stop)
	wg.Wait()
	SetThreads(1)
	settle(t, 0)
}

func TestHotIsCounted(t *testing.T) {
	before := shared.hot.Load()
	a, b := Hot(), Hot()
	if n := shared.hot.Load() - before; n != 2 {
		t.Errorf("two calls count %d", n)
	}
	a()
	a()
	if n := shared.hot.Load() - before; n != 1 {
		t.Errorf("after one undo, called twice, %d are left", n)
	}
	b()
	if n := shared.hot.Load() - before; n != 0 {
		t.Errorf("after both undos %d are left", n)
	}
}

func TestPatience(t *testing.T) {
	defer SetThreads(0)()
	p := shared
	want := func(name string, d time.Duration) {
		t.Helper()
		if got := p.patience(); got != d {
			t.Errorf("%s: a worker spins for %v, want %v", name, got, d)
		}
	}
	want("cold", coldSpin)
	undo := Hot()
	want("hot", HotSpin)
	SetThreads(available() + 1)
	want("more threads than the machine gives", 0)
	SetThreads(0)
	p.crowd.Add(1)
	want("others run alone", 0)
	p.crowd.Add(-1)
	undo()
	want("cold again", coldSpin)
}

// Workers go to bed when nothing is left to do, hot or cold.
func TestWorkersPark(t *testing.T) {
	defer SetThreads(2)()
	undo := Hot()
	Run(8, task(func(int) {}))
	undo()
	for range 5000 {
		if asleep(shared.workers[0]) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the worker does not sleep")
}

// Loops that are cut for more threads run on those that there are, and say so.
func TestCutFor(t *testing.T) {
	defer SetThreads(2)()
	undo := CutFor(16)
	if Threads() != 16 || crew() != 2 {
		t.Errorf("loops are cut for %d threads and run on %d, want 16 and 2", Threads(), crew())
	}
	stop := StartRecord()
	Run(64, task(func(int) {}))
	if r := stop(); r.Threads != 2 || len(shared.workers) != 1 {
		t.Errorf("a record says %d threads, and there are %d workers", r.Threads, len(shared.workers))
	}
	back := CutFor(1)
	if Threads() != 1 || crew() != 1 {
		t.Errorf("loops are cut for %d threads and run on %d, want 1 and 1", Threads(), crew())
	}
	back()
	if undo(); Threads() != 2 || crew() != 2 {
		t.Errorf("afterwards there are %d threads, and %d run, want 2 and 2", Threads(), crew())
	}
}
