package carrier

import (
	"context"

	"github.com/edgewise-ml/edgewise/mpi"
	"github.com/edgewise-ml/edgewise/ranks"
)

// Of returns c as a Comm of package ranks.
func Of(c *mpi.Comm) ranks.Comm { return carrier{c} }

type carrier struct{ *mpi.Comm }

// tag is that of messages from one rank to another; training has one kind.
const tag = 1

func (c carrier) Alltoall(send []byte, to []int, recv []byte, from []int) (ranks.Request, error) {
	return request(mpi.StartAlltoall(c.Comm, send, to, recv, from))
}

func (c carrier) Allgather(send, recv []byte, from []int) (ranks.Request, error) {
	return request(mpi.StartAllgather(c.Comm, send, recv, from))
}

func (c carrier) Send(to int, b []byte) (ranks.Request, error) {
	return request(mpi.StartSend(c.Comm, b, to, tag))
}

func (c carrier) Recv(from int, b []byte) (ranks.Request, error) {
	return request(mpi.StartRecv(c.Comm, b, from, tag))
}

// request keeps a nil *mpi.Request from being a ranks.Request that is not nil.
func request(r *mpi.Request, err error) (ranks.Request, error) {
	if err != nil {
		return nil, err
	}
	return pending{r}, nil
}

type pending struct{ *mpi.Request }

func (p pending) Wait(ctx context.Context) error { return p.Request.Wait(ctx) }
