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
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// reader is two layers on blocks of several types of nodes.
type reader struct {
	First, Second *relational.HGTConv
	Out           *layers.Linear
}

func newReader(rng *rand.Rand, h *hetero.Graph, width, classes int) *reader {
	in, hidden := map[string]int{}, map[string]int{}
	for _, name := range h.Types() {
		in[name], hidden[name] = width, 16
	}
	m := &reader{
		First:  &relational.HGTConv{In: in, Out: 16, Heads: 2, Rels: h.Rels()},
		Second: &relational.HGTConv{In: hidden, Out: 16, Heads: 2, Rels: h.Rels()},
		Out:    &layers.Linear{In: 16, Out: classes},
	}
	m.First.Init(rng)
	m.Second.Init(rng)
	m.Out.Init(rng)
	return m
}

func (m *reader) Forward(t *grad.Tape, b *sample.Batch) *grad.Var {
	x := map[string]*grad.Var{}
	for name, rows := range b.Rows {
		x[name] = grad.Const(rows)
	}
	x = m.First.Forward(t, b.Typed[0], x)
	return m.Out.Forward(t, m.Second.Forward(t, b.Typed[1], x)["member"])
}

// Members and films in mini-batches: of each relation four neighbours are drawn for a member, and eight
// for these.
func Example_blocks() {
	d, err := datasets.LoadAs("../../datasets/testdata/club_edges.csv", columns.Roles{Label: []string{"taste"}, Undirected: true})
	if err != nil {
		log.Fatal(err)
	}
	h, nodes, err := d.Heterogeneous()
	if err != nil {
		log.Fatal(err)
	}
	rows, labels, number := map[string]tensor.Array{}, datasets.Labels{}, map[int32]int32{}
	for name, ids := range nodes {
		rows[name] = datasets.GatherRows(d.Features, ids)
	}
	for i, v := range nodes["member"] { // as they are numbered in h
		labels, number[v] = append(labels, d.Labels[v]), int32(i)
	}
	members := func(of []int32) (own []int32) {
		for _, v := range of {
			own = append(own, number[v])
		}
		return own
	}
	batches := func(of []int32, size int) *sample.Loader {
		return &sample.Loader{
			Sampler: sample.Sampler{Fanout: []int{8, 4}, Seed: 1},
			Hetero:  h, Type: "member", Nodes: members(of), Size: size, Rows: rows,
		}
	}
	learnt, test := batches(d.Split.Train, 32), batches(d.Split.Test, len(d.Split.Test))
	net := newReader(rand.New(rand.NewPCG(1, 2)), h, d.Features.Shape()[1], d.Classes)
	var b *sample.Batch
	fit := train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 0.01}, Epochs: 20, Steps: learnt.Steps(), Next: learnt.Into(&b),
		Loss: func(t *grad.Tape) *grad.Var { return net.Forward(t, b).CrossEntropy(b.Of(labels)) },
	}
	if _, err := fit.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	for b, err := range test.Batches(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("accuracy above 0.9: %v\n", train.Accuracy(net.Forward(nil, b).Value(), b.Of(labels)) > 0.9)
	}
	// Output:
	// accuracy above 0.9: true
}
