package message_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// placed are graphs of blocks, of lists, views, blocks of layers, and batches of these.
func placed() map[string]*graph.Graph {
	all := blocksOf()
	all["causal band"] = graph.CausalBand(131, 20)
	all["batch of bands"] = graph.Batch(graph.CausalBand(65, 70), graph.CompleteBipartite(4, 6), graph.CausalBand(3, 1))
	all["a view"] = graph.Must(graph.Dst(graph.Causal(20), []int32{19, 3, 7, 8}))
	all["a view of sides"] = graph.Must(graph.Dst(graph.Batch(graph.CompleteBipartite(3, 4), graph.CompleteBipartite(9, 5)), []int32{8, 2, 4}))
	all["a block"] = graph.Must(graph.Block(graph.Band(30, 4), []int32{22, 3, 4}))
	all["chains"] = graph.ShiftedChains([]int{4, 1, 9}, 0, 3, -2)
	all["a hub"] = star(1100)
	all["random"] = random.PowerLaw(rand.New(rand.NewPCG(3, 3)), 40, 500, 0.75)
	return all
}

// picking are messages that pick from every kind of leaf, and from what is computed.
func picking(pick func(m message.Msg) message.Msg) map[string]func(x []*grad.Var) message.Msg {
	return map[string]func(x []*grad.Var) message.Msg{
		"U": func(x []*grad.Var) message.Msg { return pick(message.U(x[0])) },
		"V": func(x []*grad.Var) message.Msg { return pick(message.V(x[1])).Mul(message.U(x[4])) },
		"E": func(x []*grad.Var) message.Msg { return pick(message.E(x[2])) },
		"W": func(x []*grad.Var) message.Msg { return pick(message.W(x[3])).Mul(message.U(x[4])) },
		"computed": func(x []*grad.Var) message.Msg {
			return pick(message.U(x[0]).Add(message.V(x[1])).Tanh()).Softmax().Mul(message.U(x[4]))
		},
	}
}

// TestPickOffset finds the bits of Pick by a list of offsets, in results and gradients.
func TestPickOffset(t *testing.T) {
	const lo, hi = -2, 3
	rows := func(n int) int { return max(n, 1) }
	places := placed()
	for i, name := range slices.Sorted(maps.Keys(places)) {
		g := places[name]
		if g.NumEdges() > 3000 {
			continue // TestDenseOffsets has them
		}
		kinds := graph.WithOffsets(g, lo, hi).Kinds()
		var ps []*grad.Param
		for i, n := range []int{g.NumSrc(), g.NumDst(), g.NumEdges()} {
			ps = append(ps, param(uint64(i+1), rows(n), hi-lo+1, 2))
		}
		ps = append(ps, param(4, hi-lo+1, 2), param(5, rows(g.NumSrc()), 2))
		run := func(f func(x []*grad.Var) message.Msg) []*tensor.Dense {
			tape := grad.NewTape(1)
			var x []*grad.Var
			for i, n := range []int{g.NumSrc(), g.NumDst(), g.NumEdges(), hi - lo + 1, g.NumSrc()} {
				x = append(x, tape.Use(ps[i]).RowRange(0, n))
			}
			m := f(x)
			y := message.UpdateAll(g, m, message.Sum)
			out := []*tensor.Dense{y.Value(), message.ApplyEdges(g, m).Value()}
			for _, d := range tape.Backward(weigh(y)) {
				out = append(out, d.Value)
			}
			return out
		}
		listed := picking(func(m message.Msg) message.Msg { return m.Pick(kinds) })
		by := picking(func(m message.Msg) message.Msg { return m.PickOffset(lo, hi) })
		for j, leaf := range slices.Sorted(maps.Keys(by)) {
			f := by[leaf]
			for k, bytes := range []int{48 << 10, 8} {
				if (i+j+k)%2 != 0 && !sparing.Full() {
					continue // another graph has these
				}
				message.SetTileBytes(t, bytes)
				want := run(listed[leaf])
				for _, threads := range []int{1, 3} {
					undo := par.SetThreads(threads)
					compare.Arrays(t, fmt.Sprint(name, ", ", leaf, ", ", bytes, ", ", threads), run(f), want, compare.SameBits)
					undo()
				}
			}
		}
	}
}

// Attention on blocks takes a table of offsets as one of kinds: in results and gradients
// to the bit, as in tiles.
func TestDenseOffsets(t *testing.T) {
	const lo, hi = -3, 5
	places := placed()
	for i, name := range slices.Sorted(maps.Keys(places)) {
		g := places[name]
		if g.Spans() == nil {
			continue
		}
		kinds := graph.WithOffsets(g, lo, hi).Kinds()
		for j, shape := range [][]int{{hi - lo + 1, 2, 1}, {hi - lo + 1, 1}, {hi - lo + 1}} {
			if i%3 != j && !sparing.Full() {
				continue // another graph has it
			}
			h := &heads{Q: param(1, g.NumDst(), 2, 9), K: param(2, g.NumSrc(), 2, 9), V: param(3, g.NumSrc(), 2, 5), Bias: param(4, shape...)}
			by := func(pick func(message.Msg) message.Msg) *biased {
				return &biased{h, func(t *grad.Tape, p *grad.Param) message.Msg { return pick(message.W(t.Use(p))) }, 0.3}
			}
			offsets := by(func(m message.Msg) message.Msg { return m.PickOffset(lo, hi) })
			listed := by(func(m message.Msg) message.Msg { return m.Pick(kinds) })
			tape := grad.NewTape(7)
			_, w := offsets.apply(tape, g)
			if s := message.Explain(g, message.U(tape.Use(h.V)).Mul(w), message.Sum); !strings.Contains(s, "on blocks") {
				t.Fatalf("%s: explained as %q", name, s)
			}
			got := offsets.run(g)
			compare.Arrays(t, name, got, listed.run(g), compare.SameBits)
			for _, threads := range []int{1, 3} {
				undo := par.SetThreads(threads)
				compare.Arrays(t, name, offsets.run(g), got, compare.SameBits)
				undo()
			}
			want := offsets.truth(g)
			reference.Near(t, name, got, want)
			message.SetFuse(t, false)
			reference.Near(t, name+", in tiles", offsets.run(g), want)
			message.SetFuse(t, true)
		}
	}
}

// TestRelativePositions compares attention under a causal band, with biases by distance,
// with loops, and checks its gradients.
func TestRelativePositions(t *testing.T) {
	const n, w, far = 7, 4, 2
	g := graph.Batch(graph.CausalBand(n, w), graph.CausalBand(2, w))
	h := &heads{Q: param(1, n+2, 1, 3), K: param(2, n+2, 1, 3), V: param(3, n+2, 1, 2), Bias: param(4, far+1, 1)}
	run := func(tp *grad.Tape) *grad.Var {
		a := message.Attention{Q: tp.Use(h.Q), K: tp.Use(h.K), V: tp.Use(h.V), Scale: 1, Bias: message.W(tp.Use(h.Bias)).PickOffset(0, far)}
		y, _ := a.Apply(tp, g)
		return y
	}
	want := tensor.New(n+2, 1, 2)
	for j := range n + 2 {
		first := max(j-w, 0)
		if j >= n {
			first = n
		}
		var logit []float64
		for i := first; i <= j; i++ {
			z := float64(h.Bias.Value.Data[min(j-i, far)])
			for d := range 3 {
				z += float64(h.Q.Value.Row(j)[d]) * float64(h.K.Value.Row(i)[d])
			}
			logit = append(logit, z)
		}
		for k, p := range softmax(logit) {
			for d := range 2 {
				want.Row(j)[d] += tensor.Float(p * float64(h.V.Value.Row(first + k)[d]))
			}
		}
	}
	compare.Arrays(t, "a causal band", []*tensor.Dense{run(nil).Value()}, []*tensor.Dense{want}, rounded)
	gradtest.Check(t, h, func(tp *grad.Tape) *grad.Var { return weigh(run(tp)) })
}

// TestCausalConvolution compares a dilated causal convolution of ragged sequences with
// loops, and checks its gradients.
func TestCausalConvolution(t *testing.T) {
	type layer struct{ X, W *grad.Param }
	lengths, taps, dilation := []int{5, 1, 8}, 3, 2
	l := &layer{param(1, 14, 2), param(2, 2, taps*3)}
	g := graph.ShiftedChains(lengths, 0, dilation, 2*dilation)
	run := func(tp *grad.Tape) *grad.Var {
		xw := tp.Use(l.X).MatMul(tp.Use(l.W)).Reshape(-1, taps, 3)
		return message.UpdateAll(g, message.U(xw).Pick(g.Kinds()), message.Sum)
	}
	want, at := tensor.New(14, 3), 0
	for _, n := range lengths {
		for v := range n {
			for k := range taps {
				for c := 0; c < 2 && v-k*dilation >= 0; c++ {
					for o := range 3 {
						want.Row(at + v)[o] += l.X.Value.Row(at + v - k*dilation)[c] * l.W.Value.Row(c)[k*3+o]
					}
				}
			}
		}
		at += n
	}
	compare.Arrays(t, "taps", []*tensor.Dense{run(nil).Value()}, []*tensor.Dense{want}, rounded)
	gradtest.Check(t, l, func(tp *grad.Tape) *grad.Var { return weigh(run(tp)) })
}

// Nothing of an edge is kept: neither the two million edges nor their offsets.
func TestOffsetsAreNotListed(t *testing.T) {
	defer par.SetThreads(1)() // each has scratch of its own
	const n = 2000
	g := graph.Causal(n)
	tape := grad.NewTape(1)
	x, table := tape.Watch(param(1, n, 1, 2).Value), tape.Watch(param(2, 9, 1).Value)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a := message.Attention{Q: x, K: x, V: x, Bias: message.W(table).PickOffset(0, 8)}
	y, _ := a.Apply(tape, g)
	tape.Backward(y.Sum())
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 2*uint64(g.NumEdges()) { // a list has four bytes an edge or more
		t.Errorf("%d bytes were allocated for %d edges", got, g.NumEdges())
	}
}

func TestPickOffsetMisuse(t *testing.T) {
	g := graph.Band(4, 1)
	table := grad.Const(tensor.New(3, 2))
	for what, f := range map[string]func(){
		"wants 4 rows":                 func() { message.ApplyEdges(g, message.W(table).PickOffset(-1, 2)) },
		"from the first to the second": func() { message.W(table).PickOffset(1, -1) },
		"2³⁰":                          func() { message.W(table).PickOffset(0, math.MaxInt) },
	} {
		var shape *tensor.ShapeError
		if err := tensor.Try(f); !errors.As(err, &shape) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if s := message.Explain(g, message.W(table).PickOffset(-1, 1)); !strings.Contains(s, "by offset from -1 to 1") {
		t.Errorf("explained as %q", s)
	}
	rows := message.W(grad.Const(tensor.Of([]tensor.Float{1, 2, 4}, 3, 1)))
	both := rows.PickOffset(-1, 1).Scale(10).Add(rows.PickOffset(0, 2))
	compare.Equal(t, "two picks", message.ApplyEdges(graph.Band(2, 1), both).Value().Data, []tensor.Float{21, 11, 42, 21})
}

// In a level of a Sweep an edge has the offset that it has in the swept graph, though its
// sources are rows of the state; and the state before a root lies one back.
func TestPickOffsetInSweep(t *testing.T) {
	dag := graph.Must(graph.New(6, []int32{5, 5, 2, 2, 0, 4}, []int32{2, 0, 0, 4, 1, 1}))
	for _, g := range []*graph.Graph{dag, graph.Chains(3, 1, 2), graph.Reverse(graph.Chains(4))} {
		table := message.W(grad.Const(tensor.Of([]tensor.Float{1, 2, 4, 8, 16, 32, 64, 128, 256}, 9, 1))).PickOffset(-4, 4)
		all := message.ApplyEdges(g, table)
		message.Sweep(g, message.State{column(1)}, func(l *message.Level, prev message.State) message.State {
			got := message.ApplyEdges(l.In, table).Value().Data
			expected := slices.Repeat([]tensor.Float{32}, l.In.NumEdges())
			if l.N > 0 {
				expected = l.Edges(all).Value().Data
			}
			if !slices.Equal(got, expected) {
				t.Errorf("%v, level %d: picked %v, of the whole graph %v", g, l.N, got, expected)
			}
			return message.State{message.UpdateAll(l.In, message.U(prev[0]), message.Sum)}
		})
	}
}
