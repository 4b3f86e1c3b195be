package attention_test

import (
	"errors"
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
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// weighed are the normalisers, each as a loop over the logits of one query.
var weighed = map[string]struct {
	attention.Weighing
	formula func(s []float64) []float64
}{
	"softmax":   {attention.Weighing{}, softmax},
	"smoothing": {attention.Weighing{By: attention.Smoothing}, func(s []float64) []float64 { return shares(each(s, sigmoid)) }},
	"threshold": {attention.Weighing{By: attention.Threshold, Least: 0.2}, func(s []float64) []float64 {
		return shares(each(softmax(s), func(a float64) float64 {
			if a < 0.2 {
				return 0
			}
			return a
		}))
	}},
	"top 2": {attention.Weighing{By: attention.TopK, K: 2}, func(s []float64) []float64 {
		order := slices.Sorted(slices.Values(s))
		least := order[max(0, len(order)-2)]
		return shares(each(softmax(s), func(a float64) float64 {
			if a < softmax(s)[slices.Index(s, least)] {
				return 0
			}
			return a
		}))
	}},
	"hardmax": {attention.Weighing{By: attention.Hardmax}, func(s []float64) []float64 {
		out := make([]float64, len(s))
		out[slices.Index(s, slices.Max(s))] = 1
		return out
	}},
	"gating":    {attention.Weighing{By: attention.Gating}, func(s []float64) []float64 { return each(s, sigmoid) }},
	"sparsemax": {attention.Weighing{By: attention.Sparsemax}, sparsemax},
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func each(s []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = f(v)
	}
	return out
}

func shares(s []float64) []float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return each(s, func(v float64) float64 { return v / sum })
}

func softmax(s []float64) []float64 {
	top := slices.Max(s)
	return shares(each(s, func(v float64) float64 { return math.Exp(v - top) }))
}

// sparsemax tries each τ that k kept entries would have.
func sparsemax(s []float64) []float64 {
	order := slices.Sorted(slices.Values(s))
	slices.Reverse(order)
	sum, tau := 0.0, 0.0
	for k, v := range order {
		if sum += v; 1+float64(k+1)*v > sum {
			tau = (sum - 1) / float64(k+1)
		}
	}
	return each(s, func(v float64) float64 { return max(v-tau, 0) })
}

// Every normaliser is its formula over the in-edges of each query; so weights are shared
// among the keys of a query, and not among the queries of a key.
func TestWeighing(t *testing.T) {
	g := pairs()
	for name, w := range weighed {
		s := param(5, 7, 1)
		got := message.ApplyEdges(g, w.Of(message.E(grad.Const(s.Value)))).Value()
		for v := range 4 {
			var logits []float64
			for e := range g.Sources(v) {
				logits = append(logits, float64(s.Value.Data[e]))
			}
			if logits == nil {
				continue
			}
			want := w.formula(logits)
			i := 0
			for e := range g.Sources(v) {
				compare.Number(t, name, got.Data[e], want[i], rounded)
				i++
			}
		}
	}
}

// A query without keys, one whose logits are −∞ alone, and logits far apart.
func TestWeighingOfExtremes(t *testing.T) {
	g := graph.Must(graph.NewBipartite(2, 3, []int32{0, 1, 0, 1}, []int32{0, 0, 2, 2}))
	inf := tensor.Float(math.Inf(-1))
	for name, w := range weighed {
		s := tensor.New(4, 1)
		copy(s.Data, []tensor.Float{inf, inf, -1e4, 0})
		tape := grad.NewTape(1)
		x := tape.Watch(s)
		y := message.UpdateAll(g, message.U(grad.Const(param(1, 2, 3).Value)).Mul(w.Of(message.E(x))), message.Sum)
		for i, v := range y.Value().Data[:6] {
			compare.Number(t, fmt.Sprint(name, ": query ", i/3), v, 0, rounded)
		}
		grads := tape.Backward(y.Sum())
		for i, v := range y.Value().Data {
			if f := float64(v); math.IsNaN(f) {
				t.Errorf("%s: element %d is NaN", name, i)
			}
		}
		if name == "hardmax" { // no gradient at all
			continue
		}
		for i, v := range grads.Of(x).Data {
			if f := float64(v); math.IsNaN(f) {
				t.Errorf("%s: the gradient of logit %d is NaN", name, i)
			}
		}
	}
}

// weights are those of one query of logits.
func weights(w attention.Weighing, s ...float64) []float64 {
	x := tensor.New(len(s), 1)
	for i, v := range s {
		x.Data[i] = tensor.Float(v)
	}
	return floats(message.ApplyEdges(graph.CompleteBipartite(len(s), 1), w.Of(message.E(grad.Const(x)))).Value().Data)
}

// Smoothing is flatter than softmax, comes to it where scores are very negative, and does
// not underflow where every σ does.
func TestSmoothing(t *testing.T) {
	smooth := attention.Weighing{By: attention.Smoothing}
	if soft, flat := softmax([]float64{-1, 0, 3}), weights(smooth, -1, 0, 3); flat[2] >= soft[2] || flat[0] <= soft[0] {
		t.Errorf("%v is no flatter than %v", flat, soft)
	}
	for _, low := range []float64{-12, -200} {
		for i, v := range weights(smooth, low-1, low, low+3) {
			compare.Number(t, "low scores", tensor.Float(v), softmax([]float64{-1, 0, 3})[i], rounded)
		}
	}
}

// What is as large as Least is kept, what is a little smaller is not, and a query all of
// whose weights are smaller has none.
func TestThresholdIsExact(t *testing.T) {
	for _, c := range []struct {
		least float64
		s     []float64
		want  []float64
	}{
		{0.25, []float64{0, 0, 0, 0}, []float64{0.25, 0.25, 0.25, 0.25}},
		{0.26, []float64{0, 0, 0, 0}, []float64{0, 0, 0, 0}},
		{0.2, []float64{math.Log(0.21), math.Log(0.79)}, []float64{0.21, 0.79}},
		{0.22, []float64{math.Log(0.21), math.Log(0.79)}, []float64{0, 1}},
	} {
		for i, v := range weights(attention.Weighing{By: attention.Threshold, Least: c.least}, c.s...) {
			compare.Number(t, fmt.Sprint("least ", c.least), tensor.Float(v), c.want[i], rounded)
		}
	}
}

func TestWeighingGradients(t *testing.T) {
	g := pairs()
	for name, w := range weighed {
		if name == "hardmax" {
			continue
		}
		s, v := param(5, 7, 1), param(6, 5, 2)
		gradtest.Check(t, []*grad.Param{s, v}, func(tape *grad.Tape) *grad.Var {
			return message.UpdateAll(g, message.U(tape.Use(v)).Mul(w.Of(message.E(tape.Use(s)))), message.Sum).Square().Sum()
		})
	}
}

// Soft is Σ α·v beside loops, with the weights that it returns, of values that are the keys
// and that are not; a number added to all scores changes nothing; of one key the weight is 1.
func TestSoft(t *testing.T) {
	g := pairs()
	for name, s := range scores() {
		l := &attention.Soft{Score: s.Score}
		k, q, v := param(3, 5, s.key).Value, param(4, 4, s.query).Value, param(5, 5, 2).Value
		bias, weight := param(6, 7, 1).Value, param(7, 7, 1).Value
		tape := grad.NewEval()
		in := layers.In{Src: grad.Const(k), Dst: grad.Const(q), Edge: grad.Const(bias), Weight: grad.Const(weight)}
		out := l.Read(tape, g, in, grad.Const(v))
		alpha := message.ApplyEdges(g, out.Attention).Value()
		for d := range 4 {
			var logits, want []float64
			for e, u := range g.Sources(d) {
				logits = append(logits, float64(bias.Data[e])+s.formula(int(u), floats(k.Row(int(u))), floats(q.Row(d))))
			}
			if want = make([]float64, 2); logits != nil {
				i := 0
				for e, u := range g.Sources(d) {
					a := softmax(logits)[i] * float64(weight.Data[e])
					compare.Number(t, name+" weight", alpha.Data[e], a, rounded)
					want[0] += a * float64(v.Row(int(u))[0])
					want[1] += a * float64(v.Row(int(u))[1])
					i++
				}
			}
			compare.Number(t, name, out.Y.Value().Row(d)[0], want[0], rounded)
			compare.Number(t, name, out.Y.Value().Row(d)[1], want[1], rounded)
		}
		in.Edge, in.Weight = nil, nil
		plain := l.Apply(tape, g, in)
		compare.Equal(t, name+": keys as values", plain.Y.Value().Data, l.Read(tape, g, in, in.Src).Y.Value().Data)
		more := tensor.New(7, 1)
		more.Fill(8)
		in.Edge = grad.Const(more)
		for i, y := range l.Apply(tape, g, in).Y.Value().Data {
			compare.Number(t, name+": all scores + 8", y, float64(plain.Y.Value().Data[i]), rounded)
		}
		compare.Number(t, name+": one key", message.ApplyEdges(g, plain.Attention).Value().Data[3], 1, rounded)
	}
}

// A batch gives each member the bits that it has alone, and other numbers of the nodes give
// other rows and nothing else.
func TestSoftBatchAndOrder(t *testing.T) {
	for name, s := range scores() {
		if name == "by position" {
			continue // it is for five keys
		}
		l := &attention.Soft{Score: s.Score, Weigh: attention.Weighing{By: attention.Smoothing}}
		one, two := graph.CompleteBipartite(3, 2), graph.Must(graph.NewBipartite(2, 1, []int32{1, 0}, []int32{0, 0}))
		k, q := param(3, 5, s.key).Value, param(4, 3, s.query).Value
		of := func(g *graph.Graph, k, q *tensor.Dense) *tensor.Dense {
			return l.Apply(grad.NewEval(), g, layers.In{Src: grad.Const(k), Dst: grad.Const(q)}).Y.Value()
		}
		rows := func(x *tensor.Dense, rows ...int32) *tensor.Dense { return grad.Const(x).Rows(rows).Value() }
		both := of(graph.Batch(one, two), k, q)
		compare.Equal(t, name+": first", rows(both, 0, 1).Data, of(one, rows(k, 0, 1, 2), rows(q, 0, 1)).Data)
		compare.Equal(t, name+": second", rows(both, 2).Data, of(two, rows(k, 3, 4), rows(q, 2)).Data)

		g := graph.Must(graph.NewBipartite(3, 2, []int32{0, 1, 2, 2}, []int32{0, 0, 0, 1}))
		turned := graph.Must(graph.NewBipartite(3, 2, []int32{2, 1, 0, 0}, []int32{1, 1, 1, 0})) // both backwards
		a, b := of(g, rows(k, 0, 1, 2), rows(q, 0, 1)), of(turned, rows(k, 2, 1, 0), rows(q, 1, 0))
		for j := range a.Row(0) {
			compare.Number(t, name+": turned", b.Row(1)[j], float64(a.Row(0)[j]), rounded)
			compare.Number(t, name+": turned", b.Row(0)[j], float64(a.Row(1)[j]), rounded)
		}
	}
}

func TestSoftGradients(t *testing.T) {
	s := scores()["additive"]
	k, q, v, bias := param(3, 5, 3), param(4, 4, 2), param(5, 5, 2), param(6, 7, 1)
	l := &attention.Soft{Score: s.Score, Weigh: attention.Weighing{By: attention.Smoothing}}
	model := struct {
		K, Q, V, Bias *grad.Param
		L             *attention.Soft
	}{k, q, v, bias, l}
	gradtest.Check(t, &model, func(tape *grad.Tape) *grad.Var {
		in := layers.In{Src: tape.Use(k), Dst: tape.Use(q), Edge: tape.Use(bias)}
		return l.Read(tape, pairs(), in, tape.Use(v)).Y.Square().Sum()
	})
}

// Dropped weights are zeros, and in the mean what they were: of a form, and of a pool.
func TestDroppedWeights(t *testing.T) {
	g := graph.CompleteBipartite(100, 20)
	in := layers.In{Src: grad.Const(tensor.New(100, 2)), Dst: grad.Const(tensor.New(20, 2))}
	pool := &attention.AttentionPool{Score: attention.Dot{}, Query: 2, Drop: 0.5}
	pool.Init(rand.New(rand.NewPCG(1, 1)))
	for _, out := range []layers.Out{
		(&attention.Soft{Score: attention.Dot{}, Drop: 0.5}).Apply(grad.NewTape(1), g, in), pool.Apply(grad.NewTape(1), g, in),
	} {
		zeros, sum := 0, 0.0
		for _, v := range message.ApplyEdges(g, out.Attention).Value().Data {
			if v == 0 {
				zeros++
			}
			sum += float64(v)
		}
		if zeros < 900 || zeros > 1100 || math.Abs(sum-20) > 1.5 {
			t.Errorf("%d of 2000 weights are zero, the sum is %v", zeros, sum)
		}
	}
}

// What is missing or does not fit is told in the name of the form.
func TestFormErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := func(n, d int) *grad.Var { return grad.Const(tensor.New(n, d)) }
	tape, g := grad.NewEval(), pairs()
	soft := &attention.Soft{Score: attention.Dot{}}
	pool := &attention.AttentionPool{Score: &attention.Saliency{Key: 3, Hidden: 2}}
	pool.Init(rng)
	han := &attention.Hierarchical{Tiers: []attention.Tier{{Pool: pool}, {Pool: pool}}}
	chain := &attention.ChainAttention{}
	chain.Init(rng)
	for _, c := range []struct {
		op, want string
		f        func()
	}{
		{"attention.Soft", "In.Src has 4 rows, the graph has 5 sources", func() { soft.Apply(tape, g, layers.In{Src: rows(4, 3), Dst: rows(4, 3)}) }},
		{"attention.Soft", "In.Dst has 5 rows, the graph has 4 destinations", func() { soft.Apply(tape, g, layers.In{Src: rows(5, 3), Dst: rows(5, 3)}) }},
		{"attention.Soft", "so In.Dst is needed", func() { soft.Apply(tape, g, layers.In{Src: rows(5, 3)}) }},
		{"attention.Soft", "values has 6 rows", func() { soft.Read(tape, g, layers.In{Src: rows(5, 3), Dst: rows(4, 3)}, rows(6, 3)) }},
		{"attention.Soft", "In.Edge has 6 rows, the graph has 7 edges", func() { soft.Apply(tape, g, layers.In{Src: rows(5, 3), Dst: rows(4, 3), Edge: rows(6, 1)}) }},
		{"attention.AttentionPool", "In.Src has 4 rows", func() { pool.Apply(tape, g, layers.In{Src: rows(4, 3)}) }},
		{"attention.Hierarchical", "there are 1 graphs, want one for each of 2 Tiers", func() { han.Forward(tape, []*graph.Graph{graph.Chains(3)}, rows(3, 3)) }},
		{"attention.Hierarchical", "the graph of tier 0 has 4 nodes, and there are 3 rows of x", func() { han.Forward(tape, []*graph.Graph{graph.Chains(4), graph.Chains(1)}, rows(3, 3)) }},
		{"attention.Hierarchical", "the graph of tier 1 has 3 nodes, and there are 2 members of the graph before it", func() { han.Forward(tape, []*graph.Graph{graph.Chains(2, 1), graph.Chains(3)}, rows(3, 3)) }},
		{"attention.ChainAttention", "theta has 3 columns, the number of states is 2", func() { chain.Forward(tape, graph.Chains(3), rows(3, 3), rows(3, 1)) }},
		{"attention.ChainAttention", "values has 2 rows", func() { chain.Forward(tape, graph.Chains(3), rows(3, 2), rows(2, 1)) }},
	} {
		var e *tensor.ShapeError
		if err := tensor.Try(c.f); !errors.As(err, &e) || e.Op != c.op || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want a ShapeError of %s about %q", err, c.op, c.want)
		}
	}
	in := layers.In{Src: rows(5, 3), Dst: rows(4, 3)}
	hard := &attention.HardAttention{Score: attention.Dot{}, Mode: attention.Filtered}
	for _, c := range []struct {
		op, want string
		f        func()
	}{
		{"attention.Soft", "Score is nil", func() { (&attention.Soft{}).Apply(tape, g, in) }},
		{"attention.Soft", "the graph is nil", func() { soft.Apply(tape, nil, in) }},
		{"attention.Soft", "In.Src is nil", func() { soft.Apply(tape, g, layers.In{Dst: rows(4, 3)}) }},
		{"attention.Weighing", `By is "max"`, func() { attention.Weighing{By: "max"}.Of(message.Msg{}) }},
		{"attention.Weighing", "Least is 0", func() { attention.Weighing{By: attention.Threshold}.Of(message.Msg{}) }},
		{"attention.Weighing", "K is 0", func() { attention.Weighing{By: attention.TopK}.Of(message.Msg{}) }},
		{"attention.HardAttention", "Filtered wants Threshold", func() { hard.Apply(tape, g, in) }},
		{"attention.HardAttention", `Mode is "hard"`, func() { (&attention.HardAttention{Score: attention.Dot{}, Mode: "hard"}).Apply(tape, g, in) }},
		{"attention.AttentionPool", "Init", func() { (&attention.AttentionPool{Score: attention.Dot{}, Query: 3}).Apply(tape, g, in) }},
		{"attention.Additive", "query is nil", func() {
			(&attention.AttentionPool{Score: scores()["additive"].Score}).Apply(tape, g, in)
		}},
		{"attention.ChainAttention", "Init", func() { (&attention.ChainAttention{}).Forward(tape, graph.Chains(3), rows(3, 2), rows(3, 1)) }},
		{"attention.Hierarchical", "tier 0 has no graph", func() { han.Forward(tape, []*graph.Graph{nil, nil}, rows(3, 3)) }},
	} {
		func() {
			defer func() {
				if e, ok := recover().(*grad.TapeError); !ok || e.Op != c.op || !strings.Contains(e.Why, c.want) {
					t.Errorf("got %v, want a TapeError of %s about %q", e, c.op, c.want)
				}
			}()
			c.f()
		}()
	}
}
