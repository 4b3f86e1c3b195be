package main

import (
	"os"

	"github.com/edgewise-ml/edgewise/internal/gatbench"
	"github.com/edgewise-ml/edgewise/mpi"
	"github.com/edgewise-ml/edgewise/mpi/carrier"
	"github.com/edgewise-ml/edgewise/ranks"
)

func main() {
	if watched() {
		return
	}
	os.Exit(gatbench.MainOf(gatbench.Job{Join: join, Watch: watch, End: mpi.Finalize}))
}

// join starts MPI, if a launcher has started this process.
func join() (ranks.Comm, error) {
	if !mpi.Launched() {
		return nil, nil
	}
	world, err := mpi.Init()
	if err != nil {
		return nil, err
	}
	return carrier.Of(world), nil
}
