package par

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// task adapts a function to Task.
type task func(i int)

func (f task) Chunk(i int) { f(i) }

var threadCounts = []int{1, 2, 3, 8}

// each runs f with several numbers of threads, cold and hot.
func each(t *testing.T, f func(t *testing.T)) {
	for _, n := range threadCounts {
		t.Run("threads "+string(rune('0'+n)), func(t *testing.T) {
			defer SetThreads(n)()
			f(t)
			defer Hot()()
			f(t)
		})
	}
}

// once fails the test unless each of n chunks of the last loop ran once.
func once(t *testing.T, hits []int32) {
	t.Helper()
	for i, h := range hits {
		if h != 1 {
			t.Fatalf("chunk %d of %d ran %d times", i, len(hits), h)
		}
	}
}

func TestRunEveryChunkOnce(t *testing.T) {
	each(t, func(t *testing.T) {
		for n := range 1001 {
			hits := make([]int32, n) // not atomic: the race detector sees an overlap
			Run(n, task(func(i int) { hits[i]++ }))
			once(t, hits)
		}
	})
}

func TestRunOfNegative(t *testing.T) {
	Run(-1, task(func(int) { t.Error("a chunk ran") }))
}

// Workers do take part: two chunks that wait for each other need two threads.
func TestRunUsesAllThreads(t *testing.T) {
	for _, n := range threadCounts {
		defer SetThreads(n)()
		var met sync.WaitGroup
		met.Add(n)
		Run(n, task(func(int) { met.Done(); met.Wait() }))
	}
}

// The caller yields, then parks, while a worker is at work.
func TestRunWaitsForASlowWorker(t *testing.T) {
	for range 5 {
		done := false
		if v := apart(func() {}, func() { time.Sleep(3 * yielding); done = true }); v != nil || !done {
			t.Fatalf("Run returned before a chunk was done, or panicked with %v", v)
		}
	}
}

// goroutine returns what tells the running goroutine from others.
func goroutine() string {
	b := make([]byte, 64)
	f := strings.Fields(string(b[:runtime.Stack(b, false)]))
	return f[1]
}

func TestRunNested(t *testing.T) {
	each(t, func(t *testing.T) {
		for range 50 {
			hits := make([]int32, 8*16*4)
			Run(8, task(func(i int) {
				Run(16, task(func(j int) {
					For(4, 1, func(lo, _ int) { hits[(i*16+j)*4+lo]++ })
				}))
			}))
			once(t, hits)
		}
	})
}

func TestRunConcurrently(t *testing.T) {
	each(t, func(t *testing.T) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for n := range 200 {
					hits := make([]int32, n)
					Run(n, task(func(i int) { hits[i]++ }))
					for i, h := range hits {
						if h != 1 {
							t.Errorf("chunk %d of %d ran %d times", i, n, h)
						}
					}
				}
			})
		}
		wg.Wait()
	})
}

// caught returns what f panics with.
func caught(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// sound fails the test unless the pool works and has nothing left over.
func sound(t *testing.T) {
	t.Helper()
	hits := make([]int32, 100)
	Run(100, task(func(i int) { hits[i]++ }))
	once(t, hits)
	if shared.free.drop(shared.free.current()) != 0 || shared.undone.Load() != 0 || shared.crowd.Load() != 0 || shared.taken.Load() || shared.failed.Load() != nil {
		t.Error("the pool is not at rest")
	}
}

var errBoom = errors.New("boom")

func TestPanicOfAnyChunk(t *testing.T) {
	each(t, func(t *testing.T) {
		for bad := range 20 {
			v := caught(func() {
				Run(20, task(func(i int) {
					if i == bad {
						panic(errBoom)
					}
				}))
			})
			err, _ := v.(error)
			if !errors.Is(err, errBoom) {
				t.Fatalf("Run panicked with %v, want %v", v, errBoom)
			}
			sound(t)
		}
	})
}

// apart runs a loop of two chunks at once, one on the caller, one on a worker.
func apart(onCaller, onWorker func()) (v any) {
	defer SetThreads(2)()
	caller := goroutine()
	var met sync.WaitGroup
	met.Add(2)
	return caught(func() {
		Run(2, task(func(int) {
			met.Done()
			met.Wait()
			if goroutine() == caller {
				onCaller()
			} else {
				onWorker()
			}
		}))
	})
}

func boomerang() { panic(errBoom) }

func TestPanicOnWorker(t *testing.T) {
	v := apart(func() {}, boomerang)
	p, ok := v.(*Panic)
	if !ok || p.Value != errBoom || !errors.Is(p, errBoom) {
		t.Fatalf("Run panicked with %#v", v)
	}
	if !strings.Contains(string(p.Stack), "boomerang") || !strings.Contains(p.Error(), "boom\n") {
		t.Errorf("the stack does not show the chunk: %v", p)
	}
	sound(t)
	if p := apart(func() {}, func() { panic(7) }).(*Panic); p.Value != 7 || p.Unwrap() != nil {
		t.Errorf("a value that is no error became %v, wrapping %v", p.Value, p.Unwrap())
	}
	sound(t)
}

// The worker's chunk may still use what the caller's deferred calls free.
func TestPanicOnCallerWaitsForWorkers(t *testing.T) {
	done := false
	v := apart(func() { panic("here") }, func() { time.Sleep(time.Millisecond); done = true })
	if v != "here" || !done {
		t.Errorf("Run panicked with %v; worker done: %t", v, done)
	}
	sound(t)
}

func TestPanicLeavesOutWhatHasNotBegun(t *testing.T) {
	each(t, func(t *testing.T) {
		var ran atomic.Int64
		if v := caught(func() { Run(math.MaxInt, task(func(int) { ran.Add(1); panic(errBoom) })) }); v == nil {
			t.Error("no panic")
		}
		if n := ran.Load(); n < 1 || n > int64(Threads()) {
			t.Errorf("%d chunks ran on %d threads", n, Threads())
		}
		sound(t)
	})
}

func TestPanicInNestedLoop(t *testing.T) {
	each(t, func(t *testing.T) {
		v := caught(func() {
			Run(4, task(func(int) { Run(4, task(func(int) { panic(errBoom) })) }))
		})
		if err, _ := v.(error); !errors.Is(err, errBoom) {
			t.Errorf("Run panicked with %v", v)
		}
		sound(t)
	})
}

func TestGoexitOnWorker(t *testing.T) {
	v := apart(func() {}, runtime.Goexit)
	if p, ok := v.(*Panic); !ok || !errors.Is(p, errGoexit) {
		t.Fatalf("Run panicked with %v", v)
	}
	TestRunUsesAllThreads(t) // the worker has a successor
	sound(t)
}

func TestGoexitOnCaller(t *testing.T) {
	ended := make(chan bool)
	go func() {
		defer close(ended)
		apart(runtime.Goexit, func() {})
		t.Error("Run returned")
	}()
	<-ended
	sound(t)
}

func TestRunAllocatesNothing(t *testing.T) {
	defer SetThreads(2)()
	var x Task = task(func(int) {})
	Run(8, x) // makes the worker
	for name, undo := range map[string]func(){"cold": func() {}, "hot": Hot()} {
		if n := testing.AllocsPerRun(1000, func() { Run(8, x) }); n != 0 {
			t.Errorf("%s: %g allocations a call", name, n)
		}
		undo()
	}
}

// settle waits until n workers are left.
func settle(t *testing.T, n int) {
	t.Helper()
	left := 0
	for range 2000 {
		if left = workers(); left == n {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d workers are left, want %d", left, n)
}

// workers counts the goroutines that are workers, of whatever pool.
func workers() int {
	b := make([]byte, 1<<20)
	return strings.Count(string(b[:runtime.Stack(b, true)]), "created by "+reflect.TypeFor[worker]().PkgPath()+".newWorker")
}

func TestNoGoroutineLeaks(t *testing.T) {
	defer SetThreads(1)()
	settle(t, 0)
	for range 20 {
		back := SetThreads(8)
		Run(100, task(func(int) {}))
		settle(t, 7)
		back()
		settle(t, 0)
	}
}

// The stack of a spinning worker can be taken, so the collector can run.
func TestCollectorBesideHotWorkers(t *testing.T) {
	defer SetThreads(0)()
	defer Hot()()
	for range 20 {
		Run(64, task(func(int) { _ = make([]byte, 1<<12) }))
		runtime.GC()
	}
	sound(t)
}

// What different threads write stands on different lines of the cache.
func TestPoolLines(t *testing.T) {
	var p pool
	for i, at := range []uintptr{unsafe.Offsetof(p.free), unsafe.Offsetof(p.undone), unsafe.Offsetof(p.crowd), unsafe.Offsetof(p.taken), unsafe.Offsetof(p.guests), unsafe.Sizeof(p)} {
		if want := uintptr(64 * (i + 1)); at != want {
			t.Errorf("part %d of a pool begins at byte %d, want %d", i, at, want)
		}
	}
	if at := unsafe.Offsetof(p.task); at >= 128 {
		t.Errorf("the task is at byte %d, want it on the line of what is free", at)
	}
}
