package attention_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// rowsOfWords are random rows, one for each of n words.
func rowsOfWords(n int) *grad.Var {
	x := tensor.New(n, 8)
	x.Normal(rand.New(rand.NewPCG(uint64(n), 1)), 0, 1)
	return grad.Const(x)
}

// Two texts of different lengths, a question about each, and where their answers stand.
func ExampleBiDAF() {
	texts, questions := graph.Chains(6, 4), graph.Chains(2, 3)
	r, err := attention.NewReading(texts, questions, []attention.Passage{{First: 3, Last: 4}, {First: 0, Last: 0}})
	if err != nil {
		panic(err) // a text or a question without words, or an answer outside its text
	}
	net := &attention.BiDAF{In: 8, Hidden: 6}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	x, q := rowsOfWords(10), rowsOfWords(5) // embeddings, a row for each word

	t, opt := grad.NewTape(1), &train.Adam{LR: 1e-2}
	for range 60 {
		t.Reset()
		opt.Step(t.Backward(net.Forward(t, r, x, q).Loss(r)))
	}
	out := net.Forward(grad.NewEval(), r, x, q)
	fmt.Println(out.Best(r, 0))
	fmt.Println(out.ToText.Matrices()[1].Shape(), out.ToQuestion.Matrices()[1].Shape())
	// Output:
	// [{3 4} {0 0}]
	// [4 3] [1 4]
}

// The coattention network learns by all of its rounds.
func ExampleCoattention() {
	r, err := attention.NewReading(graph.Chains(6, 4), graph.Chains(2, 3), []attention.Passage{{First: 3, Last: 4}, {First: 0, Last: 0}})
	if err != nil {
		panic(err)
	}
	x, q := rowsOfWords(10), rowsOfWords(5)
	net := &attention.Coattention{In: 8, Hidden: 6, Pieces: 4}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	t, opt := grad.NewTape(1), &train.Adam{LR: 1e-2}
	for range 60 {
		t.Reset()
		opt.Step(t.Backward(net.Loss(t, r, x, q)))
	}
	out := net.Forward(grad.NewEval(), r, x, q)
	fmt.Println(out.Best(r, 0))
	fmt.Println(out.ToText.Matrices()[1].Shape(), out.ToQuestion.Matrices()[1].Shape()) // a sentinel each
	// Output:
	// [{3 4} {0 0}]
	// [5 4] [4 5]
}

// Parts of three readers that are not built here, each a message or two.
func ExampleReading() {
	r, err := attention.NewReading(graph.Chains(6, 4), graph.Chains(2, 3), nil)
	if err != nil {
		panic(err)
	}
	x, q, rng, t := rowsOfWords(10), rowsOfWords(5), rand.New(rand.NewPCG(1, 2)), grad.NewEval()

	dense := &layers.Linear{In: 8, Out: 8}
	dense.Init(rng)
	alpha := func(words *grad.Var) *grad.Var { return dense.Forward(t, words).ReLU() } // one layer for both
	like := message.UDotV(alpha(q), alpha(x)).Softmax()
	aligned := message.UpdateAll(r.ToText, message.U(q).Mul(like), message.Sum)
	fmt.Println("DrQA", grad.Concat(x, aligned).Shape())

	s := message.ApplyEdges(r.ToText, message.UDotV(q, x))
	overText := message.EdgeSoftmaxBySource(r.ToText, s) // of each word of the question
	overQuestion := message.EdgeSoftmax(r.ToText, s)     // of each word of the text
	back := graph.Reverse(r.ToText)                      // its edges are those of ToText in another order
	matters := message.UpdateAll(back, message.CopyE(overQuestion.Rows(back.From().Edges)), message.Mean)
	found := message.UpdateAll(r.ToText, message.UMulE(matters, overText), message.Sum)
	fmt.Printf("AoA %.3f\n", found.Value().Data[6:])

	itself := graph.Batch(graph.Complete(6), graph.Complete(4)) // each text looks at itself
	match := &attention.Soft{Score: &attention.Additive{Key: 8, Query: 8, Hidden: 8}}
	gate := &layers.Linear{In: 16, Out: 16, NoBias: true}
	match.Init(rng)
	gate.Init(rng)
	both := grad.Concat(x, match.Apply(t, itself, layers.In{Src: x}).Y)
	gated := both.Mul(gate.Forward(t, both).Sigmoid()) // what a layer of recurrent cells reads next
	fmt.Println("r-Net", gated.Shape())
	// Output:
	// DrQA [10 16]
	// AoA [0.110 0.384 0.081 0.425]
	// r-Net [10 16]
}
