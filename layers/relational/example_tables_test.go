package relational_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/train"
)

// critic says what a member's taste is, by what the member says of films.
type critic struct {
	Conv *relational.HGTConv
	Out  *layers.Linear
}

func newCritic(rng *rand.Rand, h *hetero.Graph, width, classes int) *critic {
	in := map[string]int{}
	for _, name := range h.Types() {
		in[name] = width
	}
	m := &critic{Conv: &relational.HGTConv{In: in, Out: 16, Heads: 2, Rels: h.Rels()}, Out: &layers.Linear{In: 16, Out: classes}}
	m.Conv.Init(rng)
	m.Out.Init(rng)
	return m
}

func (m *critic) Forward(t *grad.Tape, h *hetero.Graph, x map[string]*grad.Var) *grad.Var {
	return m.Out.Forward(t, m.Conv.Forward(t, h, x)["member"])
}

// tasteOf trains a critic, and returns the relations that it heard and how many of the members that
// test it is right about.
func tasteOf(d *datasets.Dataset) (rels []hetero.Rel, accuracy float64) {
	h, nodes, err := d.Heterogeneous()
	if err != nil {
		log.Fatal(err)
	}
	x := map[string]*grad.Var{}
	for name, ids := range nodes {
		x[name] = grad.Const(datasets.GatherRows(d.Features, ids))
	}
	labels := make(datasets.Labels, h.NumNodes("member")) // of the members, as they are numbered in h
	number := map[int32]int32{}                           // the number of a member there
	for i, v := range nodes["member"] {
		labels[i], number[v] = d.Labels[v], int32(i)
	}
	renumbered := func(of []int32) (members []int32) {
		for _, v := range of {
			members = append(members, number[v])
		}
		return members
	}
	learnt, val, test := renumbered(d.Split.Train), renumbered(d.Split.Val), renumbered(d.Split.Test)
	net := newCritic(rand.New(rand.NewPCG(1, 2)), h, d.Features.Shape()[1], d.Classes)
	fit := train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 0.01}, Epochs: 60,
		Loss: func(t *grad.Tape) *grad.Var { return net.Forward(t, h, x).Rows(learnt).CrossEntropy(labels.Of(learnt)) },
		Eval: func(t *grad.Tape) train.Scores {
			y := net.Forward(t, h, x)
			score := func(rows []int32) train.Score { return train.Measure(y.Rows(rows).Value(), labels.Of(rows)) }
			return train.Scores{Val: score(val), Test: score(test)}
		},
	}
	history, err := fit.Run(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	best, _ := history.Best()
	return h.Rels(), best.Test.Accuracy
}

// Two tables as they come: members and films, and who likes or dislikes what. Only the relation
// tells a member's taste.
func Example_tables() {
	d, err := datasets.LoadAs("../../datasets/testdata/club_edges.csv", columns.Roles{Label: []string{"taste"}, Undirected: true})
	if err != nil {
		log.Fatal(err)
	}
	rels, accuracy := tasteOf(d)
	for _, r := range rels {
		fmt.Println(r)
	}
	fmt.Printf("accuracy above 0.9: %v\n", accuracy > 0.9)
	d.EdgeKinds = nil
	rels, accuracy = tasteOf(d)
	fmt.Println(rels)
	fmt.Printf("accuracy above 0.65: %v\n", accuracy > 0.65)
	// Output:
	// film -dislikes-> member
	// film -likes-> member
	// member -dislikes-> film
	// member -likes-> film
	// accuracy above 0.9: true
	// [film -to-> member member -to-> film]
	// accuracy above 0.65: false
}
