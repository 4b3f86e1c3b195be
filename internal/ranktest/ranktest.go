package ranktest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/edgewise-ml/edgewise/ranks"
)

// world is what the ranks of a job share.
type world struct {
	mu    sync.Mutex
	calls map[int]*call // collective calls by their number, until all ranks have made them
	mail  map[[2]int]chan []byte
	over  context.Context
	end   context.CancelCauseFunc
}

// call is one collective call that some ranks have made.
type call struct {
	name  string
	sends [][]byte
	tos   [][]int // nil of an Allgather
	came  int
	all   chan struct{} // closed when all have come
}

// rank is one member of a world.
type rank struct {
	*world
	at, size, made int
}

// Run calls f as each rank of a job of that many, each on a goroutine of its own, and returns their errors. A rank that returns an
// error ends the waiting of the others.
func Run(size int, f func(c ranks.Comm) error) []error {
	w := &world{calls: map[int]*call{}, mail: map[[2]int]chan []byte{}}
	w.over, w.end = context.WithCancelCause(context.Background())
	errs := make([]error, size)
	var wg sync.WaitGroup
	for i := range size {
		wg.Go(func() {
			if errs[i] = f(&rank{world: w, at: i, size: size}); errs[i] != nil {
				w.end(fmt.Errorf("rank %d has failed: %w", i, errs[i]))
			}
		})
	}
	wg.Wait()
	return errs
}

func (r *rank) Rank() int { return r.at }
func (r *rank) Size() int { return r.size }

func (r *rank) Alltoall(send []byte, to []int, recv []byte, from []int) (ranks.Request, error) {
	return r.collective("Alltoall", send, to, recv, from)
}

func (r *rank) Allgather(send, recv []byte, from []int) (ranks.Request, error) {
	return r.collective("Allgather", send, nil, recv, from)
}

// collective makes the rank's next collective call, which must be the others', too.
func (r *rank) collective(name string, send []byte, to []int, recv []byte, from []int) (ranks.Request, error) {
	if len(from) != r.size || to != nil && len(to) != r.size || total(from) != len(recv) || to != nil && total(to) != len(send) {
		return nil, fmt.Errorf("%s: %d bytes for parts %v, %d bytes in parts %v", name, len(send), to, len(recv), from)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.calls[r.made]
	if c == nil {
		c = &call{name: name, sends: make([][]byte, r.size), tos: make([][]int, r.size), all: make(chan struct{})}
		r.calls[r.made] = c
	}
	if c.name != name {
		return nil, fmt.Errorf("call %d is %s here and %s elsewhere", r.made, name, c.name)
	}
	c.sends[r.at], c.tos[r.at] = append([]byte(nil), send...), to
	if c.came++; c.came == r.size {
		delete(r.calls, r.made)
		close(c.all)
	}
	r.made++
	return &transfer{r.world, c.all, func() error { return c.deliver(r.at, recv, from) }}, nil
}

// deliver copies what each rank has sent to rank at.
func (c *call) deliver(at int, recv []byte, from []int) error {
	for i, sent := range c.sends {
		if to := c.tos[i]; to != nil {
			lo := total(to[:at])
			sent = sent[lo : lo+to[at]]
		}
		if len(sent) != from[i] {
			return fmt.Errorf("%s: rank %d sends %d bytes, and rank %d expects %d", c.name, i, len(sent), at, from[i])
		}
		recv = recv[copy(recv, sent):]
	}
	return nil
}

func total(sizes []int) int {
	n := 0
	for _, size := range sizes {
		n += size
	}
	return n
}

// box returns where messages from one rank to another lie.
func (w *world) box(from, to int) chan []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.mail[[2]int{from, to}]
	if b == nil {
		b = make(chan []byte, 16)
		w.mail[[2]int{from, to}] = b
	}
	return b
}

func (r *rank) Send(to int, b []byte) (ranks.Request, error) {
	r.box(r.at, to) <- append([]byte(nil), b...)
	done := make(chan struct{})
	close(done)
	return &transfer{r.world, done, func() error { return nil }}, nil
}

func (r *rank) Recv(from int, b []byte) (ranks.Request, error) {
	done := make(chan struct{})
	go func() {
		select {
		case m := <-r.box(from, r.at):
			copy(b, m)
			close(done)
		case <-r.over.Done():
		}
	}()
	return &transfer{r.world, done, func() error { return nil }}, nil
}

// ErrAborted is why the others' calls fail after an Abort.
var ErrAborted = errors.New("the job was aborted")

func (r *rank) Abort(status int) {
	r.end(fmt.Errorf("%w by rank %d with status %d", ErrAborted, r.at, status))
}

// transfer is a Request.
type transfer struct {
	*world
	all    <-chan struct{}
	finish func() error
}

func (t *transfer) Wait(ctx context.Context) error {
	select {
	case <-t.all:
		return t.finish()
	default:
	}
	select {
	case <-t.all:
		return t.finish()
	case <-ctx.Done():
		return ctx.Err()
	case <-t.over.Done():
		return context.Cause(t.over)
	}
}
