package attention_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The gradient of a tied table is the sum of its three uses: in the encoder, in the decoder, and
// before the logits.
func TestTiedGradientIsTheSum(t *testing.T) {
	tied := newTransformer(attention.Block{Model: 4, Heads: 2}, true)
	apart := newTransformer(attention.Block{Model: 4, Heads: 2}, true)
	copyOf := func() *grad.Param { return &grad.Param{Value: tied.Words.Value.Clone()} }
	apart.Source, apart.Untied = 9, true
	apart.SourceWords, apart.Words, apart.Out = copyOf(), copyOf(), copyOf()
	source, fed, labels := []int32{3, 8, 1}, []int32{0, 2, 5, 5}, []int32{2, 5, 5, 1}
	m := attention.Pairs([]int{2, 1}, []int{3, 1})
	grads := func(l *attention.Transformer) (grad.Grads, tensor.Float) {
		tape := grad.NewTape(1)
		loss := l.Forward(tape, m, source, fed).CrossEntropy(labels)
		return tape.Backward(loss), loss.Value().Data[0]
	}
	a, lossA := grads(tied)
	b, lossB := grads(apart)
	if lossA != lossB {
		t.Fatalf("losses %v and %v", lossA, lossB)
	}
	x, y, z := b.Param(apart.SourceWords), b.Param(apart.Words), b.Param(apart.Out)
	for i, v := range a.Param(tied.Words).Data {
		if want := float64(x.Data[i] + y.Data[i] + z.Data[i]); math.Abs(float64(v)-want) > 1e-5 {
			t.Fatalf("element %d: %v, want %v", i, v, want)
		}
	}
	if slices.Max(x.Data) == 0 || slices.Max(y.Data) == 0 || slices.Max(z.Data) == 0 {
		t.Error("a use has no gradient")
	}
}

// Dropout is in training alone.
func TestDropoutIsOffAtEval(t *testing.T) {
	plain, drop := newTransformer(attention.Block{Model: 4, Heads: 2}, true), newTransformer(attention.Block{Model: 4, Heads: 2, Drop: 0.5}, true)
	m, source, fed := attention.Pairs([]int{2, 1}, []int{3, 1}), []int32{3, 8, 1}, []int32{0, 2, 5, 5}
	want := plain.Forward(grad.NewEval(), m, source, fed).Value()
	compare.Equal(t, "on an eval tape", drop.Forward(grad.NewEval(), m, source, fed).Value().Data, want.Data)
	compare.Equal(t, "on no tape", drop.Forward(nil, m, source, fed).Value().Data, want.Data)
	if slices.Equal(drop.Forward(grad.NewTape(1), m, source, fed).Value().Data, want.Data) {
		t.Error("nothing is dropped in training")
	}
	compare.Equal(t, "without Drop", plain.Forward(grad.NewTape(1), m, source, fed).Value().Data, want.Data)
}

// A row of equal elements becomes the bias of the norm, and no NaN, in either place of it.
func TestNormOfConstantRow(t *testing.T) {
	for _, pre := range []bool{false, true} {
		l := &attention.EncoderBlock{Block: attention.Block{Model: 4, Heads: 2, PreNorm: pre}}
		l.Init(rand.New(rand.NewPCG(1, 2)))
		x := tensor.New(3, 4)
		x.Fill(5)
		y := l.Forward(nil, graph.Complete(3), grad.Const(x)).Value()
		for _, v := range y.Data {
			if math.IsNaN(float64(v)) {
				t.Fatalf("PreNorm %v: %v", pre, y.Data)
			}
		}
		l.Norm2.Gain.Value.Fill(1)
		l.Norm2.B.Value.Fill(3)
		compare.Equal(t, "norm", l.Norm2.Forward(nil, grad.Const(x)).Value().RowRange(0, 1).Data, []tensor.Float{3, 3, 3, 3})
	}
}

// A pair has the bits of the pair alone. A side may be empty: a target without a source hears
// the bias of the attention to it.
func TestPairsAreSeparate(t *testing.T) {
	l := newTransformer(attention.Block{Model: 6, Heads: 2}, false)
	sources, fed := sentences(1, 7, 4, 0, 1, 3), sentences(2, 9, 2, 5, 0, 1)
	lengths := func(all [][]int32) (out []int) {
		for _, s := range all {
			out = append(out, len(s))
		}
		return out
	}
	all := l.Forward(nil, attention.Pairs(lengths(sources), lengths(fed)), slices.Concat(sources...), slices.Concat(fed...)).Value()
	at := 0
	for i := range sources {
		one := l.Forward(nil, attention.Pairs(lengths(sources[i:i+1]), lengths(fed[i:i+1])), sources[i], fed[i]).Value()
		compare.Equal(t, "pair", all.Data[at:at+len(one.Data)], one.Data)
		at += len(one.Data)
	}
	for _, v := range all.Data {
		if math.IsNaN(float64(v)) {
			t.Fatal("NaN")
		}
	}
}

// The decoder of a pair does not see what it is to say: another token moves no logits before it,
// and one of the source moves all.
func TestTargetLeak(t *testing.T) {
	l := newTransformer(attention.Block{Model: 6, Heads: 2, PreNorm: true}, false)
	m, source, fed := attention.Pairs([]int{3}, []int{4}), []int32{1, 2, 3}, []int32{0, 4, 5, 6}
	before := l.Forward(nil, m, source, fed).Value().Clone()
	fed[2] = 7
	after := l.Forward(nil, m, source, fed).Value()
	compare.Equal(t, "before", after.Data[:18], before.Data[:18])
	source[2] = 0
	moved := l.Forward(nil, m, source, fed).Value()
	for i := range 4 {
		if slices.Equal(moved.Row(i), after.Row(i)) {
			t.Errorf("row %d does not hear the source", i)
		}
	}
}

func TestTransformerGradients(t *testing.T) {
	for _, b := range []attention.Block{
		{Model: 4, Heads: 2, Hidden: 3, Drop: 0.2, Activation: grad.GELU},
		{Model: 4, Heads: 1, Hidden: 3, PreNorm: true, Position: attention.Learned, Longest: 3, Activation: grad.GELU},
	} {
		l := &attention.Transformer{Block: b, Source: 3, Target: 4, Encoders: 1, Decoders: 1, Untied: b.PreNorm}
		l.Init(rand.New(rand.NewPCG(5, 6)))
		m := attention.Pairs([]int{2, 1}, []int{1, 3})
		gradtest.Check(t, l, func(tape *grad.Tape) *grad.Var {
			return l.Forward(tape, m, []int32{0, 2, 1}, []int32{0, 3, 1, 2}).CrossEntropy([]int32{1, 2, 3, 0})
		})
	}
	l := newLanguageModel(attention.Block{Model: 4, Heads: 2, Hidden: 3, Position: attention.Relative, Longest: 1, Activation: grad.GELU}, 1, 3)
	gradtest.Check(t, l, func(tape *grad.Tape) *grad.Var {
		return l.Forward(tape, causals(2, 2), []int32{0, 2, 1, 1}).CrossEntropy([]int32{1, 2, 0, 0})
	})
}

// Weights are those of the graph: each row of them comes to one, for each head.
func TestWeightsComeToOne(t *testing.T) {
	l := newTransformer(attention.Block{Model: 4, Heads: 2}, true)
	m := attention.Pairs([]int{3, 2}, []int{2, 1})
	_, weights := l.Apply(nil, m, []int32{1, 2, 3, 4, 5}, []int32{0, 1, 0})
	if len(weights) != l.Decoders {
		t.Fatalf("weights of %d blocks", len(weights))
	}
	for _, w := range weights {
		for _, v := range message.UpdateAll(m.Cross, w, message.Sum).Value().Data {
			if math.Abs(float64(v)-1) > 1e-5 {
				t.Errorf("weights come to %v", v)
			}
		}
	}
}

func TestTransformerRefuses(t *testing.T) {
	l := newTransformer(attention.Block{Model: 4, Heads: 2, Position: attention.Learned, Longest: 3}, false)
	m := attention.Pairs([]int{2}, []int{4})
	block := &attention.EncoderBlock{Block: attention.Block{Model: 4}}
	block.Init(rand.New(rand.NewPCG(1, 2)))
	unplaced := newLanguageModel(attention.Block{Model: 4, Heads: 2}, 1, 3)
	unplaced.Position = "Learned"
	for want, f := range map[string]func(){
		`no position is called "sinusoidal"`: func() { newLanguageModel(attention.Block{Model: 4, Heads: 2, Position: "sinusoidal"}, 1, 3) },
		`no position is called "Rotary"`: func() {
			(&attention.EncoderBlock{Block: attention.Block{Model: 4, Position: "Rotary"}}).Init(rand.New(rand.NewPCG(1, 2)))
		},
		`no position is called "Learned"`:              func() { unplaced.Forward(nil, graph.Causal(2), []int32{0, 1}) },
		"the graph has 2 nodes, want a token for each": func() { l.Forward(nil, m, []int32{1}, []int32{0, 1, 2, 3}) },
		"a token is 1 or 7, and the table has rows 0":  func() { l.Forward(nil, m, []int32{1, 7}, []int32{0, 1, 2, 3}) },
		"place 3, and 3 places are learned":            func() { l.Forward(nil, m, []int32{1, 2}, []int32{0, 1, 2, 3}) },
		"there is a target for each source":            func() { attention.Pairs([]int{1, 2}, []int{1}) },
		"it has no Params; was Init called?":           func() { (&attention.Transformer{}).Forward(nil, m, nil, nil) },
		"no Params; was Init called":                   func() { (&attention.EncoderBlock{}).Forward(nil, graph.Complete(1), grad.Const(tensor.New(1, 4))) },
		"x has 3 columns, Model is 4":                  func() { block.Forward(nil, graph.Complete(1), grad.Const(tensor.New(1, 3))) },
		"attention to other rows is MultiHead.Cross":   func() { block.Forward(nil, graph.CompleteBipartite(1, 2), grad.Const(tensor.New(1, 4))) },
	} {
		if got := refusal(t, f); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A block on the data's graph with a number for each edge is a Graph Transformer: a bias of −Inf
// is an edge less, in both places of the norm, and any other one moves its destination alone.
func TestEncoderBlockOfEdges(t *testing.T) {
	g := odd()
	in, gone := g.In(), tensor.New(g.NumEdges(), 1)
	var src, dst []int32
	for e, v := range g.Destinations() {
		if e == 4 { // an edge into node 1
			gone.Data[e] = tensor.Float(math.Inf(-1))
			continue
		}
		src, dst = append(src, in.Cols[e]), append(dst, v)
	}
	less, moved := graph.Must(graph.New(4, src, dst)), tensor.New(g.NumEdges(), 1)
	moved.Data[4] = 2
	for _, pre := range []bool{false, true} {
		l := &attention.EncoderBlock{Block: attention.Block{Model: 4, Heads: 2, PreNorm: pre}}
		l.Init(rand.New(rand.NewPCG(1, 2)))
		x := grad.Const(normal(1, 4, 4))
		plain := l.Forward(nil, g, x).Value()
		got, _ := l.Apply(nil, g, x, message.E(grad.Const(gone)))
		for i, v := range l.Forward(nil, less, x).Value().Data {
			compare.Number(t, "an edge less", got.Value().Data[i], float64(v), rounded)
		}
		y, _ := l.Apply(nil, g, x, message.E(grad.Const(moved)))
		for v := range 4 {
			if same := slices.Equal(y.Value().Row(v), plain.Row(v)); same != (g.Destinations()[4] != int32(v)) {
				t.Errorf("PreNorm %v: the bias of an edge into node %d moves node %d: %v", pre, g.Destinations()[4], v, !same)
			}
		}
	}
}

// embedded is √d·e(token) and the row of its place, as loops.
func embedded(words, places *grad.Param, tokens []int32, at func(i int) int32) *grad.Var {
	d := words.Value.Dim(1)
	x := tensor.New(len(tokens), d)
	for i, w := range tokens {
		place := attention.Sinusoids([]int32{at(i)}, d).Row(0)
		if places != nil {
			place = places.Value.Row(int(at(i)))
		}
		for j := range d {
			x.Row(i)[j] = tensor.Float(math.Sqrt(float64(d))*float64(words.Value.Row(int(w))[j]) + float64(place[j]))
		}
	}
	return grad.Const(x)
}

// Around their blocks the models are what their comments say: tokens are √d times their rows, with
// a place that is counted in each sentence, and the logits are products with the table of targets
// or with a matrix of their own.
func TestModelsAreTheirFormulas(t *testing.T) {
	starts := []int32{0, 1, 2, 0, 1} // of sentences of three tokens and of two
	at := func(i int) int32 { return starts[i] }
	logits := func(y *grad.Var, table *grad.Param) [][]float64 {
		out := make([][]float64, y.Dim(0))
		for i := range out {
			for w := range table.Value.Rows() {
				out[i] = append(out[i], dot(floats(y.Value().Row(i)), floats(table.Value.Row(w))))
			}
		}
		return out
	}
	for _, b := range []attention.Block{{Model: 6, Heads: 2}, {Model: 6, Heads: 2, PreNorm: true, Position: attention.Learned, Longest: 3}} {
		words := newLanguageModel(b, 2, 5)
		said, g := []int32{1, 4, 4, 0, 3}, causals(3, 2)
		y := words.Encoder.Forward(nil, g, embedded(words.Words, words.Places, said, at))
		compare.Near(t, "language model", words.Forward(nil, g, said).Value().Data, slices.Concat(logits(y, words.Words)...), compare.Part(1e-4))

		for _, tied := range []bool{false, true} {
			l := newTransformer(b, tied)
			source, table := l.SourceWords, l.Words
			if source == nil {
				source = l.Words
			}
			if l.Untied {
				table = l.Out
			}
			m, fed := attention.Pairs([]int{3, 2}, []int{3, 2}), []int32{0, 8, 2, 0, 5}
			memory := l.Encoder.Forward(nil, m.Source, embedded(source, l.SourcePlaces, said, at))
			y := l.Decoder.Forward(nil, m.Target, m.Cross, embedded(l.Words, l.Places, fed, at), memory)
			compare.Near(t, "Transformer", l.Forward(nil, m, said, fed).Value().Data, slices.Concat(logits(y, table)...), compare.Part(1e-4))
		}
	}
}
