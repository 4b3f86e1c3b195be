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
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Every Param of every aligner, and of the two networks, has the gradient that
// differences give: through the weights of the step before, too.
func TestDecodersGradients(t *testing.T) {
	source, tokens, target, fed := batched([]pair{{[]int32{3, 4, 5}, []int32{1, 3, 2}}, {[]int32{6, 2}, []int32{1, 5}}})
	labels := []int32{3, 2, 0, 5, 0}
	for name, a := range aligners() {
		if name == "monotonic, hard true" {
			continue // on a tape that records it is the other
		}
		t.Run(name, func(t *testing.T) {
			search, luong := newRNNsearch(a.Aligner), newLuong(a.Aligner, true)
			var model any = search
			if name != "location" {
				model = a.Aligner // the rest has been looked at once
			}
			gradtest.Check(t, model, func(tape *grad.Tape) *grad.Var {
				return search.Forward(tape, source, tokens, target, fed).CrossEntropy(labels)
			})
			if name == "location" {
				gradtest.Check(t, luong, func(tape *grad.Tape) *grad.Var {
					return luong.Forward(tape, source, tokens, target, fed).CrossEntropy(labels)
				})
			}
		})
	}
}

// ofAlike is the weights of a single query over n keys that are alike.
func ofAlike(a attention.Aligner, n int, last *tensor.Dense) *tensor.Dense {
	source := graph.Chains(n)
	tape, h, q := grad.NewEval(), tensor.New(n, twice), tensor.New(1, hidden)
	h.Fill(0.3)
	q.Fill(-0.2)
	g := graph.CompleteBipartite(n, 1)
	var x *grad.Var
	if last != nil {
		x = grad.Const(last)
	}
	alpha, _ := a.Weigh(tape, attention.Look{Graph: g, Keys: a.Keys(tape, source, grad.Const(h))}, grad.Const(q), x)
	return message.ApplyEdges(g, alpha).Value()
}

// The convolution is a cross-correlation, as PyTorch's: a filter that is one on its last
// tap moves what stands at j to j−1, and nothing comes in at the ends.
func TestLocationDirection(t *testing.T) {
	l := &attention.LocationAttention{Query: hidden, Hidden: 1, Filters: 1, Width: 3}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	for tap, moved := range []int{1, 0, -1} {
		l.F.Value.Zero()
		l.F.Value.Data[tap] = 1
		l.U.Value.Fill(1)
		l.V.Value.Fill(1)
		l.Q.Value.Zero()
		for at := range 4 {
			last := tensor.New(4, 1)
			last.Data[at] = 1
			y := ofAlike(l, 4, last)
			for j, v := range y.Data {
				if high := float64(v) > 0.3; high != (j == at+moved) {
					t.Errorf("tap %d, weight at %d: the weights are %v", tap, at, y.Data)
				}
			}
		}
	}
}

// Without filters it is the additive score, and a sigmoid of very low scores by their sum
// is nearly their softmax; of other scores it is flatter.
func TestLocationLimits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	l := &attention.LocationAttention{Key: twice, Query: hidden, Hidden: 4, Filters: 2, Width: 5}
	l.Init(rng)
	l.F.Value.Zero()
	plain := &attention.Additive{Key: twice, Query: hidden, Hidden: 4}
	plain.Init(rng)
	plain.W, plain.U = l.W, l.Q
	copy(plain.V.Value.Data, l.V.Value.Data)
	a, b := newRNNsearch(l), newRNNsearch(&attention.Content{Score: plain})
	l.F.Value.Zero()
	copy(plain.V.Value.Data, l.V.Value.Data)
	plain.W, plain.U = l.W, l.Q
	b.SourceEmbed, b.TargetEmbed, b.Encoder, b.Decoder, b.S = a.SourceEmbed, a.TargetEmbed, a.Encoder, a.Decoder, a.S
	copy(plain.V.Value.Data, l.V.Value.Data)
	run := func(n *attention.RNNsearch) *tensor.Dense {
		_, w := n.Apply(grad.NewEval(), graph.Chains(4), []int32{3, 4, 5, 6}, graph.Chains(3), []int32{1, 2, 3})
		return w.Matrices()[0]
	}
	x, y := run(a), run(b)
	for i, v := range x.Data {
		compare.Number(t, "F = 0", v, float64(y.Data[i]), rounded)
	}
	peak := func(offset tensor.Float, smooth bool) []float64 {
		g := graph.CompleteBipartite(3, 1)
		s := &shifted{offset}
		alpha, _ := (&attention.Content{Score: s, By: smoothing(smooth)}).Weigh(nil, attention.Look{Graph: g, Keys: grad.Const(tensor.Of([]tensor.Float{0, 1, 2}, 3, 1))}, nil, nil)
		return floats(message.ApplyEdges(g, alpha).Value().Data)
	}
	for i, v := range peak(-12, true) {
		if want := peak(-12, false)[i]; math.Abs(v-want) > 1e-4 {
			t.Errorf("of very low scores the smooth weight is %v, softmax has %v", v, want)
		}
	}
	if a, b := slices.Max(peak(1, true)), slices.Max(peak(1, false)); a > b-0.1 {
		t.Errorf("the largest smooth weight is %v, that of softmax %v", a, b)
	}
	for i, v := range peak(-1000, true) {
		compare.Number(t, "scores too low for a sigmoid", tensor.Float(v), peak(0, false)[i], rounded)
	}
}

// shifted is a score that is the key itself and a number.
type shifted struct{ by tensor.Float }

func (*shifted) Init(*rand.Rand)                             {}
func (*shifted) Keys(_ *grad.Tape, keys *grad.Var) *grad.Var { return keys }
func (s *shifted) Of(_ *grad.Tape, keys, _ *grad.Var) message.Msg {
	return message.U(keys).Shift(float64(s.by))
}

// A loss at step 1 alone reaches what the weights of step 0 depend on, through those alone.
func TestWeightsCarryGradient(t *testing.T) {
	l := &attention.LocationAttention{Query: hidden, Hidden: 4, Filters: 2, Width: 3}
	l.Init(rand.New(rand.NewPCG(2, 2)))
	tape := grad.NewTape(1)
	g := graph.CompleteBipartite(3, 1)
	q := tape.Watch(row([]float64{0.5, -1, 2}))
	look := attention.Look{Graph: g}
	_, first := l.Weigh(tape, look, q, l.Start(tape, g))
	alpha, _ := l.Weigh(tape, look, grad.Const(row([]float64{1, 1, 1})), first)
	d := tape.Backward(message.ApplyEdges(g, alpha).Square().Sum()).Of(q)
	if norm(floats(d.Data)) < 1e-9 {
		t.Error("the weights of the step before carry no gradient")
	}
}

// The penalty is what is attended to twice: none at the first step, and Σ min(α, sum)
// after it.
func TestCoveragePenalty(t *testing.T) {
	a := aligners()["coverage"]
	l := newRNNsearch(a.Aligner)
	run := func(fed ...int32) (attention.Alignment, float64) {
		_, w := l.Apply(grad.NewEval(), graph.Chains(3), []int32{3, 4, 5}, graph.Chains(len(fed)), fed)
		return w, float64(a.Aligner.(*attention.Coverage).Penalty(w).Value().Data[0])
	}
	if _, p := run(1); math.Abs(p) > 1e-6 {
		t.Errorf("a single step costs %v", p)
	}
	w, got := run(1, 2, 3)
	m, want, sum := w.Matrices()[0], 0.0, make([]float64, 3)
	for i := range 3 {
		for j, v := range floats(m.Row(i)) {
			want += min(v, sum[j]) / 3
			sum[j] += v
		}
	}
	compare.Number(t, "the penalty", tensor.Float(got), want, rounded)
}

// The first state is made of what the backward GRU says of the first token: it knows of
// the last token, and its gradient reaches the first.
func TestFirstState(t *testing.T) {
	l := newRNNsearch(nil)
	run := func(tokens ...int32) []tensor.Float {
		return l.Encode(nil, graph.Chains(len(tokens)), tokens).State[0].Value().Data
	}
	if slices.Equal(run(3, 4, 5), run(3, 4, 6)) || slices.Equal(run(3, 4, 5), run(6, 4, 5)) {
		t.Error("s_0 does not know both ends of the source")
	}
	for _, p := range []*grad.Param{gruOf(l).W, gruOf(l).U} {
		p.Value.Zero() // the forward one says nothing that depends on its input
	}
	if slices.Equal(run(3, 4, 5), run(6, 4, 5)) {
		t.Error("s_0 does not come from the backward GRU")
	}
	tape := grad.NewTape(1)
	d := tape.Backward(l.Encode(tape, graph.Chains(3), []int32{3, 4, 5}).State[0].Sum()).Of(tape.Use(l.SourceEmbed))
	if norm(floats(d.Row(3))) < 1e-9 {
		t.Error("no gradient reaches the first token through the backward GRU")
	}
}

// Bad input is refused with words that help.
func TestDecodersMisuse(t *testing.T) {
	l, u := newRNNsearch(nil), newLuong(nil, false)
	place := newRNNsearch(&attention.ByPlace{Score: &attention.ByPosition{Query: hidden, Longest: 2}})
	two := []int32{2, 2}
	e := l.Encode(nil, graph.Chains(2), two)
	mixed := &attention.Luong{Source: 7, Target: 6, Begin: 1, Embed: 2, Hidden: hidden, Encoder: gruOf(l)}
	for want, f := range map[string]func(){
		"1 targets for 2 sources":      func() { l.Forward(nil, graph.Chains(1, 1), two, graph.Chains(2), []int32{1, 2}) },
		"0 targets for 1 sources":      func() { u.Forward(nil, graph.Chains(2), two, graph.Chains(), nil) },
		"the source graph has 2 nodes": func() { l.Forward(nil, graph.Chains(2), []int32{2}, graph.Chains(2), []int32{1, 2}) },
		"the target graph has 2 nodes": func() { u.Forward(nil, graph.Chains(2), two, graph.Chains(2), []int32{1}) },
		"Longest is 2":                 func() { place.Forward(nil, graph.Chains(3), []int32{2, 2, 2}, graph.Chains(1), []int32{1}) },
		"of sentence 1": func() {
			l.Step(nil, e, attention.Live{Last: []int32{1}, Sentence: []int32{1}}, l.Start(nil, e))
		},
		"a token and a sentence": func() {
			l.Step(nil, e, attention.Live{Last: []int32{1, 1}, Sentence: []int32{0}}, l.Start(nil, e))
		},
		"what Start returns":                   func() { l.Step(nil, e, attention.Live{Last: []int32{1}, Sentence: []int32{0}}, nil) },
		"odd number":                           func() { (&attention.LocationAttention{Width: 4}).Init(nil) },
		"Decoder carries 2 Vars and Encoder 1": func() { mixed.Init(rand.New(rand.NewPCG(1, 1))) },
		"was Init called":                      func() { (&attention.Coverage{Key: 1}).Keys(nil, nil, grad.Const(tensor.New(1, 1))) },
	} {
		if err := caught(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Of an empty side there is a meaning: nothing is heard of an empty source, and an empty
// target has no logits. A batch of none is none.
func TestDecodersEmpty(t *testing.T) {
	for name, a := range aligners() {
		for _, l := range []searched{newRNNsearch(a.Aligner), newLuong(a.Aligner, true)} {
			y, w := l.Apply(grad.NewEval(), graph.Chains(2, 3, 0), []int32{2, 3, 4, 5, 6}, graph.Chains(0, 2, 1), []int32{1, 2, 1})
			alone, _ := l.Apply(grad.NewEval(), graph.Chains(3), []int32{4, 5, 6}, graph.Chains(2), []int32{1, 2})
			if y.Dim(0) != 3 || !slices.Equal(y.Value().Data[:alone.Value().Rows()*6], alone.Value().Data) {
				t.Errorf("%s: beside an empty target the logits are %v, alone %v", name, y.Value().Data, alone.Value().Data)
			}
			if m := w.Matrices(); len(m) != 3 || m[0].Rows() != 0 || m[2].RowLen() != 0 {
				t.Errorf("%s: %d matrices", name, len(m))
			}
			for _, v := range y.Value().Data {
				if v != v {
					t.Errorf("%s: of an empty source the logits are NaN", name)
				}
			}
			if y, _ := l.Apply(grad.NewEval(), graph.Chains(), nil, graph.Chains(), nil); y.Dim(0) != 0 {
				t.Errorf("%s: a batch of none has logits", name)
			}
		}
	}
}

// gruOf is the forward GRU of the encoder.
func gruOf(l *attention.RNNsearch) *sequence.GRU { return l.Encoder.Layers[0].(*sequence.GRU) }

// caught is the error that f panics with.
func caught(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}
