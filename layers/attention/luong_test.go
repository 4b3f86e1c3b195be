package attention_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// newLuong returns one whose keys are as wide as those of aligners: it reads both ways.
func newLuong(a attention.Aligner, feeding bool) *attention.Luong {
	l := &attention.Luong{Source: 7, Target: 6, Begin: 1, Embed: 2, Hidden: hidden, Align: a, InputFeeding: feeding, Back: &sequence.LSTM{In: 2, Hidden: hidden}}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	return l
}

// luongLoops is the formula of Luong as loops over one pair.
func luongLoops(l *attention.Luong, a aligned, p pair) (logits, alphas [][]float64) {
	h, ends := read(l.Encoder, l.Back, l.SourceEmbed, p.source)
	var state [][]float64
	for range l.Encoder.Step(nil, grad.Const(tensor.New(1, 2)), nil) {
		state = append(state, make([]float64, hidden))
	}
	for i, end := range ends {
		if state[i] = end; l.Back != nil {
			state[i] = eachOf(product(end, l.B[i]), math.Tanh)
		}
	}
	width := l.WC.Value.Rows() - hidden
	said := make([]float64, hidden)
	last, sum := a.first(len(h))
	for at, w := range p.fed {
		x := fedRow(l.TargetEmbed, w)
		if l.InputFeeding {
			x = append(slices.Clone(x), said...)
		}
		state = stepOf(l.Decoder, x, state)
		lo, hi := 0, len(h)
		if l.Window > 0 {
			lo, hi = min(max(0, at-l.Window), len(h)), min(len(h), at+l.Window+1)
			lo = min(lo, hi)
		}
		seen := a.loop(h[lo:hi], state[0], last[lo:hi], sum[lo:hi])
		last = make([]float64, len(h))
		copy(last[lo:hi], seen)
		sum = plus(sum, last)
		said = eachOf(product(append(meanOf(h, last, width), state[0]...), l.WC), math.Tanh)
		logits, alphas = append(logits, product(said, l.WS)), append(alphas, last)
	}
	return logits, alphas
}

// Every aligner in Luong's order, with and without input feeding, and with a window,
// which is clipped at both ends and leaves late steps nothing to see.
func TestLuong(t *testing.T) {
	for name, a := range aligners() {
		for _, feeding := range []bool{false, true} {
			l := newLuong(a.Aligner, feeding)
			byLoops(t, name, l, somePairs, func(p pair) (logits, alphas [][]float64) { return luongLoops(l, a, p) })
		}
		if name == "content, smooth false" || name == "coverage" {
			l := newLuong(a.Aligner, true)
			l.Window = 1
			byLoops(t, name+", window", l, append(somePairs, pair{[]int32{2, 3}, []int32{1, 2, 3, 4, 5, 2}}), func(p pair) (logits, alphas [][]float64) { return luongLoops(l, a, p) })
		}
	}
}

// The scores of the paper, in one direction: the decoder begins where the encoder ended.
func TestLuongScores(t *testing.T) {
	for name, score := range map[string]attention.Score{
		"dot": attention.Dot{}, "general": &attention.Bilinear{Key: hidden, Query: hidden},
		"scaled": &attention.Bilinear{Key: hidden, Query: hidden, Scaled: true}, "concat": &attention.Concat{Key: hidden, Query: hidden, Hidden: 4},
	} {
		for _, cells := range []func(in int) sequence.Cell{
			func(in int) sequence.Cell { return &sequence.GRU{In: in, Hidden: hidden} },
			func(in int) sequence.Cell { return &sequence.LSTM{In: in, Hidden: hidden} },
		} {
			l := &attention.Luong{Source: 7, Target: 6, Begin: 1, Embed: 2, Hidden: hidden, Align: &attention.Content{Score: score}, Encoder: cells(2), Decoder: cells(2)}
			l.Init(rand.New(rand.NewPCG(1, 2)))
			byLoops(t, name, l, somePairs, func(p pair) (logits, alphas [][]float64) {
				return luongLoops(l, aligned{loop: func(h [][]float64, q, _, _ []float64) []float64 {
					return softmaxOf(t, score, h, q)
				}, first: nowhere}, p)
			})
		}
	}
}

// softmaxOf is the softmax of a score, which has its own loops in score_test.go.
func softmaxOf(t *testing.T, score attention.Score, h [][]float64, q []float64) []float64 {
	t.Helper()
	keys := tensor.New(len(h), hidden)
	for j := range h {
		copy(keys.Row(j), row(h[j]).Data)
	}
	var s []float64
	for j := range h {
		one := tensor.New(1, hidden)
		copy(one.Data, keys.Row(j))
		s = append(s, logitOf(score, one, row(q)))
	}
	return sharesOf(s, false)
}

// Luong's weights at a step know what was said last; those of RNNsearch know it one step
// later, since its state before the step asks.
func TestWhoAsks(t *testing.T) {
	content := func() attention.Aligner {
		return &attention.Content{Score: &attention.Additive{Key: twice, Query: hidden, Hidden: 4}}
	}
	for name, c := range map[string]struct {
		net   searched
		first int // the first step that looks elsewhere
	}{"RNNsearch": {newRNNsearch(content()), 3}, "Luong": {newLuong(content(), false), 2}} {
		run := func(fed ...int32) *tensor.Dense {
			_, a := c.net.Apply(grad.NewEval(), graph.Chains(3), []int32{3, 4, 5}, graph.Chains(len(fed)), fed)
			return a.Matrices()[0]
		}
		a, b := run(1, 2, 3, 4), run(1, 2, 5, 4)
		for k := range 4 {
			if same := slices.Equal(a.Row(k), b.Row(k)); same != (k < c.first) {
				t.Errorf("%s: another token is fed at step 2; step %d looks where it did: %v", name, k, same)
			}
		}
	}
}

// The Gaussian comes after the softmax: where p is far from every key's place the weights
// nearly vanish, and a loss of the weights has a gradient for W of the place.
func TestLocalPGaussian(t *testing.T) {
	l := aligners()["local-p"].Aligner.(*attention.LocalP)
	net := newLuong(l, false)
	tape := grad.NewTape(1)
	_, a := net.Apply(tape, graph.Chains(5), []int32{3, 4, 5, 2, 6}, graph.Chains(2), []int32{1, 2})
	sum := 0.0
	for _, v := range a.Matrices()[0].Row(0) {
		sum += float64(v)
	}
	if sum > 0.999 {
		t.Errorf("the weights come to %v: there is no Gaussian after the softmax", sum)
	}
	y := net.Forward(tape, graph.Chains(5), []int32{3, 4, 5, 2, 6}, graph.Chains(2), []int32{1, 2})
	gs := tape.Backward(y.Square().Sum())
	for name, p := range map[string]*grad.Param{"W": l.W, "V": l.V} {
		if d := gs.Of(tape.Use(p)); d == nil || norm(floats(d.Data)) < 1e-8 {
			t.Errorf("no gradient reaches %s", name)
		}
	}
}

// logitOf is the logit of one key and one query.
func logitOf(score attention.Score, key, query *tensor.Dense) float64 {
	tape := grad.NewEval()
	y := message.ApplyEdges(graph.CompleteBipartite(1, 1), score.Of(tape, score.Keys(tape, grad.Const(key)), grad.Const(query)))
	return float64(y.Value().Data[0])
}
