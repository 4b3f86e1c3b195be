package par

import (
	"bytes"
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Record is what loops did between its start and its end.
type Record struct {
	Threads int           // that a loop could use, when the record began
	Took    time.Duration // from start to end
	Loops   []Loop        // one after the other
}

// Loop is a call of [Run] or [For]. Times count from the start of the record.
type Loop struct {
	Start, End time.Duration
	Callers    []uintptr // of the call, for runtime.CallersFrames, the nearest first
	Chunks     []Chunk
}

// Chunk is a part of a loop, and the thread that did it, of which the caller is 0.
type Chunk struct {
	Start, End time.Duration
	Thread     int
}

// recorder is where loops are recorded; mostly there is none.
var recorder atomic.Pointer[recording]

// recording is a record that is being made. Who holds inside owns what stands below it.
type recording struct {
	threads int
	of      [goroutineName]byte // the goroutine whose loops are recorded
	inside  atomic.Bool         // a loop is being recorded, or none will be any more
	start   time.Time           // later by the time that was spent on the record itself
	left    int                 // how many chunks still fit
	loops   []Loop
	full    time.Duration // when a loop came that did not fit; 0: none has
}

// ChunksMost is how many chunks a record holds, in about 100 MB.
const ChunksMost = 1 << 22

// StartRecord begins a record of the loops that this goroutine runs one after the other. A loop
// inside a chunk of another belongs to the chunk, and one that panics is left out. What stop returns
// is empty where another record was being made. A record of [ChunksMost] chunks ends there.
func StartRecord() (stop func() Record) { return startRecord(ChunksMost) }

func startRecord(most int) (stop func() Record) {
	r := &recording{threads: crew(), of: goroutineNow(), left: most, start: time.Now()}
	if !recorder.CompareAndSwap(nil, r) {
		return func() Record { return Record{} }
	}
	return sync.OnceValue(func() Record {
		end := time.Now()
		recorder.CompareAndSwap(r, nil)
		for !r.inside.CompareAndSwap(false, true) { // another goroutine may stop the record in a loop
			runtime.Gosched()
		}
		took := end.Sub(r.start)
		if n := len(r.loops); n > 0 {
			took = max(took, r.loops[n-1].End)
		}
		return Record{Threads: r.threads, Took: cmp.Or(r.full, took), Loops: r.loops}
	})
}

// goroutineName is how many bytes of a stack hold the number of its goroutine.
const goroutineName = 32

// goroutineNow returns what tells the running goroutine from others: how a trace of its stack begins.
func goroutineNow() (name [goroutineName]byte) {
	n := runtime.Stack(name[:], false)
	clear(name[max(0, bytes.IndexByte(name[:n], '[')):]) // what it does at the moment
	return name
}

// callersMost is how many callers of a loop are kept.
const callersMost = 24

// run is Run.
func (r *recording) run(n int, t Task) {
	enter := time.Now()
	// inside first: for loops in chunks, of which there may be many, a look at the goroutine would take long
	if n <= 0 || n > chunksMost || r.inside.Load() || goroutineNow() != r.of || !r.inside.CompareAndSwap(false, true) {
		run(n, t)
		return
	}
	defer r.inside.Store(false)
	if n > r.left || r.full > 0 {
		r.full = cmp.Or(r.full, enter.Sub(r.start))
		run(n, t)
		return
	}
	r.left -= n
	callers := make([]uintptr, callersMost)
	callers = callers[:runtime.Callers(3, callers)]
	chunks := make([]Chunk, n)
	r.start = r.start.Add(time.Since(enter))
	l := recorded{t, r.start, chunks}
	start := time.Since(r.start)
	run(n, &l)
	end := time.Since(r.start)
	r.loops = append(r.loops, Loop{start, end, callers, chunks})
	r.start = r.start.Add(time.Since(r.start) - end)
}

// recorded is a task that takes note of the time of its chunks.
type recorded struct {
	t      Task
	start  time.Time
	chunks []Chunk
}

// Chunk does chunk i on the thread that called.
func (r *recorded) Chunk(i int) { r.chunksOn(0, i, i+1) }

// chunksOn does the chunks from lo up to hi on a thread.
func (r *recorded) chunksOn(thread, lo, hi int) {
	at := time.Since(r.start)
	for i := lo; i < hi; i++ {
		r.t.Chunk(i)
		end := time.Since(r.start)
		r.chunks[i] = Chunk{at, end, thread}
		at = end
	}
}
