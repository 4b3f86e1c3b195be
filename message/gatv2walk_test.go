package message_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// attentive is attention by GATv2 of eight heads of eight, with a bias or without.
func attentive(g *graph.Graph, m *broad, bias *grad.Param) func() []*tensor.Dense {
	return func() []*tensor.Dense {
		t := grad.NewTape(3)
		msg := joined["gatv2"].make(t, m)
		var y *grad.Var
		if bias != nil {
			y = withBias(g, msg, t.Use(bias))
		} else {
			y = message.UpdateAll(g, msg, message.Sum)
		}
		out := []*tensor.Dense{y.Value()}
		for _, d := range t.Backward(weigh(y)) {
			out = append(out, d.Value)
		}
		return out
	}
}

// truthOf is what the formula says of what attentive returns.
func truthOf(g *graph.Graph, m *broad, bias *grad.Param) [][]rounding.Result {
	f, of := sum(g, joined["gatv2"].make(grad.NewTape(3), m)), arrays(m.U, m.V, m.W)
	if bias != nil {
		f.then, of = biasedBy(bias.Value.Data), append(of, bias.Value.Data)
	}
	return f.results(of...)
}

// TestScored holds attention in one walk, and in tiles, against its formula where there are more edges
// than the walk takes, and scores that it does not.
func TestScored(t *testing.T) {
	for _, edges := range sparing.Some([]int{2500, 300}) {
		g := hub(edges)
		for _, by := range sparing.Some([]float64{1, 12, 25}) { // times which the scores of some destinations are
			for _, bias := range []*grad.Param{nil, param(9, 64)} {
				m := newBroad(g, 8, 8)
				for v := 0; v < g.NumDst(); v += 7 {
					for j := range 64 {
						m.V.Value.Data[v*64+j] *= tensor.Float(by)
					}
				}
				what := fmt.Sprintf("hub of %d, scores %g times, bias %v", edges, by, bias != nil)
				truth := truthOf(g, m, bias)
				checkJoined(t, what, attentive(g, m, bias), truth)
				if cpu.Path() == "avx512" {
					undo := cpu.Narrow()
					checkJoined(t, what+", by AVX2", attentive(g, m, bias), truth)
					undo()
				}
			}
		}
	}
}

// What is not a number, or infinite, stays so in its destination and nowhere else.
func TestScoredOdd(t *testing.T) {
	g := hub(300)
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		m := newBroad(g, 8, 8)
		m.V.Value.Data[5*64+3] = tensor.Float(odd)
		m.V.Value.Data[7*64+9] = tensor.Float(odd)
		message.SetJoin(t, true)
		got := attentive(g, m, nil)()[0].Data
		message.SetJoin(t, false)
		want := attentive(g, m, nil)()[0].Data
		compare.Near(t, fmt.Sprintf("%v in a row, and in tiles", odd), got, want, compare.Off(1e-4, 0).OrNaN())
	}
}

// TestScoredIs says which expressions go in one walk.
func TestScoredIs(t *testing.T) {
	g := odd()
	says := func(heads, dim int, slope float64) bool {
		tape, m := grad.NewTape(1), newBroad(g, heads, dim)
		u := tape.Use(m.U)
		msg := message.U(u).Mul(message.UAddV(u, tape.Use(m.V)).LeakyReLU(slope).Dot(message.W(tape.Use(m.W))).Softmax())
		return strings.Contains(message.Explain(g, msg, message.Sum), "in one walk")
	}
	for _, c := range []struct {
		heads, dim int
		slope      float64
		want       bool
	}{{8, 8, 0.2, true}, {8, 8, 0, true}, {8, 8, 1.5, false}, {8, 8, -0.1, false}, {8, 16, 0.2, false}, {4, 8, 0.2, false}} {
		if got := says(c.heads, c.dim, c.slope); got != c.want {
			t.Errorf("%d heads of %d, slope %g: in one walk is %v", c.heads, c.dim, c.slope, got)
		}
	}
}

// Where a destination has one edge its weight is 1, and its score moves nothing: not
// even by rounding, which an optimiser such as Adam would make large.
func TestScoredOne(t *testing.T) {
	g := graph.Chains(30, 1, 2)
	for _, joins := range []bool{true, false} {
		for _, trained := range []bool{true, false} {
			message.SetJoin(t, joins)
			m := newBroad(g, 8, 8)
			m.U.Frozen = !trained
			tape := grad.NewTape(3)
			u := tape.Use(m.U)
			msg := message.U(u).Mul(message.UAddV(u, tape.Use(m.V)).LeakyReLU(0.2).Dot(message.W(tape.Use(m.W))).Softmax())
			for _, d := range tape.Backward(weigh(message.UpdateAll(g, msg, message.Sum))) {
				if d.Param == m.U {
					continue
				}
				for k, v := range d.Value.Data {
					if v != 0 {
						t.Fatalf("joined %v, U trained %v: a gradient at %d is %g, want 0", joins, trained, k, v)
					}
				}
			}
		}
	}
}

// TestScoredZero has destinations whose largest score is 0 in all heads, as if the walk
// had done them, beside scores that it does not take.
func TestScoredZero(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{0, 1, 1, 0, 2}, []int32{0, 0, 2, 2, 2}))
	for _, far := range []tensor.Float{15, 1e6, 1e14} {
		m := newBroad(g, 8, 8)
		clear(m.V.Value.Data)
		clear(m.U.Value.Data[:64])
		for j := range 64 {
			m.U.Value.Data[64+j], m.W.Value.Data[j] = far, -1
		}
		truth := truthOf(g, m, nil)
		checkJoined(t, fmt.Sprintf("scores 0 and %g", -8*far), attentive(g, m, nil), truth)
		undo := cpu.Narrow()
		checkJoined(t, fmt.Sprintf("scores 0 and %g, by AVX2", -8*far), attentive(g, m, nil), truth)
		undo()
	}
}
