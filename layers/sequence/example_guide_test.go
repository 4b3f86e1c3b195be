package sequence_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/decode"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// The code of docs/models/sequences.md; a test compares.

func Example() {
	rng := rand.New(rand.NewPCG(1, 2))
	g := graph.Chains(5, 2, 3) // three sentences, ten words in all
	words := tensor.New(10, 8) // a row for each word
	words.Normal(rng, 0, 1)
	lstm := &sequence.LSTM{In: 8, Hidden: 4}
	lstm.Init(rng)
	h := lstm.Forward(grad.NewEval(), g, grad.Const(words)) // a state for each word
	fmt.Println(h.Shape(), g.Roots(), g.Sinks())

	last := h.Rows(g.Sinks())                                                      // what a classifier of sentences reads
	mean := message.UpdateAll(graph.Membership(g), message.CopyU(h), message.Mean) // or this
	fmt.Println(last.Shape(), mean.Shape())
	// Output:
	// [10 4] [0 5 7] [4 6 9]
	// [3 4] [3 4]
}

// reader tells a sentence by its first word, which it has to remember to the end.
type reader struct {
	Words *grad.Param
	GRU   *sequence.GRU
	Out   *layers.Linear
}

func (r *reader) forward(t *grad.Tape, g *graph.Graph, tokens []int32) *grad.Var {
	h := r.GRU.Forward(t, g, t.Use(r.Words).Rows(tokens))
	return r.Out.Forward(t, h.Rows(g.Sinks()))
}

func Example_classifier() {
	rng := rand.New(rand.NewPCG(1, 2))
	r := &reader{grad.NewParam(4, 8), &sequence.GRU{In: 8, Hidden: 24, Chrono: 9}, &layers.Linear{In: 24, Out: 4}}
	r.Words.Value.Normal(rng, 0, 1)
	r.GRU.Init(rng)
	r.Out.Init(rng)

	t, opt := grad.NewTape(1), &train.Adam{LR: 1e-2}
	right := 0
	for step := range 200 {
		lengths := make([]int, 32)
		for i := range lengths {
			lengths[i] = 1 + rng.IntN(9) // of every length, and nothing is padded
		}
		g := graph.Chains(lengths...)
		tokens := make([]int32, g.NumNodes())
		for v := range tokens {
			tokens[v] = rng.Int32N(4)
		}
		var first []int32
		for _, v := range g.Roots() {
			first = append(first, tokens[v])
		}
		t.Reset()
		y := r.forward(t, g, tokens)
		if step >= 190 {
			for i, want := range first {
				if row := y.Value().Row(i); slices.Index(row, slices.Max(row)) == int(want) {
					right++
				}
			}
		}
		grads := t.Backward(y.CrossEntropy(first))
		grads.ClipNorm(1)
		opt.Step(grads)
	}
	fmt.Println(right > 310, "of the last 320")
	// Output: true of the last 320
}

func Example_bothDirections() {
	g := graph.Chains(5, 2, 3)
	net := &sequence.Stack{
		Layers: []sequence.Cell{&sequence.LSTM{In: 8, Hidden: 4}, &sequence.LSTM{In: 8, Hidden: 4}},
		Back:   []sequence.Cell{&sequence.LSTM{In: 8, Hidden: 4}, &sequence.LSTM{In: 8, Hidden: 4}},
	}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	y := net.Forward(grad.NewEval(), g, grad.Const(tensor.New(10, 8)))
	ends := grad.Concat(y.Columns(0, 4).Rows(g.Sinks()), y.Columns(4, 8).Rows(g.Roots()))
	fmt.Println(y.Shape(), ends.Shape())
	// Output: [10 8] [3 8]
}

func Example_variants() {
	rng := rand.New(rand.NewPCG(1, 2))
	x := tensor.New(10, 8)
	x.Normal(rng, 0, 1)
	for _, cell := range []sequence.Cell{
		&sequence.LSTM{In: 8, Hidden: 4, Forget: sequence.CoupledForget, Peephole: sequence.DiagonalPeephole},
		&sequence.LSTM{In: 8, Hidden: 4, Chrono: 60, LayerNorm: true, StateDropout: 0.2},
		&sequence.GRU{In: 8, Hidden: 4, Minimal: true},
		&sequence.RNN{In: 8, Hidden: 4, Leak: 0.1},
	} {
		cell.Init(rng)
		states := cell.ForwardFrom(grad.NewEval(), graph.Chains(5, 2, 3), grad.Const(x), nil)
		fmt.Println(len(states), states[0].Shape())
	}
	// Output:
	// 2 [10 4]
	// 2 [10 4]
	// 1 [10 4]
	// 1 [10 4]
}

// writer is a language model: what it read so far says which letter comes next.
type writer struct {
	Letters *grad.Param
	LSTM    *sequence.LSTM
	Out     *layers.Linear
}

// step is what package decode calls, for all hypotheses at once.
func (w *writer) step(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) {
	next := w.LSTM.Step(t, t.Use(w.Letters).Rows(l.Last), l.State)
	return w.Out.Forward(t, next[0]), next
}

// A language model that reads one sentence again and again, and then writes it.
func ExampleLSTM_Step() {
	const text = "$the rain in spain stays mainly in the plain$" // $ begins and ends it
	letters := []rune("$ abcdefghijklmnopqrstuvwxyz")
	var tokens []int32
	for _, c := range text {
		tokens = append(tokens, int32(slices.Index(letters, c)))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	w := &writer{grad.NewParam(len(letters), 16), &sequence.LSTM{In: 16, Hidden: 48, ForgetBias: 1}, &layers.Linear{In: 48, Out: len(letters)}}
	w.Letters.Value.Normal(rng, 0, 1)
	w.LSTM.Init(rng)
	w.Out.Init(rng)

	g, t, opt := graph.Chains(len(tokens)-1), grad.NewTape(1), &train.Adam{LR: 1e-2}
	for range 150 {
		t.Reset()
		h := w.LSTM.Forward(t, g, t.Use(w.Letters).Rows(tokens[:len(tokens)-1]))
		opt.Step(t.Backward(w.Out.Forward(t, h).CrossEntropy(tokens[1:])))
	}

	s := &decode.Search{Step: w.step, Begin: []int32{0}, End: 0, Longest: []int{80}, State: decode.State{grad.Const(tensor.New(1, 48)), grad.Const(tensor.New(1, 48))}}
	drawn, err := decode.Sample{Temperature: 0.3, Seed: 1}.Run(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, k := range drawn[0].Tokens {
		fmt.Print(string(letters[k]))
	}
	// Output: the rain in spain stays mainly in the plain
}

// An encoder–decoder that learns to say a word backwards, all pairs in one batch.
func ExampleEncoderDecoder() {
	words := []string{"stop", "pans", "on", "raw", "drawer", "live", "tip", "lager"}
	var from, fed, next []int32 // letters of the sources; of the targets what is fed and what is asked
	var long, longer []int      // lengths
	for _, w := range words {
		fed = append(fed, 0) // token 0 begins a target, and ends it
		for i := range w {
			from, fed, next = append(from, int32(w[i]-'a'+1)), append(fed, int32(w[len(w)-1-i]-'a'+1)), append(next, int32(w[len(w)-1-i]-'a'+1))
		}
		next = append(next, 0)
		long, longer = append(long, len(w)), append(longer, len(w)+1)
	}
	source, target := graph.Chains(long...), graph.Chains(longer...)

	net := &sequence.EncoderDecoder{Source: 27, Target: 27, Begin: 0, Embed: 16, Hidden: 48}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	t, opt := grad.NewTape(1), &train.Adam{LR: 1e-2}
	for range 100 {
		t.Reset()
		opt.Step(t.Backward(net.Forward(t, source, from, target, fed).CrossEntropy(next)))
	}

	eval := grad.NewEval()
	state := net.Start(eval, net.Encode(eval, source, from)).Keep()
	s := &decode.Search{
		Step:  func(t *grad.Tape, l *decode.Live) (*grad.Var, decode.State) { return net.Step(t, l.Last, l.State) },
		Begin: make([]int32, len(words)), End: 0, Longest: []int{12}, State: state,
	}
	said, err := decode.Greedy{}.Run(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, w := range words {
		fmt.Print(w, " ")
		for _, k := range said[i].Tokens {
			fmt.Print(string('a' + rune(k) - 1))
		}
		fmt.Println()
	}
	// Output:
	// stop pots
	// pans snap
	// on no
	// raw war
	// drawer reward
	// live evil
	// tip pit
	// lager regal
}

// A sentence as a tree whose children have places: 0 is the left one.
func ExampleTreeLSTM_arity() {
	g := graph.Must(graph.Trees([]int32{-1, 0, 0, 2, 2})) // (0 1 (2 3 4))
	tree := &sequence.TreeLSTM{In: 8, Hidden: 4, Arity: 2}
	tree.Init(rand.New(rand.NewPCG(1, 2)))
	words := grad.NewParam(10, 8)
	words.Value.Normal(rand.New(rand.NewPCG(3, 4)), 0, 1)
	t := grad.NewEval()
	x := t.Use(words).Embedding([]int32{grad.NoLabel, 7, grad.NoLabel, 3, 9}, grad.NoLabel) // inner nodes have no word
	h := tree.Forward(t, g, x)
	fmt.Println(h.Shape(), "the root is row", g.Sinks())
	// Output: [5 4] the root is row [0]
}

// The network of Socher and others: leaves are word vectors, and a node is made of its two
// children.
func ExampleRecursive() {
	g := graph.Must(graph.Trees([]int32{-1, 0, 0, 2, 2}))
	net := &sequence.Recursive{In: 4, Hidden: 4, Arity: 2, Words: true}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	x := tensor.New(5, 4)
	x.Normal(rand.New(rand.NewPCG(3, 4)), 0, 1)
	h := net.Forward(grad.NewEval(), g, grad.Const(x)).Value()
	fmt.Println(slices.Equal(h.Row(3), x.Row(3)), slices.Equal(h.Row(2), x.Row(2)))
	// Output: true false
}

// Three words at a time, of three sentences; nothing crosses from one to the next.
func ExampleConv1D() {
	g := graph.Chains(3, 1, 2)
	conv := &sequence.Conv1D{In: 1, Out: 1, Kernel: 3}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	conv.W.Value.Fill(1) // y_t = x_t−1 + x_t + x_t+1
	x := tensor.Of([]tensor.Float{1, 2, 3, 10, 100, 200}, 6, 1)
	fmt.Println(conv.Forward(grad.NewEval(), g, grad.Const(x)).Value().Data)
	conv.Causal = true // y_t = x_t−2 + x_t−1 + x_t
	fmt.Println(conv.Forward(grad.NewEval(), g, grad.Const(x)).Value().Data)
	// Output:
	// [3 6 5 10 300 300]
	// [1 3 6 10 100 300]
}

func ExampleTCN() {
	net := &sequence.TCN{In: 8, Widths: []int{16, 16, 16}, Kernel: 3} // hears 29 words back
	net.Init(rand.New(rand.NewPCG(1, 2)))
	y := net.Forward(grad.NewEval(), graph.Chains(40, 7), grad.Const(tensor.New(47, 8)))
	fmt.Println(y.Shape())
	// Output: [47 16]
}

func ExampleHighway() {
	layer := &sequence.Highway{Width: 8}
	layer.Init(rand.New(rand.NewPCG(1, 2)))
	fmt.Println(layer.Forward(grad.NewEval(), grad.Const(tensor.New(5, 8))).Shape())
	// Output: [5 8]
}

// Two layers, a word at a time.
func ExampleStack_Step() {
	net := &sequence.Stack{Layers: []sequence.Cell{&sequence.LSTM{In: 8, Hidden: 4}, &sequence.GRU{In: 4, Hidden: 3}}}
	net.Init(rand.New(rand.NewPCG(1, 2)))
	words := tensor.New(6, 8)
	words.Normal(rand.New(rand.NewPCG(3, 4)), 0, 1)
	var y *grad.Var
	var states []message.State // zeros
	for i := range 6 {
		y, states = net.Step(nil, grad.Const(words.RowRange(i, i+1)), states)
	}
	whole := net.Forward(nil, graph.Chains(6), grad.Const(words))
	fmt.Println(slices.Equal(y.Value().Data, whole.Value().Row(5)))
	// Output: true
}
