package mpi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/edgewise-ml/edgewise/mpi"
)

// Every rank gets the sum of all ranks. The program is started with mpiexec -n 2.
func Example() {
	world, err := mpi.Init()
	if err != nil {
		log.Fatal(err)
	}
	sum := []float32{float32(world.Rank())}
	if err := mpi.Allreduce(world, sum, mpi.Sum); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("rank %d of %d: the sum of all ranks is %v\n", world.Rank(), world.Size(), sum[0])
	if err := mpi.Finalize(); err != nil {
		log.Fatal(err)
	}
}

// A sum is computed in the background, while the program does something else.
func ExampleStartAllreduce() {
	world, err := mpi.Init()
	if err != nil {
		log.Fatal(err)
	}
	gradients := make([]float32, 1_000_000)
	request, err := mpi.StartAllreduce(world, gradients, mpi.Sum)
	if err != nil {
		log.Fatal(err)
	}
	// ... what does not touch gradients
	if err := request.Wait(context.Background()); err != nil {
		log.Fatal(err)
	}
	if err := mpi.Finalize(); err != nil {
		log.Fatal(err)
	}
}
