package message_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestSparsemaxEnds has rows whose weights are known: ties, infinities, NaN, one that
// takes all.
func TestSparsemaxEnds(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ logit, weight []float64 }{
		{[]float64{-inf, -inf, -inf}, []float64{0, 0, 0}},
		{[]float64{inf, 3, inf}, []float64{0.5, 0, 0.5}},
		{[]float64{inf, inf, -inf}, []float64{0.5, 0.5, 0}},
		{[]float64{1, nan, 2}, []float64{nan, nan, nan}},
		{[]float64{nan, nan, nan}, []float64{nan, nan, nan}},
		{[]float64{-inf, 4, -inf}, []float64{0, 1, 0}},
		{[]float64{-3e38, 3e38, 0}, []float64{0, 1, 0}},
		{[]float64{7, 6, 6}, []float64{1, 0, 0}}, // just far enough
		{[]float64{7, 6.5, 2}, []float64{0.75, 0.25, 0}},
		{[]float64{1e6, 1e6, 1e6 - 0.25}, []float64{0.4166666666, 0.4166666666, 0.1666666666}},
		{[]float64{5, 5, -5}, []float64{0.5, 0.5, 0}},
		{[]float64{7, 6.5, 6.25}, []float64{0.75, 0.25, 0}}, // the last is at τ itself: it gets nothing, and does not count
		{[]float64{6.5, 6.5, 7, 6.5}, []float64{0.125, 0.125, 0.625, 0.125}},
		{[]float64{6.5, 7, 6.5, 7}, []float64{0, 0.5, 0, 0.5}}, // as here
	} {
		everyWay(t, func(t *testing.T) {
			g := star(16) // more edges than a part
			far, soft := make([]float64, 16), make([]float64, 16)
			for i := range far {
				far[i] = -inf
				if c.weight[0] != c.weight[0] {
					soft[i] = nan
				}
			}
			copy(far, c.logit)
			copy(soft, c.weight)
			tape := grad.NewTape(1)
			x := tape.Watch(dense(far, 16, 1))
			y := message.ApplyEdges(g, message.E(x).Sparsemax())
			for i, got := range y.Value().Data {
				if d := math.Abs(float64(got) - soft[i]); d > 1e-7 || (got != got) != (soft[i] != soft[i]) {
					t.Errorf("%v: weight %d is %v, want %v", c.logit, i, got, soft[i])
				}
			}
			mean, support := 0.0, 0.0 // of 2·y where there is a weight
			for _, w := range soft {
				if w > 0 {
					mean, support = mean+2*w, support+1
				}
			}
			for i, d := range tape.Backward(y.Mul(y).Sum())[0].Value.Data {
				if want := 2*soft[i] - mean/support; soft[i] > 0 && !(math.Abs(float64(d)-want) < 1e-6) {
					t.Errorf("%v: gradient %d is %v, want %v", c.logit, i, d, want)
				}
				if (d != d) != (soft[i] != soft[i]) || soft[i] == 0 && d != 0 {
					t.Errorf("%v: gradient %d is %v", c.logit, i, d)
				}
			}
		})
	}
}

// TestSparsemaxHubs compares destinations of up to 2,049 edges with loops: the weights
// with the τ that halving finds, the gradient with dy − its mean where there is a weight.
func TestSparsemaxHubs(t *testing.T) {
	const heads = 3
	g := manyHubs(1, 10, 300, 1025, 2049)
	x, dy := param(1, g.NumEdges(), heads), param(2, g.NumEdges(), heads).Value
	off := g.In().Offsets
	weight, slope := make([]float64, len(dy.Data)), make([]float64, len(dy.Data))
	for v := range g.NumDst() {
		for h := range heads {
			column := make([]float64, 0, 2049)
			for e := off[v]; e < off[v+1]; e++ {
				column = append(column, float64(x.Value.Row(int(e))[h]))
			}
			if len(column) == 0 {
				continue
			}
			w := simplex(column)
			mean, n := 0.0, 0.0
			for i, p := range w {
				if p > 0 {
					mean, n = mean+float64(dy.Row(int(off[v]) + i)[h]), n+1
				}
			}
			for i, p := range w {
				at := (int(off[v])+i)*heads + h
				if weight[at] = p; p > 0 {
					slope[at] = float64(dy.Data[at]) - mean/n
				}
			}
		}
	}
	var bits []*tensor.Dense
	for _, tile := range []int{48 << 10, 512, 8} {
		message.SetTileBytes(t, tile)
		for _, threads := range append(sparing.Threads(), 1) {
			undo := par.SetThreads(threads)
			tape := grad.NewTape(1)
			y := message.ApplyEdges(g, message.E(tape.Use(x)).Sparsemax())
			got := []*tensor.Dense{y.Value(), tape.Backward(y.Mul(grad.Const(dy)).Sum()).Param(x)}
			undo()
			what := fmt.Sprintf("in tiles of %d bytes on %d threads", tile, threads)
			compare.Near(t, what+": weights", got[0].Data, weight, compare.Off(1e-6, 0))
			compare.Near(t, what+": gradients", got[1].Data, slope, compare.Off(1e-5, 0))
			if bits == nil {
				bits = got
			}
			for i := range got {
				if i == 0 && !slices.Equal(got[i].Data, bits[i].Data) {
					t.Errorf("%s: other weights", what)
				}
			}
			if tile == 48<<10 {
				compare.Arrays(t, what, got, bits, compare.SameBits)
			}
		}
	}
}

// simplex is the sparsemax of x by halving.
func simplex(x []float64) []float64 {
	lo, hi := slices.Max(x)-1, slices.Max(x)
	y := make([]float64, len(x))
	for range 60 {
		tau, sum := (lo+hi)/2, 0.0
		for i, v := range x {
			y[i] = max(v-tau, 0)
			sum += y[i]
		}
		if sum > 1 {
			lo = tau
		} else {
			hi = tau
		}
	}
	return y
}

// A destination without edges, and a graph without any, have no weights.
func TestSparsemaxOfNothing(t *testing.T) {
	for _, g := range []*graph.Graph{graph.Must(graph.New(3, nil, nil)), graph.Must(graph.New(0, nil, nil)), star(1)} {
		x := grad.Const(tensor.New(g.NumEdges(), 2))
		y := message.UpdateAll(g, message.E(x).Sparsemax(), message.Sum).Value()
		for i, v := range y.Data {
			if one := i < 2*g.NumEdges(); one && v != 1 || !one && v != 0 {
				t.Errorf("%d edges: element %d is %v", g.NumEdges(), i, v)
			}
		}
	}
}
