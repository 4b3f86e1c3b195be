package par

import (
	"runtime"
	"sync/atomic"
	"time"
)

// worker is one thread that takes chunks of the pool's jobs.
type worker struct {
	bed     bed
	_       [64]byte
	pool    *pool
	index   int
	quit    atomic.Bool
	hosting atomic.Bool // it runs a guest
	seen    uint32      // the number of the last job that it helped with, or looked at
	took    int64       // chunks of this job that are not counted off
	ended   bool        // help came to its end: no panic, no Goexit
	waits   waits
}

func newWorker(p *pool, index int) *worker {
	w := &worker{bed: newBed(), pool: p, index: index}
	go w.loop()
	return w
}

// loop works until stop. The thread is locked: a thread that waits for itself
// is back sooner than a goroutine that waits for a thread.
func (w *worker) loop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for !w.quit.Load() {
		switch {
		case w.pool.free.number() != w.seen:
			w.help()
		case w.pool.guests.left.Load() > 0:
			w.host()
		default:
			w.wait()
		}
	}
}

// help takes chunks until none is left: of its own range first, if there is one for each
// thread. If there are fewer, who comes first has it: of two threads on one core the other
// one would only be slow.
func (w *worker) help() {
	p := w.pool
	job := p.free.current()
	w.seen, w.took, w.ended = job.number, 0, false
	defer w.leave()
	ranges, woken := int(job.ranges), false
	own := (w.index + 1) * ranges / max(int(p.size.Load())+1, ranges)
	for i := range ranges {
		r := (own + i) % ranges
		for lo, hi := p.free.take(job, r); lo < hi; lo, hi = p.free.take(job, r) {
			if !woken {
				p.wake(2*w.index + 2)
				woken = true
			}
			w.took += int64(hi - lo)
			do(p.task, lo, hi, w.index+1)
		}
		w.countOff() // before it looks at what others have left, which takes a while
		if p.free.number() != job.number {
			break
		}
	}
	w.ended = true
}

// leave counts off what help took, and keeps a panic for the caller.
func (w *worker) leave() {
	p, v := w.pool, recover()
	if !w.ended {
		if v == nil { // Goexit, which goes on and takes this goroutine with it
			v = errGoexit
			defer func() { go w.loop() }()
		}
		p.failed.CompareAndSwap(nil, newPanic(v))
		w.took += int64(p.free.drop(p.free.current())) // the caller's job, as long as w has chunks of it
	}
	w.countOff()
}

// countOff counts off what help took. When the last one does, the job is over.
func (w *worker) countOff() {
	if took := w.took; took > 0 {
		w.took = 0
		w.pool.done(took)
	}
}

// event reports whether there is something to do.
func (w *worker) event() bool {
	return w.pool.free.number() != w.seen || w.pool.guests.left.Load() > 0 || w.quit.Load()
}

// wait spins until there is something to do, or else sleeps, and remembers how long it took.
func (w *worker) wait() {
	start, met := w.lookOut()
	if !met {
		w.park()
	}
	switch {
	case !start.IsZero():
		w.waits.add(time.Since(start))
	case met:
		w.waits.add(0)
	}
}

// lookOut spins until there is something to do, and reports whether there is. If that was
// not at once, start is when it began. It is Go with a few instructions of assembly, so
// that the collector and the scheduler can interrupt it.
func (w *worker) lookOut() (start time.Time, met bool) {
	for i := 1; ; i++ {
		switch {
		case w.event():
			return start, true
		case i == 1 && w.patience() == 0:
			return start, false
		case i == looks:
			start = time.Now()
		case i%looks == 0 && time.Since(start) >= w.patience():
			return start, false
		}
		pause(2)
	}
}

// patience is how long the worker spins now: as long as the pool allows and as its waits
// of late were worth.
func (w *worker) patience() time.Duration { return min(w.pool.patience(), w.waits.bound()) }

// patience is how long a worker may spin now.
func (p *pool) patience() time.Duration {
	switch {
	case !spinning():
		return 0
	case p.crowd.Load() > 0 && !p.taken.Load():
		return 0 // other goroutines run loops alone and need the processor
	case p.hot.Load() > 0:
		return HotSpin
	}
	return coldSpin
}

// park sleeps until there is something to do.
func (w *worker) park() {
	w.bed.announce()
	if w.event() { // from before the announcement: nobody will wake us
		w.bed.cancel()
		return
	}
	w.bed.sleep()
}

// stop makes the worker's goroutine end.
func (w *worker) stop() {
	w.quit.Store(true)
	w.bed.wake()
}
