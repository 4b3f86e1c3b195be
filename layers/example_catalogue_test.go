package layers_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
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

// With weights of zero attention is even, and the loss that teaches it to tell edges from pairs without one is that
// of guessing, log 2.
func ExampleSuperGATConv() {
	conv := &layers.SuperGATConv{In: 1, Out: 1}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	for _, p := range []*grad.Param{conv.AttnL, conv.AttnR} {
		p.Value.Fill(0)
	}
	conv.W.Value.Fill(1)
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	conv.W.Value.Fill(0)
	fmt.Printf("%.3f\n", conv.Loss(grad.NewTape(1), path(), path(), column()).Value().Data[0])
	// Output:
	// [2 2 2]
	// 0.693
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

// The two ends of a path of three nodes are two edges apart.
func ExampleH2GCNConv() {
	conv := &layers.H2GCNConv{}
	y := conv.Forward(grad.NewEval(), path(), column()).Value()
	fmt.Printf("%.1f %.1f %.1f\n", y.Row(0), y.Row(1), y.Row(2))
	// Output: [1.4 3.0] [2.8 0.0] [1.4 1.0]
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

// What the layer is taught beside its task: to tell edges from pairs without one.
func ExampleSuperGATConv_Loss() {
	conv := &layers.SuperGATConv{In: 1, Out: 1}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	t := grad.NewTape(1)
	g, negatives := path(), graph.Must(graph.New(3, []int32{0, 2}, []int32{2, 0}))
	x := column()
	y := conv.Forward(t, g, x)
	fmt.Println(y.Shape(), conv.Loss(t, g, negatives, x).Shape())
	// Output: [3 1] [1]
}

// The largest difference to a neighbour.
func ExampleEdgeConv() {
	conv := &layers.EdgeConv{Net: layers.MLP{Widths: []int{2, 1}}}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	copy(conv.Net.Layers[0].W.Value.Data, []tensor.Float{0, 1}) // of x_v, of x_u − x_v
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [1 1 -1]
}

// Each edge's feature is the matrix, of one element, of its source.
func ExampleNNConv() {
	conv := &layers.NNConv{In: 1, Out: 1, EdgeIn: 1}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.W.Value.Fill(1)
	g := path()
	edges := message.OnEdges(g, grad.Const(tensor.Of([]tensor.Float{1, 10, 100, 1000}, 4, 1))) // of 0→1, 1→0, 1→2, 2→1
	fmt.Println(conv.Apply(grad.NewEval(), g, layers.In{Src: column(), Edge: edges}).Y.Value().Data)
	// Output: [20 3001 200]
}

func ExampleResGatedConv() {
	conv := &layers.ResGatedConv{In: 1, Out: 1}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	for _, p := range grad.Params(conv) {
		p.Value.Zero()
	}
	conv.WValue.Value.Fill(2) // every gate is half open
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Value().Data)
	// Output: [2 4 2]
}

// Two kinds of places, at 0 and at 1, with a matrix each.
func ExampleMoNetConv() {
	conv := &layers.MoNetConv{In: 1, Out: 1, EdgeIn: 1, Kernels: 2}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	copy(conv.W.Value.Data, []tensor.Float{1, 100})
	copy(conv.Mu.Value.Data, []tensor.Float{0, 1})
	conv.R.Value.Fill(10) // narrow
	g := path()
	places := message.OnEdges(g, grad.Const(tensor.Of([]tensor.Float{0, 1, 0, 1}, 4, 1)))
	fmt.Printf("%.1f\n", conv.Apply(grad.NewEval(), g, layers.In{Src: column(), Edge: places}).Y.Value().Data)
	// Output: [200.0 301.0 2.0]
}

// A relation forwards and one backwards.
func ExampleRGCNConv() {
	g := graph.Must(graph.WithKinds(path(), []int32{0, 1, 0, 1}))
	conv := &layers.RGCNConv{In: 1, Out: 1, Relations: 2, NoRoot: true}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	copy(conv.W.Value.Data, []tensor.Float{1, 100})
	fmt.Println(conv.Forward(grad.NewEval(), g, column()).Value().Data)
	// Output: [200 301 2]
}

func ExampleGatedGraphConv() {
	conv := &layers.GatedGraphConv{In: 1, Out: 8, Steps: 5}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	fmt.Println(conv.Forward(grad.NewEval(), path(), column()).Shape())
	// Output: [3 8]
}

// Four aggregators by three scalers, of neighbourhoods as large as those of training.
func ExamplePNAConv() {
	conv := &layers.PNAConv{In: 1, Out: 4, Towers: 2}
	conv.Measure(path())
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	fmt.Printf("%.3f %.3f\n", conv.Delta, conv.MeanDegree)
	fmt.Println(conv.Post[0].Widths, conv.Forward(grad.NewEval(), path(), column()).Shape())
	// Output:
	// 0.828 1.333
	// [13 2] [3 4]
}

// Each graph of a batch has the mean 0 and the variance 1.
func ExampleGraphNorm() {
	norm := &layers.GraphNorm{Width: 1}
	norm.Init(nil)
	x := grad.Const(tensor.Of([]tensor.Float{1, 2, 3, 10, 20, 30}, 6, 1))
	fmt.Printf("%.2f\n", norm.Forward(nil, graph.Batch(path(), path()), x).Value().Data)
	// Output: [-1.22 0.00 1.22 -1.22 0.00 1.22]
}

func ExamplePairNorm() {
	norm := &layers.PairNorm{Scale: 2, Each: true} // every row becomes two long
	fmt.Printf("%.2f\n", norm.Forward(nil, path(), column()).Value().Data)
	// Output: [-2.00 0.00 2.00]
}

// Of two layers each node takes the larger element of each column.
func ExampleJumpingKnowledge() {
	jump := &layers.JumpingKnowledge{Mode: layers.JumpMax}
	deep := grad.Const(tensor.Of([]tensor.Float{2, 2, 2}, 3, 1))
	fmt.Println(jump.Forward(nil, column(), deep).Value().Data)
	// Output: [2 2 3]
}

// Each step of training sees another part of the edges.
func ExampleDropEdge() {
	drop := &layers.DropEdge{P: 0.5, Together: true}
	g := graph.Complete(100)
	t := grad.NewTape(1)
	left := drop.Graph(t, g)
	fmt.Println(left.NumEdges() < 6000, left.Symmetric(), drop.Graph(grad.NewEval(), g) == g)
	// Output: true true true
}

// The logits of the pairs 1→1 and 0→2, in the graph's order of edges.
func ExampleInnerProduct() {
	pairs := graph.Must(graph.New(3, []int32{0, 1}, []int32{2, 1}))
	z := (&layers.InnerProduct{}).Forward(grad.NewEval(), pairs, column())
	fmt.Println(z.Value().Data)
	// Output: [4 3]
}

func ExampleVGAE() {
	encoder, decoder := &layers.VGAE{In: 1, Hidden: 8, Out: 4}, &layers.InnerProduct{}
	encoder.Init(rand.New(rand.NewPCG(1, 2)))
	g, negatives := path(), graph.Must(graph.New(3, []int32{0}, []int32{2}))
	t := grad.NewTape(1)
	z, divergence := encoder.Encode(t, g, column())
	loss := decoder.Loss(t, g, negatives, z).Add(divergence.Scale(1.0 / 3))
	fmt.Println(z.Shape(), len(t.Backward(loss)))
	// Output: [3 4] 6
}

// A graph Transformer's layer, of a batch of two molecules.
func ExampleGPSConv() {
	conv := &layers.GPSConv{Width: 8, Heads: 2, EdgeIn: 3}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	g := graph.Batch(path(), path())
	in := layers.In{Src: grad.Const(tensor.New(6, 8)), Edge: grad.Const(tensor.New(8, 3))}
	fmt.Println(conv.Apply(grad.NewEval(), g, in).Y.Shape())
	// Output: [6 8]
}

// The loss of an encoder that has learnt nothing: it tells no row from a shuffled one.
func ExampleDGI() {
	encoder, dgi := &layers.GCNConv{In: 1, Out: 8}, &layers.DGI{Width: 8}
	rng := rand.New(rand.NewPCG(1, 2))
	encoder.Init(rng)
	dgi.Init(rng)
	dgi.W.Value.Zero()
	t := grad.NewTape(1)
	h := encoder.Forward(t, path(), column())
	loss := dgi.Loss(t, h, encoder.Forward(t, path(), dgi.Shuffle(t, column())))
	fmt.Printf("%.2f\n", loss.Value().Data[0])
	// Output: 0.69
}

// Two nodes that meet, and one that neither does.
func ExampleSkipGram() {
	near := graph.Must(graph.New(3, []int32{0, 1}, []int32{1, 0}))
	not := graph.Must(graph.New(3, []int32{0, 1, 2, 2}, []int32{2, 2, 0, 1}))
	l := &layers.SkipGram{Nodes: 3, Width: 4}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	t := grad.NewTape(1)
	for range 100 {
		t.Reset()
		for _, g := range t.Backward(l.Loss(t, near, not)) {
			g.Param.Value.AddScaled(g.Value, -0.5)
		}
	}
	fmt.Println(l.Loss(nil, near, not).Value().Data[0] < 0.2)
	// Output: true
}
