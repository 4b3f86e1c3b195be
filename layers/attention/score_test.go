package attention_test

import (
	"errors"
	"math"
	"math/rand/v2"
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

// scored is a score, the widths that it reads, and its formula for a pair as loops.
type scored struct {
	attention.Score
	key, query int
	formula    func(u int, k, q []float64) float64
}

// scores are all of them, with Params that are not what Init makes of them where that is
// a constant.
func scores() map[string]scored {
	additive := &attention.Additive{Key: 3, Query: 2, Hidden: 4}
	normed := &attention.Additive{Key: 3, Query: 2, Hidden: 4, Normed: true}
	whole := &attention.Bilinear{Key: 3, Query: 2}
	low := &attention.Bilinear{Key: 3, Query: 2, Rank: 2}
	scaled := &attention.Bilinear{Key: 3, Query: 2, Scaled: true}
	concat := &attention.Concat{Key: 3, Query: 2, Hidden: 4}
	cosine := &attention.Cosine{Beta: 1.5, Eps: 0.25}
	sharp := &attention.Cosine{Beta: 2, Learn: true}
	saliency := &attention.Saliency{Key: 3, Hidden: 4}
	place := &attention.ByPosition{Query: 2, Longest: 4}
	positions := []int32{0, 3, 1, 3, 2}
	small := func(w, u, b, v *grad.Param, q []float64, k []float64) float64 {
		sum := 0.0
		for j := range v.Value.Data {
			z := of(b, j) + column(k, w, 0, j) + column(q, u, 0, j)
			sum += math.Tanh(z) * of(v, j)
		}
		return sum
	}
	out := map[string]scored{
		"additive": {additive, 3, 2, func(_ int, k, q []float64) float64 {
			return small(additive.W, additive.U, nil, additive.V, q, k)
		}},
		"normed": {normed, 3, 2, func(_ int, k, q []float64) float64 {
			return small(normed.W, normed.U, normed.B, normed.V, q, k) * of(normed.G, 0) / norm(floats(normed.V.Value.Data))
		}},
		"dot":        {attention.Dot{}, 3, 3, func(_ int, k, q []float64) float64 { return dot(k, q) }},
		"scaled dot": {attention.ScaledDot{}, 3, 3, func(_ int, k, q []float64) float64 { return dot(k, q) / math.Sqrt(3) }},
		"bilinear": {whole, 3, 2, func(_ int, k, q []float64) float64 {
			return column(k, whole.W, 0, 0)*q[0] + column(k, whole.W, 0, 1)*q[1]
		}},
		"low rank": {low, 3, 2, func(_ int, k, q []float64) float64 {
			return column(k, low.U, 0, 0)*column(q, low.V, 0, 0) + column(k, low.U, 0, 1)*column(q, low.V, 0, 1)
		}},
		"scaled bilinear": {scaled, 3, 2, func(_ int, k, q []float64) float64 {
			return of(scaled.G, 0) * (column(k, scaled.W, 0, 0)*q[0] + column(k, scaled.W, 0, 1)*q[1])
		}},
		"concat": {concat, 3, 2, func(_ int, k, q []float64) float64 {
			sum := 0.0
			for j := range 4 {
				sum += math.Tanh(column(k, concat.W, 0, j)+column(q, concat.W, 3, j)) * of(concat.V, j)
			}
			return sum
		}},
		"cosine": {cosine, 3, 3, func(_ int, k, q []float64) float64 { return 1.5 * dot(k, q) / (norm(k)*norm(q) + 0.25) }},
		"sharp cosine": {sharp, 3, 3, func(_ int, k, q []float64) float64 {
			return of(sharp.B, 0) * dot(k, q) / (norm(k)*norm(q) + 1e-6)
		}},
		"saliency": {saliency, 3, 2, func(_ int, k, _ []float64) float64 {
			return small(saliency.W, nil, saliency.B, saliency.C, nil, k)
		}},
		"by position": {place.At(positions), 3, 2, func(u int, _, q []float64) float64 {
			return dot(floats(place.W.Value.Row(int(positions[u]))), q)
		}},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"additive", "normed", "bilinear", "low rank", "scaled bilinear", "concat", "cosine", "sharp cosine", "saliency", "by position"} {
		out[name].Init(rng)
	}
	for _, p := range []*grad.Param{normed.G, normed.B, scaled.G, sharp.B, saliency.B} {
		p.Value.Uniform(rng, 0.5, 2)
	}
	return out
}

func of(p *grad.Param, i int) float64 {
	if p == nil {
		return 0
	}
	return float64(p.Value.Data[i])
}

// column is x times a column of w, from one of its rows on.
func column(x []float64, w *grad.Param, row, j int) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * float64(w.Value.Row(row + i)[j])
	}
	return sum
}

// rounded is for what differs by rounding.
var rounded = compare.Off(1e-5, 1e-5)

func dot(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }

func floats(x []tensor.Float) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// param returns normal numbers.
func param(seed uint64, shape ...int) *grad.Param {
	p := grad.NewParam(shape...)
	p.Value.Normal(rand.New(rand.NewPCG(seed, 9)), 0, 1)
	return p
}

// pairs is five keys and four queries: of several, of one, of none, and with an edge twice.
func pairs() *graph.Graph {
	return graph.Must(graph.NewBipartite(5, 4, []int32{0, 1, 2, 2, 4, 4, 3}, []int32{0, 0, 0, 1, 3, 3, 3}))
}

// Every score is its formula, a number each edge.
func TestScoresAreTheirFormulas(t *testing.T) {
	g := pairs()
	for name, s := range scores() {
		k, q := param(3, 5, s.key), param(4, 4, s.query)
		tape := grad.NewEval()
		got := message.ApplyEdges(g, s.Of(tape, s.Keys(tape, tape.Use(k)), tape.Use(q))).Value()
		if n := got.Shape(); len(n) != 2 || n[0] != 7 || n[1] != 1 {
			t.Errorf("%s: the logits are %v, want 7×1", name, n)
		}
		for v := range 4 {
			for e, u := range g.Sources(v) {
				compare.Number(t, name, got.Data[e], s.formula(int(u), floats(k.Value.Row(int(u))), floats(q.Value.Row(v))), rounded)
			}
		}
	}
}

// Gradients of keys, queries and Params through a weighted mean, beside differences.
func TestScoresGradients(t *testing.T) {
	g := pairs()
	for name, s := range scores() {
		t.Run(name, func(t *testing.T) {
			k, q, v := param(3, 5, s.key), param(4, 4, s.query), param(5, 5, 2)
			model := struct {
				K, Q, V *grad.Param
				S       any
			}{k, q, v, s.Score}
			gradtest.Check(t, &model, func(tape *grad.Tape) *grad.Var {
				logits := s.Of(tape, s.Keys(tape, tape.Use(k)), tape.Use(q))
				return message.UpdateAll(g, message.U(tape.Use(v)).Mul(logits.Softmax()), message.Sum).Square().Sum()
			})
		})
	}
}

// [k ‖ q]·W is k·(the upper rows) + q·(the lower ones), to the bit.
func TestConcatIsAdditive(t *testing.T) {
	c := &attention.Concat{Key: 3, Query: 2, Hidden: 4}
	c.Init(rand.New(rand.NewPCG(1, 1)))
	a := &attention.Additive{Key: 3, Query: 2, Hidden: 4}
	a.Init(rand.New(rand.NewPCG(2, 2)))
	copy(a.W.Value.Data, c.W.Value.Data[:12])
	copy(a.U.Value.Data, c.W.Value.Data[12:])
	copy(a.V.Value.Data, c.V.Value.Data)
	compare.Equal(t, "concat", logitsOf(c).Data, logitsOf(a).Data)
}

// A normed score with g = ‖v‖ and b = 0 is the plain one; a scaled one begins as the plain
// one, or as Begin has it; and under the norm v's gradient is orthogonal to v, so that steps turn it only.
func TestNormedAndScaledBeginAsPlain(t *testing.T) {
	plain, normed := &attention.Additive{Key: 3, Query: 2, Hidden: 4}, &attention.Additive{Key: 3, Query: 2, Hidden: 4, Normed: true}
	plain.Init(rand.New(rand.NewPCG(1, 1)))
	normed.Init(rand.New(rand.NewPCG(1, 1)))
	compare.Number(t, "g of Init", normed.G.Value.Data[0], 0.5, rounded)
	normed.G.Value.Data[0] = tensor.Float(norm(floats(normed.V.Value.Data)))
	for e, v := range logitsOf(normed).Data {
		compare.Number(t, "normed", v, float64(logitsOf(plain).Data[e]), rounded)
	}
	bare, scaled := &attention.Bilinear{Key: 3, Query: 2}, &attention.Bilinear{Key: 3, Query: 2, Scaled: true}
	bare.Init(rand.New(rand.NewPCG(1, 1)))
	scaled.Init(rand.New(rand.NewPCG(1, 1)))
	compare.Equal(t, "scaled", logitsOf(scaled).Data, logitsOf(bare).Data)
	scaled.Begin = 0.25
	scaled.Init(rand.New(rand.NewPCG(1, 1)))
	for e, v := range logitsOf(scaled).Data {
		compare.Number(t, "from a quarter", v, float64(logitsOf(bare).Data[e])/4, rounded)
	}

	tape := grad.NewTape(1)
	logits := normed.Of(tape, normed.Keys(tape, tape.Use(param(3, 5, 3))), tape.Use(param(4, 4, 2)))
	grads := tape.Backward(message.ApplyEdges(pairs(), logits).Sum())
	compare.Number(t, "v·dv", tensor.Float(dot(floats(normed.V.Value.Data), floats(grads.Of(tape.Use(normed.V)).Data))), 0, rounded)
}

// W = U·Vᵀ is a scalar product after two projections; and what a asks of b is not what b
// asks of a.
func TestBilinear(t *testing.T) {
	low, whole := &attention.Bilinear{Key: 3, Query: 2, Rank: 1}, &attention.Bilinear{Key: 3, Query: 2}
	low.Init(rand.New(rand.NewPCG(1, 1)))
	whole.Init(rand.New(rand.NewPCG(2, 2)))
	for i := range 3 {
		for j := range 2 {
			whole.W.Value.Row(i)[j] = low.U.Value.Row(i)[0] * low.V.Value.Row(j)[0]
		}
	}
	for e, v := range logitsOf(low).Data {
		compare.Number(t, "rank 1", v, float64(logitsOf(whole).Data[e]), rounded)
	}
	s := &attention.Bilinear{Key: 3, Query: 3}
	s.Init(rand.New(rand.NewPCG(3, 3)))
	tape := grad.NewEval()
	x := tape.Use(param(7, 2, 3))
	y := message.ApplyEdges(graph.Complete(2), s.Of(tape, s.Keys(tape, x), x)).Value()
	if d := math.Abs(float64(y.Data[1] - y.Data[2])); d < 1e-3 {
		t.Errorf("s(a,b) and s(b,a) differ by %v only", d)
	}
}

func logitsOf(s attention.Score) *tensor.Dense {
	tape := grad.NewEval()
	return message.ApplyEdges(pairs(), s.Of(tape, s.Keys(tape, tape.Use(param(3, 5, 3))), tape.Use(param(4, 4, 2)))).Value()
}

// Of independent entries of variance 1 the product has variance D, and the scaled one 1:
// so a wide plain one makes a softmax that is all but hard, whose gradient is small.
func TestScoreVariance(t *testing.T) {
	const n = 300
	for _, d := range []int{16, 256} {
		tape := grad.NewEval()
		k, q := tape.Use(param(1, n, d)), tape.Use(param(2, n, d))
		g := graph.CompleteBipartite(n, n)
		sum := 0.0
		for _, v := range message.ApplyEdges(g, attention.ScaledDot{}.Of(tape, k, q)).Value().Data {
			sum += float64(v) * float64(v)
		}
		v := sum / (n * n)
		if math.Abs(v-1) > 0.05 {
			t.Errorf("D %d: the variance of scores is %v, want 1", d, v)
		}
		top := func(s attention.Score) float64 {
			out := 0.0
			for _, v := range message.UpdateAll(g, s.Of(tape, k, q).Softmax(), message.Max).Value().Data {
				out += float64(v) / n
			}
			return out
		}
		hard, soft := top(attention.Dot{}), top(attention.ScaledDot{})
		if soft > 0.1 || hard < 0.4 {
			t.Errorf("D %d: the largest weight is %v, scaled %v", d, hard, soft)
		}
		steep, gentle := slopeOf(attention.Dot{}, d), slopeOf(attention.ScaledDot{}, d)
		if steep > gentle*0.9 {
			t.Errorf("D %d: the gradient by the logits is %v long, scaled %v", d, steep, gentle)
		}
		t.Logf("D %d: variance %.1f, over √D %.3f; largest weight %.3f, %.3f; gradient %.2f, %.2f", d, v*float64(d), v, hard, soft, steep, gentle)
	}
}

// slopeOf is the length of the gradient of a softmax over eight keys by its logits.
func slopeOf(s attention.Score, d int) float64 {
	g, tape := graph.CompleteBipartite(8, 50), grad.NewTape(1)
	logits := message.ApplyEdges(g, s.Of(tape, grad.Const(param(1, 8, d).Value), grad.Const(param(2, 50, d).Value)))
	x := tape.Watch(logits.Value())
	y := message.UpdateAll(g, message.U(grad.Const(param(5, 8, 1).Value)).Mul(message.E(x).Softmax()), message.Sum)
	return norm(floats(tape.Backward(y.Sum()).Of(x).Data))
}

// A vector of zeros scores 0, and gradients stay finite.
func TestCosineOfZero(t *testing.T) {
	l := &attention.Cosine{}
	tape := grad.NewTape(1)
	k, q := tape.Watch(tensor.New(5, 3)), tape.Watch(param(1, 4, 3).Value)
	y := message.ApplyEdges(pairs(), l.Of(tape, l.Keys(tape, k), q))
	grads := tape.Backward(y.Sum())
	for _, x := range []*tensor.Dense{y.Value(), grads.Of(k), grads.Of(q)} {
		for _, v := range x.Data {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				t.Fatalf("%v", x.Data)
			}
		}
	}
	for _, v := range y.Value().Data {
		compare.Number(t, "cosine", v, 0, rounded)
	}
}

// What does not fit is told in the name of the score and of its field.
func TestScoreErrors(t *testing.T) {
	rows := func(n, d int) *grad.Var { return grad.Const(tensor.New(n, d)) }
	tape := grad.NewEval()
	refused := func(op, want string, f func()) {
		t.Helper()
		var e *tensor.ShapeError
		if err := tensor.Try(f); !errors.As(err, &e) || e.Op != op || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want a ShapeError of %s about %q", err, op, want)
		}
	}
	for name, op := range map[string]string{"additive": "Additive", "bilinear": "Bilinear", "low rank": "Bilinear", "concat": "Concat", "by position": "ByPosition"} {
		s := scores()[name]
		op = "attention." + op
		if name != "by position" {
			refused(op, "keys has 4 columns, Key is 3", func() { s.Keys(tape, rows(5, 4)) })
		}
		refused(op, "query has 9 columns, Query is 2", func() { s.Of(tape, s.Keys(tape, rows(5, 3)), rows(4, 9)) })
	}
	for op, s := range map[string]attention.Score{"attention.Dot": attention.Dot{}, "attention.ScaledDot": attention.ScaledDot{}, "attention.Cosine": &attention.Cosine{}} {
		refused(op, "keys have 3 columns, query has 4", func() { s.Of(tape, rows(5, 3), rows(4, 4)) })
	}
	place := &attention.ByPosition{Query: 2, Longest: 3}
	refused("attention.ByPosition", "key 1 stands at position 3, and Longest is 3", func() { place.At([]int32{0, 3}) })
	refused("attention.Saliency", "keys has 2 columns, Key is 3", func() { scores()["saliency"].Keys(tape, rows(5, 2)) })
	for _, s := range []attention.Score{&attention.Additive{Key: 3, Query: 2, Hidden: 4}, &attention.Bilinear{Key: 3, Query: 2}, &attention.Concat{Key: 3, Query: 2, Hidden: 4}, &attention.Saliency{Key: 3, Hidden: 4}, place.At([]int32{0, 1, 2, 0, 1})} {
		func() {
			defer func() {
				if e, ok := recover().(*grad.TapeError); !ok || !strings.Contains(e.Why, "Init") {
					t.Errorf("%T without Init: %v", s, e)
				}
			}()
			s.Keys(tape, rows(5, 3))
		}()
	}
}
