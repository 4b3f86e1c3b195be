package message_test

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
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// blocksOf are graphs of blocks, of less and of more than a block of the pass.
func blocksOf() map[string]*graph.Graph {
	return map[string]*graph.Graph{
		"complete":    graph.Complete(150),
		"no loops":    graph.CompleteNoLoops(70),
		"one alone":   graph.CompleteNoLoops(1), // hears nobody
		"causal":      graph.Causal(131),
		"band":        graph.Band(140, 9),
		"bipartite":   graph.CompleteBipartite(75, 101),
		"no sources":  graph.CompleteBipartite(0, 3),
		"batch":       graph.Batch(graph.Causal(65), graph.Complete(3), graph.Band(50, 2), graph.Causal(0)),
		"empty":       graph.Complete(0),
		"single head": graph.Causal(10),
	}
}

// attend is an attention and the gradients of its operands.
func attend(h *heads, g *graph.Graph) []*tensor.Dense {
	tape := grad.NewTape(1)
	a := h.attention(tape, 0)
	a.Bias = message.Msg{}
	y, _ := a.Apply(tape, g)
	gs := tape.Backward(weigh(y))
	return []*tensor.Dense{y.Value(), gs.Param(h.Q), gs.Param(h.K), gs.Param(h.V)}
}

// messageOf is the message that an attention sums.
func messageOf(a *message.Attention, g *graph.Graph) message.Msg {
	_, w := a.Apply(nil, g)
	return message.U(a.V).Mul(w)
}

func TestDenseAttention(t *testing.T) {
	for name, g := range blocksOf() {
		if g.Spans() == nil {
			t.Fatalf("%s is not made of blocks", name)
		}
		h := &heads{Q: param(1, g.NumDst(), 2, 9), K: param(2, g.NumSrc(), 2, 9), V: param(3, g.NumSrc(), 2, 5), Bias: param(4, 1)}
		got := attend(h, g)
		for _, threads := range append(sparing.Threads(), 1) {
			undo := par.SetThreads(threads)
			compare.Arrays(t, name, attend(h, g), got, compare.SameBits)
			undo()
		}
		a := &message.Attention{Q: grad.Const(h.Q.Value), K: grad.Const(h.K.Value), V: grad.Const(h.V.Value)}
		want := sum(g, messageOf(a, g)).results(arrays(h.Q, h.K, h.V)...)
		reference.Near(t, name, got, want)
		message.SetFuse(t, false)
		reference.Near(t, name+", in tiles", attend(h, g), want)
		message.SetFuse(t, true)
	}
}

// TestDenseAttentionAlone attends from some destinations, to the bits that they have among all.
// Of a band, and where there are no loops, a view is made of other blocks than the whole, and a
// row rounds as these say.
func TestDenseAttentionAlone(t *testing.T) {
	gs := map[string]*graph.Graph{"far": graph.CompleteBipartite(4200, 60)} // in two visits
	for name, g := range blocksOf() {
		if !slices.ContainsFunc(g.Spans(), func(s graph.Span) bool { return s.Mask == graph.NoLoopsMask || s.Mask == graph.BandMask }) {
			gs[name] = g
		}
	}
	rng := rand.New(rand.NewPCG(4, 2))
	for name, g := range gs {
		for _, heads := range sparing.Some([][2]int{{8, 8}, {2, 9}, {1, 64}}) {
			q, k, v := param(1, g.NumDst(), heads[0], heads[1]), param(2, g.NumSrc(), heads[0], heads[1]), param(3, g.NumSrc(), heads[0], 5)
			run := func(g *graph.Graph, rows []int32) *tensor.Dense {
				tape := grad.NewEval()
				y, _ := (&message.Attention{Q: tape.Use(q).Rows(rows), K: tape.Use(k), V: tape.Use(v)}).Apply(tape, g)
				return y.Value()
			}
			var all []int32
			for i := range g.NumDst() {
				all = append(all, int32(i))
			}
			whole := grad.Const(run(g, all))
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, n := range []int{1, 2, 8, 50} {
				some := all[:min(n, len(all))]
				compare.Arrays(t, fmt.Sprint(name, heads, n), []*tensor.Dense{run(graph.Must(graph.Dst(g, some)), some)}, []*tensor.Dense{whole.Rows(some).Value()}, compare.SameBits)
			}
		}
	}
}

// TestDenseAttentionSharesOperands has one array as queries, keys and values, or as two of
// these, whole or in part.
func TestDenseAttentionSharesOperands(t *testing.T) {
	g := graph.Batch(graph.Causal(131), graph.Complete(70))
	p := param(1, 402, 2, 9)
	for name, operands := range map[string]func(x *grad.Var) (q, k, v *grad.Var){
		"all":   func(x *grad.Var) (q, k, v *grad.Var) { h := x.RowRange(0, 201); return h, h, h },
		"whole": func(x *grad.Var) (q, k, v *grad.Var) { h := x.RowRange(7, 208); return x.RowRange(0, 201), h, h },
		"rows beside": func(x *grad.Var) (q, k, v *grad.Var) {
			return x.RowRange(201, 402), x.RowRange(0, 201), x.RowRange(100, 301)
		},
		"queries": func(x *grad.Var) (q, k, v *grad.Var) { h := x.RowRange(0, 201); return h, h, x.RowRange(201, 402) },
	} {
		run := func() []*tensor.Dense {
			tape := grad.NewTape(1)
			q, k, v := operands(tape.Use(p))
			y, _ := (&message.Attention{Q: q, K: k, V: v}).Apply(tape, g)
			return []*tensor.Dense{y.Value(), tape.Backward(weigh(y)).Param(p)}
		}
		got := run()
		for _, threads := range append(sparing.Threads(), 1) {
			undo := par.SetThreads(threads)
			compare.Arrays(t, name, run(), got, compare.SameBits)
			undo()
		}
		q, k, v := operands(grad.NewTape(1).Use(p))
		want := sum(g, messageOf(&message.Attention{Q: q, K: k, V: v}, g)).results(p.Value.Data)
		reference.Near(t, name, got, want)
		message.SetFuse(t, false)
		reference.Near(t, name+", in tiles", run(), want)
		message.SetFuse(t, true)
	}
}

func TestDenseAttentionGradients(t *testing.T) {
	for _, g := range []*graph.Graph{graph.Causal(6), graph.Batch(graph.CompleteNoLoops(3), graph.Band(5, 1))} {
		h := &heads{Q: param(1, g.NumDst(), 2, 3), K: param(2, g.NumSrc(), 2, 3), V: param(3, g.NumSrc(), 2, 2)}
		gradtest.Check(t, h, func(tp *grad.Tape) *grad.Var {
			a := &message.Attention{Q: tp.Use(h.Q), K: tp.Use(h.K), V: tp.Use(h.V), Scale: 0.7}
			y, _ := a.Apply(tp, g)
			return weigh(y)
		})
	}
}

// TestDenseAttentionExplained asks which path is taken: what is not finite is
// kept out of blocks, where it would spread.
func TestDenseAttentionExplained(t *testing.T) {
	g := graph.Causal(70)
	x := param(1, 70, 2, 4).Value
	a := &message.Attention{Q: grad.Const(x), K: grad.Const(x), V: grad.Const(x)}
	m := message.U(a.V).Mul(a.Weights(nil))
	if s := message.Explain(g, m, message.Sum); !strings.Contains(s, "on blocks") {
		t.Errorf("explained as %q", s)
	}
	odd := x.Clone()
	odd.Row(69)[0] = tensor.Float(math.NaN())
	a.V = grad.Const(odd)
	y, _ := a.Apply(nil, g)
	for v := range 69 {
		if r := y.Value().Row(v); r[0] != r[0] {
			t.Fatalf("destination %d hears the NaN of a later source", v)
		}
	}
	if r := y.Value().Row(69); r[0] == r[0] {
		t.Error("the NaN is lost")
	}
}

// TestDenseMemory attends on 4096 nodes: no array of all pairs is made.
func TestDenseMemory(t *testing.T) {
	if sparing.Raced {
		t.Skip("the detector has no say in this")
	}
	const n = 4096
	tape := grad.NewTape(1)
	x := tape.Watch(param(1, n, 1, 8).Value)
	a := &message.Attention{Q: x, K: x, V: x}
	y, _ := a.Apply(tape, graph.Complete(n))
	tape.Backward(y.Sum())
	if peak := tape.Stats().Peak; peak > 8*n*8*8 {
		t.Errorf("peak %d bytes", peak)
	}
}

func BenchmarkAttention(b *testing.B) {
	const n = 2048
	g := graph.Causal(n)
	x := param(1, n, 8, 64)
	training(b, func(t *grad.Tape) *grad.Var {
		h := t.Use(x)
		y, _ := (&message.Attention{Q: h, K: h, V: h}).Apply(t, g)
		return y
	})
}
