package message_test

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

func ExampleUpdateAll() {
	g := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{2, 2, 0}))
	x := grad.Const(tensor.Of([]tensor.Float{1, 5, 2}, 3, 1))
	fmt.Println(message.UpdateAll(g, message.U(x), message.Sum).Value())
	fmt.Println(message.UpdateAll(g, message.USubV(x, x), message.Mean, message.Max).Value())
	// Output:
	// Dense[3 1][2 0 6]
	// Dense[3 2][1 1 0 0 1 3]
}

func ExampleApplyEdges() {
	g := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{2, 2, 0}))
	x := grad.Const(tensor.Of([]tensor.Float{1, 5, 2}, 3, 1))
	fmt.Println(g.In().Cols, g.Destinations())
	fmt.Println(message.ApplyEdges(g, message.UAddV(x, x)).Value())
	// Output:
	// [2 0 1] [0 2 2]
	// Dense[3 1][3 3 7]
}

// A running sum is the simplest recurrent network.
func ExampleSweep() {
	g := graph.Chains(3, 2) // two sequences
	x := grad.Const(tensor.Of([]tensor.Float{1, 2, 3, 10, 20}, 5, 1))
	start := message.State{grad.Const(tensor.New(1, 1))}
	s := message.Sweep(g, start, func(l *message.Level, prev message.State) message.State {
		before := message.UpdateAll(l.In, message.U(prev[0]), message.Sum)
		return message.State{before.Add(l.Rows(x))}
	})
	fmt.Println(s[0].Value())
	// Output: Dense[5 1][1 3 6 10 30]
}

// Attention over two relations: their weights at a node add up to one together.
func ExampleSoftmaxRelations() {
	cites := graph.Must(graph.New(2, []int32{0, 1}, []int32{1, 1}))
	writes := graph.Must(graph.NewBipartite(1, 2, []int32{0, 0}, []int32{0, 1}))
	logit := grad.Const(tensor.New(2, 1))
	alpha := message.SoftmaxRelations(
		message.Relation{Graph: cites, Msg: message.E(logit)},
		message.Relation{Graph: writes, Msg: message.E(logit)})
	fmt.Printf("%.2f\n%.2f\n", alpha[0].Value().Data, alpha[1].Value().Data)
	// Output:
	// [0.33 0.33]
	// [1.00 0.33]
}

func ExampleExplain() {
	g := graph.Complete(4)
	ft, el := grad.Const(tensor.New(4, 2, 8)), grad.Const(tensor.New(4, 2, 1))
	gat := message.U(ft).Mul(message.UAddV(el, el).LeakyReLU(0.2).Softmax())
	fmt.Print(message.Explain(g, gat, message.Sum))
	fmt.Print(message.Explain(g, message.UAddV(el, el).Sigmoid(), message.Max))
	// Output:
	// rule: graph attention: softmax and weighted sum in one pass over each destination's edges
	// tiles: 1024 edges at a time, 4 elements of scratch an edge (forward)
	//    0 U              [2 1]
	//    1 V              [2 1]
	//    2 Add            [2 1] of 0, 1
	//    3 Sigmoid        [2 1] of 2
	//   reduced by [Max] onto 4 destinations
}
