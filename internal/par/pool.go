package par

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// Task is a loop body. Chunk does the part i of the loop; it may run on any
// thread, at the same time as other chunks.
type Task interface {
	Chunk(i int)
}

const (
	coldSpin = 20 * time.Microsecond  // how long anybody may spin at any time
	yielding = 100 * time.Microsecond // how long a caller yields before it parks
	looks    = 32                     // how often who spins looks between two looks at the clock
)

// shared is the pool of the process.
var shared = newPool()

// pool is a set of workers and the one job they have.
//
// A job is open while there are chunks to take. Whoever takes one owns it and may
// read task, since the job cannot end before that chunk is counted off from
// undone. So a worker that comes late, or slept through several jobs, takes part
// in the current one or finds nothing to take.
//
// A line of the cache that one thread writes and another reads has to travel, which
// takes a short loop's time where their processors are far apart. So what workers look
// out for is a line that is written once a job, each thread takes chunks of a range of
// its own first, what all count is another line, and what the owner of the pool keeps
// for itself has its own.
type pool struct {
	_    [64]byte
	free chunks // that nobody has taken
	task Task   // stays after the job, until the next
	_    [24]byte

	undone atomic.Int64 // chunks that are not done, or not yet counted off
	_      [56]byte

	crowd  atomic.Int32 // calls that found the pool taken
	hot    atomic.Int32 // calls of Hot that are not undone
	size   atomic.Int32 // len(workers), for those who do not own it
	failed atomic.Pointer[Panic]
	caller gate
	_      [24]byte

	taken   atomic.Bool // by a call, which owns what stands below
	whole   bool        // all chunks of the job are taken
	job     loop
	mine    int64 // chunks that the caller took and has not counted off
	helpers int   // workers to wake for this job
	workers []*worker

	guests guests
	roster atomic.Pointer[[]*worker] // workers, for those who do not own them
	_      [16]byte
}

func newPool() *pool { return &pool{free: newChunks(), caller: newGate()} }

// Run runs chunks 0 to n−1 of t on up to Threads() threads and returns when
// all are done. If a chunk panics, those not begun are left out, and Run panics
// once the others have ended: with the chunk's own value if it ran on the
// calling goroutine, with a [*Panic] that holds it if on a worker.
func Run(n int, t Task) {
	if r := recorder.Load(); r != nil {
		r.run(n, t)
		return
	}
	run(n, t)
}

func run(n int, t Task) {
	switch {
	case n <= 0:
	case n == 1 || n > chunksMost || crew() == 1:
		serial(n, t)
	case shared.taken.CompareAndSwap(false, true):
		shared.run(n, t)
	default:
		shared.alone(n, t)
	}
}

func serial(n int, t Task) {
	for i := range n {
		t.Chunk(i)
	}
}

// alone runs a loop that found the pool taken.
func (p *pool) alone(n int, t Task) {
	p.crowd.Add(1)
	defer p.crowd.Add(-1)
	serial(n, t)
}

// run is Run of a caller that has taken the pool.
func (p *pool) run(n int, t Task) {
	p.open(n, t)
	defer p.end() // also when a chunk panics: workers may still use the task
	for r := range int(p.job.ranges) {
		for lo, hi := p.free.take(p.job, r); lo < hi; lo, hi = p.free.take(p.job, r) {
			p.mine += int64(hi - lo)
			do(t, lo, hi, 0)
		}
		if p.undone.Load() == p.mine {
			break // nobody has left anything
		}
	}
	p.whole = true
}

// do does the chunks from lo up to hi.
func do(t Task, lo, hi, thread int) {
	if r, ok := t.(*recorded); ok {
		r.chunksOn(thread, lo, hi)
		return
	}
	for i := lo; i < hi; i++ {
		t.Chunk(i)
	}
}

// open makes t the pool's job.
func (p *pool) open(n int, t Task) {
	threads := crew()
	p.resize(threads - 1)
	p.mine, p.whole = 0, false
	// Calls that run alone use threads too: waking a worker would only take
	// them away.
	p.helpers = max(0, min(n-1, len(p.workers), threads-1-int(p.crowd.Load())))
	p.undone.Store(int64(n))
	p.task = t
	p.free.open(n, p.helpers+1)
	p.job = p.free.current()
	p.wake(0)
}

// wake wakes two workers, from i on. The workers are a tree, each of which
// wakes its own two, so that a caller with many does not wake them all.
func (p *pool) wake(i int) {
	for j := i; j < min(i+2, p.helpers); j++ {
		if p.workers[j].hosting.Load() {
			p.wake(2*j + 2) // in its place
		} else {
			p.workers[j].bed.wake()
		}
	}
}

// end waits for the chunks that were begun and gives the pool back. A caller
// that panics comes here with chunks left.
func (p *pool) end() {
	rest := p.mine
	if !p.whole {
		rest += int64(p.free.drop(p.job))
	}
	if p.undone.Add(-rest) > 0 {
		p.wait()
	}
	failed := p.failed.Load()
	if failed != nil {
		p.failed.Store(nil)
	}
	p.release()
	if failed != nil {
		panic(failed)
	}
}

// wait returns when undone is 0.
func (p *pool) wait() {
	if spinning() && p.spin() {
		return
	}
	start := time.Now()
	for p.undone.Load() > 0 && time.Since(start) < yielding {
		runtime.Gosched()
	}
	for p.undone.Load() > 0 {
		p.caller.announce()
		if p.undone.Load() > 0 {
			p.caller.sleep()
		} else {
			p.caller.cancel()
		}
	}
}

// spin looks for a short time whether undone is 0. The clock is read late: mostly
// the others are done by then.
func (p *pool) spin() bool {
	var start time.Time
	for i := 1; p.undone.Load() > 0; i++ {
		pause(2)
		switch {
		case i == looks:
			start = time.Now()
		case i%looks == 0 && time.Since(start) > coldSpin:
			return false
		}
	}
	return true
}

// done counts chunks off that a worker did.
func (p *pool) done(k int64) {
	if p.undone.Add(-k) == 0 {
		p.caller.wake()
	}
}

// resize brings the number of workers to n. The caller owns the pool.
func (p *pool) resize(n int) {
	if len(p.workers) == n {
		return
	}
	for len(p.workers) > n {
		last := len(p.workers) - 1
		p.workers[last].stop()
		p.workers[last] = nil
		p.workers = p.workers[:last]
	}
	for len(p.workers) < n {
		p.workers = append(p.workers, newWorker(p, len(p.workers)))
	}
	p.size.Store(int32(n))
	all := slices.Clone(p.workers)
	p.roster.Store(&all)
}

// release gives the pool back, and sends workers home that SetThreads made
// superfluous while it was taken.
func (p *pool) release() {
	p.taken.Store(false)
	p.trim()
}

func (p *pool) trim() {
	for int(p.size.Load()) > crew()-1 && p.taken.CompareAndSwap(false, true) {
		p.resize(min(len(p.workers), crew()-1))
		p.taken.Store(false)
	}
}
