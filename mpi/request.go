package mpi

import (
	"context"
	"fmt"
	"unsafe"
)

// A Request is a transfer that goes on in the background. Until Wait has returned nil, or Done has
// reported true, its buffers belong to MPI: do not write to any of them, and do not read one that receives.
// A request that nobody waits for ends all the same, and its buffers live as long as it needs them.
type Request struct {
	e     *engine
	call  string // the function of this package, for errors
	bytes int    // of its buffers
	done  chan struct{}
	err   error // set before done is closed

	// These belong to who has the engine's turn.
	parts  []*part
	keep   []unsafe.Pointer // what MPI reads or writes, which Go must not free
	finish func()           // what is left to do once MPI is done
}

// A part is one of MPI's requests. A long transfer has several.
type part struct {
	handle uintptr
	what   string // the function of MPI
	status [statusWords]uint64
	kind   kind
	want   int // the values that must arrive, or −1 if this is no message to receive
}

// newPart adds a part, of which the caller has MPI fill in the handle.
func (r *Request) newPart(what string) *part {
	p := &part{what: what, want: -1}
	r.parts = append(r.parts, p)
	return p
}

// posted takes the code of the function that was to fill in the last part. A part that failed is none.
func (r *Request) posted(code int32) error {
	last := len(r.parts) - 1
	err := r.e.lib.check(r.parts[last].what, code)
	if err != nil {
		r.parts = r.parts[:last]
	}
	return err
}

// start has post begin a transfer of some buffers.
func (c *Comm) start(name string, post func(r *Request) error, buffers ...vector) (*Request, error) {
	r := &Request{e: c.e, call: name, done: make(chan struct{})}
	for _, b := range buffers {
		r.keep = append(r.keep, b.at)
		r.bytes += b.n * b.size
	}
	err := c.e.do(func() error {
		if err := c.usable(); err != nil {
			return err
		}
		err := post(r)
		switch {
		case len(r.parts) > 0: // after an error, too: MPI has the buffers of the parts that it took
			c.e.begun(r)
		case err == nil:
			r.complete()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// advance asks MPI for the parts that are left, and reports whether the request is over.
func (r *Request) advance() bool {
	l := r.e.lib
	for len(r.parts) > 0 {
		p, flag := r.parts[0], int32(0)
		err := l.check(p.what, l.Test(&p.handle, &flag, &p.status[0]))
		if err == nil && flag == 0 {
			return false
		}
		if err == nil && p.want >= 0 {
			err = l.arrived(p)
		}
		if err != nil && r.err == nil {
			r.err = err
		}
		r.parts[0] = nil
		r.parts = r.parts[1:]
	}
	r.complete()
	return true
}

// arrived checks the length of a message, which MPI allows to be shorter than the buffer.
func (l *library) arrived(p *part) error {
	var n int32
	if err := l.check("MPI_Get_count", l.GetCount(&p.status[0], l.abi.types[p.kind], &n)); err != nil {
		return err
	}
	if int(n) != p.want {
		return fmt.Errorf("mpi: a message of %d values came into a buffer of %d: send as many as are received", n, p.want)
	}
	return nil
}

// complete tells those who wait.
func (r *Request) complete() {
	if r.finish != nil && r.err == nil {
		r.finish()
	}
	r.keep, r.finish = nil, nil
	close(r.done)
}

// Wait waits until the transfer is over and returns its error. If the context ends first, Wait returns
// the context's error, and the transfer goes on: its buffers are still MPI's, and Wait can be called
// again. Several goroutines may wait for one request.
func (r *Request) Wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	default:
	}
	r.e.await(ctx, r)
	if done, err := r.Done(); done {
		return err
	}
	return ctx.Err()
}

// Done reports whether the transfer is over, and if so, its error. It does not wait.
func (r *Request) Done() (bool, error) {
	select {
	case <-r.done:
		return true, r.err
	default:
		return false, nil
	}
}

// wait is Wait for the functions that begin a request only to wait for it.
func (r *Request) wait(err error) error {
	if err != nil {
		return err
	}
	return r.Wait(context.Background())
}
