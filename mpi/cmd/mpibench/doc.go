// Command mpibench measures the collective operations of an MPI through package mpi.
//
//	CGO_ENABLED=0 go build ./cmd/mpibench
//	mpiexec -n 2 ./mpibench
//
// For arrays of several sizes it shows the median time of an operation, and the bytes of the array divided by
// that time. All arrays are of float32. Alltoall sends an equal part of the array to each rank, and
// Allgather collects the array from equal parts of all ranks. "Start, wait" begins an Allreduce in the
// background and waits for it. "Waiting" is what remains of that after a computation that takes as long.
//
// The flag -sizes lists other sizes, and -json prints a line of JSON for each row.
package main
