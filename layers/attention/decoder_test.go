package attention_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The widths of the networks that are tried: annotations have twice Hidden.
const hidden, twice = 3, 6

// looked is how a step looks, as loops: of the annotations, the query, the weights of the
// step before and the sum of all weights so far it makes the weights.
type looked func(h [][]float64, q, last, sum []float64) []float64

// aligned is an aligner, how it looks, and where it looks before the first step.
type aligned struct {
	attention.Aligner
	loop  looked
	first func(n int) (last, sum []float64)
}

// product is x·W.
func product(x []float64, w *grad.Param) []float64 {
	y := make([]float64, w.Value.Dim(1))
	for j := range y {
		y[j] = column(x, w, 0, j)
	}
	return y
}

// plus is the sum of vectors; a shorter one, of none, is zero.
func plus(xs ...[]float64) []float64 {
	y := make([]float64, len(xs[0]))
	for _, x := range xs {
		for i, v := range x {
			y[i] += v
		}
	}
	return y
}

func eachOf(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

func logistic(v float64) float64 { return 1 / (1 + math.Exp(-v)) }

// sharesOf are softmax or, smooth, sigmoids by their sum.
func sharesOf(s []float64, smooth bool) []float64 {
	f := math.Exp
	if smooth {
		f = logistic
	}
	y, sum := eachOf(s, f), 0.0
	for _, v := range y {
		sum += v
	}
	return eachOf(y, func(v float64) float64 { return v / sum })
}

func onFirst(n int) (last, sum []float64) {
	last, sum = make([]float64, n), make([]float64, n)
	if n > 0 {
		last[0], sum[0] = 1, 1
	}
	return last, sum
}

func nowhere(n int) (last, sum []float64) { return make([]float64, n), make([]float64, n) }

// perturbed gives biases other values than zero.
func perturbed(seed uint64, ps ...*grad.Param) {
	for _, p := range ps {
		p.Value.Normal(rand.New(rand.NewPCG(seed, 9)), 0, 0.5)
	}
}

// aligners are all of them, for keys of twice and queries of hidden, with Params.
func aligners() map[string]aligned {
	rng := rand.New(rand.NewPCG(5, 6))
	additive := func() *attention.Additive {
		return &attention.Additive{Key: twice, Query: hidden, Hidden: 4}
	}
	score := func(l *attention.Additive, h [][]float64, q []float64) []float64 {
		s := make([]float64, len(h))
		for j := range h {
			s[j] = dot(eachOf(plus(product(h[j], l.W), product(q, l.U)), math.Tanh), floats(l.V.Value.Data))
		}
		return s
	}
	out := map[string]aligned{}
	for _, smooth := range []bool{false, true} {
		l := &attention.Content{Score: additive(), By: smoothing(smooth)}
		out[fmt.Sprintf("content, smooth %v", smooth)] = aligned{l, func(h [][]float64, q, _, _ []float64) []float64 {
			return sharesOf(score(l.Score.(*attention.Additive), h, q), smooth)
		}, nowhere}
	}
	general := &attention.Bilinear{Key: twice, Query: hidden, Scaled: true, Begin: 0.7}
	out["content, general"] = aligned{&attention.Content{Score: general}, func(h [][]float64, q, _, _ []float64) []float64 {
		s := make([]float64, len(h))
		for j := range h {
			s[j] = of(general.G, 0) * dot(product(h[j], general.W), q)
		}
		return sharesOf(s, false)
	}, nowhere}
	location := func(name string, l *attention.LocationAttention) {
		l.Query, l.Hidden, l.Filters, l.Width = hidden, 4, 2, 3
		first := onFirst
		if l.StartZero {
			first = nowhere
		}
		out[name] = aligned{l, func(h [][]float64, q, last, sum []float64) []float64 {
			if l.Cumulative {
				last = sum
			}
			s := make([]float64, len(h))
			for j := range h {
				f := make([]float64, 2)
				for k := range 3 {
					if at := j + k - 1; at >= 0 && at < len(h) {
						for c := range f {
							f[c] += last[at] * of(l.F, k*2+c)
						}
					}
				}
				z := plus(product(q, l.Q), product(f, l.U), floats(l.B.Value.Data))
				if l.W != nil {
					z = plus(z, product(h[j], l.W))
				}
				s[j] = dot(eachOf(z, math.Tanh), floats(l.V.Value.Data))
			}
			return sharesOf(s, l.By != attention.Weighing{})
		}, first}
	}
	location("location", &attention.LocationAttention{Key: twice})
	location("location, smooth, cumulative", &attention.LocationAttention{Key: twice, By: smoothing(true), Cumulative: true})
	location("location alone, from zero", &attention.LocationAttention{StartZero: true})
	cover := &attention.Coverage{Key: twice, Query: hidden, Hidden: 4}
	out["coverage"] = aligned{cover, func(h [][]float64, q, _, sum []float64) []float64 {
		s := make([]float64, len(h))
		for j := range h {
			s[j] = dot(eachOf(plus(product(h[j], cover.W), product(q, cover.U), product(sum[j:j+1], cover.C), floats(cover.B.Value.Data)), math.Tanh), floats(cover.V.Value.Data))
		}
		return sharesOf(s, false)
	}, nowhere}
	for _, hard := range []bool{false, true} {
		mono := &attention.Monotonic{Score: additive(), Expected: !hard, Noise: grad.Zero, Offset: 0.3}
		out[fmt.Sprintf("monotonic, hard %v", hard)] = aligned{mono, func(h [][]float64, q, last, _ []float64) []float64 {
			p := score(mono.Score.(*attention.Additive), h, q)
			for j := range p {
				p[j] = logistic(p[j] + of(mono.R, 0))
			}
			if hard {
				return stopAbove(p, last)
			}
			return enumerated(p, last)
		}, onFirst}
	}
	place := &attention.ByPlace{Score: &attention.ByPosition{Query: hidden, Longest: 6}}
	out["place"] = aligned{place, func(h [][]float64, q, _, _ []float64) []float64 {
		s := make([]float64, len(h))
		for j := range s {
			s[j] = dot(q, floats(place.Score.W.Value.Row(j)))
		}
		return sharesOf(s, false)
	}, nowhere}
	local := &attention.LocalP{Score: additive(), Query: hidden, Hidden: 2, Reach: 2}
	out["local-p"] = aligned{local, func(h [][]float64, q, _, _ []float64) []float64 {
		p := float64(len(h)) * logistic(column(eachOf(product(q, local.W), math.Tanh), local.V, 0, 0))
		s := score(local.Score.(*attention.Additive), h, q)
		for j := range s {
			if math.Abs(float64(j)-p) > 2 {
				s[j] = math.Inf(-1)
			}
		}
		y := sharesOf(s, false)
		for j := range y {
			d := float64(j) - p
			y[j] *= math.Exp(-d * d / 2) // σ = 1
		}
		return y
	}, nowhere}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range out {
			if !yield(name) {
				return
			}
		}
	}) {
		out[name].Init(rng)
	}
	for _, a := range out {
		if l, ok := a.Aligner.(*attention.LocationAttention); ok {
			perturbed(3, l.B)
		}
	}
	perturbed(4, cover.B)
	return out
}

// smoothing is the softmax, or sigmoids by their sum.
func smoothing(on bool) attention.Weighing {
	if on {
		return attention.Weighing{By: attention.Smoothing}
	}
	return attention.Weighing{}
}

// pair is a source and what a decoder is fed.
type pair struct{ source, fed []int32 }

// somePairs has sources of one token and of none.
var somePairs = []pair{
	{[]int32{3, 4, 5}, []int32{1, 3}},
	{[]int32{6}, []int32{1, 5, 4, 2}},
	{[]int32{2, 2, 3, 6, 5}, []int32{1, 3, 3, 4, 2}},
	{nil, []int32{1, 2}},
}

// batched returns the chains and the tokens of both sides.
func batched(ps []pair) (source *graph.Graph, tokens []int32, target *graph.Graph, fed []int32) {
	var a, b []int
	for _, p := range ps {
		a, tokens = append(a, len(p.source)), append(tokens, p.source...)
		b, fed = append(b, len(p.fed)), append(fed, p.fed...)
	}
	return graph.Chains(a...), tokens, graph.Chains(b...), fed
}

// searched is RNNsearch or Luong.
type searched interface {
	Apply(t *grad.Tape, source *graph.Graph, tokens []int32, target *graph.Graph, fed []int32) (*grad.Var, attention.Alignment)
	Encode(t *grad.Tape, source *graph.Graph, tokens []int32) *attention.Encoded
	Start(t *grad.Tape, e *attention.Encoded) message.State
	Step(t *grad.Tape, e *attention.Encoded, live attention.Live, before message.State) (logits *grad.Var, after message.State)
}

func newRNNsearch(a attention.Aligner) *attention.RNNsearch {
	l := &attention.RNNsearch{Source: 7, Target: 6, Begin: 1, Embed: 2, Hidden: hidden, Maxout: 2, Align: a}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	perturbed(8, l.BG, l.Decoder.B)
	return l
}

// stepOf is the state after one more row, of a cell whose own loops are in package sequence.
func stepOf(c sequence.Cell, x []float64, state [][]float64) [][]float64 {
	var prev message.State
	for _, s := range state {
		prev = append(prev, grad.Const(row(s)))
	}
	var out [][]float64
	for _, s := range c.Step(nil, grad.Const(row(x)), prev) {
		out = append(out, floats(s.Value().Data))
	}
	return out
}

func row(x []float64) *tensor.Dense {
	y := tensor.New(1, len(x))
	for i, v := range x {
		y.Data[i] = tensor.Float(v)
	}
	return y
}

// read is what cells say of each token, in both directions or in one.
func read(forward, back sequence.Cell, embed *grad.Param, source []int32) (h [][]float64, ends [][]float64) {
	h = make([][]float64, len(source))
	var ahead, behind [][]float64
	for j, w := range source {
		ahead = stepOf(forward, floats(embed.Value.Row(int(w))), ahead)
		h[j] = slices.Clone(ahead[0])
	}
	for j := len(source) - 1; j >= 0 && back != nil; j-- {
		behind = stepOf(back, floats(embed.Value.Row(int(source[j]))), behind)
		h[j] = append(h[j], behind[0]...)
	}
	for i := range ahead {
		end := ahead[i]
		if back != nil {
			end = append(slices.Clone(end), behind[i]...)
		}
		ends = append(ends, end)
	}
	return h, ends
}

// meanOf is Σ α_j·h_j.
func meanOf(h [][]float64, alpha []float64, width int) []float64 {
	c := make([]float64, width)
	for j := range h {
		for i, v := range h[j] {
			c[i] += alpha[j] * v
		}
	}
	return c
}

// fedRow is the embedding of what is fed: zero for Begin.
func fedRow(p *grad.Param, w int32) []float64 {
	if w == 1 {
		return make([]float64, p.Value.Dim(1))
	}
	return floats(p.Value.Row(int(w)))
}

// rnnsearchLoops is the formula of RNNsearch as loops over one pair.
func rnnsearchLoops(l *attention.RNNsearch, a aligned, p pair) (logits, alphas [][]float64) {
	h, ends := read(l.Encoder.Layers[0], l.Encoder.Back[0], l.SourceEmbed, p.source)
	first := make([]float64, hidden)
	if len(ends) > 0 {
		first = ends[0][hidden:]
	}
	s := eachOf(product(first, l.S), math.Tanh)
	last, sum := a.first(len(h))
	for _, w := range p.fed {
		x := fedRow(l.TargetEmbed, w)
		last = a.loop(h, s, last, sum)
		sum = plus(sum, last)
		c := meanOf(h, last, twice)
		next := stepOf(l.Decoder, append(slices.Clone(x), c...), [][]float64{s})[0]
		said := s
		if l.ReadNew {
			said = next
		}
		z := plus(product(said, l.OutS), product(x, l.OutY), product(c, l.OutC))
		units := []float64{max(z[0], z[1]), max(z[2], z[3])}
		logits, alphas = append(logits, plus(product(units, l.G), floats(l.BG.Value.Data))), append(alphas, last)
		s = next
	}
	return logits, alphas
}

// byLoops holds a network on a ragged batch against loops over each pair, and its steps
// against the batch: those to the bit.
func byLoops(t *testing.T, what string, l searched, ps []pair, loops func(pair) (logits, alphas [][]float64)) {
	t.Helper()
	source, tokens, target, fed := batched(ps)
	y, at := l.Apply(grad.NewEval(), source, tokens, target, fed)
	weights, next := at.Matrices(), 0
	for i, p := range ps {
		logits, alphas := loops(p)
		for k := range p.fed {
			for j, want := range logits[k] {
				compare.Number(t, fmt.Sprintf("%s: pair %d, step %d, logit %d", what, i, k, j), y.Value().Row(next)[j], want, rounded)
			}
			for j, want := range alphas[k] {
				compare.Number(t, fmt.Sprintf("%s: pair %d, step %d, weight %d", what, i, k, j), weights[i].Row(k)[j], want, rounded)
			}
			next++
		}
	}
	steps(t, what, l, ps, y.Value())
}

// steps goes on step by step with the pairs that have not ended, two rows for each, and
// compares the logits with those of the sweep.
func steps(t *testing.T, what string, l searched, ps []pair, y *tensor.Dense) {
	t.Helper()
	source, tokens, target, _ := batched(ps)
	starts := target.NodeOffsets()
	e := l.Encode(grad.NewEval(), source, tokens).Keep()
	tape := grad.NewEval()
	state := l.Start(tape, e)
	var rows []int32
	for i := range ps {
		rows = append(rows, int32(i), int32(i))
	}
	state = state.Rows(rows)
	for k := 0; len(rows) > 0; k++ {
		live := attention.Live{Step: k, Sentence: rows}
		for _, i := range rows {
			live.Last = append(live.Last, ps[i].fed[k])
		}
		var logits *grad.Var
		logits, state = l.Step(tape, e, live, state)
		var on, keep []int32
		for r, i := range rows {
			if want := y.Row(starts[i] + k); !slices.Equal(logits.Value().Row(r), want) {
				t.Fatalf("%s: pair %d: step %d alone has the logits %v, in a sweep %v", what, i, k, logits.Value().Row(r), want)
			}
			if k+1 < len(ps[i].fed) {
				on, keep = append(on, i), append(keep, int32(r))
			}
		}
		state, rows = state.Rows(keep), on
	}
}

// Every aligner in RNNsearch, on a ragged batch, gives what the formulas of the comments
// give pair by pair, and step by step it is the same to the bit.
func TestRNNsearch(t *testing.T) {
	for name, a := range aligners() {
		for _, fresh := range []bool{false, true} {
			l := newRNNsearch(a.Aligner)
			l.ReadNew = fresh
			byLoops(t, name, l, somePairs, func(p pair) (logits, alphas [][]float64) { return rnnsearchLoops(l, a, p) })
		}
	}
}
