package layers_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/train"
)

// leaver says which customers leave: two convolutions that read what edges say, too.
type leaver struct {
	First, Second *layers.GINEConv
	Out           *layers.Linear
}

func newLeaver(rng *rand.Rand, in, edgeIn, classes int) *leaver {
	m := &leaver{
		First:  &layers.GINEConv{Net: layers.MLP{Widths: []int{in, 16}}, EdgeIn: edgeIn, Activation: grad.ReLU},
		Second: &layers.GINEConv{Net: layers.MLP{Widths: []int{16, 16}}, EdgeIn: edgeIn, Activation: grad.ReLU},
		Out:    &layers.Linear{In: 16, Out: classes},
	}
	m.First.Init(rng)
	m.Second.Init(rng)
	m.Out.Init(rng)
	return m
}

func (m *leaver) Forward(t *grad.Tape, g *graph.Graph, x, edges *grad.Var) *grad.Var {
	x = m.First.Apply(t, g, layers.In{Src: x, Edge: edges}).Y
	return m.Out.Forward(t, m.Second.Apply(t, g, layers.In{Src: x, Edge: edges}).Y)
}

// Two tables as they come, one of customers and one of who sent an offer to whom.
func Example_tables() {
	d, err := datasets.LoadAs("../datasets/testdata/shop_edges.csv", columns.Roles{
		Label: []string{"churned"}, As: map[string]columns.Encoding{"joined": columns.Left, "at": columns.Left}, Undirected: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	x, edges := grad.Const(d.Features), grad.Const(d.EdgeFeatures)

	net := newLeaver(rand.New(rand.NewPCG(1, 2)), d.Features.Shape()[1], d.EdgeFeatures.Dim(1), d.Classes)
	fit := train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 0.01, WeightDecay: 5e-4}, Epochs: 60,
		Loss: func(t *grad.Tape) *grad.Var {
			return net.Forward(t, d.Graph, x, edges).Rows(d.Split.Train).CrossEntropy(d.Labels.Of(d.Split.Train))
		},
		Eval: func(t *grad.Tape) train.Scores {
			y := net.Forward(t, d.Graph, x, edges)
			score := func(rows []int32) train.Score { return train.Measure(y.Rows(rows).Value(), d.Labels.Of(rows)) }
			return train.Scores{Val: score(d.Split.Val), Test: score(d.Split.Test)}
		},
	}
	h, err := fit.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d customers, %d features, %d of an edge, classes %q\n", d.Graph.NumNodes(), d.Features.Shape()[1], d.EdgeFeatures.Dim(1), d.ClassNames)
	best, _ := h.Best()
	fmt.Printf("accuracy above 0.85: %v\n", best.Test.Accuracy > 0.85)
	// Output:
	// 240 customers, 6 features, 4 of an edge, classes ["no" "yes"]
	// accuracy above 0.85: true
}
