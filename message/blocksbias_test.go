package message_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// distances returns, for each edge of a graph, how far its ends are apart, and how
// many kinds that are.
func distances(g *graph.Graph) (kinds []int32, n int) {
	n = 1
	for e, u := range g.In().Cols {
		d := u - g.Destinations()[e]
		kinds = append(kinds, max(d, -d)%7)
		n = max(n, int(kinds[e])+1)
	}
	return kinds, n
}

// biases returns a bias of every form for two heads on g, and the Param in it.
func biases(g *graph.Graph) map[string]func(t *grad.Tape, p *grad.Param) message.Msg {
	kinds, _ := distances(g)
	edges := func(t *grad.Tape, p *grad.Param) message.Msg { return message.E(t.Use(p)) }
	table := func(t *grad.Tape, p *grad.Param) message.Msg { return message.W(t.Use(p)).Pick(kinds) }
	return map[string]func(t *grad.Tape, p *grad.Param) message.Msg{
		"none":              func(*grad.Tape, *grad.Param) message.Msg { return message.Msg{} },
		"an edge and head":  edges,
		"an edge":           edges,
		"a kind and head":   table,
		"a kind":            table,
		"a kind, flat rows": table,
	}
}

// biasParam returns the Param for a form of bias.
func biasParam(g *graph.Graph, form string) *grad.Param {
	_, n := distances(g)
	switch form {
	case "an edge and head":
		return param(4, g.NumEdges(), 2, 1)
	case "an edge":
		return param(4, g.NumEdges(), 1, 1)
	case "a kind and head":
		return param(4, n, 2, 1)
	case "a kind":
		return param(4, n, 1)
	}
	return param(4, n)
}

// biased is a dropped-out attention with a bias on g, and what its weights are.
type biased struct {
	*heads
	bias func(t *grad.Tape, p *grad.Param) message.Msg
	drop float64
}

func (b *biased) apply(t *grad.Tape, g *graph.Graph) (y *grad.Var, w message.Msg) {
	a := &message.Attention{Q: t.Use(b.Q), K: t.Use(b.K), V: t.Use(b.V), Drop: b.drop, Bias: b.bias(t, b.Bias)}
	return a.Apply(t, g)
}

// run returns the result and all gradients.
func (b *biased) run(g *graph.Graph) []*tensor.Dense {
	again.Restart(7)
	again.Reset()
	y, _ := b.apply(again, g)
	return withGradients(again, y)
}

// truth is what the formula says of what run returns.
func (b *biased) truth(g *graph.Graph) [][]rounding.Result {
	again.Restart(7)
	again.Reset()
	y, w := b.apply(again, g)
	return sum(g, message.U(again.Use(b.V)).Mul(w)).results(operandsOf(again.Backward(weigh(y)))...)
}

// TestDenseBias attends on blocks with every form of bias, with and without
// dropout: as in tiles, with the same bits on any number of threads, and with
// the weights that the Msg has.
func TestDenseBias(t *testing.T) {
	places := blocksOf()
	for i, name := range slices.Sorted(maps.Keys(places)) {
		g := places[name]
		all := biases(g)
		for j, form := range sparing.Some(slices.Sorted(maps.Keys(all))) {
			bias := all[form]
			for k, drop := range sparing.Some([]float64{0.4, 0}) {
				if (i+j+k)%2 != 0 && !sparing.Full() {
					continue // another graph has these
				}
				h := &heads{Q: param(1, g.NumDst(), 2, 9), K: param(2, g.NumSrc(), 2, 9), V: param(3, g.NumSrc(), 2, 5), Bias: biasParam(g, form)}
				b := &biased{h, bias, drop}
				again.Restart(7)
				again.Reset()
				_, w := b.apply(again, g)
				value := again.Use(h.V)
				if s := message.Explain(g, message.U(value).Mul(w), message.Sum); !strings.Contains(s, "on blocks") {
					t.Fatalf("%s, %s: explained as %q", name, form, s)
				}
				weighted := message.UpdateAll(g, message.U(value).Mul(message.E(message.ApplyEdges(g, w))), message.Sum).Value().Clone()
				got := b.run(g)
				for _, threads := range append(sparing.Threads(), 1) {
					undo := par.SetThreads(threads)
					compare.Arrays(t, name+", "+form, b.run(g), got, compare.SameBits)
					undo()
				}
				if g.NumEdges() > 2500 && j != i%len(all) {
					continue // the formula is dear
				}
				want := b.truth(g)
				reference.Near(t, name+", "+form, got, want)
				reference.Near(t, name+", "+form+", weights", []*tensor.Dense{weighted}, want[:1])
				message.SetFuse(t, false)
				reference.Near(t, name+", "+form+", in tiles", b.run(g), want)
				message.SetFuse(t, true)
			}
		}
	}
}

func TestDenseBiasGradients(t *testing.T) {
	for _, g := range []*graph.Graph{graph.Causal(6), graph.Batch(graph.CompleteNoLoops(3), graph.Band(5, 1))} {
		for form, bias := range biases(g) {
			h := &heads{Q: param(1, g.NumDst(), 2, 3), K: param(2, g.NumSrc(), 2, 3), V: param(3, g.NumSrc(), 2, 2), Bias: biasParam(g, form)}
			var trained any = h
			if form == "none" {
				trained = []*grad.Param{h.Q, h.K, h.V}
			}
			gradtest.Check(t, trained, func(tp *grad.Tape) *grad.Var {
				y, _ := (&biased{h, bias, 0.3}).apply(tp, g)
				return weigh(y)
			})
		}
	}
}

// A bias of −∞ is no edge, as in tiles; of one that is NaN or +∞ only its own
// destination hears.
func TestDenseBiasNotFinite(t *testing.T) {
	g := graph.Causal(70)
	for _, odd := range []float64{math.Inf(-1), math.Inf(1), math.NaN()} {
		h := newHeads(g)
		off := g.In().Offsets
		for e := off[3]; e < off[4]; e++ { // all of destination 3
			h.Bias.Value.Row(int(e))[0] = tensor.Float(odd)
		}
		h.Bias.Value.Row(int(off[60]))[1] = tensor.Float(odd)
		b := &biased{h, biases(g)["an edge and head"], 0}
		y, _ := b.apply(nil, g)
		message.SetFuse(t, false)
		want, _ := b.apply(nil, g)
		message.SetFuse(t, true)
		for v := range 70 {
			row, like := y.Value().Row(v), want.Value().Row(v)
			if v != 3 && v != 60 && slices.ContainsFunc(row, func(x tensor.Float) bool { return x-x != 0 }) {
				t.Fatalf("%v: destination %d is %v", odd, v, row)
			}
			for j := range row {
				if d := row[j] - like[j]; d > 1e-5 || d < -1e-5 || (row[j] != row[j]) != (like[j] != like[j]) {
					t.Fatalf("%v: destination %d is %v, want %v", odd, v, row, like)
				}
			}
		}
	}
}

// Kinds that a table has not, or that are too few, are an error on blocks too.
func TestDenseBiasOfWrongShape(t *testing.T) {
	g := graph.Complete(4)
	x := grad.Const(param(1, 4, 2, 3).Value)
	for name, bias := range map[string]message.Msg{
		"few kinds": message.W(grad.Const(param(2, 3, 2, 1).Value)).Pick(make([]int32, 3)),
		"no kind 3": message.W(grad.Const(param(2, 3, 2, 1).Value)).Pick(slices.Repeat([]int32{3}, 16)),
		"few rows":  message.E(grad.Const(param(2, 15, 2, 1).Value)),
		"heads":     message.E(grad.Const(param(2, 16, 3, 1).Value)),
	} {
		if err := tensor.Try(func() { (&message.Attention{Q: x, K: x, V: x, Bias: bias}).Apply(nil, g) }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A table of biases for two axes of heads has four: a row of it, which is picked, has
// three, as a message may have. It means the same on blocks and on edges that are listed.
func TestTableOfTwoHeadAxes(t *testing.T) {
	g := graph.Complete(6)
	kinds, n := distances(g)
	q, k, v, table := param(1, 6, 2, 3, 4), param(2, 6, 2, 3, 4), param(3, 6, 2, 3, 5), param(4, n, 2, 3, 1)
	attend := func(tape *grad.Tape) message.Msg {
		score := message.UDotV(tape.Use(k), tape.Use(q)).Add(message.W(tape.Use(table)).Pick(kinds))
		return message.U(tape.Use(v)).Mul(score.Softmax())
	}
	run := func() []*tensor.Dense {
		tape := grad.NewTape(1)
		y := message.UpdateAll(g, attend(tape), message.Sum)
		out := []*tensor.Dense{y.Value()}
		for _, d := range tape.Backward(weigh(y)) {
			out = append(out, d.Value)
		}
		return out
	}
	want := sum(g, attend(grad.NewTape(1))).results(arrays(k, q, table, v)...)
	reference.Near(t, "two axes of heads, on blocks", run(), want)
	message.SetFuse(t, false)
	reference.Near(t, "two axes of heads", run(), want)
	whole := message.W(grad.Const(tensor.New(2, 2, 3, 1)))
	for what, m := range map[string]message.Msg{"alone": whole, "in a sum": whole.Pick(kinds).Add(whole)} {
		if err := tensor.Try(func() { message.ApplyEdges(g, m) }); err == nil {
			t.Errorf("an array of four axes %s is taken for a message", what)
		}
	}
}
