package attention_test

import (
	"fmt"
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
	"github.com/edgewise-ml/edgewise/tensor"
)

// Texts of four, one and three words, and questions of two, three and one about them.
var (
	readTexts, readQuestions = graph.Chains(4, 1, 3), graph.Chains(2, 3, 1)
	readAnswers              = []attention.Passage{{First: 1, Last: 2}, {}, {First: 2, Last: 2}}
)

const readIn = 2

func reading(t testing.TB, texts, questions *graph.Graph, answers []attention.Passage) *attention.Reading {
	t.Helper()
	r, err := attention.NewReading(texts, questions, answers)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reader is a network that points.
type reader interface {
	Init(*rand.Rand)
	Forward(t *grad.Tape, r *attention.Reading, x, q *grad.Var) attention.Pointed
}

// readers are both networks, far from where all weights are alike.
func readers() map[string]reader {
	out := map[string]reader{"BiDAF": &attention.BiDAF{In: readIn, Hidden: 2}, "Coattention": &attention.Coattention{In: readIn, Hidden: 2, Pieces: 3}}
	for name, l := range out {
		rng := rand.New(rand.NewPCG(uint64(len(name)), 4))
		l.Init(rng)
		for _, p := range grad.Params(l) {
			p.Value.Normal(rng, 0, 0.7)
		}
	}
	return out
}

// lossOf is what a network learns by.
func lossOf(t *grad.Tape, l reader, r *attention.Reading, x, q *grad.Var) *grad.Var {
	if c, ok := l.(*attention.Coattention); ok {
		return c.Loss(t, r, x, q)
	}
	return l.Forward(t, r, x, q).Loss(r)
}

// rowsIn are rows of x as float64.
func rowsIn(x *tensor.Dense, lo, hi int) [][]float64 {
	var out [][]float64
	for i := lo; i < hi; i++ {
		out = append(out, floats(x.Row(i)))
	}
	return out
}

// readOneWay is the states of an LSTM over rows.
func readOneWay(c *sequence.LSTM, xs [][]float64) [][]float64 {
	h, cell := make([]float64, c.Hidden), make([]float64, c.Hidden)
	var out [][]float64
	for _, x := range xs {
		h, cell = lstmLoops(c, x, h, cell)
		out = append(out, h)
	}
	return out
}

// readBothWays is the states of layers of an LSTM each way.
func readBothWays(s *sequence.Stack, xs [][]float64) [][]float64 {
	for k := range s.Layers {
		there := readOneWay(s.Layers[k].(*sequence.LSTM), xs)
		reversed := slices.Clone(xs)
		slices.Reverse(reversed)
		back := readOneWay(s.Back[k].(*sequence.LSTM), reversed)
		slices.Reverse(back)
		xs = nil
		for i := range there {
			xs = append(xs, slices.Concat(there[i], back[i]))
		}
	}
	return xs
}

// meanBy is Σ softmax(s)·x, and the weights.
func meanBy(s []float64, x [][]float64) (y, p []float64) {
	p, y = sharesOf(s, false), make([]float64, len(x[0]))
	for i, w := range p {
		for k, v := range x[i] {
			y[k] += w * v
		}
	}
	return y, p
}

func times(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] * y[i]
	}
	return out
}

// bidafLoops is the formulas of BiDAF's comment for one text: the logits, and the weights of both attentions.
func bidafLoops(l *attention.BiDAF, x, q [][]float64) (start, end []float64, toText, toQuestion [][]float64) {
	h, u := readBothWays(l.Read, x), readBothWays(l.Read, q)
	var asked [][]float64
	var tops []float64
	for _, ht := range h {
		s, top := make([]float64, len(u)), math.Inf(-1)
		for j, uj := range u {
			s[j] = product(ht, l.W1)[0] + product(uj, l.W2)[0] + dot(times(ht, floats(l.W3.Value.Data)), uj)
			top = max(top, s[j])
		}
		y, p := meanBy(s, u)
		asked, toText, tops = append(asked, y), append(toText, p), append(tops, top)
	}
	found, b := meanBy(tops, h)
	var g [][]float64
	for i, ht := range h {
		g = append(g, slices.Concat(ht, asked[i], times(ht, asked[i]), times(ht, found)))
	}
	m := readBothWays(l.Model, g)
	tail := readBothWays(l.Tail, m)
	for i := range g {
		start = append(start, product(slices.Concat(g[i], m[i]), l.P1)[0])
		end = append(end, product(slices.Concat(g[i], tail[i]), l.P2)[0])
	}
	return start, end, toText, [][]float64{b}
}

// maxoutLoops is max_p(x·W + b).
func maxoutLoops(x []float64, w, b *grad.Param, pieces int) []float64 {
	z := affine(x, w, b)
	var out []float64
	for i := 0; i < len(z); i += pieces {
		out = append(out, slices.Max(z[i:i+pieces]))
	}
	return out
}

// highwayLoops scores words by the formulas of HighwayMaxout's comment.
func highwayLoops(l *attention.HighwayMaxout, u [][]float64, known ...[]float64) []float64 {
	r := eachOf(product(slices.Concat(known...), l.D), math.Tanh)
	var out []float64
	for _, ut := range u {
		m1 := maxoutLoops(slices.Concat(ut, r), l.W1, l.B1, l.Pieces)
		m2 := maxoutLoops(m1, l.W2, l.B2, l.Pieces)
		out = append(out, maxoutLoops(slices.Concat(m1, m2), l.W3, l.B3, l.Pieces)[0])
	}
	return out
}

func largestOf(x []float64) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

// coattentionLoops is the formulas of Coattention's comment for one text: the logits of all rounds, which of them
// answers, and the weights of both attentions.
func coattentionLoops(l *attention.Coattention, x, q [][]float64) (starts, ends [][]float64, done int, toText, toQuestion [][]float64) {
	d := append(readOneWay(l.Read, x), floats(l.NoText.Value.Data))
	var k [][]float64
	for _, h := range readOneWay(l.Read, q) {
		k = append(k, eachOf(affine(h, l.W, l.B), math.Tanh))
	}
	k = append(k, floats(l.NoQuestion.Value.Data))
	var seen [][]float64
	for _, kj := range k {
		s := make([]float64, len(d))
		for i, dt := range d {
			s[i] = dot(dt, kj)
		}
		c, p := meanBy(s, d)
		seen, toQuestion = append(seen, slices.Concat(kj, c)), append(toQuestion, p)
	}
	var in [][]float64
	for _, dt := range d {
		s := make([]float64, len(k))
		for j, kj := range k {
			s[j] = dot(dt, kj)
		}
		a, p := meanBy(s, seen)
		in, toText = append(in, slices.Concat(dt, a)), append(toText, p)
	}
	u := readBothWays(l.Fuse, in[:len(x)])
	h, c := make([]float64, l.Hidden), make([]float64, l.Hidden)
	s, e, done := 0, len(u)-1, -1
	for round := range 4 {
		h, c = lstmLoops(l.Point, slices.Concat(u[s], u[e]), h, c)
		start := highwayLoops(l.Start, u, h, u[s], u[e])
		first := largestOf(start)
		end := highwayLoops(l.End, u, h, u[first], u[e])
		last := largestOf(end)
		starts, ends = append(starts, start), append(ends, end)
		if round > 0 && first == s && last == e && done < 0 {
			done = round
		}
		s, e = first, last
	}
	if done < 0 {
		done = 3
	}
	return starts, ends, done, toText, toQuestion
}

// costOf is −log p of a place.
func costOf(logits []float64, at int32) float64 { return -math.Log(sharesOf(logits, false)[at]) }

// Logits, both attentions and the loss are those of the formulas, a loop for each number.
func TestReadersAreTheirFormulas(t *testing.T) {
	x, q := normal(1, 8, readIn), normal(2, 6, readIn)
	r := reading(t, readTexts, readQuestions, readAnswers)
	for name, l := range readers() {
		got := l.Forward(grad.NewEval(), r, grad.Const(x), grad.Const(q))
		m, n, loss := readTexts.NodeOffsets(), readQuestions.NodeOffsets(), 0.0
		toText, toQuestion := got.ToText.Matrices(), got.ToQuestion.Matrices()
		for i, a := range readAnswers {
			var start, end []float64
			var looks, looked [][]float64
			xs, qs := rowsIn(x, m[i], m[i+1]), rowsIn(q, n[i], n[i+1])
			switch l := l.(type) {
			case *attention.BiDAF:
				start, end, looks, looked = bidafLoops(l, xs, qs)
				loss += costOf(start, a.First) + costOf(end, a.Last)
			case *attention.Coattention:
				var starts, ends [][]float64
				var done int
				starts, ends, done, looks, looked = coattentionLoops(l, xs, qs)
				for k := range starts {
					loss += costOf(starts[k], a.First) + costOf(ends[k], a.Last)
				}
				start, end = starts[done], ends[done]
			}
			nearRows(t, name+", start", got.Start.Value().RowRange(m[i], m[i+1]), columnOf(start))
			nearRows(t, name+", end", got.End.Value().RowRange(m[i], m[i+1]), columnOf(end))
			nearRows(t, name+", to the text", toText[i], looks)
			nearRows(t, name+", to the question", toQuestion[i], looked)
		}
		compare.Number(t, name+", the loss", lossOf(grad.NewEval(), l, r, grad.Const(x), grad.Const(q)).Value().Data[0], loss/3, rounded)
	}
}

func nearRows(t *testing.T, what string, got *tensor.Dense, want [][]float64) {
	t.Helper()
	compare.Near(t, what, got.Data, slices.Concat(want...), rounded)
}

func columnOf(x []float64) [][]float64 {
	var out [][]float64
	for _, v := range x {
		out = append(out, []float64{v})
	}
	return out
}

func TestReadersGradients(t *testing.T) {
	r := reading(t, readTexts, readQuestions, readAnswers)
	for name, l := range readers() {
		t.Run(name, func(t *testing.T) {
			m := struct {
				Net  reader
				X, Q *grad.Param
			}{l, grad.NewParam(8, readIn), grad.NewParam(6, readIn)}
			copy(m.X.Value.Data, normal(1, 8, readIn).Data)
			copy(m.Q.Value.Data, normal(2, 6, readIn).Data)
			gradtest.Check(t, m, func(tape *grad.Tape) *grad.Var {
				return lossOf(tape, l, r, tape.Use(m.X), tape.Use(m.Q))
			})
		})
	}
}

// Texts of a batch do not see each other: each has the bits that it has alone, the round in which it is done too.
func TestReadersBatchIsSeparate(t *testing.T) {
	x, q := normal(1, 8, readIn), normal(2, 6, readIn)
	m, n := readTexts.NodeOffsets(), readQuestions.NodeOffsets()
	for name, l := range readers() {
		all := l.Forward(grad.NewEval(), reading(t, readTexts, readQuestions, nil), grad.Const(x), grad.Const(q))
		for i := range readAnswers {
			alone := reading(t, graph.Chains(m[i+1]-m[i]), graph.Chains(n[i+1]-n[i]), nil)
			one := l.Forward(grad.NewEval(), alone, grad.Const(x.RowRange(m[i], m[i+1])), grad.Const(q.RowRange(n[i], n[i+1])))
			for what, pair := range map[string][2]*grad.Var{"start": {all.Start, one.Start}, "end": {all.End, one.End}} {
				if got := pair[0].Value().Data[m[i]:m[i+1]]; !slices.Equal(got, pair[1].Value().Data) {
					t.Errorf("%s: text %d has the %s %v in the batch, alone %v", name, i, what, got, pair[1].Value().Data)
				}
			}
		}
	}
}

// A text of one word has one answer, whatever is asked; the loss is finite and no NaN, and of BiDAF zero.
func TestReadersOfOneWord(t *testing.T) {
	r := reading(t, graph.Chains(1), graph.Chains(1), []attention.Passage{{}})
	for name, l := range readers() {
		x, q := grad.Const(normal(1, 1, readIn)), grad.Const(normal(2, 1, readIn))
		p := l.Forward(grad.NewEval(), r, x, q)
		if got := p.Best(r, 0); !slices.Equal(got, []attention.Passage{{}}) {
			t.Errorf("%s: the answer is %v", name, got)
		}
		if loss := lossOf(grad.NewEval(), l, r, x, q).Value().Data[0]; loss != 0 {
			t.Errorf("%s: the loss is %v, want 0", name, loss)
		}
	}
}

// The best passage is that of all pairs, of any length and of few words; it never ends before it begins.
func TestBestPassage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		lengths := []int{1 + rng.IntN(7), 1 + rng.IntN(7)}
		r := reading(t, graph.Chains(lengths...), graph.Chains(1, 1), nil)
		column := func() *grad.Var {
			x := tensor.New(lengths[0]+lengths[1], 1)
			for i := range x.Data {
				x.Data[i] = tensor.Float(rng.IntN(4)) // ties are common
			}
			return grad.Const(x)
		}
		p := attention.Pointed{Start: column(), End: column()}
		for _, most := range []int{0, 1, 2, 3, 9} {
			from := 0
			for i, got := range p.Best(r, most) {
				best, n := math.Inf(-1), lengths[i]
				score := func(a, b int) float64 {
					return float64(p.Start.Value().Data[from+a]) + float64(p.End.Value().Data[from+b])
				}
				for a := range n {
					for b := a; b < n && (most == 0 || b < a+most); b++ {
						best = max(best, score(a, b))
					}
				}
				if got.First > got.Last || most > 0 && int(got.Last-got.First) >= most || score(int(got.First), int(got.Last)) != best {
					t.Fatalf("of at most %d words, %v of %v and %v: want a score of %v", most, got, p.Start.Value().Data, p.End.Value().Data, best)
				}
				from += n
			}
		}
	}
}

// What cannot be read is an error that says which text or question it is; a wrong program panics by name.
func TestReadingRefuses(t *testing.T) {
	for want, f := range map[string]func() error{
		"question 1 has no words": func() error { _, err := attention.NewReading(graph.Chains(2, 2), graph.Chains(1, 0), nil); return err },
		"text 0 has no words":     func() error { _, err := attention.NewReading(graph.Chains(0, 2), graph.Chains(1, 1), nil); return err },
		"2 texts and 1 questions": func() error { _, err := attention.NewReading(graph.Chains(2, 2), graph.Chains(1), nil); return err },
		"1 answers for 2 texts": func() error {
			_, err := attention.NewReading(graph.Chains(2, 2), graph.Chains(1, 1), []attention.Passage{{}})
			return err
		},
		"question 0 is words 1 to 2": func() error {
			_, err := attention.NewReading(graph.Chains(2), graph.Chains(1), []attention.Passage{{First: 1, Last: 2}})
			return err
		},
		"question 0 is words 1 to 0": func() error {
			_, err := attention.NewReading(graph.Chains(2), graph.Chains(1), []attention.Passage{{First: 1}})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	r := reading(t, graph.Chains(2), graph.Chains(1), nil)
	for name, l := range readers() {
		good := grad.Const(normal(1, 2, readIn))
		for want, f := range map[string]func(){
			"q has 2 rows":             func() { l.Forward(nil, r, good, good) },
			"x has 1 rows":             func() { l.Forward(nil, r, good.RowRange(0, 1), good) },
			"a word has 3 columns":     func() { l.Forward(nil, r, grad.Const(normal(1, 2, 3)), grad.Const(normal(1, 1, 3))) },
			"the reading has no answe": func() { lossOf(nil, l, r, good, good.RowRange(0, 1)) },
		} {
			if err := caught(f); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "attention.") {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
	for name, l := range map[string]reader{"attention.BiDAF": &attention.BiDAF{In: readIn, Hidden: 2}, "attention.Coattention": &attention.Coattention{In: readIn, Hidden: 2}} {
		if err := caught(func() { l.Forward(nil, r, nil, nil) }); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without Init: %v, want a word of %s", err, name)
		}
	}
}

// No texts are no answers.
func TestReadingNothing(t *testing.T) {
	r := reading(t, graph.Chains(), graph.Chains(), nil)
	for name, l := range readers() {
		none := grad.Const(tensor.New(0, readIn))
		if p := l.Forward(grad.NewEval(), r, none, none); len(p.Best(r, 0)) != 0 || p.Start.Dim(0) != 0 {
			t.Errorf("%s: %v", name, p.Start)
		}
	}
}

// A text is done in the round that says again what the round before said; one that never does has the last.
func TestCoattentionIsDone(t *testing.T) {
	x, q := normal(1, 8, readIn), normal(2, 6, readIn)
	rounds := map[int]int{}
	for seed := range uint64(40) {
		l := &attention.Coattention{In: readIn, Hidden: 2, Pieces: 2}
		rng := rand.New(rand.NewPCG(seed, 4))
		l.Init(rng)
		for _, p := range grad.Params(l) {
			p.Value.Normal(rng, 0, 1.5)
		}
		got := l.Forward(grad.NewEval(), reading(t, readTexts, readQuestions, nil), grad.Const(x), grad.Const(q))
		m, n := readTexts.NodeOffsets(), readQuestions.NodeOffsets()
		for i := range readAnswers {
			starts, _, done, _, _ := coattentionLoops(l, rowsIn(x, m[i], m[i+1]), rowsIn(q, n[i], n[i+1]))
			rounds[done]++
			nearRows(t, "start", got.Start.Value().RowRange(m[i], m[i+1]), columnOf(starts[done]))
		}
	}
	if rounds[1] == 0 || rounds[2] == 0 || rounds[3] == 0 {
		t.Errorf("the rounds in which texts are done are %v: want some of each", rounds)
	}
}

// exampleAoA is what ExampleReading prints of the second text.
const exampleAoA = "[0.110 0.384 0.081 0.425]"

// Attention over attention as ExampleReading writes it, in loops over the second text.
func TestAttentionOverAttention(t *testing.T) {
	x, q := rowsIn(rowsOfWords(10).Value(), 6, 10), rowsIn(rowsOfWords(5).Value(), 2, 5)
	found, matters := make([]float64, len(x)), make([]float64, len(q))
	for _, xi := range x {
		s := make([]float64, len(q))
		for j, qj := range q {
			s[j] = dot(xi, qj)
		}
		for j, p := range sharesOf(s, false) {
			matters[j] += p / float64(len(x))
		}
	}
	for j, qj := range q {
		s := make([]float64, len(x))
		for i, xi := range x {
			s[i] = dot(xi, qj)
		}
		for i, p := range sharesOf(s, false) {
			found[i] += p * matters[j]
		}
	}
	if got, want := fmt.Sprintf("%.3f", found), exampleAoA; got != want {
		t.Errorf("the loops give %s, the example %s", got, want)
	}
}
