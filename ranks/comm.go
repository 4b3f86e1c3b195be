package ranks

import "context"

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
