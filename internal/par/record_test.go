package par

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// followsItself fails the test unless the loops of a record, and the chunks of each thread in them, follow
// each other within it.
func followsItself(t *testing.T, r Record) {
	t.Helper()
	var before time.Duration
	for i, l := range r.Loops {
		if l.Start < before || l.End < l.Start || l.End > r.Took {
			t.Errorf("loop %d of %d is from %v to %v, after %v and before %v", i, len(r.Loops), l.Start, l.End, before, r.Took)
		}
		before = l.End
		chunks := slices.Clone(l.Chunks)
		slices.SortFunc(chunks, func(a, b Chunk) int { return int(a.Start - b.Start) })
		ends := make([]time.Duration, r.Threads)
		for _, c := range chunks {
			if c.Thread < 0 || c.Thread >= r.Threads {
				t.Fatalf("a chunk is of thread %d, and there are %d", c.Thread, r.Threads)
			}
			if c.Start < max(l.Start, ends[c.Thread]) || c.End < c.Start || c.End > l.End {
				t.Errorf("a chunk of thread %d is from %v to %v, after %v, in a loop from %v to %v", c.Thread, c.Start, c.End, ends[c.Thread], l.Start, l.End)
			}
			ends[c.Thread] = c.End
		}
	}
}

// caller returns the nearest caller of a loop outside of this package's code.
func caller(l Loop) string {
	frames := runtime.CallersFrames(l.Callers)
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.File, "_test.go") || !more {
			return f.Function
		}
	}
}

func loopByRun(hits []int32) { Run(len(hits), task(func(i int) { hits[i]++ })) }

func loopByFor(hits []int32) {
	For(len(hits), 3, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			hits[i]++
		}
	})
}

// Every loop is there with its caller, and every chunk once.
func TestRecord(t *testing.T) {
	each(t, func(t *testing.T) {
		stop := StartRecord()
		var chunks []int
		for _, n := range []int{1, 2, 7, 300} {
			hits := make([]int32, n)
			loopByRun(hits)
			once(t, hits)
			clear(hits)
			loopByFor(hits)
			once(t, hits)
			chunks = append(chunks, n, (n+2)/3)
		}
		Run(0, task(func(int) {}))
		r := stop()
		Run(5, task(func(int) {}))
		if again := stop(); len(again.Loops) != len(r.Loops) || again.Took != r.Took {
			t.Errorf("stopped once more, it has %d loops and took %v", len(again.Loops), again.Took)
		}
		followsItself(t, r)
		if len(r.Loops) != len(chunks) || r.Threads != Threads() {
			t.Fatalf("%d loops of %d threads, want %d of %d", len(r.Loops), r.Threads, len(chunks), Threads())
		}
		for i, l := range r.Loops {
			want := []string{"loopByRun", "loopByFor"}[i%2]
			if got := caller(l); len(l.Chunks) != chunks[i] || !strings.HasSuffix(got, want) {
				t.Errorf("loop %d has %d chunks and is of %s, want %d and %s", i, len(l.Chunks), got, chunks[i], want)
			}
		}
	})
}

// What a chunk does is recorded as the thread's that did it.
func TestRecordThreads(t *testing.T) {
	stop := StartRecord()
	apart(func() {}, func() {})
	r := stop()
	defer SetThreads(2)()
	if len(r.Loops) != 1 || len(r.Loops[0].Chunks) != 2 || r.Loops[0].Chunks[0].Thread == r.Loops[0].Chunks[1].Thread {
		t.Fatalf("two chunks that wait for each other are recorded as %+v", r.Loops)
	}
	if c := r.Loops[0].Chunks; max(c[0].Start, c[1].Start) >= min(c[0].End, c[1].End) {
		t.Errorf("the chunks %+v do not overlap", c)
	}
}

// A loop inside a chunk belongs to the chunk, and other goroutines are left out.
func TestRecordOfOneGoroutine(t *testing.T) {
	defer SetThreads(3)()
	stop := StartRecord()
	if r := StartRecord()(); r.Threads != 0 || r.Loops != nil || r.Took != 0 {
		t.Errorf("a second record has %+v", r)
	}
	var others sync.WaitGroup
	others.Go(func() { loopByRun(make([]int32, 50)) })
	others.Wait()
	Run(8, task(func(int) { loopByFor(make([]int32, 9)) }))
	r := stop()
	followsItself(t, r)
	if len(r.Loops) != 1 || len(r.Loops[0].Chunks) != 8 {
		t.Errorf("the record has %d loops, want one of 8 chunks", len(r.Loops))
	}
	stop = StartRecord()
	loopByRun(make([]int32, 4))
	if r := stop(); len(r.Loops) != 1 {
		t.Errorf("the next record has %d loops", len(r.Loops))
	}
}

// A loop that panics is left out, and those after it are not.
func TestRecordOfPanic(t *testing.T) {
	stop := StartRecord()
	for _, v := range []any{apart(boomerang, func() {}), apart(func() {}, boomerang), apart(boomerang, boomerang)} {
		if v == nil {
			t.Error("a loop did not panic while it was recorded")
		}
	}
	loopByRun(make([]int32, 4))
	r := stop()
	if len(r.Loops) != 1 || len(r.Loops[0].Chunks) != 4 {
		t.Errorf("after three panics the record has %+v", r.Loops)
	}
	if recorder.Load() != nil {
		t.Error("the record has not ended")
	}
}

// A record that is full ends before the loop that does not fit.
func TestRecordThatIsFull(t *testing.T) {
	began := time.Now()
	stop := startRecord(10)
	loopByRun(make([]int32, 6))
	loopByRun(make([]int32, 4))
	var third time.Duration
	Run(1, task(func(int) { third = time.Since(began) }))
	loopByRun(make([]int32, 3))
	r := stop()
	if len(r.Loops) != 2 || r.Took < r.Loops[1].End || r.Took > third {
		t.Errorf("%d loops, and it took %v; the third began before %v", len(r.Loops), r.Took, third)
	}
}

// Another goroutine may end the record at any time.
func TestRecordStoppedFromElsewhere(t *testing.T) {
	defer SetThreads(2)()
	for range 50 {
		stop := StartRecord()
		got := make(chan Record)
		go func() { got <- stop() }()
		for range 20 {
			loopByRun(make([]int32, 8))
		}
		r := <-got
		followsItself(t, r)
	}
}

func TestRecordAllocatesNothingWhenOff(t *testing.T) {
	defer SetThreads(2)()
	var x Task = task(func(int) {})
	f := func(lo, hi int) {}
	StartRecord()()
	Run(8, x)
	for name, run := range map[string]func(){"Run": func() { Run(8, x) }, "For": func() { For(8, 1, f) }, "short For": func() { For(8, 8, f) }} {
		if n := testing.AllocsPerRun(200, run); n != 0 {
			t.Errorf("%s: %g allocations a call", name, n)
		}
	}
}
