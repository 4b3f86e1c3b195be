package sequence_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Three sentences of different lengths, nothing padded; the last state of each
// is what a classifier would read.
func ExampleLSTM() {
	g := graph.Chains(5, 2, 3)
	lstm := &sequence.LSTM{In: 8, Hidden: 4, Peephole: sequence.DiagonalPeephole, ForgetBias: 1}
	lstm.Init(rand.New(rand.NewPCG(1, 2)))
	words := tensor.New(10, 8)
	words.Normal(rand.New(rand.NewPCG(3, 4)), 0, 1)

	h := lstm.Forward(grad.NewEval(), g, grad.Const(words))
	fmt.Println(h.Shape(), h.Rows(g.Sinks()).Shape())
	// Output: [10 4] [3 4]
}

// A long chain in two segments: back-propagation ends where they meet.
func ExampleLSTM_ForwardFrom() {
	lstm := &sequence.LSTM{In: 2, Hidden: 4}
	lstm.Init(rand.New(rand.NewPCG(1, 2)))
	x := tensor.New(100, 2)
	x.Normal(rand.New(rand.NewPCG(3, 4)), 0, 1)

	g := graph.Chains(50)
	carry := message.State{grad.Const(tensor.New(1, 4)), grad.Const(tensor.New(1, 4))} // h and c
	t := grad.NewTape(1)
	for at := 0; at < 100; at += 50 {
		t.Reset()
		s := lstm.ForwardFrom(t, g, grad.Const(x.RowRange(at, at+50)), carry)
		grads := t.Backward(s[0].Square().Mean())
		fmt.Println(s[0].Shape(), len(grads))
		carry = s.Rows(g.Sinks()).Keep()
	}
	// Output:
	// [50 4] 3
	// [50 4] 3
}

// A batch of two trees, each given by the parent of every node.
func ExampleTreeLSTM() {
	g, err := graph.Trees(
		[]int32{-1, 0, 0, 1, 1}, // 0 ← 1, 2 and 1 ← 3, 4
		[]int32{1, -1},          // 1 ← 0
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	tree := &sequence.TreeLSTM{In: 8, Hidden: 4}
	tree.Init(rand.New(rand.NewPCG(1, 2)))
	h := tree.Forward(grad.NewEval(), g, grad.Const(tensor.New(7, 8)))
	fmt.Println(h.Shape(), g.Sinks())
	// Output: [7 4] [0 6]
}

func ExampleLSTMGates() {
	z := grad.Const(tensor.New(1, 8)) // gates half open, no new candidate
	c := grad.Const(tensor.Of([]tensor.Float{1, -2}, 1, 2))
	h, next := sequence.LSTMGates(z, c, nil, false)
	fmt.Printf("%.3f %.3f\n", h.Value().Data, next.Value().Data)
	// Output: [0.231 -0.381] [0.500 -1.000]
}

// A network that reads a sentence in both directions, on each of two layers.
func ExampleStack() {
	g := graph.Chains(5, 2, 3)
	net := &sequence.Stack{
		Layers: []sequence.Cell{&sequence.GRU{In: 8, Hidden: 4}, &sequence.GRU{In: 8, Hidden: 4}},
		Back:   []sequence.Cell{&sequence.GRU{In: 8, Hidden: 4}, &sequence.GRU{In: 8, Hidden: 4}},
	}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	fmt.Println(net.Forward(grad.NewEval(), g, grad.Const(tensor.New(10, 8))).Shape())
	// Output: [10 8]
}

// A step at a time: the state after one is the state before the next.
func ExampleGRU_ForwardFrom() {
	gru := &sequence.GRU{In: 2, Hidden: 3}
	gru.Init(rand.New(rand.NewPCG(1, 2)))
	x := tensor.New(4, 2)
	x.Normal(rand.New(rand.NewPCG(3, 4)), 0, 1)
	whole := gru.Forward(nil, graph.Chains(4), grad.Const(x))

	var s message.State // zeros
	t := grad.NewEval()
	for i := range 4 {
		t.Reset()
		s = gru.ForwardFrom(t, graph.Chains(1), grad.Const(x.RowRange(i, i+1)), s).Keep()
	}
	fmt.Println(slices.Equal(s[0].Value().Data, whole.RowRange(3, 4).Value().Data))
	// Output: true
}

// An Elman network with rectifiers.
func ExampleRNN() {
	rnn := &sequence.RNN{In: 8, Hidden: 4, Activation: grad.ReLU}
	rnn.Init(rand.New(rand.NewPCG(1, 2)))
	fmt.Println(rnn.Forward(grad.NewEval(), graph.Chains(2, 3), grad.Const(tensor.New(5, 8))).Shape())
	// Output: [5 4]
}

func ExampleGRUGates() {
	a, q := grad.Const(tensor.New(1, 6)), grad.Const(tensor.New(1, 6)) // gates half open, no candidate
	h := grad.Const(tensor.Of([]tensor.Float{1, -2}, 1, 2))
	fmt.Println(sequence.GRUGates(a, q, h, nil).Value().Data)
	// Output: [0.5 -1]
}

// Scores of tags for the words of two sentences. The rules of BIO turn an I-NP at the
// beginning, which scores best there, into a B-NP.
func ExampleCRF() {
	tags := []string{"B-NP", "I-NP", "O"}
	rules, err := sequence.BIO(tags)
	if err != nil {
		fmt.Println(err)
		return
	}
	crf := &sequence.CRF{Tags: 3, Forbid: rules}
	crf.Init(rand.New(rand.NewPCG(1, 2)))
	g := graph.Chains(3, 1)
	x := grad.Const(tensor.Of([]tensor.Float{2, 3, 0, 0, 2, 1, 0, 0, 4, 1, 2, 0}, 4, 3)) // from any layer

	loss := crf.Loss(grad.NewTape(1), g, x, []int32{0, 1, 2, 0})
	best, _ := crf.Decode(g, x)
	fmt.Println(loss.Shape())
	for _, k := range best {
		fmt.Print(tags[k], " ")
	}
	// Output:
	// [1]
	// B-NP I-NP O B-NP
}
