package mpi

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// How requests are polled. Who waits for one first polls without a pause: for some time, and the time
// that its bytes take, since MPI has last moved some, which shows in a poll that takes longer. Then it sleeps
// longer and longer: another rank may need the processor to get to its part. While nobody waits, a
// goroutine polls now and then, so that transfers go on beside the computation.
const (
	spinFor      = 50 * time.Microsecond
	spinForByte  = time.Nanosecond
	movesBytes   = 3 * time.Microsecond // and one for each request
	firstPause   = 20 * time.Microsecond
	longestPause = 200 * time.Microsecond
	longestIdle  = time.Millisecond
	lingering    = 100 // polls in vain until the background rests
)

// errFinalized is the error of every call after Finalize.
var errFinalized = errors.New("mpi: Finalize has been called")

// An engine makes the calls of one library, never two at a time.
//
// MPI wants MPI_Init_thread and MPI_Finalize to be called by the same thread, which the engine keeps. The
// library is asked for MPI_THREAD_SERIALIZED, which lets each goroutine make its calls itself. A library that
// has only MPI_THREAD_FUNNELED gets all calls from that thread. Handing a call over and back takes ten
// to a hundred microseconds, if the processors are busy with the ranks themselves; a call takes one.
type engine struct {
	lib    *library
	thread chan func()   // what the thread is to do
	direct bool          // goroutines make calls themselves
	turn   chan struct{} // holds a value while somebody calls MPI
	leader chan struct{} // holds a value while somebody waits and polls

	// These belong to who has the turn.
	pending   []*Request
	finalized bool

	waiting atomic.Int32  // goroutines in Wait
	wanting atomic.Int32  // goroutines that want the turn
	started chan struct{} // a request has been started
	ended   chan struct{} // closed by Finalize
}

// newEngine starts the thread, and the goroutine that polls while nobody waits.
func newEngine(lib *library) *engine {
	e := &engine{
		lib: lib, thread: make(chan func()), turn: make(chan struct{}, 1), leader: make(chan struct{}, 1),
		started: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	go func() {
		runtime.LockOSThread()
		for {
			select {
			case f := <-e.thread:
				f()
			case <-e.ended:
				runtime.UnlockOSThread()
				return
			}
		}
	}()
	go e.background()
	return e
}

// onThread runs f on the thread that has initialised MPI.
func (e *engine) onThread(f func() error) (err error) {
	over := make(chan struct{})
	e.thread <- func() {
		err = f()
		close(over)
	}
	<-over
	return err
}

// do runs f, which calls MPI, when it is its turn.
func (e *engine) do(f func() error) error {
	e.wanting.Add(1)
	e.turn <- struct{}{}
	e.wanting.Add(-1)
	defer func() { <-e.turn }()
	switch {
	case e.finalized:
		return errFinalized
	case e.direct:
		return f()
	}
	return e.onThread(f)
}

// begun takes note of a request that MPI works on. Who calls it has the turn.
func (e *engine) begun(r *Request) {
	e.pending = append(e.pending, r)
	select {
	case e.started <- struct{}{}:
	default: // the background has not seen the last one yet
	}
}

// poll asks for each pending request whether it is done, which also lets MPI go on with it.
func (e *engine) poll() {
	left := e.pending[:0]
	for _, r := range e.pending {
		if !r.advance() {
			left = append(left, r)
		}
	}
	clear(e.pending[len(left):])
	e.pending = left
}

// await polls until a request is over or the context ends. Of several goroutines that wait, one polls
// for all.
func (e *engine) await(ctx context.Context, r *Request) {
	e.waiting.Add(1)
	defer e.waiting.Add(-1)
	select {
	case <-r.done:
		return
	case <-ctx.Done():
		return
	case e.leader <- struct{}{}:
	}
	defer func() { <-e.leader }()
	patience := spinFor + time.Duration(r.bytes)*spinForByte
	for pause := firstPause; ; {
		select {
		case <-r.done:
			return
		case <-ctx.Done():
			return
		case e.turn <- struct{}{}:
		}
		spin := patience
		if pause > firstPause {
			spin = 0
		}
		moved, shared := e.spin(ctx, r, spin)
		<-e.turn
		done, _ := r.Done()
		switch {
		case done:
			return
		case shared:
		case moved:
			pause = firstPause
		default:
			e.lib.pause(pause)
			pause = min(pause*3/2, longestPause)
		}
	}
}

// spin polls until a request is over, its context ends, or somebody wants the turn, which makes it shared.
// It gives up if MPI has moved no bytes for as long as its patience lasts: of none, in the first poll that
// moves none. Who calls it has the turn.
func (e *engine) spin(ctx context.Context, r *Request, patience time.Duration) (moved, shared bool) {
	f := func() error {
		for last := time.Now(); ; {
			began := time.Now()
			e.poll()
			now := time.Now()
			if now.Sub(began) > movesBytes+time.Duration(len(e.pending))*time.Microsecond {
				moved, last = true, now
			}
			if done, _ := r.Done(); done || ctx.Err() != nil {
				return nil
			}
			if shared = e.wanting.Load() > 0; shared || now.Sub(last) > patience {
				return nil
			}
		}
	}
	if e.direct {
		_ = f()
	} else {
		_ = e.onThread(f)
	}
	return moved, shared
}

// background polls while requests are pending and nobody waits. It goes on for a while after the last
// request, because to wake a goroutine for each would cost more than most of them take.
func (e *engine) background() {
	for {
		select {
		case <-e.started:
		case <-e.ended:
			return
		}
		for pause, vain := firstPause, 0; vain < lingering && e.idle(pause); pause = min(2*pause, longestIdle) {
			if vain++; e.waiting.Load() > 0 || e.glance() {
				vain = 0
			}
		}
	}
}

// idle passes the time until the background polls again, and reports false if MPI has ended.
func (e *engine) idle(pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.ended:
		return false
	}
}

// glance polls once, unless somebody calls MPI at this moment, and reports whether requests are pending.
func (e *engine) glance() (pending bool) {
	select {
	case e.turn <- struct{}{}:
	default: // MPI goes on with all transfers in any call
		return true
	}
	defer func() { <-e.turn }()
	if len(e.pending) == 0 {
		return false
	}
	e.spin(context.Background(), e.pending[0], 0)
	return len(e.pending) > 0
}

// finalize ends MPI, which no request may outlive.
func (e *engine) finalize() error {
	e.turn <- struct{}{}
	defer func() { <-e.turn }()
	if e.finalized {
		return errFinalized
	}
	return e.onThread(func() error {
		e.poll() // for requests that are over although nobody has looked
		if n := len(e.pending); n > 0 {
			return fmt.Errorf("mpi: Finalize: %d requests are pending, such as %s: wait for them first, or call Abort", n, e.pending[0].call)
		}
		if err := e.lib.check("MPI_Finalize", e.lib.Finalize()); err != nil {
			return err
		}
		e.lib.atExit()
		e.finalized = true
		close(e.ended)
		return nil
	})
}
