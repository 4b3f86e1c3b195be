package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// The checks hold each function against its formula. They run on the ranks of a fake MPI and on those of
// a real one, and return an error that says what is wrong.

// everything runs all checks with arrays of about n values.
func everything(c *Comm, n int) error {
	for _, background := range []bool{false, true} {
		err := errors.Join(
			everyType(c, n, background),
			checkGatherings(c, n, background),
			checkAlltoall[float32](c, n, background),
			checkAlltoall[uint8](c, n/3, background),
			checkMessages(c, n, background),
			checkBcast(c, n, c.Size()-1),
			checkBcast(c, n, 0),
		)
		if err != nil {
			return fmt.Errorf("%d values, in the background %t: %w", n, background, err)
		}
	}
	return errors.Join(checkOverlap(c, n), checkSplit(c))
}

type grams float32 // a type with a Number underneath

func everyType(c *Comm, n int, background bool) error {
	return errors.Join(
		checkReduce[int8](c, n, background), checkReduce[uint8](c, n, background),
		checkReduce[int32](c, n, background), checkReduce[uint32](c, n, background),
		checkReduce[int64](c, n, background), checkReduce[uint64](c, n, background),
		checkReduce[float32](c, n, background), checkReduce[float64](c, n, background),
		checkReduce[grams](c, n, background),
	)
}

// number is what rank r has at i: small, so that sums and products of a few ranks are exact in all types.
func number[T Number](r, i int) T { return T((r+i)%3 + 1) }

// finished waits for a request, if it was started.
func finished(r *Request, err error) error {
	if err != nil {
		return err
	}
	return r.Wait(context.Background())
}

func checkReduce[T Number](c *Comm, n int, background bool) error {
	for _, op := range []Op{Sum, Min, Max, Prod} {
		buf := make([]T, n)
		for i := range buf {
			buf[i] = number[T](c.Rank(), i)
		}
		var err error
		if background {
			err = finished(StartAllreduce(c, buf, op))
		} else {
			err = Allreduce(c, buf, op)
		}
		if err != nil {
			return err
		}
		for i, got := range buf {
			want := number[T](0, i)
			for r := 1; r < c.Size(); r++ {
				x := number[T](r, i)
				want = [...]T{Sum: want + x, Min: min(want, x), Max: max(want, x), Prod: want * x}[op]
			}
			if got != want {
				return fmt.Errorf("Allreduce of %T by %v: value %d is %v, want %v", got, op, i, got, want)
			}
		}
	}
	return nil
}

func checkBcast(c *Comm, n, root int) error {
	buf := make([]int64, n)
	for i := range buf {
		buf[i] = int64(c.Rank()*1000000 + i)
	}
	if err := Bcast(c, buf, root); err != nil {
		return err
	}
	for i, got := range buf {
		if want := int64(root*1000000 + i); got != want {
			return fmt.Errorf("Bcast from %d: value %d is %d, want %d", root, i, got, want)
		}
	}
	return nil
}

// share is what rank r has in a gathering: the length differs, and one has nothing.
func share(r, n int) []float64 {
	out := make([]float64, n*r/2)
	for i := range out {
		out[i] = float64(r*1000000 + i)
	}
	return out
}

func checkGatherings(c *Comm, n int, background bool) error {
	own, root := share(c.Rank(), n), c.Size()/2
	var want []float64
	counts := make([]int, c.Size())
	for r := range counts {
		part := share(r, n)
		counts[r], want = len(part), append(want, part...)
	}
	parts, err := Gather(c, own, root)
	if err != nil {
		return err
	}
	if c.Rank() != root && parts != nil {
		return fmt.Errorf("Gather gives %d parts to a rank that is not its root", len(parts))
	}
	if c.Rank() == root {
		if len(parts) != c.Size() || !slices.Equal(slices.Concat(parts...), want) {
			return errors.New("Gather gives other values")
		}
		for r, part := range parts {
			if len(part) != counts[r] {
				return fmt.Errorf("Gather gives %d values of rank %d, want %d", len(part), r, counts[r])
			}
		}
	}
	recv := make([]float64, len(want))
	if background {
		err = finished(StartAllgather(c, own, recv, counts))
	} else {
		err = Allgather(c, own, recv, counts)
	}
	if err == nil && !slices.Equal(recv, want) {
		return errors.New("Allgather gives other values")
	}
	return err
}

// checkAlltoall has rank r send n*(r+2s) values to rank s, if that is even, and else a few.
func checkAlltoall[T Number](c *Comm, n int, background bool) error {
	length := func(from, to int) int {
		if (from+to)%2 == 1 {
			return from + 1
		}
		return n * (from + 2*to) / 3
	}
	var send, recv, want []T
	to, from := make([]int, c.Size()), make([]int, c.Size())
	for r := range c.Size() {
		to[r], from[r] = length(c.Rank(), r), length(r, c.Rank())
		for i := range to[r] {
			send = append(send, number[T](c.Rank(), i*(r+1)))
		}
		for i := range from[r] {
			want = append(want, number[T](r, i*(c.Rank()+1)))
		}
	}
	recv = make([]T, len(want))
	var err error
	if background {
		var r *Request
		r, err = StartAlltoall(c, send, to, recv, from)
		clear(to) // what is the caller's is the caller's again
		clear(from)
		err = finished(r, err)
	} else {
		err = Alltoall(c, send, to, recv, from)
	}
	if err != nil {
		return err
	}
	if !slices.Equal(recv, want) {
		return fmt.Errorf("Alltoall of %T gives other values", *new(T))
	}
	return nil
}

// checkMessages sends around a ring, two messages with the same tag and one with another.
func checkMessages(c *Comm, n int, background bool) error {
	next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	message := func(from, which int) []int32 {
		out := make([]int32, n+which)
		for i := range out {
			out[i] = int32(from*100 + which*10 + i%7)
		}
		return out
	}
	var requests []*Request
	var in [3][]int32
	for i := range in {
		in[i] = make([]int32, n+i)
		r, err := StartRecv(c, in[i], last, i/2)
		if err != nil {
			return err
		}
		requests = append(requests, r)
	}
	for i := range in {
		if background {
			r, err := StartSend(c, message(c.Rank(), i), next, i/2)
			if err != nil {
				return err
			}
			requests = append(requests, r)
		} else if err := Send(c, message(c.Rank(), i), next, i/2); err != nil {
			return err
		}
	}
	for _, r := range requests {
		if err := r.Wait(context.Background()); err != nil {
			return err
		}
		if done, err := r.Done(); !done || err != nil {
			return fmt.Errorf("after Wait, Done says %t, %v", done, err)
		}
	}
	for i := range in {
		if !slices.Equal(in[i], message(last, i)) {
			return fmt.Errorf("message %d is another", i)
		}
	}
	return nil
}

// checkOverlap has several requests at once, with a blocking operation between them.
func checkOverlap(c *Comm, n int) error {
	var requests []*Request
	var bufs [][]float32
	for k := range 5 {
		buf := make([]float32, n+k)
		for i := range buf {
			buf[i] = float32(k + c.Rank())
		}
		r, err := StartAllreduce(c, buf, Sum)
		if err != nil {
			return err
		}
		requests, bufs = append(requests, r), append(bufs, buf)
	}
	b, err := c.StartBarrier()
	if err != nil {
		return err
	}
	if err := errors.Join(c.Barrier(), checkReduce[float32](c, n, false), finished(b, nil)); err != nil {
		return err
	}
	for k := len(requests) - 1; k >= 0; k-- {
		if err := requests[k].Wait(context.Background()); err != nil {
			return err
		}
		want := float32(k*c.Size() + c.Size()*(c.Size()-1)/2)
		if i := slices.IndexFunc(bufs[k], func(x float32) bool { return x != want }); i >= 0 {
			return fmt.Errorf("of five at once, Allreduce %d has %v, want %v", k, bufs[k][i], want)
		}
	}
	return nil
}

// checkSplit parts even and odd ranks, in reverse order, and leaves out rank 0 another time.
func checkSplit(c *Comm) error {
	half, err := c.Split(c.Rank()%2, -c.Rank())
	if err != nil {
		return err
	}
	size := (c.Size() + 1 - c.Rank()%2) / 2
	if half.Size() != size || half.Rank() != size-1-c.Rank()/2 {
		return fmt.Errorf("Split: rank %d of %d is %d of %d", c.Rank(), c.Size(), half.Rank(), half.Size())
	}
	ranks := []int32{int32(c.Rank())}
	if err := Allreduce(half, ranks, Max); err != nil {
		return err
	}
	if want := int32(2*(size-1) + c.Rank()%2); ranks[0] != want {
		return fmt.Errorf("Split: the highest rank of a half is %d, want %d", ranks[0], want)
	}
	rest, err := c.Split(min(c.Rank(), 1)-1, 0)
	if err != nil {
		return err
	}
	if (c.Rank() == 0) != (rest == nil) {
		return fmt.Errorf("Split: rank %d, of color %d, gets %v", c.Rank(), min(c.Rank(), 1)-1, rest)
	}
	if rest != nil && (rest.Size() != c.Size()-1 || rest.Rank() != c.Rank()-1) {
		return fmt.Errorf("Split: without rank 0, rank %d is %d of %d", c.Rank(), rest.Rank(), rest.Size())
	}
	twin, err := c.Dup()
	if err != nil {
		return err
	}
	if twin.Rank() != c.Rank() || twin.Size() != c.Size() {
		return fmt.Errorf("Dup: rank %d of %d is %d of %d", c.Rank(), c.Size(), twin.Rank(), twin.Size())
	}
	return errors.Join(checkReduce[float64](twin, 3, true), twin.Free(), half.Free())
}
