package layers_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// path is 0 – 1 – 2, with an edge each way.
func path() *graph.Graph {
	return graph.Must(graph.New(3, []int32{0, 1, 1, 2}, []int32{1, 0, 2, 1}))
}

// column is the features 1, 2 and 3, one a node.
func column() *grad.Var { return grad.Const(tensor.Of([]tensor.Float{1, 2, 3}, 3, 1)) }

func ExampleDotGATConv() {
	conv := &layers.DotGATConv{In: 1, Out: 1}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.W.Value.Fill(1)
	fmt.Printf("%.4f\n", conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [2.0000 2.9640 2.0000]
}

// A Transformer's attention over the nodes that are joined.
func ExampleTransformerConv() {
	conv := &layers.TransformerConv{In: 1, Out: 4, Heads: 2, Gate: true}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Shape())
	// Output: [3 8]
}

func ExampleSGConv() {
	conv := &layers.SGConv{In: 1, Out: 1, K: 2, Norm: layers.NormRight} // the mean of the neighbours' means
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.W.Value.Fill(1)
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [2 2 2]
}

// What a network says of each node alone, spread over the graph.
func ExampleAPPNP() {
	walk := &layers.APPNP{K: 1, Alpha: 0.5, Norm: layers.NormRight}
	fmt.Println(walk.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [1.5 2 2.5]
}

func ExampleSAGEConv() {
	conv := &layers.SAGEConv{In: 1, Out: 1}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.W.Value.Fill(10) // ten times the neighbours' mean,
	conv.WRoot.Value.Fill(1)
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [21 22 23]
}

func ExampleGINConv() {
	conv := &layers.GINConv{Net: layers.MLP{Widths: []int{1, 1}}, Eps: 9}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.Net.Layers[0].W.Value.Fill(1)
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [12 24 32]
}

func ExampleMLP() {
	net := &layers.MLP{Widths: []int{16, 32, 32, 7}, Drop: 0.5, BatchNorm: true}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	fmt.Println(net.Forward(grad.NewEval(), grad.Const(tensor.New(100, 16))).Shape())
	// Output: [100 7]
}

func ExampleLayerNorm() {
	l := &layers.LayerNorm{Width: 3}
	l.Init(nil)
	fmt.Printf("%.3f\n", l.Forward(nil, grad.Const(tensor.Of([]tensor.Float{1, 2, 3}, 1, 3))).Value().Data)
	// Output: [-1.225 0.000 1.225]
}

// Training sees each batch's own statistics; what it remembers of them serves
// afterwards.
func ExampleBatchNorm() {
	l := &layers.BatchNorm{Width: 1, Momentum: 1} // remembers the last batch only
	l.Init(nil)
	x := grad.Const(tensor.Of([]tensor.Float{1, 2, 3}, 3, 1))
	t := grad.NewTape(1)
	t.Backward(l.Forward(t, x).Square().Sum())
	fmt.Printf("%.3f %.3f\n", l.Mean.Value.Data, l.Variance.Value.Data)
	fmt.Printf("%.3f\n", l.Forward(grad.NewEval(), x).Value().Data)
	// Output:
	// [2.000] [1.000]
	// [-1.000 0.000 1.000]
}
