package mpi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// Every function does what its formula says, with handles of either ABI, and with a limit of counts that
// cuts arrays into pieces.
func TestFormulas(t *testing.T) {
	jobs := []struct {
		ranks, limit int
		abi          abi
		level        int32 // of threads
	}{
		{1, 7, standard, standard.serialized},
		{2, maxCount, standard, standard.funneled},
		{2, 7, openMPILike(t), 2},
		{3, 20, standard, standard.serialized},
		{3, 2, standard, standard.serialized},
	}
	for _, j := range jobs {
		t.Run(fmt.Sprintf("%d ranks, counts to %d, %s", j.ranks, j.limit, j.abi.name), func(t *testing.T) {
			fakes, _ := newFakeJob(j.ranks, j.abi, j.limit)
			for _, f := range fakes {
				f.late, f.level = f.me%2*3, j.level
			}
			start(t, fakes, func(c *Comm, f *fakeRank) error {
				for _, n := range []int{0, 1, 20} {
					if err := everything(c, n); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// fake runs a function on ranks with the standard ABI.
func fake(t *testing.T, ranks int, body func(c *Comm, f *fakeRank) error) {
	t.Helper()
	fakes, _ := newFakeJob(ranks, standard, maxCount)
	start(t, fakes, body)
}

// says returns an error unless err has all of the words.
func says(err error, words ...string) error {
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			return fmt.Errorf("the error is %q, want it to say %q", fmt.Sprint(err), w)
		}
	}
	return nil
}

// What cannot be meant is an error that says what is wrong, on the rank that did it, and reaches no
// library.
func TestMisuse(t *testing.T) {
	var none *Comm
	buf := make([]float32, 6)
	fake(t, 2, func(c *Comm, f *fakeRank) error {
		tests := []struct {
			err   error
			words string
		}{
			{Allreduce(none, buf, Sum), "no communicator"},
			{Allreduce(new(Comm), buf, Sum), "no communicator"},
			{none.Barrier(), "no communicator"},
			{of(none.StartBarrier()), "no communicator"},
			{of(none.Split(0, 0)), "no communicator"},
			{Send(none, buf, 0, 0), "no communicator"},
			{Bcast(none, buf, 0), "no communicator"},
			{of(Gather(none, buf, 0)), "no communicator"},
			{Allgather(none, buf, buf, nil), "no communicator"},
			{Alltoall(none, buf, nil, buf, nil), "no communicator"},
			{of(StartAllreduce(none, buf, Sum)), "no communicator"},
			{Allreduce(c, buf, 4), "Op(4) is no operation"},
			{of(StartAllreduce(c, buf, -1)), "Op(-1) is no operation"},
			{Bcast(c, buf, 2), "root 2 is no rank: they are 0 to 1"},
			{of(Gather(c, buf, -1)), "root -1 is no rank"},
			{Send(c, buf, 2, 0), "to 2 is no rank"},
			{Recv(c, buf, -1, 0), "from -1 is no rank"},
			{Send(c, buf, 1, -1), "tag -1"},
			{Send(c, buf, 1, ownTag), "tag 32767 is not between 0 and 32766"},
			{Allgather(c, buf, buf, []int{6}), "counts has 1 lengths, and there are 2 ranks"},
			{Allgather(c, buf[:3], buf, []int{3, 4}), "counts are 7 values together, and the buffer has 6"},
			{Allgather(c, buf[:2], buf, []int{3, 3}), "sends 2 values"},
			{Allgather(c, buf, buf, []int{7, -1}), "counts[1] is -1"},
			{Alltoall(c, buf, []int{6, 1}, buf, []int{3, 3}), "to are 7 values together"},
			{Alltoall(c, buf, []int{3, 3}, buf, []int{math.MaxInt, 1}), "from[1] is"},
			{Alltoall(c, buf, []int{2, 4}, buf, []int{4, 2}), "to itself"},
			{of(c.Split(math.MaxInt, 0)), "32 bits"},
			{of(c.Split(0, math.MinInt)), "32 bits"},
			{c.Free(), "cannot be freed"},
		}
		before := f.turns[c.handle]
		for _, tt := range tests {
			if err := says(tt.err, tt.words); err != nil {
				return err
			}
		}
		if f.turns[c.handle] != before || len(f.job.messages) > 0 {
			return errors.New("a call that is an error reached the library")
		}
		half, err := c.Split(c.Rank(), 0)
		if err != nil {
			return err
		}
		if err := half.Free(); err != nil {
			return err
		}
		for _, err := range []error{half.Free(), half.Barrier(), of(half.Dup()), Send(half, buf, 0, 0), of(Gather(half, buf, 0))} {
			if err := says(err, "has been freed"); err != nil {
				return err
			}
		}
		return nil
	})
}

// An error has the name of the function and MPI's text; in the background, Wait returns it.
func TestErrors(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		function, says string
		do             func(c *Comm) error
	}{
		{"barrier", "MPI_Barrier", func(c *Comm) error { return c.Barrier() }},
		{"allreduce", "MPI_Allreduce", func(c *Comm) error { return Allreduce(c, []int32{1}, Sum) }},
		{"Iallreduce", "MPI_Iallreduce", func(c *Comm) error { return of(StartAllreduce(c, []int32{1}, Sum)) }},
		{"Test", "MPI_Iallreduce", func(c *Comm) error { return finished(StartAllreduce(c, []int32{1}, Sum)) }},
		{"Bcast", "MPI_Bcast", func(c *Comm) error { return Bcast(c, []int32{1}, 0) }},
		{"Gatherv", "MPI_Gatherv", func(c *Comm) error { return of(Gather(c, []int32{1}, 0)) }},
		{"Allgather", "MPI_Allgather", func(c *Comm) error { return of(Gather(c, []int32{1}, 0)) }},
		{"allgatherv", "MPI_Allgatherv", func(c *Comm) error { return Allgather(c, []int32{1}, []int32{0}, []int{1}) }},
		{"alltoallv", "MPI_Alltoallv", func(c *Comm) error { return Alltoall(c, []int32{1}, []int{1}, []int32{0}, []int{1}) }},
		{"Isend", "MPI_Isend", func(c *Comm) error { return Send(c, []int32{1}, 0, 0) }},
		{"Split", "MPI_Comm_split", func(c *Comm) error { return of(c.Split(0, 0)) }},
		{"Comm_set_errhandler", "MPI_Comm_set_errhandler", func(c *Comm) error { return of(c.Dup()) }},
		{"Comm_rank", "MPI_Comm_rank", func(c *Comm) error { return of(c.Dup()) }},
		{"Comm_size", "MPI_Comm_size", func(c *Comm) error { return of(c.Dup()) }},
		{"Comm_free", "MPI_Comm_free", func(c *Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			return d.Free()
		}},
	}
	fake(t, 1, func(c *Comm, f *fakeRank) error {
		for _, tt := range tests {
			f.fail[tt.function] = 99
			err := tt.do(c)
			var e *Error
			if !errors.As(err, &e) || e.Call != tt.says || e.Code != 99 || e.Text != "fake error 99" {
				return fmt.Errorf("after an error in %s: %#v", tt.function, err)
			}
			if err := says(err, "mpi: "+tt.says+": fake error 99"); err != nil {
				return err
			}
		}
		// a message that is too short or too long for its buffer
		for n, want := range map[int]string{2: "a message of 2 values came into a buffer of 3", 4: "MPI_Irecv: fake error 15"} {
			r, err := StartRecv(c, make([]int8, 3), 0, 1)
			if err := errors.Join(err, Send(c, make([]int8, n), 0, 1), says(r.Wait(ctx), want)); err != nil {
				return err
			}
			if done, err := r.Done(); !done || says(err, want) != nil {
				return fmt.Errorf("Done says %t, %w", done, err)
			}
		}
		return nil
	})
}

// A long transfer of which a piece cannot be started is an error at once, and its other pieces, which
// MPI has, keep their buffer until they are done.
func TestPieceFails(t *testing.T) {
	fakes, _ := newFakeJob(1, standard, 2)
	start(t, fakes, func(c *Comm, f *fakeRank) error {
		f.late = 2
		own, tries := f.lib.Isend, 0
		f.lib.Isend = func(buf unsafe.Pointer, n int32, t uintptr, to, tag int32, comm uintptr, r *uintptr) int32 {
			if tries++; tries == 3 {
				return 77
			}
			return own(buf, n, t, to, tag, comm, r)
		}
		_, err := StartSend(c, make([]uint64, 9), 0, 5)
		if err := says(err, "MPI_Isend: fake error 77"); err != nil {
			return err
		}
		runtime.GC()
		return Recv(c, make([]uint64, 4), 0, 5) // the pieces that went
	})
}

// A wait whose context ends leaves the request as it is.
func TestWaitEnds(t *testing.T) {
	go1, go2 := make(chan struct{}), make(chan struct{})
	fake(t, 2, func(c *Comm, f *fakeRank) error {
		buf := []float64{1}
		if c.Rank() == 1 {
			<-go1
			buf[0] = 2
			err := finished(StartAllreduce(c, buf, Sum))
			close(go2)
			return err
		}
		r, err := StartAllreduce(c, buf, Sum)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := r.Wait(ctx); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("Wait with a context that has ended: %v", err)
		}
		if done, err := r.Done(); done || err != nil {
			return fmt.Errorf("Done before the other rank: %t, %v", done, err)
		}
		if err := says(c.e.finalize(), "1 requests are pending, such as StartAllreduce"); err != nil {
			return err
		}
		ctx, cancel = context.WithTimeout(context.Background(), 2*time.Millisecond)
		defer cancel()
		if err := r.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("Wait with a limit: %v", err)
		}
		close(go1)
		<-go2
		var all sync.WaitGroup
		var errs [4]error
		for i := range errs {
			all.Go(func() { errs[i] = r.Wait(context.Background()) })
		}
		all.Wait()
		if err := errors.Join(errs[:]...); err != nil || buf[0] != 3 {
			return fmt.Errorf("the sum is %v, %w", buf[0], err)
		}
		return r.Wait(ctx) // whose limit is over: but the request is done
	})
}
