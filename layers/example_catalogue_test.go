package layers_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// x − (the mean of the neighbours), since L̂ = −S where λ is 2.
func ExampleChebConv() {
	conv := &layers.ChebConv{In: 1, Out: 1, K: 2, Norm: layers.NormRight}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.W.Value.Fill(1)
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [-1 0 1]
}

// x + (the mean of the neighbours).
func ExampleTAGConv() {
	conv := &layers.TAGConv{In: 1, Out: 1, K: 1, Norm: layers.NormRight}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.W.Value.Fill(1)
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [3 4 5]
}

func ExampleARMAConv() {
	conv := &layers.ARMAConv{In: 1, Out: 1, Norm: layers.NormRight}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.W[0].Value.Fill(1) // the neighbours' mean,
	conv.V[0].Value.Fill(10)
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [12 22 32]
}

// Half of each layer is what the first layer read, so many can be stacked.
func ExampleGCN2Conv() {
	t, first := grad.NewEval(), column()
	h := first
	for i := range 8 {
		conv := &layers.GCN2Conv{Width: 1, Layer: i + 1, Alpha: 0.5, Norm: layers.NormRight}
		conv.Init(rand.New(rand.NewPCG(1, 2)))
		conv.W.Value.Fill(1)
		h = conv.Apply(t, path(), layers.In{Src: h, Dst: first}).Y
	}
	fmt.Println(h.Value().Data)
	// Output: [1.5 2 2.5]
}

// Where all features point the same way, attention is even.
func ExampleAGNNConv() {
	conv := &layers.AGNNConv{}
	conv.Init(nil)
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [2 2 2]
}

func ExampleLightGCN() {
	conv := &layers.LightGCN{K: 1, Norm: layers.NormRight}
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [1.5 2 2.5]
}

// An edge's features are added to those of its source.
func ExampleGINEConv() {
	conv := &layers.GINEConv{Net: layers.MLP{Widths: []int{1, 1}}}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.Net.Layers[0].W.Value.Fill(1)
	edges := grad.Const(tensor.Of([]tensor.Float{-1, -1, -1, -1}, 4, 1))
	fmt.Println(conv.Apply(grad.NewEval(), path(), layers.In{Src: column(), Edge: edges}).Y.Value().Data)
	// Output: [2 4 4]
}
