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

// opinion gives each edge its classes: of what a convolution makes of its ends, and of their
// distance.
type opinion struct {
	Conv *layers.SAGEConv
	Pair *layers.MLP
}

func newOpinion(rng *rand.Rand, in, classes int) *opinion {
	m := &opinion{Conv: &layers.SAGEConv{In: in, Out: 16, Activation: grad.ReLU}, Pair: &layers.MLP{Widths: []int{48, 16, classes}}}
	m.Conv.Init(rng)
	m.Pair.Init(rng)
	return m
}

func (m *opinion) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var, from, to []int32) *grad.Var {
	h := m.Conv.Forward(t, g, x)
	u, v := h.Rows(from), h.Rows(to)
	return m.Pair.Forward(t, grad.Concat(u, v, u.Sub(v).Abs()))
}

// A class of each edge: does a member like a film? The table of edges has a column of classes, which
// is chosen after the #, and one of parts. Messages go both ways, classes are of the edges that stand
// in the table.
func Example_edgeLabels() {
	d, err := datasets.LoadAs("../datasets/testdata/club_edges.csv", columns.Roles{Label: []string{"relation"}})
	if err != nil {
		log.Fatal(err)
	}
	g, x := graph.Undirected(d.Graph), grad.Const(d.Features)
	from, to := d.Graph.In().Cols, d.Graph.Destinations() // the ends of each edge, in the order of EdgeLabels
	net := newOpinion(rand.New(rand.NewPCG(1, 2)), d.Features.Shape()[1], d.Classes)
	fit := train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 0.01}, Epochs: 60,
		Loss: func(t *grad.Tape) *grad.Var {
			return net.Forward(t, g, x, from, to).Rows(d.Split.Train).CrossEntropy(d.EdgeLabels.Of(d.Split.Train))
		},
		Eval: func(t *grad.Tape) train.Scores {
			y := net.Forward(t, g, x, from, to)
			score := func(rows []int32) train.Score { return train.Measure(y.Rows(rows).Value(), d.EdgeLabels.Of(rows)) }
			return train.Scores{Val: score(d.Split.Val), Test: score(d.Split.Test)}
		},
	}
	h, err := fit.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d edges, of which %d test, classes %q\n", d.Graph.NumEdges(), len(d.Split.Test), d.ClassNames)
	best, _ := h.Best()
	fmt.Printf("accuracy above 0.9: %v\n", best.Test.Accuracy > 0.9)
	// Output:
	// 400 edges, of which 80 test, classes ["dislikes" "likes"]
	// accuracy above 0.9: true
}
