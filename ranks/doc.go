// Package ranks lets several processes train one model.
//
// The processes are the ranks of a job, numbered from 0. Each opens the same data, takes its share of the
// batches, and adds its gradients to those of the others. [train.Fit] does that for whoever gives it a [Team]:
//
//	team, err := ranks.New(comm)
//	fit.Team = team
//
// A Team is what a rank knows of the job. It needs a [Comm], which carries bytes between the ranks; the module
// github.com/edgewise-ml/edgewise/mpi has one that uses an installed MPI. A nil *Team is a process that is alone.
//
// Sums over the ranks are made in the order of the ranks, whatever the Comm does, so a job with the same number
// of ranks has the same bits each time. All ranks make the same calls in the same order.
//
// [train.Fit]: https://pkg.go.dev/github.com/edgewise-ml/edgewise/train#Fit
package ranks
