package mpi

import (
	"fmt"
	"unsafe"
)

// Allreduce combines the buffers of all ranks value by value, and leaves the result in the buffer of
// each. All must have the same length.
func Allreduce[T Number](c *Comm, buf []T, op Op) error {
	return c.allreduce(vectorOf(buf), op)
}

// StartAllreduce is Allreduce in the background.
func StartAllreduce[T Number](c *Comm, buf []T, op Op) (*Request, error) {
	return c.startAllreduce(vectorOf(buf), op)
}

func (c *Comm) allreduce(v vector, op Op) error {
	if err := op.known("Allreduce"); err != nil {
		return err
	}
	return c.call(func() error {
		l := c.e.lib
		return v.pieces(l.limit, func(v vector) error {
			return l.check("MPI_Allreduce", l.Allreduce(l.abi.inPlace, v.at, int32(v.n), l.abi.types[v.kind], l.abi.ops[op], c.handle))
		})
	})
}

func (c *Comm) startAllreduce(v vector, op Op) (*Request, error) {
	if err := c.valid(); err != nil {
		return nil, err
	}
	if err := op.known("StartAllreduce"); err != nil {
		return nil, err
	}
	return c.start("StartAllreduce", func(r *Request) error {
		l := c.e.lib
		return v.pieces(l.limit, func(v vector) error {
			p := r.newPart("MPI_Iallreduce")
			return r.posted(l.Iallreduce(l.abi.inPlace, v.at, int32(v.n), l.abi.types[v.kind], l.abi.ops[op], c.handle, &p.handle))
		})
	}, v)
}

// known reports an Op that is none.
func (o Op) known(name string) error {
	if o < 0 || int(o) >= len(opNames) {
		return fmt.Errorf("mpi: %s: Op(%d) is no operation: there are Sum, Min, Max and Prod", name, int(o))
	}
	return nil
}

// Bcast copies the buffer of rank root to those of the other ranks. All must have the same length.
func Bcast[T Number](c *Comm, buf []T, root int) error {
	return c.bcast(vectorOf(buf), root)
}

func (c *Comm) bcast(v vector, root int) error {
	if err := c.peer("Bcast", "root", root); err != nil {
		return err
	}
	return c.call(func() error {
		l := c.e.lib
		return v.pieces(l.limit, func(v vector) error {
			return l.check("MPI_Bcast", l.Bcast(v.at, int32(v.n), l.abi.types[v.kind], int32(root), c.handle))
		})
	})
}

// Gather returns to rank root what each rank sent, by rank, and nil to the others. The lengths may differ.
func Gather[T Number](c *Comm, send []T, root int) ([][]T, error) {
	if err := c.peer("Gather", "root", root); err != nil {
		return nil, err
	}
	lens, total, err := c.lengths(len(send))
	if err != nil {
		return nil, err
	}
	var all []T
	if c.rank == root {
		all = make([]T, total)
	}
	if err := c.gather(vectorOf(send), vectorOf(all), lens, root); err != nil || c.rank != root {
		return nil, err
	}
	out := make([][]T, c.size)
	for rank, n := range lens {
		out[rank], all = all[:n:n], all[n:]
	}
	return out, nil
}

// lengths tells all ranks the length that each of them has.
func (c *Comm) lengths(n int) (lens []int, total int, err error) {
	all := make([]int64, c.size)
	err = c.call(func() error {
		l, own := c.e.lib, int64(n)
		t := l.abi.types[kindInt64]
		return l.check("MPI_Allgather", l.Allgather(unsafe.Pointer(&own), 1, t, unsafe.Pointer(&all[0]), 1, t, c.handle))
	})
	lens = make([]int, c.size)
	for rank, n := range all {
		lens[rank] = int(n)
		total += lens[rank]
	}
	return lens, total, err
}

// gather collects parts of known lengths at root.
func (c *Comm) gather(send, recv vector, lens []int, root int) error {
	at, total := layout(lens)
	l := c.e.lib
	if total <= l.limit {
		return c.call(func() error {
			ns, begins, t := ints(lens), ints(at), l.abi.types[send.kind]
			return l.check("MPI_Gatherv", l.Gatherv(send.at, int32(send.n), t, recv.at, &ns[0], &begins[0], t, int32(root), c.handle))
		})
	}
	to, from := make([]int, c.size), make([]int, c.size)
	to[root] = send.n
	if c.rank == root {
		copy(from, lens)
	}
	x := exchange{sideOf(send, to), sideOf(recv, from)}
	r, err := c.start("Gather", func(r *Request) error { return x.messages(r, c, 0) }, send, recv)
	return r.wait(err)
}

// Allgather gives to all ranks what each rank sends: recv gets the parts one after another, by rank, and
// counts are their lengths, which every rank must know.
func Allgather[T Number](c *Comm, send, recv []T, counts []int) error {
	r, err := c.allgather("Allgather", vectorOf(send), vectorOf(recv), counts)
	return r.wait(err)
}

// StartAllgather is Allgather in the background.
func StartAllgather[T Number](c *Comm, send, recv []T, counts []int) (*Request, error) {
	return c.allgather("StartAllgather", vectorOf(send), vectorOf(recv), counts)
}

func (c *Comm) allgather(name string, send, recv vector, counts []int) (*Request, error) {
	if err := c.valid(); err != nil {
		return nil, err
	}
	if err := c.parts(name, "counts", counts, recv.n); err != nil {
		return nil, err
	}
	if counts[c.rank] != send.n {
		return nil, fmt.Errorf("mpi: %s: counts[%d] is %d, and this rank, %d, sends %d values", name, c.rank, counts[c.rank], c.rank, send.n)
	}
	in := sideOf(recv, counts)
	background := name == "StartAllgather"
	return c.start(name, func(r *Request) error {
		l := c.e.lib
		if recv.n > l.limit { // all ranks know that
			same := side{send, make([]int, c.size), make([]int, c.size)}
			for rank := range same.lens {
				same.lens[rank] = send.n
			}
			x := exchange{same, in}
			return x.messages(r, c, 0)
		}
		ns, at, t := ints(in.lens), ints(in.at), l.abi.types[send.kind]
		if !background {
			return l.check("MPI_Allgatherv", l.Allgatherv(send.at, int32(send.n), t, recv.at, &ns[0], &at[0], t, c.handle))
		}
		r.keep = append(r.keep, unsafe.Pointer(&ns[0]), unsafe.Pointer(&at[0]))
		p := r.newPart("MPI_Iallgatherv")
		return r.posted(l.Iallgatherv(send.at, int32(send.n), t, recv.at, &ns[0], &at[0], t, c.handle, &p.handle))
	}, send, recv)
}

// Alltoall sends a part of send to each rank and receives a part of recv from each. The parts lie one
// after another, by rank; to and from are their lengths. What a rank sends to another is as long as what
// that one receives from it.
func Alltoall[T Number](c *Comm, send []T, to []int, recv []T, from []int) error {
	r, err := c.alltoall("Alltoall", vectorOf(send), to, vectorOf(recv), from)
	return r.wait(err)
}

// StartAlltoall is Alltoall in the background.
func StartAlltoall[T Number](c *Comm, send []T, to []int, recv []T, from []int) (*Request, error) {
	return c.alltoall("StartAlltoall", vectorOf(send), to, vectorOf(recv), from)
}

func (c *Comm) alltoall(name string, send vector, to []int, recv vector, from []int) (*Request, error) {
	if err := c.valid(); err != nil {
		return nil, err
	}
	if err := c.parts(name, "to", to, send.n); err != nil {
		return nil, err
	}
	if err := c.parts(name, "from", from, recv.n); err != nil {
		return nil, err
	}
	if to[c.rank] != from[c.rank] {
		return nil, fmt.Errorf("mpi: %s: this rank, %d, sends %d values to itself and receives %d", name, c.rank, to[c.rank], from[c.rank])
	}
	x := exchange{sideOf(send, to), sideOf(recv, from)}
	return c.start(name, func(r *Request) error { return x.run(r, c, name == "StartAlltoall") }, send, recv)
}
