package sample_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/train"
)

// GraphSAGE of two layers.
type SAGE struct{ Hidden, Out layers.SAGEConv }

// GraphSAGE learns Cora from batches of 32 nodes, each with ten neighbours drawn
// for a layer.
func ExampleLoader() {
	d, err := cora.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	net := &SAGE{
		Hidden: layers.SAGEConv{In: 1433, Out: 32, Activation: grad.ReLU, FeatDrop: 0.5},
		Out:    layers.SAGEConv{In: 32, Out: d.Classes, FeatDrop: 0.5},
	}
	rng := rand.New(rand.NewPCG(1, 0))
	net.Hidden.Init(rng)
	net.Out.Init(rng)

	l := &sample.Loader{
		Sampler:  sample.Sampler{Graph: d.Graph, Fanout: []int{10, 10}, Seed: 1},
		Nodes:    d.Split.Train,
		Size:     32,
		Features: d.Features,
	}
	var b *sample.Batch
	fit := &train.Fit{
		Model: net, Optimiser: &train.Adam{LR: 0.01, WeightDecay: 5e-4}, Seed: 1, Epochs: 20,
		Steps: l.Steps(), Next: l.Into(&b),
		Loss: func(t *grad.Tape) *grad.Var {
			h := net.Hidden.Forward(t, b.Blocks[0], grad.Const(b.X))
			return net.Out.Forward(t, b.Blocks[1], h).CrossEntropy(b.Of(d.Labels))
		},
	}
	if _, err := fit.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	h := net.Hidden.Forward(nil, d.Graph, grad.Const(d.Features)) // all nodes, all neighbours
	logits := net.Out.Forward(nil, d.Graph, h).Rows(d.Split.Test).Value()
	fmt.Printf("test accuracy above 70 %%: %v\n", train.Accuracy(logits, d.Labels.Of(d.Split.Test)) > 0.7)
	// Output: test accuracy above 70 %: true
}

// The links of a ring in three parts: what is predicted carries no messages.
func ExampleLinkSplit() {
	ring := graph.Undirected(graph.Ring(10, 1))
	links, err := sample.LinkSplit{Val: 0.1, Test: 0.2, Seed: 1}.Of(ring)
	if err != nil {
		panic(err)
	}
	fmt.Println(links.Train.NumEdges(), links.Val.Links.NumEdges(), links.Test.Links.NumEdges(), links.Test.Negatives.NumEdges())
	fmt.Println(links.Graph.NumEdges(), links.Graph.Symmetric()) // both directions of the training links
	// Output:
	// 7 1 2 2
	// 14 true
}

// All pairs but the edges.
func ExampleNegatives() {
	n := sample.Negatives{Graph: graph.Undirected(graph.Chains(4)), Seed: 1}
	drawn, err := n.Draw(3, 0)
	if err != nil {
		panic(err)
	}
	for e, v := range drawn.Destinations() {
		fmt.Println(drawn.In().Cols[e], v)
	}
	// Output:
	// 0 2
	// 0 3
	// 1 3
}

func ExampleCorruptions() {
	facts := graph.Must(graph.WithKinds(graph.Must(graph.New(100, []int32{0, 1}, []int32{1, 2})), []int32{0, 1}))
	not, at := sample.Corruptions{Number: 4, Ends: sample.ReplaceDestination}.Draw(facts, 0)
	fmt.Println(not.NumEdges(), len(at), not.Kinds()[at[0]], not.Kinds()[at[7]])
	// Output: 8 8 0 1
}

func ExampleWalks() {
	walks, err := (&sample.Walks{Graph: graph.Chains(4), Length: 5}).From([]int32{0, 2}, 0)
	fmt.Println(walks, err)
	// Output: [[0 1 2 3] [2 3]] <nil>
}

func ExampleContexts() {
	pairs, err := sample.Contexts(4, [][]int32{{0, 1, 2}}, 1)
	fmt.Println(pairs.NumEdges(), err)
	// Output: 4 <nil>
}
