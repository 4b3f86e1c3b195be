package attention_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// five keys of which each of n queries draws one: the key is its score, the value its loss.
func five(n int, scores, values []tensor.Float) (*graph.Graph, *tensor.Dense, *tensor.Dense, *tensor.Dense) {
	k, v, q := tensor.New(5, 1), tensor.New(5, 1), tensor.New(n, 1)
	copy(k.Data, scores)
	copy(v.Data, values)
	q.Fill(1)
	return graph.CompleteBipartite(5, n), k, v, q
}

var (
	fiveScores = []tensor.Float{0.3, -0.5, 1, 0, -1.2}
	fiveLosses = []tensor.Float{1.4, 1.6, 1.5, 1.3, 1.7}
)

// estimates returns the mean of n estimates of the gradient by the scores, and the mean
// square of their distance from it. baseline nil is none.
func estimates(n int, baseline *attention.Baseline) (mean []float64, variance float64) {
	const steps = 40
	g, k, v, q := five(n/steps, fiveScores, fiveLosses)
	hard := &attention.HardAttention{Score: attention.Dot{}}
	tape := grad.NewTape(5)
	mean = make([]float64, 5)
	perQuery := tensor.New(5*g.NumDst(), 1) // a copy of the scores for each query, so that each has an estimate
	for u := range 5 {
		for d := range g.NumDst() {
			perQuery.Data[u*g.NumDst()+d] = k.Data[u]
		}
	}
	src, dst := make([]int32, 0, 5*g.NumDst()), make([]int32, 0, 5*g.NumDst())
	for d := range g.NumDst() {
		for u := range 5 {
			src, dst = append(src, int32(u*g.NumDst()+d)), append(dst, int32(d))
		}
	}
	own := graph.Must(graph.NewBipartite(5*g.NumDst(), g.NumDst(), src, dst))
	values := grad.Const(grad.Const(v).Reshape(5, 1).Expand(5, g.NumDst()).Reshape(5*g.NumDst(), 1).Value())
	for range steps {
		tape.Reset()
		x := tape.Watch(perQuery)
		c := hard.Read(tape, own, layers.In{Src: x, Dst: grad.Const(q)}, values)
		adv := make([]float64, g.NumDst())
		if baseline != nil {
			adv = baseline.Advantage(c.Y)
		} else {
			for i, loss := range c.Y.Value().Data {
				adv[i] = -float64(loss)
			}
		}
		d := tape.Backward(c.LogP.Reinforce(adv)).Of(x)
		for u := range 5 {
			for i := range g.NumDst() {
				e := float64(d.Data[u*g.NumDst()+i]) * float64(g.NumDst())
				mean[u] += e / float64(n)
				variance += e * e / float64(n)
			}
		}
	}
	return mean, variance - dot(mean, mean)
}

// Over draws the estimate is the gradient of the expected loss, by enumeration, with the sign
// of a loss; a baseline changes its mean by nothing, and takes nearly all of its variance.
func TestReinforceAgainstEnumeration(t *testing.T) {
	const n = 10000
	p := softmax(floats(fiveScores))
	expected := dot(p, floats(fiveLosses))
	plain, wide := estimates(n, nil)
	better, narrow := estimates(n, &attention.Baseline{Rate: 0.2})
	for u := range p {
		want := p[u] * (float64(fiveLosses[u]) - expected)
		if d := math.Abs(plain[u] - want); d > 0.06 { // five deviations
			t.Errorf("score %d: %v, by enumeration %v", u, plain[u], want)
		}
		if d := math.Abs(better[u] - want); d > 0.012 {
			t.Errorf("score %d with a baseline: %v, by enumeration %v", u, better[u], want)
		}
	}
	if narrow > wide/20 {
		t.Errorf("the variance is %v, with a baseline %v", wide, narrow)
	}
}

// A baseline has seen the losses before, and not those that it is compared with.
func TestBaselineIsOfBefore(t *testing.T) {
	losses := func(v ...tensor.Float) *grad.Var {
		x := tensor.New(len(v))
		copy(x.Data, v)
		return grad.Const(x)
	}
	b := &attention.Baseline{Rate: 0.5}
	for _, c := range []struct {
		losses []tensor.Float
		want   []float64
	}{
		{[]tensor.Float{3, 5}, []float64{-3, -5}}, {[]tensor.Float{4, 10}, []float64{0, -6}}, {nil, nil}, {[]tensor.Float{1}, []float64{4.5}},
	} {
		for i, a := range b.Advantage(losses(c.losses...)) {
			compare.Number(t, "advantage", tensor.Float(a), c.want[i], rounded)
		}
	}
}

// The same seed draws the same edges on any number of threads, another seed others, and an
// evaluation takes the likeliest.
func TestSampledByTheTape(t *testing.T) {
	g, k, v, q := five(3000, fiveScores, fiveLosses)
	hard := &attention.HardAttention{Score: attention.Dot{}}
	draw := func(tape *grad.Tape) *tensor.Dense {
		c := hard.Read(tape, g, layers.In{Src: grad.Const(k), Dst: grad.Const(q)}, grad.Const(v))
		for i, p := range c.LogP.Value().Data {
			for u, loss := range fiveLosses {
				if c.Y.Value().Data[i] == loss {
					compare.Number(t, "log p", p, math.Log(softmax(floats(fiveScores))[u]), rounded)
				}
			}
		}
		return c.Y.Value()
	}
	many := draw(grad.NewTape(1))
	defer par.SetThreads(1)()
	compare.Equal(t, "one thread", draw(grad.NewTape(1)).Data, many.Data)
	counts := map[tensor.Float]int{}
	same := 0
	for i, y := range draw(grad.NewTape(2)).Data {
		counts[y]++
		if y == many.Data[i] {
			same++
		}
	}
	if len(counts) != 5 || same == 3000 {
		t.Errorf("draws are %v, %d of 3000 as of another seed", counts, same)
	}
	for _, y := range draw(grad.NewEval()).Data {
		if y != 1.5 {
			t.Fatalf("an evaluation took %v, the likeliest is 1.5", y)
		}
	}
}

// The modes beside loops: of equal scores argmax takes the lowest edge, and gives scores no
// gradient; what is filtered sums to 1. A query without keys gets zero.
func TestHardModes(t *testing.T) {
	g := pairs()
	k, q, v := param(1, 5, 3), param(2, 4, 3), param(3, 5, 2)
	for j := range 3 {
		k.Value.Row(1)[j] = k.Value.Row(0)[j] // a tie
	}
	in := layers.In{Src: grad.Const(k.Value), Dst: grad.Const(q.Value)}
	for _, l := range []*attention.HardAttention{
		{Score: attention.Dot{}, Mode: attention.Argmax},
		{Score: attention.Dot{}, Mode: attention.Filtered, Filter: attention.Weighing{By: attention.Threshold, Least: 0.3}},
		{Score: attention.Dot{}, Mode: attention.Filtered, Filter: attention.Weighing{By: attention.TopK, K: 1}},
		{Score: attention.Dot{}},
	} {
		c := l.Read(grad.NewEval(), g, in, grad.Const(v.Value))
		alpha := message.ApplyEdges(g, c.Attention).Value()
		for d := range 4 {
			var logits, want []float64
			for _, u := range g.Sources(d) {
				logits = append(logits, dot(floats(k.Value.Row(int(u))), floats(q.Value.Row(d))))
			}
			y := make([]float64, 2)
			if logits != nil {
				want = weighed["hardmax"].formula(logits)
				if l.Filter.By == attention.Threshold {
					want = shares(each(softmax(logits), func(a float64) float64 {
						if a < 0.3 {
							return 0
						}
						return a
					}))
				}
			}
			i := 0
			for e, u := range g.Sources(d) {
				compare.Number(t, string(l.Mode), alpha.Data[e], want[i], rounded)
				y[0] += want[i] * float64(v.Value.Row(int(u))[0])
				y[1] += want[i] * float64(v.Value.Row(int(u))[1])
				i++
			}
			compare.Number(t, string(l.Mode), c.Y.Value().Row(d)[0], y[0], rounded)
			compare.Number(t, string(l.Mode), c.Y.Value().Row(d)[1], y[1], rounded)
		}
		if (c.LogP == nil) != (l.Mode != attention.Sampled) {
			t.Errorf("%q: log p is %v", l.Mode, c.LogP)
		}
	}
	tape := grad.NewTape(1)
	x := tape.Watch(k.Value)
	c := (&attention.HardAttention{Score: attention.Dot{}, Mode: attention.Argmax}).Read(tape, g, layers.In{Src: x, Dst: in.Dst}, grad.Const(v.Value))
	if d := tape.Backward(c.Y.Add(x.RowRange(0, 4).Columns(0, 2).Scale(0)).Sum()).Of(x); d != nil && norm(floats(d.Data)) != 0 {
		t.Errorf("argmax gives scores the gradient %v", d.Data)
	}
}

// The entropy is −Σ α·log α, 0 of a query without keys, and takes scores of −∞; its gradient
// and that of what is filtered stand beside differences.
func TestHardGradients(t *testing.T) {
	g := pairs()
	k, q, v := param(1, 5, 3), param(2, 4, 3), param(3, 5, 2)
	filtered := &attention.HardAttention{Score: attention.Dot{}, Mode: attention.Filtered, Filter: attention.Weighing{By: attention.TopK, K: 2}}
	gradtest.Check(t, []*grad.Param{k, q, v}, func(tape *grad.Tape) *grad.Var {
		c := filtered.Read(tape, g, layers.In{Src: tape.Use(k), Dst: tape.Use(q)}, tape.Use(v))
		return c.Y.Square().Sum().Add(c.Entropy().Square().Sum())
	})
	tape := grad.NewEval()
	in := layers.In{Src: tape.Use(k), Dst: tape.Use(q)}
	got := filtered.Apply(tape, g, in).Entropy().Value()
	for d := range 4 {
		var logits []float64
		for _, u := range g.Sources(d) {
			logits = append(logits, dot(floats(k.Value.Row(int(u))), floats(q.Value.Row(d))))
		}
		want := 0.0
		if logits != nil {
			for _, a := range softmax(logits) {
				want -= a * math.Log(a)
			}
		}
		compare.Number(t, "entropy", got.Data[d], want, rounded)
	}
	bias := tensor.New(7, 1)
	bias.Data[0] = tensor.Float(math.Inf(-1))
	tape = grad.NewTape(1)
	x := tape.Watch(k.Value)
	h := filtered.Apply(tape, g, layers.In{Src: x, Dst: grad.Const(q.Value), Edge: grad.Const(bias)}).Entropy()
	if d := norm(floats(tape.Backward(h.Sum()).Of(x).Data)); math.IsNaN(d) || math.IsNaN(float64(h.Value().Data[0])) {
		t.Errorf("with a score of −∞ the entropy is %v, its gradient %v long", h.Value().Data, d)
	}
}

// A small lookup is learnt by draws alone.
func TestReinforceLearns(t *testing.T) {
	hard := &attention.HardAttention{Score: &attention.Bilinear{Key: 4, Query: 4}}
	hard.Init(rand.New(rand.NewPCG(1, 1)))
	rng := rand.New(rand.NewPCG(2, 2))
	tape, baseline := grad.NewTape(1), &attention.Baseline{}
	const n = 32
	g := graph.CompleteBipartite(4, n)
	keys := tensor.New(4, 4)
	for i := range 4 {
		keys.Row(i)[i] = 1
	}
	w := hard.Score.(*attention.Bilinear).W.Value
	right := 0
	for step := range 150 {
		asked := tensor.New(n, 4)
		want := make([]int, n)
		for i := range want {
			want[i] = rng.IntN(4)
			asked.Row(i)[want[i]] = 1
		}
		tape.Reset()
		c := hard.Apply(tape, g, layers.In{Src: grad.Const(keys), Dst: grad.Const(asked)})
		loss := tensor.New(n)
		for i := range want {
			loss.Data[i] = 1 - c.Y.Value().Row(i)[want[i]]
			if step >= 140 {
				right += int(c.Y.Value().Row(i)[want[i]])
			}
		}
		d := tape.Backward(c.LogP.Reinforce(baseline.Advantage(grad.Const(loss)))).Of(tape.Use(hard.Score.(*attention.Bilinear).W))
		for i := range w.Data {
			w.Data[i] -= 3 * d.Data[i]
		}
	}
	if right < 9*n {
		t.Errorf("%d of the last %d draws are right, by chance a fourth", right, 10*n)
	}
}
