package mpi

import (
	"slices"
	"unsafe"
)

// An exchange is what each rank sends to each other: the parts of two buffers, by rank.
type exchange struct{ send, recv side }

// A side is a buffer of an exchange with a part for each rank.
type side struct {
	vector
	lens []int
	at   []int // where the parts begin
}

// sideOf describes a buffer in which the parts lie one after another.
func sideOf(v vector, lens []int) side {
	at, _ := layout(lens)
	return side{v, slices.Clone(lens), at}
}

// part returns the values that go to a rank, or come from it.
func (s side) part(rank int) vector { return s.slice(s.at[rank], s.lens[rank]) }

// messages posts each part of more than most values as a message, and copies that of this rank. Sender
// and receiver know the length of a part, and so agree which parts are messages.
func (x *exchange) messages(r *Request, c *Comm, most int) error {
	for i := range c.size {
		rank := (c.rank + i) % c.size // not everybody's first message goes to rank 0
		in, out := x.recv.part(rank), x.send.part(rank)
		if rank == c.rank {
			if in.n > most {
				copy(in.bytes(), out.bytes())
			}
			continue
		}
		to := address{int32(rank), ownTag}
		if in.n > most {
			if err := r.recv(c, in, to); err != nil {
				return err
			}
		}
		if out.n > most {
			if err := r.send(c, out, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// counted is a side as MPI_Alltoallv gets it: only parts of at most a number of values, with lengths
// and beginnings as C's ints.
type counted struct {
	buf      vector
	lens, at []int32
	packed   side  // the parts, if they are in a buffer of their own
	whole    *side // where they belong then, or nil
}

// count leaves out the parts of more than most values. If the buffer is too long for the beginnings to
// be C's ints, it packs the others into another.
func (s *side) count(most, limit int) counted {
	lens := make([]int, len(s.lens))
	for i, n := range s.lens {
		if n <= most {
			lens[i] = n
		}
	}
	if s.n <= limit {
		return counted{buf: s.vector, lens: ints(lens), at: ints(s.at)}
	}
	at, total := layout(lens)
	memory := make([]uint64, total*s.size/8+1)
	packed := side{vector{unsafe.Pointer(&memory[0]), total, s.kind, s.size}, lens, at}
	return counted{packed.vector, ints(lens), ints(at), packed, s}
}

// pack copies the parts to where MPI reads them.
func (k *counted) pack() {
	if k.whole == nil {
		return
	}
	for rank := range k.packed.lens {
		if to := k.packed.part(rank); to.n > 0 {
			copy(to.bytes(), k.whole.part(rank).bytes())
		}
	}
}

// unpack copies the parts from where MPI wrote them.
func (k *counted) unpack() {
	if k.whole == nil {
		return
	}
	for rank := range k.packed.lens {
		if from := k.packed.part(rank); from.n > 0 {
			copy(k.whole.part(rank).bytes(), from.bytes())
		}
	}
}

// run posts the exchange: short parts by one call of MPI_Alltoallv, or of MPI_Ialltoallv if it is to go
// on in the background, and the others as messages. Short are those of which the buffers of all ranks
// together are within a C int.
func (x *exchange) run(r *Request, c *Comm, background bool) error {
	l := c.e.lib
	most := l.limit / c.size
	if err := x.messages(r, c, most); err != nil {
		return err
	}
	send, recv := x.send.count(most, l.limit), x.recv.count(most, l.limit)
	send.pack()
	r.finish = recv.unpack
	t := l.abi.types[send.buf.kind]
	if !background {
		return l.check("MPI_Alltoallv", l.Alltoallv(send.buf.at, &send.lens[0], &send.at[0], t, recv.buf.at, &recv.lens[0], &recv.at[0], t, c.handle))
	}
	r.keep = append(r.keep, send.buf.at, unsafe.Pointer(&send.lens[0]), unsafe.Pointer(&send.at[0]))
	r.keep = append(r.keep, recv.buf.at, unsafe.Pointer(&recv.lens[0]), unsafe.Pointer(&recv.at[0]))
	p := r.newPart("MPI_Ialltoallv")
	return r.posted(l.Ialltoallv(send.buf.at, &send.lens[0], &send.at[0], t, recv.buf.at, &recv.lens[0], &recv.at[0], t, c.handle, &p.handle))
}
