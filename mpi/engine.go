package mpi

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// How requests are polled. While a goroutine waits for one, the thread first polls without a pause, and
// then sleeps longer and longer: another rank may need the processor to get to its part. While nobody
// waits, it polls now and then, so that transfers go on beside the computation.
const (
	spinFor      = 50 * time.Microsecond
	firstPause   = 20 * time.Microsecond
	longestPause = 200 * time.Microsecond
	longestIdle  = time.Millisecond
)

// errFinalized is the error of every call after Finalize.
var errFinalized = errors.New("mpi: Finalize has been called")

// An engine makes all calls of one library, on one thread. With MPI_THREAD_FUNNELED nothing else is allowed,
// and every MPI has it.
type engine struct {
	lib     *library
	calls   chan *call
	wake    chan struct{} // somebody has begun to wait
	ended   chan struct{} // closed after Finalize
	waiting atomic.Int32  // goroutines in Wait

	// These belong to the thread.
	pending   []*Request
	finalized bool
}

// A call is a function to run on the thread, and its result.
type call struct {
	run  func() error
	err  error
	done chan struct{}
}

// calls are used again, since most of them take some microseconds.
var calls = sync.Pool{New: func() any { return &call{done: make(chan struct{}, 1)} }}

// newEngine starts the thread.
func newEngine(lib *library) *engine {
	e := &engine{lib: lib, calls: make(chan *call, 16), wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go e.loop()
	return e
}

// do runs f on the thread and returns its error.
func (e *engine) do(f func() error) error {
	c := calls.Get().(*call)
	c.run = f
	select {
	case e.calls <- c:
	case <-e.ended:
		return errFinalized
	}
	select {
	case <-c.done:
	case <-e.ended:
		select { // the last call is that of Finalize
		case <-c.done:
		default:
			return errFinalized
		}
	}
	err := c.err
	c.run, c.err = nil, nil
	calls.Put(c)
	return err
}

// loop is the thread. It stays locked to its goroutine: MPI wants all calls from the thread that
// initialised it.
func (e *engine) loop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(e.ended)
	var p pauses
	for !e.finalized {
		if len(e.pending) == 0 {
			e.serve(<-e.calls)
			p = pauses{}
			continue
		}
		select {
		case c := <-e.calls:
			e.serve(c)
			p = pauses{}
			continue
		default:
		}
		if e.poll() {
			p = pauses{}
			continue
		}
		if e.waiting.Load() > 0 {
			e.lib.wait(&p)
		} else if c := e.idle(&p); c != nil {
			e.serve(c)
		}
	}
}

// serve runs a call.
func (e *engine) serve(c *call) {
	c.err = c.run()
	c.done <- struct{}{}
}

// pauses is how long the thread has polled in vain.
type pauses struct {
	since time.Time // of the first poll while somebody waits
	next  time.Duration
}

// wait passes the time between two polls while somebody waits: none at first.
func (l *library) wait(p *pauses) {
	if p.since.IsZero() {
		p.since, p.next = time.Now(), firstPause
	}
	if time.Since(p.since) < spinFor {
		return
	}
	l.pause(p.next)
	p.next = min(p.next*3/2, longestPause)
}

// idle passes the time between two polls while nobody waits, and ends early for a call, which it
// returns, or somebody who waits.
func (e *engine) idle(p *pauses) *call {
	*p = pauses{next: min(max(2*p.next, firstPause), longestIdle)}
	timer := time.NewTimer(p.next)
	defer timer.Stop()
	select {
	case c := <-e.calls:
		*p = pauses{}
		return c
	case <-e.wake:
		*p = pauses{}
	case <-timer.C:
	}
	return nil
}

// poll asks for each pending request whether it is done, which also lets MPI go on with it. It reports
// whether one was.
func (e *engine) poll() bool {
	left := e.pending[:0]
	for _, r := range e.pending {
		if !r.advance() {
			left = append(left, r)
		}
	}
	some := len(left) < len(e.pending)
	clear(e.pending[len(left):])
	e.pending = left
	return some
}

// finalize ends MPI, which no request may outlive.
func (e *engine) finalize() error {
	return e.do(func() error {
		e.settle()
		if n := len(e.pending); n > 0 {
			return fmt.Errorf("mpi: Finalize: %d requests are pending, such as %s: wait for them first, or call Abort", n, e.pending[0].call)
		}
		if err := e.lib.check("MPI_Finalize", e.lib.Finalize()); err != nil {
			return err
		}
		e.lib.atExit()
		e.finalized = true
		return nil
	})
}

// settle polls once, for requests that are done although nobody has looked.
func (e *engine) settle() {
	if len(e.pending) > 0 {
		e.poll()
	}
}
