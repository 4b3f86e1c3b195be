package message_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/tensor"
)

// broad has operands with heads of whole registers: rows of sources, of
// destinations and of edges, numbers of edges, and one row for all.
type broad struct {
	U, X, V, E, W *grad.Param
}

func newBroad(g *graph.Graph, heads, dim int) *broad {
	return &broad{
		U: param(1, g.NumSrc(), heads, dim), X: param(2, g.NumSrc(), heads, dim), V: param(3, g.NumDst(), heads, dim),
		E: param(4, g.NumEdges(), heads, 1), W: param(5, heads, dim),
	}
}

// joined are messages of which steps are joined, and what Explain says of them.
var joined = map[string]struct {
	says []string
	make func(t *grad.Tape, m *broad) message.Msg
}{
	"gatv2": {[]string{"U+V score", "reading U where it stands", "once for both"}, func(t *grad.Tape, m *broad) message.Msg {
		u := t.Use(m.U)
		a := message.UAddV(u, t.Use(m.V)).LeakyReLU(0.2).Dot(message.W(t.Use(m.W))).Softmax()
		return message.U(u).Mul(a)
	}},
	"gatv2 with dropout, the other way round": {[]string{"U+V score", "reading U where it stands", "once for both"}, func(t *grad.Tape, m *broad) message.Msg {
		u := t.Use(m.U)
		a := message.W(t.Use(m.W)).Dot(message.V(t.Use(m.V)).Add(message.U(u)).LeakyReLU(0.2)).Softmax().Dropout(t, 0.4)
		return a.Mul(message.U(u))
	}},
	"a score without a softmax": {[]string{"U+V score", "once for both"}, func(t *grad.Tape, m *broad) message.Msg {
		u := t.Use(m.U)
		return message.UAddV(u, t.Use(m.V)).LeakyReLU(0.2).Dot(message.W(t.Use(m.W))).Mul(message.U(u))
	}},
	"the best of gatv2": {[]string{"U+V score", "once for both"}, func(t *grad.Tape, m *broad) message.Msg {
		u := t.Use(m.U)
		a := message.UAddV(u, grad.Const(m.V.Value)).LeakyReLU(0.2).Dot(message.W(t.Use(m.W)))
		return message.U(u).Mul(a.TopK(3).Softmax())
	}},
	"other rows are weighed": {[]string{"U+V score"}, func(t *grad.Tape, m *broad) message.Msg {
		a := message.UAddV(t.Use(m.U), grad.Const(m.V.Value)).LeakyReLU(0.2).Dot(message.W(t.Use(m.W))).Softmax()
		return message.U(t.Use(m.X)).Mul(a).Mul(message.E(t.Use(m.E)))
	}},
	"a weight that is trained alone": {[]string{"U+V score", "reading U where it stands"}, func(t *grad.Tape, m *broad) message.Msg {
		a := message.UAddV(grad.Const(m.U.Value), grad.Const(m.V.Value)).LeakyReLU(0.2).Dot(message.W(t.Use(m.W)))
		return message.U(grad.Const(m.X.Value)).Mul(a.Sigmoid())
	}},
	"the sum is used again": {[]string{"reading U where it stands"}, func(t *grad.Tape, m *broad) message.Msg {
		z := message.UAddV(t.Use(m.U), t.Use(m.V))
		a := z.LeakyReLU(0.2).Dot(message.W(t.Use(m.W))).Mul(z.SumLast())
		return message.U(t.Use(m.U)).Mul(a)
	}},
	"affine": {[]string{"U times + V"}, func(t *grad.Tape, m *broad) message.Msg {
		return message.U(t.Use(m.U)).Mul(message.E(t.Use(m.E))).Add(message.V(t.Use(m.V))).Tanh().Mul(message.W(t.Use(m.W)))
	}},
	"affine by a softmax": {[]string{"U times + V"}, func(t *grad.Tape, m *broad) message.Msg {
		u := message.U(t.Use(m.U))
		c := message.E(t.Use(m.E)).Softmax()
		return message.V(t.Use(m.V)).Add(c.Mul(u)).Tanh().Add(u).Mul(c.Neg())
	}},
	"affine of what is not trained": {[]string{"U times + V"}, func(t *grad.Tape, m *broad) message.Msg {
		c := message.E(t.Use(m.E)).Softmax()
		z := message.U(grad.Const(m.U.Value)).Mul(c).Add(message.V(grad.Const(m.V.Value))).Tanh()
		return z.Dot(message.W(t.Use(m.W))).Softmax().Mul(z)
	}},
}

// result is the sum, or another reduction, of a message and its gradients.
func (m *broad) result(g *graph.Graph, make func(t *grad.Tape, m *broad) message.Msg, rs ...message.Reducer) []*tensor.Dense {
	again.Restart(3)
	again.Reset()
	return withGradients(again, message.UpdateAll(g, make(again, m), rs...))
}

// truth is what the formula says of a result.
func (m *broad) truth(g *graph.Graph, make func(t *grad.Tape, m *broad) message.Msg, rs ...message.Reducer) [][]rounding.Result {
	again.Restart(3)
	again.Reset()
	f := formula{g: g, m: make(again, m), by: rs}
	return f.results(operandsOf(again.Backward(weigh(message.UpdateAll(g, f.m, rs...))))...)
}

// TestJoined compares joined steps and their parts with the formula, and the bits of joined ones
// in tiles of several sizes and on several threads.
func TestJoined(t *testing.T) {
	all := graphs()
	all["hub of 700"] = hub(700)
	for i, at := range sparing.Some(slices.Sorted(maps.Keys(all))) {
		g := all[at]
		for k, shape := range sparing.Some([][2]int{{8, 8}, {2, 16}, {1, 64}}) {
			if (i+k)%2 != 0 && g.NumEdges() < 700 && !sparing.Full() {
				continue // another small graph has this shape
			}
			m := newBroad(g, shape[0], shape[1])
			reducers := [][]message.Reducer{{message.Sum}, {message.Mean}}
			if shape[0] == 8 { // several at once are told apart by nothing of the shape
				reducers = append(reducers, []message.Reducer{message.Max, message.Sum})
			}
			for j, name := range slices.Sorted(maps.Keys(joined)) {
				x := joined[name]
				for l, rs := range reducers {
					if (i+j+k+l)%3 != 0 && !sparing.Full() {
						continue // another graph or shape has these
					}
					checkJoined(t, fmt.Sprintf("%v of %s, %v, on %s", rs, name, shape, at), func() []*tensor.Dense { return m.result(g, x.make, rs...) }, m.truth(g, x.make, rs...))
				}
			}
		}
	}
}

// checkJoined holds what f returns, in joined steps and in their parts, against its formula.
func checkJoined(t *testing.T, what string, f func() []*tensor.Dense, truth [][]rounding.Result) {
	t.Helper()
	message.SetTileBytes(t, 32<<10)
	message.SetJoin(t, false)
	reference.Near(t, what+", in parts", f(), truth)
	message.SetJoin(t, true)
	want := f()
	reference.Near(t, what, want, truth)
	for i, bytes := range []int{512, 1 << 20} {
		message.SetTileBytes(t, bytes)
		undo := par.SetThreads(2 + i)
		compare.Arrays(t, fmt.Sprintf("%s, tiles of %d bytes", what, bytes), f(), want, compare.SameBits)
		undo()
	}
	message.SetTileBytes(t, 32<<10)
	message.SetChunks(t, 1<<14, 1<<9) // what comes to the sources is added in the order of the edges
	compare.Arrays(t, what+", small windows", f(), want, compare.SameBits)
	message.SetChunks(t, 1<<14, 1<<20)
}

// TestExplainJoined checks that what is tested above is joined.
func TestExplainJoined(t *testing.T) {
	g := odd()
	for name, x := range joined {
		said := message.Explain(g, x.make(grad.NewTape(1), newBroad(g, 2, 16)), message.Sum)
		for _, says := range x.says {
			if !strings.Contains(said, says) {
				t.Errorf("%s: Explain does not say %q:\n%s", name, says, said)
			}
		}
	}
}

// TestNotJoined checks expressions whose leaves cannot be read where they stand.
func TestNotJoined(t *testing.T) {
	h := hub(100)
	x := grad.Const(param(1, h.NumNodes(), 2, 8).Value)
	w := message.W(grad.Const(param(2, 2, 8).Value))
	narrow := grad.Const(param(3, h.NumNodes(), 2, 5).Value)
	for name, said := range map[string]string{
		"narrow heads": message.Explain(h, message.UAddV(narrow, narrow).LeakyReLU(0.2).Dot(message.W(grad.Const(param(4, 2, 5).Value)))),
		"no LeakyReLU": message.Explain(h, message.UAddV(x, x).Tanh().Dot(w)),
	} {
		if strings.Contains(said, "score") {
			t.Errorf("%s: joined:\n%s", name, said)
		}
	}
}
