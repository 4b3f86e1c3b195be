package mpi_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/mpi"
	"github.com/edgewise-ml/edgewise/mpi/carrier"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/train"
)

// A layer of GraphSAGE learns Cora. Started by mpiexec, the ranks share the batches; started alone, this process
// takes all of them.
func Example_training() {
	var team *ranks.Team // nil: this process is alone
	if mpi.Launched() {
		world, err := mpi.Init()
		check(err)
		team, err = ranks.New(carrier.Of(world))
		check(err)
	}
	d, err := cora.Load() // every rank opens the same data
	check(err)
	net := &layers.SAGEConv{In: d.Features.Shape()[1], Out: d.Classes, FeatDrop: 0.5}
	net.Init(rand.New(rand.NewPCG(1, 0))) // and begins with the same weights

	l := &sample.Loader{
		Sampler: sample.Sampler{Graph: d.Graph, Fanout: []int{10}, Seed: 1},
		Nodes:   d.Split.Train, Size: 20, Features: d.Features,
		Rank: team.Rank(), Ranks: team.Size(),
	}
	var b *sample.Batch
	fit := &train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 0.01, WeightDecay: 5e-4}, Seed: 1, Epochs: 20, Team: team,
		Steps: l.Steps(), Next: l.Into(&b), Weight: func() float64 { return float64(len(b.Seeds)) },
		Loss: func(t *grad.Tape) *grad.Var {
			return net.Forward(t, b.Blocks[0], grad.Const(b.X)).CrossEntropy(b.Of(d.Labels))
		},
	}
	_, err = fit.Run(context.Background())
	check(err)
	if team.Rank() == 0 {
		logits := net.Forward(nil, d.Graph, grad.Const(d.Features)).Rows(d.Split.Test).Value()
		fmt.Printf("test accuracy above 70 %%: %v\n", train.Accuracy(logits, d.Labels.Of(d.Split.Test)) > 0.7)
	}
	if mpi.Launched() {
		check(mpi.Finalize())
	}
	// Output: test accuracy above 70 %: true
}

// check ends the program if there is an error. Its launcher then ends the other ranks.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
