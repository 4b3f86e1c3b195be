package attention_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
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
					compare.Number(t, form+" "+name, got.Row(d)[j], want, rounded)
					compare.Number(t, form+" "+name+" as a list", listed.Row(d)[j], want, rounded)
				}
			}
		}
	}
}

// asList is g as a list of edges, which no rule of blocks takes.
func asList(g *graph.Graph) *graph.Graph {
	var src, dst []int32
	for v := range g.NumDst() {
		for _, u := range g.Sources(v) {
			src, dst = append(src, u), append(dst, int32(v))
		}
	}
	if g.Bipartite() {
		return graph.Must(graph.NewBipartite(g.NumSrc(), g.NumDst(), src, dst))
	}
	return graph.Must(graph.New(g.NumNodes(), src, dst))
}

// ofBlocks are graphs of blocks: masks of a sentence, pairs of sides of which one may be empty,
// batches, and the step of a decoder, which is some of the queries of a batch.
func ofBlocks() map[string]*graph.Graph {
	pairs := graph.Batch(graph.CompleteBipartite(4, 3), graph.CompleteBipartite(0, 2), graph.CompleteBipartite(5, 0), graph.CompleteBipartite(1, 3))
	out := map[string]*graph.Graph{
		"no loops": graph.CompleteNoLoops(7), "pairs": pairs, "a step": graph.Must(graph.Dst(pairs, []int32{1, 4, 6})),
		"batch": graph.Batch(graph.Causal(5), graph.CompleteNoLoops(1), graph.Band(6, 1), graph.Complete(3), graph.CausalBand(6, 2)),
	}
	for form, m := range masks(7) {
		if form != "any" {
			out[form] = m.g
		}
	}
	return out
}

// Whatever the score and however it is weighed, blocks give what their list of edges gives: the
// mean of values, and its gradients by keys, queries, values and the score's Params.
func TestBlocksAreEdges(t *testing.T) {
	for form, g := range ofBlocks() {
		if g.Spans() == nil {
			t.Fatalf("%s is no graph of blocks", form)
		}
		for name, s := range scores() {
			if name == "by position" {
				continue // it is for five keys
			}
			k, q, v := param(1, g.NumSrc(), s.key).Value, param(2, g.NumDst(), s.query).Value, param(3, g.NumSrc(), 2).Value
			for how, w := range weighed {
				if how != "softmax" && name != "additive" && name != "dot" {
					continue // the two rules of blocks
				}
				l := &attention.Soft{Score: s.Score, Weigh: w.Weighing}
				run := func(g *graph.Graph) (all []*tensor.Dense) {
					tape := grad.NewTape(1)
					in := layers.In{Src: tape.Watch(k), Dst: tape.Watch(q)}
					values := tape.Watch(v)
					y := l.Read(tape, g, in, values).Y
					grads := tape.Backward(y.Square().Sum())
					all = []*tensor.Dense{y.Value(), grads.Of(in.Src), grads.Of(in.Dst), grads.Of(values)}
					for _, p := range grad.Params(s.Score) {
						all = append(all, grads.Param(p))
					}
					return all
				}
				listed := run(asList(g))
				for i, got := range run(g) {
					if (got == nil) != (listed[i] == nil) {
						t.Fatalf("%s, %s, %s: array %d is %v on blocks, %v on edges", form, name, how, i, got, listed[i])
					}
					for j := 0; got != nil && j < len(got.Data); j++ {
						compare.Number(t, fmt.Sprintf("%s, %s, %s: array %d on blocks", form, name, how, i), got.Data[j], float64(listed[i].Data[j]), rounded)
					}
				}
			}
		}
	}
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
		compare.Equal(t, "before the change", grad.Const(after).RowRange(0, 6).Value().Data, grad.Const(before).RowRange(0, 6).Value().Data)
		if after.Row(6)[0] == before.Row(6)[0] || after.Row(8)[0] == before.Row(8)[0] {
			t.Error("what comes later does not hear the change")
		}
		whole, band := of(asList(graph.Complete(9)), x), of(asList(graph.Band(9, 9)), x)
		compare.Equal(t, "a band of all", band.Data, whole.Data)
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
			compare.Number(t, "query", y.Row(0)[3*i+j], float64(one.Data[j]), rounded)
			compare.Number(t, "one key", y.Row(1)[3*i+j], float64(x.Row(3)[j]), rounded)
		}
	}
	for _, sum := range message.UpdateAll(g, out.Attention, message.Sum).Value().Data {
		compare.Number(t, "sum of the weights of a query", sum, 1, rounded)
	}
}
