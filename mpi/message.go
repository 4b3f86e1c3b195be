package mpi

import "fmt"

// Tags of messages. MPI promises 32767; that one is this package's own.
const (
	maxTag = 32766
	ownTag = 32767
)

// An address is where a message goes to, or comes from.
type address struct{ rank, tag int32 }

// Send sends the values of buf to rank to, which must receive them with the same tag and as many.
func Send[T Number](c *Comm, buf []T, to, tag int) error {
	r, err := StartSend(c, buf, to, tag)
	return r.wait(err)
}

// Recv receives the values of buf from rank from.
func Recv[T Number](c *Comm, buf []T, from, tag int) error {
	r, err := StartRecv(c, buf, from, tag)
	return r.wait(err)
}

// StartSend is Send in the background. Two messages to the same rank with the same tag arrive in the
// order in which they were started. A tag is 0 to 32766.
func StartSend[T Number](c *Comm, buf []T, to, tag int) (*Request, error) {
	return c.message("StartSend", "to", vectorOf(buf), to, tag, (*Request).send)
}

// StartRecv is Recv in the background.
func StartRecv[T Number](c *Comm, buf []T, from, tag int) (*Request, error) {
	return c.message("StartRecv", "from", vectorOf(buf), from, tag, (*Request).recv)
}

// message begins a message in one of the two directions.
func (c *Comm) message(name, what string, v vector, peer, tag int, post func(*Request, *Comm, vector, address) error) (*Request, error) {
	if err := c.peer(name, what, peer); err != nil {
		return nil, err
	}
	if tag < 0 || tag > maxTag {
		return nil, fmt.Errorf("mpi: %s: tag %d is not between 0 and %d", name, tag, maxTag)
	}
	return c.start(name, func(r *Request) error { return post(r, c, v, address{int32(peer), int32(tag)}) }, v)
}

// send posts a message to a rank with a tag, in as many pieces as its length needs.
func (r *Request) send(c *Comm, v vector, to address) error {
	l := c.e.lib
	return v.pieces(l.limit, func(v vector) error {
		p := r.newPart("MPI_Isend")
		return r.posted(l.Isend(v.at, int32(v.n), l.abi.types[v.kind], to.rank, to.tag, c.handle, &p.handle))
	})
}

// recv posts the receipt of a message in the same pieces.
func (r *Request) recv(c *Comm, v vector, from address) error {
	l := c.e.lib
	return v.pieces(l.limit, func(v vector) error {
		p := r.newPart("MPI_Irecv")
		p.kind, p.want = v.kind, v.n
		return r.posted(l.Irecv(v.at, int32(v.n), l.abi.types[v.kind], from.rank, from.tag, c.handle, &p.handle))
	})
}
