package ranks

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Team is what a rank knows of the job it belongs to. A nil *Team is a process that is alone: rank 0 of 1.
// One goroutine at a time uses it.
type Team struct {
	// Limit is how long a rank waits for the others; 0: 10 minutes. Then its call returns a [*MissingError].
	Limit time.Duration

	// Silent is called, from another goroutine, when this rank itself has not come to an exchange for as long as
	// Limit. It says in which stage it is and since when. It may be nil.
	Silent func(stage string, since time.Duration)

	comm  Comm
	names []string // of the ranks: their processes and hosts
	moved int64    // bytes that were sent
	clock clock
	alarm *time.Timer
	lost  error // why nothing more can be exchanged
}

// usualLimit is the Limit of a Team that sets none.
const usualLimit = 10 * time.Minute

// New returns the Team of a rank. It exchanges the names of the processes, so all ranks call it.
func New(c Comm) (*Team, error) {
	t := &Team{comm: c}
	t.clock.begin("start")
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed host"
	}
	names, err := t.All([]byte(fmt.Sprintf("process %d on %s", os.Getpid(), host)))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		t.names = append(t.names, string(name))
	}
	return t, nil
}

// Rank returns the number of this rank, from 0.
func (t *Team) Rank() int {
	if t == nil {
		return 0
	}
	return t.comm.Rank()
}

// Size returns how many ranks there are.
func (t *Team) Size() int {
	if t == nil {
		return 1
	}
	return t.comm.Size()
}

// Name says which process a rank is and on which host.
func (t *Team) Name(rank int) string {
	if t == nil || rank >= len(t.names) {
		return fmt.Sprintf("process %d", os.Getpid())
	}
	return t.names[rank]
}

// Abort ends the processes of all ranks with an exit status. It is for a rank that has failed while the others go on.
// A process that is alone it leaves alone.
func (t *Team) Abort(status int) {
	if t != nil {
		t.comm.Abort(status)
	}
}

// All gives every rank what each of them says, in the order of the ranks. The lengths may differ.
func (t *Team) All(b []byte) ([][]byte, error) {
	if t.Size() == 1 {
		return [][]byte{b}, nil
	}
	sizes, err := t.sizes(len(b))
	if err != nil {
		return nil, err
	}
	recv := make([]byte, sum(sizes))
	if err := t.gatherInto(b, recv, sizes); err != nil {
		return nil, err
	}
	return cut(recv, sizes), nil
}

// Gather gives rank 0 what each rank says. The others get nil.
func (t *Team) Gather(b []byte) ([][]byte, error) {
	if t.Size() == 1 {
		return [][]byte{b}, nil
	}
	sizes, err := t.sizes(len(b))
	if err != nil {
		return nil, err
	}
	to, from := make([]int, t.Size()), make([]int, t.Size())
	if to[0] = len(b); t.Rank() == 0 {
		from = sizes
	}
	recv := make([]byte, sum(from))
	if t.lost != nil {
		return nil, t.lost
	}
	r, err := t.comm.Alltoall(b, to, recv, from)
	if err := t.wait(r, err, sum(to)); err != nil {
		return nil, err
	}
	if t.Rank() > 0 {
		return nil, nil
	}
	return cut(recv, sizes), nil
}

// Bcast gives every rank what rank 0 says; what others say is of no matter.
func (t *Team) Bcast(b []byte) ([]byte, error) {
	if t.Rank() > 0 {
		b = nil
	}
	all, err := t.All(b)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Same returns an error that names the ranks whose digest of something differs from rank 0's, such as of the
// data that all of them are to have.
func (t *Team) Same(what string, digest []byte) error {
	all, err := t.All(digest)
	if err != nil {
		return err
	}
	var others []int
	for i, d := range all {
		if !bytes.Equal(d, all[0]) {
			others = append(others, i)
		}
	}
	if len(others) == 0 {
		return nil
	}
	return fmt.Errorf("%s: not the same for all ranks: rank 0 (%s) differs from %s (%s)", what, t.Name(0), list(others), t.Name(others[0]))
}

// sizes gives every rank a number of each.
func (t *Team) sizes(n int) ([]int, error) {
	const width = 8
	recv, from := make([]byte, width*t.Size()), make([]int, t.Size())
	for i := range from {
		from[i] = width
	}
	if err := t.gatherInto(binary.LittleEndian.AppendUint64(nil, uint64(n)), recv, from); err != nil {
		return nil, err
	}
	for i := range from {
		from[i] = int(binary.LittleEndian.Uint64(recv[width*i:]))
	}
	return from, nil
}

// gatherInto is Allgather with a limit.
func (t *Team) gatherInto(send, recv []byte, from []int) error {
	if t.lost != nil {
		return t.lost
	}
	r, err := t.comm.Allgather(send, recv, from)
	return t.wait(r, err, len(send)*(t.Size()-1))
}

// wait waits for a request that has begun, or failed to, and counts the bytes that it sends. After an error no call
// waits any more: each returns it.
func (t *Team) wait(r Request, err error, sent int) error {
	if t.lost != nil {
		return t.lost
	}
	if err != nil {
		return t.failed(err)
	}
	t.moved += int64(sent)
	back := t.clock.wait()
	defer t.clock.enter(back)
	t.quiet()
	limit := t.limit()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err = r.Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		t.lost = t.missing(back, limit)
		return t.lost
	}
	t.listen()
	return t.failed(err)
}

// failed says of which rank an error of the Comm is.
func (t *Team) failed(err error) error {
	if err == nil {
		return nil
	}
	if t.lost == nil {
		t.lost = fmt.Errorf("rank %d of %d: %w", t.Rank(), t.Size(), err)
	}
	return t.lost
}

// Err returns why this rank can exchange nothing any more, nil if it can. Every call that exchanges returns it, too.
func (t *Team) Err() error {
	if t == nil {
		return nil
	}
	return t.lost
}

func (t *Team) limit() time.Duration {
	if t.Limit > 0 {
		return t.Limit
	}
	return usualLimit
}

// listen begins the time after which this rank is silent: it goes on alone.
func (t *Team) listen() {
	if t.Silent == nil {
		return
	}
	if t.alarm == nil {
		t.alarm = time.AfterFunc(t.limit(), func() { t.Silent(t.clock.now()) })
	}
	t.alarm.Reset(t.limit())
}

// quiet ends it: this rank is at an exchange.
func (t *Team) quiet() {
	if t.alarm != nil {
		t.alarm.Stop()
	}
}

// Leave says that this rank comes to no more exchanges.
func (t *Team) Leave() {
	if t != nil {
		t.quiet()
	}
}

// MissingError says that ranks did not come to an exchange.
type MissingError struct {
	Ranks []int         // that are missing; none: all wait, and nothing arrives
	Names []string      // of these ranks
	Stage string        // of the rank that has waited
	Limit time.Duration // how long it has
}

func (e *MissingError) Error() string {
	if len(e.Ranks) == 0 {
		return fmt.Sprintf("all ranks have waited %v for each other (%s) and nothing arrives: is the network between their hosts broken?", e.Limit, e.Stage)
	}
	return fmt.Sprintf("%s did not come to the exchange after %q within %v, and does not answer: %s; look there for a process that hangs, is stopped or is gone, or give a longer limit",
		list(e.Ranks), e.Stage, e.Limit, strings.Join(e.Names, "; "))
}

// missing asks the other ranks whether they wait as well, and names those that do not.
func (t *Team) missing(stage string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), max(time.Second, min(limit/4, 5*time.Second)))
	defer cancel()
	var mu sync.Mutex
	var asked sync.WaitGroup
	e := &MissingError{Stage: stage, Limit: limit}
	for i := range t.Size() {
		if i == t.Rank() {
			continue
		}
		answer, err := t.comm.Recv(i, make([]byte, 1))
		if err != nil {
			return t.failed(err)
		}
		if _, err := t.comm.Send(i, []byte{1}); err != nil {
			return t.failed(err)
		}
		asked.Go(func() {
			if answer.Wait(ctx) != nil {
				mu.Lock()
				e.Ranks = append(e.Ranks, i)
				mu.Unlock()
			}
		})
	}
	asked.Wait()
	e.sort()
	for _, i := range e.Ranks {
		e.Names = append(e.Names, t.Name(i))
	}
	return e
}

// Comm carries bytes between the ranks of a job. All ranks make the same calls of Alltoall and Allgather, in the same
// order. The slices given to a call belong to it until its Request is done.
type Comm interface {
	Rank() int // from 0
	Size() int // how many ranks there are

	// Alltoall begins to send to each rank its part of send. The parts lie one after another, rank 0's first, and
	// to says how many bytes each has. What rank i sends here arrives as part i of recv, which has from[i] bytes.
	Alltoall(send []byte, to []int, recv []byte, from []int) (Request, error)

	// Allgather begins to send all of send to every rank. What rank i sends arrives as part i of recv. send does not
	// overlap recv.
	Allgather(send, recv []byte, from []int) (Request, error)

	// Send and Recv begin a message from one rank to another, which knows its length.
	Send(to int, b []byte) (Request, error)
	Recv(from int, b []byte) (Request, error)

	// Abort ends the processes of all ranks with an exit status. It does not return.
	Abort(status int)
}

// Request is a transfer under way.
type Request interface {
	// Wait returns when the transfer is done. If ctx ends before, it returns ctx.Err() and the transfer goes on.
	Wait(ctx context.Context) error
}
