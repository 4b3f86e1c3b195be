// Package mpi calls an installed MPI library from Go, without cgo.
//
// MPI is how the programs of a cluster talk to each other: a launcher (mpiexec, mpirun or srun) starts
// the same program several times, and each of these processes is a rank. The ranks exchange messages, and
// call collective operations together, such as Allreduce, which adds up an array over all ranks.
//
//	world, err := mpi.Init()
//	...
//	sum := []float32{float32(world.Rank())}
//	err = mpi.Allreduce(world, sum, mpi.Sum) // now every rank has the sum
//	...
//	err = mpi.Finalize()
//
// # Libraries
//
// The library is loaded when Init is called, so a program is built with CGO_ENABLED=0 and without any
// MPI. Two kinds are supported:
//
//   - libraries with the standard ABI of the MPI Forum (libmpi_abi.so.1), which MPICH has from version 5 on;
//   - Open MPI 3 to 5 (libmpi.so.40).
//
// A program must use the library that belongs to its launcher. Init knows the launcher by the
// environment, and looks for a library beside it, beside the mpiexec of PATH, in LD_LIBRARY_PATH, where the
// dynamic linker looks, and in the usual folders. If the environment variable EDGEWISE_MPI is set, Init
// loads the file that it names, and no other.
//
// # Goroutines
//
// Every function may be called from any goroutine. Only one at a time calls MPI, so a blocking collective
// operation holds up the others. Goroutines that call some at the same time must do so in an order that is
// the same on all ranks, or use the functions that start a [Request].
//
// While requests are pending and nobody waits for them, a goroutine lets MPI work about once in a
// millisecond. It needs a processor of the Go scheduler for that: let GOMAXPROCS be at least one more than
// the number of goroutines that compute.
//
// MPI_Init_thread and MPI_Finalize are called by one thread. If the library allows MPI_THREAD_SERIALIZED,
// other calls are made by the goroutines themselves, and otherwise by that thread.
//
// # Errors
//
// What MPI reports is an [*Error], with the text of the library. Lengths that do not fit, ranks that are
// none, and calls after Finalize are errors that reach no library. After an error of MPI, a program should
// end: the standard does not say what still works.
//
// # Limits
//
// Lengths are not limited: an array of more than 2³¹−1 values is sent in several pieces. Values are of the
// types in [Number]; there are no derived datatypes, one-sided operations, files or dynamic processes.
// Linux and macOS on amd64 and arm64 are supported. Elsewhere the package builds, and Init returns an
// error.
package mpi
