package pool_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/tensor"
)

// two is a ring of three nodes and a pair, with a feature a node.
func two() (*graph.Graph, *grad.Var) {
	g := graph.Batch(graph.Ring(3, 1, -1), graph.Ring(2, 1))
	return g, grad.Const(tensor.Of([]tensor.Float{1, 3, 2, 5, 4}, 5, 1))
}

func ExampleAttention() {
	g, x := two()
	read := &pool.Attention{Gate: layers.MLP{Widths: []int{1, 1}}}
	read.Init(rand.New(rand.NewPCG(1, 2)))
	read.Gate.Layers[0].W.Value.Fill(0) // all nodes weigh the same
	fmt.Println(read.Forward(grad.NewEval(), g, x).Value())
	// Output: Dense[2 1][2 4.5]
}

func ExampleSet2Set() {
	g, x := two()
	read := &pool.Set2Set{In: 1, Steps: 3}
	read.Init(rand.New(rand.NewPCG(1, 2)))
	fmt.Println(read.Forward(grad.NewEval(), g, x).Shape()) // what was asked last, and the answer
	// Output: [2 2]
}

func ExampleSort() {
	g, x := two()
	fmt.Println((&pool.Sort{K: 3}).Forward(nil, g, x).Value())
	// Output: Dense[2 3][3 2 1 5 4 0]
}

func ExampleTopK() {
	g, x := two()
	l := &pool.TopK{In: 1}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	l.P.Value.Fill(1)
	k := l.Forward(grad.NewEval(), g, x)
	fmt.Println(k.Nodes, k.Graph, k.Graph.NodeOffsets())
	// Output: [1 2 3] Graph(3 nodes, 2 edges) [0 2 3]
}

func ExampleSAG() {
	g, x := two()
	l := &pool.SAG{In: 1, Ratio: 0.5}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	k := l.Forward(grad.NewEval(), graph.WithSelfLoops(g), x)
	fmt.Println(k.Graph.NodeOffsets(), k.Y.Shape())
	// Output: [0 2 3] [3 1]
}

func ExampleDiff() {
	g, x := two()
	l := &pool.Diff{In: 1, Clusters: 2}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	c := l.Forward(grad.NewEval(), g, x)
	fmt.Println(c.Graph, c.Y.Shape(), c.Weight.Shape())
	// Output: Graph(4 nodes, 8 edges) [4 1] [8 1]
}
