package mpi

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"
)

// A Comm is a communicator: ranks that exchange messages and call collective operations together. All
// ranks must call these in the same order. Any goroutine may use a Comm.
type Comm struct {
	e          *engine
	handle     uintptr
	rank, size int
	freed      bool // belongs to who has the engine's turn
}

// describe returns a communicator that MPI has made. Who calls it has the turn.
func (e *engine) describe(handle uintptr) (*Comm, error) {
	l := e.lib
	if err := l.check("MPI_Comm_set_errhandler", l.SetHandler(handle, l.abi.errorsReturn)); err != nil {
		return nil, err
	}
	var rank, size int32
	if err := l.check("MPI_Comm_rank", l.Rank(handle, &rank)); err != nil {
		return nil, err
	}
	if err := l.check("MPI_Comm_size", l.Size(handle, &size)); err != nil {
		return nil, err
	}
	return &Comm{e: e, handle: handle, rank: int(rank), size: int(size)}, nil
}

// Rank returns the number of this rank, from 0 to Size()−1.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks.
func (c *Comm) Size() int { return c.size }

// usable reports why nothing can be done with the communicator. Who calls it has the turn.
func (c *Comm) usable() error {
	if c.freed {
		return errors.New("mpi: the communicator has been freed")
	}
	return nil
}

// valid reports why a communicator is none, and belongs at the start of all that gets one.
func (c *Comm) valid() error {
	if c == nil || c.e == nil {
		return errors.New("mpi: no communicator: use that of Init, Dup or Split, which is nil for a rank of no color")
	}
	return nil
}

// call runs f, which calls MPI, unless the communicator is unusable.
func (c *Comm) call(f func() error) error {
	if err := c.valid(); err != nil {
		return err
	}
	return c.e.do(func() error {
		if err := c.usable(); err != nil {
			return err
		}
		return f()
	})
}

// Split makes a communicator of the ranks that give the same color, ordered by key and, of the same key, by
// rank. A rank that gives a negative color belongs to none and gets nil. All ranks of c must call it.
func (c *Comm) Split(color, key int) (out *Comm, err error) {
	if color > math.MaxInt32 || int(int32(key)) != key {
		return nil, fmt.Errorf("mpi: Split: color %d or key %d does not fit into 32 bits", color, key)
	}
	err = c.call(func() error {
		l := c.e.lib
		part, handle := int32(max(color, -1)), uintptr(0)
		if color < 0 {
			part = l.abi.undefined
		}
		if err := l.check("MPI_Comm_split", l.Split(c.handle, part, int32(key), &handle)); err != nil || color < 0 {
			return err
		}
		out, err = c.e.describe(handle)
		return err
	})
	return out, err
}

// Dup makes a communicator of the same ranks, whose messages and operations are apart from those of c.
// All ranks of c must call it.
func (c *Comm) Dup() (out *Comm, err error) {
	err = c.call(func() error {
		var handle uintptr
		if err := c.e.lib.check("MPI_Comm_dup", c.e.lib.Dup(c.handle, &handle)); err != nil {
			return err
		}
		out, err = c.e.describe(handle)
		return err
	})
	return out, err
}

// Free gives up a communicator that Split or Dup made. All its ranks must call it. Requests that are
// pending go on.
func (c *Comm) Free() error {
	return c.call(func() error {
		if c.handle == c.e.lib.abi.world {
			return errors.New("mpi: Free: the communicator of Init cannot be freed: call Finalize at the end")
		}
		handle := c.handle
		c.freed = true
		return c.e.lib.check("MPI_Comm_free", c.e.lib.Free(&handle))
	})
}

// Barrier waits until all ranks have called it.
func (c *Comm) Barrier() error {
	return c.call(func() error { return c.e.lib.check("MPI_Barrier", c.e.lib.Barrier(c.handle)) })
}

// StartBarrier is Barrier in the background: its request is over when all ranks have called StartBarrier.
func (c *Comm) StartBarrier() (*Request, error) {
	if err := c.valid(); err != nil {
		return nil, err
	}
	return c.start("StartBarrier", func(r *Request) error {
		p := r.newPart("MPI_Ibarrier")
		return r.posted(c.e.lib.Ibarrier(c.handle, &p.handle))
	})
}

// abortAfter is how long Abort waits for its turn, while somebody is inside of a call of MPI.
const abortAfter = time.Second

// Abort ends all ranks at once, with an exit status that the launcher reports. It does not return. It can
// be called while another call waits for a rank that will never answer.
func (c *Comm) Abort(code int) { abort(c, code, abortAfter, os.Exit) }

// abort calls MPI_Abort, which does not return if it is a real one, and then exit.
func abort(c *Comm, code int, patience time.Duration, exit func(int)) {
	if c.valid() == nil {
		over := make(chan struct{})
		l := c.e.lib
		go func() {
			defer close(over)
			_ = c.e.do(func() error { // its error does not matter: the process ends
				l.Abort(l.abi.world, int32(code))
				return nil
			})
		}()
		select {
		case <-over:
		case <-time.After(patience): // two calls at once are against the rules, but that one is stuck
			l.Abort(l.abi.world, int32(code))
		}
	}
	exit(code)
}
