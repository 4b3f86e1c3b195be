package pool_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/train"
)

// classifier gives each graph of a batch a row of scores.
type classifier struct {
	First, Second *layers.GINConv
	Read          *pool.Attention
	Out           *layers.Linear
}

func newClassifier(rng *rand.Rand, in, classes int) *classifier {
	c := &classifier{
		First:  &layers.GINConv{Net: layers.MLP{Widths: []int{in, 32, 32}, BatchNorm: true}, Activation: grad.ReLU},
		Second: &layers.GINConv{Net: layers.MLP{Widths: []int{32, 32, 32}, BatchNorm: true}, Activation: grad.ReLU},
		Read:   &pool.Attention{Gate: layers.MLP{Widths: []int{32, 1}}},
		Out:    &layers.Linear{In: 32, Out: classes},
	}
	c.First.Init(rng)
	c.Second.Init(rng)
	c.Read.Init(rng)
	c.Out.Init(rng)
	return c
}

func (c *classifier) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	x = c.Second.Forward(t, g, c.First.Forward(t, g, x))
	return c.Out.Forward(t, c.Read.Forward(t, g, x)) // a row a graph
}

// Molecules are many graphs with a class each; here rings, of which some are in two.
func Example_molecules() {
	rng := rand.New(rand.NewPCG(1, 2))
	d := datasets.Cycles(rng, 60, 5) // or datasets.OpenGraphs("data", "MUTAG")
	walks, err := analysis.ReturnProbabilities(d.Graph, 8)
	if err != nil {
		log.Fatal(err)
	}
	d = d.WithFeatures(walks) // sums over neighbours alone say the same of all rings
	folds, err := d.Folds(rng, 3)
	if err != nil {
		log.Fatal(err)
	}
	split := folds[0]

	net := newClassifier(rng, d.Features.Dim(1), d.Classes)
	held := d.Batch(split.Test)
	batches := d.Batches(rng, split.Train, 10)
	fit := train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 0.01}, Epochs: 15, Steps: len(batches), By: train.ByLast,
		Loss: func(t *grad.Tape) *grad.Var {
			b := d.Batch(batches[int(t.Step())%len(batches)])
			return net.Forward(t, b.Graph, grad.Const(b.Features)).CrossEntropy(b.Labels)
		},
		Eval: func(t *grad.Tape) train.Scores {
			logits := net.Forward(t, held.Graph, grad.Const(held.Features)).Value()
			return train.Scores{Test: train.Measure(logits, held.Labels)}
		},
	}
	h, err := fit.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	last := h.Epochs[len(h.Epochs)-1]
	fmt.Printf("%d graphs, %d held out: accuracy %.2f\n", d.Len(), len(split.Test), last.Test.Accuracy)
	// Output: 60 graphs, 20 held out: accuracy 1.00
}
