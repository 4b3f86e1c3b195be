package attention_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// masks are the graphs of n nodes that stand for masks, and the masks: may v look at u?
func masks(n int) map[string]struct {
	g   *graph.Graph
	may func(u, v int) bool
} {
	var src, dst []int32
	for v := range n {
		for u := range n {
			if (u*v+u)%3 == 1 {
				src, dst = append(src, int32(u)), append(dst, int32(v))
			}
		}
	}
	return map[string]struct {
		g   *graph.Graph
		may func(u, v int) bool
	}{
		"all":         {graph.Complete(n), func(int, int) bool { return true }},
		"causal":      {graph.Causal(n), func(u, v int) bool { return u <= v }},
		"band":        {graph.Band(n, 2), func(u, v int) bool { return max(u-v, v-u) <= 2 }},
		"causal band": {graph.CausalBand(n, 2), func(u, v int) bool { return u <= v && v-u <= 2 }},
		"any":         {graph.Must(graph.New(n, src, dst)), func(u, v int) bool { return (u*v+u)%3 == 1 }},
	}
}

// Full, local, causal, windowed and masked attention are Soft on a graph: the same numbers as
// a table of all scores, −∞ where one may not look, and a softmax along its rows. Every score
// says so, and so do the lists of edges that the graphs of blocks stand for.
func TestMasksAreGraphs(t *testing.T) {
	const n = 7
	for form, m := range masks(n) {
		for name, s := range scores() {
			if name == "by position" {
				continue // it is for five keys
			}
			k, q, v := param(1, n, s.key).Value, param(2, n, s.query).Value, param(3, n, 2).Value
			l := &attention.Soft{Score: s.Score}
			in := layers.In{Src: grad.Const(k), Dst: grad.Const(q)}
			got := l.Read(grad.NewEval(), m.g, in, grad.Const(v)).Y.Value()
			listed := l.Read(grad.NewEval(), asList(m.g), in, grad.Const(v)).Y.Value()
			for d := range n {
				table, any := make([]float64, n), false
				for u := range n {
					table[u] = math.Inf(-1)
					if m.may(u, d) {
						table[u], any = s.formula(u, floats(k.Row(u)), floats(q.Row(d))), true
					}
				}
				for j := range 2 {
					want := 0.0
					for u := range n {
						if any {
							want += softmax(table)[u] * float64(v.Row(u)[j])
						}
					}
					near(t, form+" "+name, got.Row(d)[j], want)
					near(t, form+" "+name+" as a list", listed.Row(d)[j], want)
				}
			}
		}
	}
}

// asList is g as a list of edges, which no kernel of blocks takes.
func asList(g *graph.Graph) *graph.Graph {
	var src, dst []int32
	for v := range g.NumDst() {
		for _, u := range g.Sources(v) {
			src, dst = append(src, u), append(dst, int32(v))
		}
	}
	return graph.Must(graph.New(g.NumNodes(), src, dst))
}

// What comes later changes no bit of a causal result, and a band as wide as the sentence is
// all of it.
func TestCausalAndBand(t *testing.T) {
	s := &attention.Additive{Key: 3, Query: 3, Hidden: 4}
	s.Init(rand.New(rand.NewPCG(1, 1)))
	for _, score := range []attention.Score{s, attention.ScaledDot{}} {
		l := &attention.Soft{Score: score}
		of := func(g *graph.Graph, x *tensor.Dense) *tensor.Dense {
			return l.Apply(grad.NewEval(), g, layers.In{Src: grad.Const(x)}).Y.Value()
		}
		x := param(1, 9, 3).Value
		before := of(graph.Causal(9), x)
		changed := param(1, 9, 3).Value
		copy(changed.Row(6), []tensor.Float{5, -5, 9})
		after := of(graph.Causal(9), changed)
		sameBits(t, "before the change", grad.Const(after).RowRange(0, 6).Value(), grad.Const(before).RowRange(0, 6).Value())
		if after.Row(6)[0] == before.Row(6)[0] || after.Row(8)[0] == before.Row(8)[0] {
			t.Error("what comes later does not hear the change")
		}
		whole, band := of(asList(graph.Complete(9)), x), of(asList(graph.Band(9, 9)), x)
		sameBits(t, "a band of all", band, whole)
	}
}

// Each query takes a softmax of its own; several queries of one sentence are read side by
// side, in the order of the queries.
func TestSeveralQueries(t *testing.T) {
	g := graph.Batch(graph.CompleteBipartite(3, 2), graph.CompleteBipartite(1, 2)) // two queries a sentence
	x, q := param(1, 4, 3).Value, param(2, 2, 3).Value
	both := grad.Const(q).Rows([]int32{0, 1, 0, 1})
	out := (&attention.Soft{Score: attention.Dot{}}).Apply(grad.NewEval(), g, layers.In{Src: grad.Const(x), Dst: both})
	y := out.Y.Reshape(2, 6).Value() // att(q₁) ⊕ att(q₂) of each sentence
	for i := range 2 {
		one := (&attention.Soft{Score: attention.Dot{}}).Apply(grad.NewEval(), graph.CompleteBipartite(3, 1), layers.In{
			Src: grad.Const(x).RowRange(0, 3), Dst: grad.Const(q).RowRange(i, i+1)}).Y.Value()
		for j := range 3 {
			near(t, "query", y.Row(0)[3*i+j], float64(one.Data[j]))
			near(t, "one key", y.Row(1)[3*i+j], float64(x.Row(3)[j]))
		}
	}
	for _, sum := range message.UpdateAll(g, out.Attention, message.Sum).Value().Data {
		near(t, "sum of the weights of a query", sum, 1)
	}
}
