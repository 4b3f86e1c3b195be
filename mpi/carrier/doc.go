// Package carrier lets the ranks of an MPI job train one model: it makes a communicator of MPI what package ranks
// needs.
//
//	world, err := mpi.Init()
//	...
//	team, err := ranks.New(carrier.Of(world))
//	...
//	fit.Team = team // of a train.Fit
//
// The page docs/library/ranks.md of the repository shows a whole program.
package carrier
