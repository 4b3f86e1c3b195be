package par

import (
	"sync"
	"sync/atomic"
)

// guests are functions that wait for a worker.
type guests struct {
	left atomic.Int32 // len(list), for those who do not hold mu
	mu   sync.Mutex
	list []func()
}

// Aside runs f on one of the threads, beside loops that do without it meanwhile: it is for work of
// milliseconds, which would otherwise take turns with a loop's chunks on a processor. f begins when
// a worker has nothing better to do; it may be never while chunks wait for it. A loop that f runs is serial,
// or else takes the threads from others. On a single thread f is a goroutine.
func Aside(f func()) {
	if crew() == 1 {
		go f()
		return
	}
	shared.invite(f)
}

// invite gives f to the first worker that is free.
func (p *pool) invite(f func()) {
	if p.taken.CompareAndSwap(false, true) { // else a loop has seen to the workers
		p.resize(crew() - 1)
		p.release()
	}
	p.guests.mu.Lock()
	p.guests.list = append(p.guests.list, f)
	p.guests.mu.Unlock()
	p.guests.left.Add(1)
	if all := p.roster.Load(); all != nil {
		for i := len(*all) - 1; i >= 0; i-- { // the last ones are the last to be woken for a loop
			if (*all)[i].bed.wake() {
				return
			}
		}
	}
}

// guest returns a function that waits, nil if there is none.
func (p *pool) guest() (f func()) {
	p.guests.mu.Lock()
	defer p.guests.mu.Unlock()
	if len(p.guests.list) > 0 {
		f, p.guests.list[0] = p.guests.list[0], nil
		p.guests.list = p.guests.list[1:]
		p.guests.left.Add(-1)
	}
	return f
}

// host runs a function that waits.
func (w *worker) host() {
	if f := w.pool.guest(); f != nil {
		w.hosting.Store(true)
		defer w.hosting.Store(false)
		f()
	}
}
