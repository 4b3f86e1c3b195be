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

func ExampleGATConv() {
	g := graph.WithSelfLoops(graph.Must(graph.New(4, []int32{0, 1, 2, 2}, []int32{1, 2, 0, 3})))
	conv := &layers.GATConv{In: 5, Out: 8, Heads: 2, Activation: grad.ELU}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	x := tensor.New(4, 5)
	x.Uniform(rand.New(rand.NewPCG(3, 4)), 0, 1)

	y := conv.Forward(grad.NewEval(), g, grad.Const(x))
	fmt.Println(y.Shape())
	// Output: [4 16]
}

// Users rate films; a film attends to its users, and a rating is a feature of
// the edge. Ratings come, and attention goes back, in the order of the list.
func ExampleGATConv_Apply() {
	user, film := []int32{0, 2, 1, 2}, []int32{1, 0, 1, 1}
	rating := tensor.Of([]tensor.Float{5, 3, 1, 4}, 4, 1)
	g := graph.Must(graph.NewBipartite(3, 2, user, film))

	conv := &layers.GATConv{In: 6, InDst: 4, Out: 8, EdgeIn: 1}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.AttnL.Value.Zero() // so that only the rating counts
	conv.AttnR.Value.Zero()
	conv.WEdge.Value.Fill(1)
	conv.AttnEdge.Value.Fill(0.25)

	out := conv.Apply(grad.NewEval(), g, layers.In{
		Src:  grad.Const(tensor.New(3, 6)),
		Dst:  grad.Const(tensor.New(2, 4)),
		Edge: message.OnEdges(g, grad.Const(rating)),
	})
	attention := message.ApplyEdges(g, out.Attention).Value()
	byList := make([]tensor.Float, len(user))
	for e, i := range g.EdgeOrder() {
		byList[i] = attention.Data[e]
	}
	fmt.Println(out.Y.Shape())
	fmt.Printf("%.3f\n", byList)
	// Output:
	// [2 8]
	// [0.881 1.000 0.000 0.119]
}

func ExampleGATv2Conv() {
	g := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 2}))
	conv := &layers.GATv2Conv{In: 5, Out: 4, Heads: 3, Average: true}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	fmt.Println(conv.Forward(grad.NewEval(), g, grad.Const(tensor.New(3, 5))).Shape())
	// Output: [3 4]
}

// A loss over few nodes depends on few rows: a block for each layer has them. The
// features are gathered once; layers and gradients are as on the whole graph.
func Example_blocks() {
	rng := rand.New(rand.NewPCG(1, 2))
	g, x := graph.Grid(9, 9), tensor.New(81, 5)
	x.Uniform(rng, -1, 1)
	first, last := &layers.GATConv{In: 5, Out: 4, Heads: 2}, &layers.SAGEConv{In: 8, Out: 3}
	first.Init(rng)
	last.Init(rng)
	seeds := []int32{40, 0}

	blocks, err := graph.Blocks(g, seeds, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	near := tensor.New(blocks[0].NumSrc(), 5)
	tensor.GatherRows(near, x, blocks[0].From().Src)
	t := grad.NewEval()
	some := last.Forward(t, blocks[1], first.Forward(t, blocks[0], grad.Const(near)))
	all := last.Forward(t, g, first.Forward(t, g, grad.Const(x)))
	fmt.Println("rows of the first layer:", blocks[0].NumDst(), "of", g.NumNodes())
	fmt.Printf("%.3f\n%.3f\n", some.Value().Row(0), all.Value().Row(40))
	// Output:
	// rows of the first layer: 8 of 81
	// [-0.535 0.464 -0.068]
	// [-0.535 0.464 -0.068]
}

// A block has not the degrees of the whole graph, so its weights come from there.
func ExampleSymmetricWeights() {
	g := graph.WithSelfLoops(graph.Must(graph.New(3, []int32{0, 1, 1, 2}, []int32{1, 0, 2, 1})))
	conv := &layers.GCNConv{In: 1, Out: 1, Norm: layers.NormNone}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.W.Value.Fill(1)
	x, w := grad.Const(tensor.Of([]tensor.Float{1, 2, 3}, 3, 1)), layers.SymmetricWeights(g, nil)

	b := graph.Must(graph.Block(g, []int32{2}))
	y := conv.Apply(grad.NewEval(), b, layers.In{Src: x.Rows(b.From().Src), Weight: w.Rows(b.From().Edges)}).Y
	fmt.Printf("%.4f\n", y.Value().Data)
	// Output: [2.3165]
}

func ExampleGCNConv() {
	g := graph.WithSelfLoops(graph.Must(graph.New(3, []int32{0, 1, 1, 2}, []int32{1, 0, 2, 1})))
	conv := &layers.GCNConv{In: 1, Out: 1}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.W.Value.Fill(1)
	y := conv.Forward(grad.NewEval(), g, grad.Const(tensor.Of([]tensor.Float{1, 2, 3}, 3, 1)))
	fmt.Printf("%.4f\n", y.Value().Data)
	// Output: [1.3165 2.2997 2.3165]
}

func ExampleLinear() {
	l := &layers.Linear{In: 2, Out: 1}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	l.W.Value.Fill(2)
	fmt.Println(l.Forward(nil, grad.Const(tensor.Of([]tensor.Float{1, 2}, 1, 2))).Value().Data)
	// Output: [6]
}
