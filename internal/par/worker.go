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
		case w.pool.free.left() > 0:
			w.help()
		case w.pool.guests.left.Load() > 0:
			w.host()
		default:
			w.wait()
		}
	}
}

// help takes chunks until none is left.
func (w *worker) help() {
	w.took, w.ended = 0, false
	defer w.leave()
	p := w.pool
	for lo, hi := p.free.last(); lo < hi; lo, hi = p.free.last() {
		if w.took == 0 {
			p.wake(2*w.index + 2)
		}
		w.took += int64(hi - lo)
		t := p.task
		for i := hi - 1; i >= lo; i-- {
			t.Chunk(i)
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
		w.took += int64(p.free.drop())
	}
	if took := w.took; took > 0 {
		p.done(took)
	}
}

// event reports whether there is something to do.
func (w *worker) event() bool {
	return w.pool.free.left() > 0 || w.pool.guests.left.Load() > 0 || w.quit.Load()
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
		return hotSpin
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
