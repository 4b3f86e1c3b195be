package relational_test

import (
	"fmt"
	"log"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// reader says what the taste of some members is, by two layers on blocks.
type reader struct {
	Convs []*relational.HGTConv
	Out   *layers.Linear

	h        *graph.Hetero
	whole    *graph.Graph // h as one graph
	features tensor.Array // of its nodes
}

func newReader(rng *rand.Rand, h *graph.Hetero, features tensor.Array, classes int) *reader {
	first, second := map[string]int{}, map[string]int{}
	for _, name := range h.Types() {
		first[name], second[name] = features.Shape()[1], 16
	}
	m := &reader{h: h, features: features, Out: &layers.Linear{In: 16, Out: classes}}
	m.whole, _ = h.Homogeneous()
	for _, in := range []map[string]int{first, second} {
		conv := &relational.HGTConv{In: in, Out: 16, Heads: 2, Rels: h.Rels()}
		conv.Init(rng)
		m.Convs = append(m.Convs, conv)
	}
	m.Out.Init(rng)
	return m
}

// Forward returns the scores of members, nodes of the whole graph.
func (m *reader) Forward(t *grad.Tape, members []int32) *grad.Var {
	blocks, err := m.whole.Blocks(members, len(m.Convs))
	if err != nil {
		log.Fatal(err)
	}
	read := grad.Const(datasets.GatherRows(m.features, blocks[0].From().Src))
	x := map[string]*grad.Var{}
	for i, b := range blocks {
		block, rows, err := m.h.Split(b)
		if err != nil {
			log.Fatal(err)
		}
		if i == 0 {
			for _, name := range block.Types() {
				x[name] = read.Rows(rows[name])
			}
		}
		x = m.Convs[i].Forward(t, block, x) // the rows of the next block's nodes
	}
	return m.Out.Forward(t, x["member"])
}

// Mini-batches: the members of each batch, and all neighbours that two layers read for them.
func Example_blocks() {
	d, err := datasets.ReadAs("../../datasets/testdata/club_edges.csv", columns.Roles{Label: []string{"taste"}, Undirected: true})
	if err != nil {
		log.Fatal(err)
	}
	h, nodes, err := d.Heterogeneous()
	if err != nil {
		log.Fatal(err)
	}
	var order []int32 // the nodes of the whole graph, as d numbers them
	for _, name := range h.Types() {
		order = append(order, nodes[name]...)
	}
	labels, number := make(datasets.Labels, len(order)), make([]int32, len(order))
	for i, v := range order {
		labels[i], number[v] = d.Labels[v], int32(i)
	}
	renumbered := func(of []int32) (members []int32) {
		for _, v := range of {
			members = append(members, number[v])
		}
		return members
	}
	learnt, test := renumbered(d.Split.Train), renumbered(d.Split.Test)
	rng := rand.New(rand.NewPCG(1, 2))
	net := newReader(rng, h, datasets.GatherRows(d.Features, order), d.Classes)
	adam, t := &train.Adam{LR: 0.01}, grad.NewTape(1)
	if err := adam.Bind(net); err != nil {
		log.Fatal(err)
	}
	for range 20 {
		rng.Shuffle(len(learnt), func(i, j int) { learnt[i], learnt[j] = learnt[j], learnt[i] })
		for batch := range slices.Chunk(learnt, 32) {
			t.Reset()
			adam.Step(t.Backward(net.Forward(t, batch).CrossEntropy(labels.Of(batch))))
		}
	}
	accuracy := train.Measure(net.Forward(grad.NewEval(), test).Value(), labels.Of(test)).Accuracy
	fmt.Printf("accuracy above 0.9: %v\n", accuracy > 0.9)
	// Output:
	// accuracy above 0.9: true
}
