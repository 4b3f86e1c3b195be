package message_test

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// [primitives]
// rnn: h_t = tanh(x_t·W + h_{t−1}·U + b), on Chains
func rnn(g *graph.Graph, x, w, u, b *grad.Var) *grad.Var {
	xw := x.MatMul(w).Add(b) // of all words at once
	start := message.State{grad.Const(tensor.New(1, u.Dim(0)))}
	return message.Sweep(g, start, func(l *message.Level, prev message.State) message.State {
		h := message.UpdateAll(l.In, message.CopyU(prev[0]), message.Sum)
		return message.State{l.Rows(xw).Add(h.MatMul(u)).Tanh()}
	})[0]
}

// [primitives]
// lstm: [i f g o] = x_t·W + h·U + b,  c_t = σ(f)·c + σ(i)·tanh(g),  h_t = σ(o)·tanh(c_t), on Chains
func lstm(g *graph.Graph, x, w, u, b *grad.Var) *grad.Var {
	xw, m, zero := x.MatMul(w).Add(b), u.Dim(0), grad.Const(tensor.New(1, u.Dim(0)))
	return message.Sweep(g, message.State{zero, zero}, func(l *message.Level, prev message.State) message.State {
		h := message.UpdateAll(l.In, message.CopyU(prev[0]), message.Sum)
		c := message.UpdateAll(l.In, message.CopyU(prev[1]), message.Sum)
		z := l.Rows(xw).Add(h.MatMul(u)).Split(m, m, m, m)
		c = z[1].Sigmoid().Mul(c).Add(z[0].Sigmoid().Mul(z[2].Tanh()))
		return message.State{z[3].Sigmoid().Mul(c.Tanh()), c}
	})[0]
}

// [primitives]
// treeLSTM: an LSTM with the sum of its children's h, and a forget gate for each; w is [i g o f], u is [i g o]
func treeLSTM(g *graph.Graph, x, w, b, u, uf *grad.Var) *grad.Var {
	xw, m, zero := x.MatMul(w).Add(b), u.Dim(0), grad.Const(tensor.New(1, u.Dim(0)))
	return message.Sweep(g, message.State{zero, zero}, func(l *message.Level, prev message.State) message.State {
		own := l.Rows(xw).Split(3*m, m)
		forget := message.UAddV(prev[0].MatMul(uf), own[1]).Sigmoid()
		kept := message.UpdateAll(l.In, forget.Mul(message.U(prev[1])), message.Sum)
		h := message.UpdateAll(l.In, message.CopyU(prev[0]), message.Sum)
		z := own[0].Add(h.MatMul(u)).Split(m, m, m)
		c := z[0].Sigmoid().Mul(z[1].Tanh()).Add(kept)
		return message.State{z[2].Sigmoid().Mul(c.Tanh()), c}
	})[0]
}

// Two sentences, of three words and of one: the one word hears only the start.
func Example_rnn() {
	one := vars([]int{1, 1}, 1)
	show(rnn(graph.Chains(3, 1), column(1, 0, 0, 1), one, one, vars([]int{1}, 0)))
	// Output:
	// 0.76
	// 0.64
	// 0.57
	// 0.76
}

// The input gate is open where x is large, the others always.
func Example_lstm() {
	w, u := vars([]int{1, 4}, 99, 0, 0, 0), vars([]int{1, 4}, 0, 0, 0, 0)
	b := vars([]int{4}, -9, 99, 99, 99) // each word adds tanh(99) = 1 to the cell, or nothing
	show(lstm(graph.Chains(3, 1), column(1, 0, 1, 0), w, u, b))
	// Output:
	// 0.76
	// 0.76
	// 0.96
	// 0.00
}

// Leaves 0 and 1 under node 2; node 3 is a tree of one.
func Example_treeLSTM() {
	g := graph.Must(graph.Trees([]int32{2, 2, -1}, []int32{-1}))
	w, b := vars([]int{1, 4}, 99, 0, 0, 0), vars([]int{4}, -9, 99, 99, 99)
	u, uf := vars([]int{1, 3}, 0, 0, 0), vars([]int{1, 1}, 0)
	show(treeLSTM(g, column(1, 1, 0, 0), w, b, u, uf)) // the node forgets neither child: tanh(2)
	// Output:
	// 0.76
	// 0.76
	// 0.96
	// 0.00
}

// A coverage: how much each step of a decoder has attended to each input so far. It has a
// row for each edge from the inputs to the steps, so it is a state of these.
func ExampleSweepOn() {
	steps, inputs := graph.Chains(3), graph.CompleteBipartite(2, 3)
	logit := grad.Const(tensor.Of([]tensor.Float{0, 0}, 2, 1))
	zero := grad.Const(tensor.New(1, 1))
	cover := message.SweepOn(steps, []*graph.Graph{inputs}, message.State{zero}, func(l *message.Level, prev message.State) message.State {
		look := l.Of(inputs)
		score := message.U(logit).Sub(message.E(prev[0])) // what was read before counts less
		return message.State{prev[0].Add(message.ApplyEdges(look, score.Softmax()))}
	})
	fmt.Println(cover[0].Value().Data)
	// Output: [0.5 0.5 1 1 1.5 1.5]
}

// Relative positions: a bias by how far a word lies back, the same for all beyond two.
func ExampleMsg_PickOffset() {
	words := graph.CausalBand(4, 3)
	bias := grad.Const(tensor.Of([]tensor.Float{10, 20, 30}, 3, 1))
	fmt.Println(message.ApplyEdges(words, message.W(bias).PickOffset(0, 2)).Value().Data)
	// Output: [10 20 10 30 20 10 30 30 20 10]
}
