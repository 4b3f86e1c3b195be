// Gatbench-mpi trains one model by several processes, on one machine or on many, with MPI.
//
//	mpiexec -n 4 gatbench-mpi train shop/ --batch 1024 --fanout 15,10 --save shop.model
//
// It is gatbench train, eval and predict, with the same flags, for the ranks of a job. Each rank opens the same data, takes its share of
// the batches, and adds its gradients to those of the others. Rank 0 prints and writes files. Started without mpiexec it
// is gatbench in one process.
//
// An MPI library must be installed on every host; package mpi says which ones it can load. The page docs/use/large.md
// of the repository goes from one machine to a cluster.
package main
