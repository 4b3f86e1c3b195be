package fused_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The pieces of a row are its edges in order, each once, at most so many at a time; and
// again, after Again.
func TestLongRowPieces(t *testing.T) {
	for _, c := range []struct {
		lo, hi int64
		want   []int64 // where pieces begin, and the end
	}{{5, 5, nil}, {5, 6, []int64{5, 6}}, {5, 15, []int64{5, 15}}, {5, 16, []int64{5, 15, 16}}, {0, 30, []int64{0, 10, 20, 30}}} {
		var r fused.LongRow
		r.Begin(c.lo, c.hi, 10)
		for range 2 {
			var got []int64
			for r.Next() {
				if len(got) == 0 {
					got = []int64{r.Edges[0]}
				}
				got = append(got, r.Edges[1])
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("edges %d to %d are cut at %v, want %v", c.lo, c.hi, got, c.want)
			}
			if r.Next() {
				t.Error("there is a piece after the last")
			}
			r.Again()
		}
	}
}

// longRow is logits and rows of edges for two heads of three elements.
type longRow struct{ logits, x *tensor.Dense }

// softmax returns the sum of the weights of some edges and a head, and their mean row;
// weights are below the given top.
func (l *longRow) softmax(lo, hi int64, h int, top float64) (sum float64, mean [3]float64) {
	for e := lo; e < hi; e++ {
		w := math.Exp(float64(l.logits.Row(int(e))[h]) - top)
		sum += w
		for j := range mean {
			mean[j] += w * float64(l.x.Row(int(e))[3*h+j])
		}
	}
	for j := range mean {
		mean[j] /= sum
	}
	return sum, mean
}

// All ways to join make of the pieces what the whole row is.
func TestLongRowJoins(t *testing.T) {
	const n = 57
	rng := rand.New(rand.NewPCG(1, 2))
	l := &longRow{normal(rng, n, 2), normal(rng, n, 6)}
	var mean, tops fused.LongRow
	for _, most := range []int{1, 10, n} {
		for mean.Begin(0, n, most); mean.Next(); {
			y, sum := make([]float, 6), make([]float, 2)
			for h := range 2 {
				s, m := l.softmax(mean.Edges[0], mean.Edges[1], h, 0)
				sum[h] = float(s)
				for j, v := range m {
					y[3*h+j] = float(v)
				}
			}
			mean.AddMean(y, sum)
		}
		for tops.Begin(0, n, most); tops.Next(); {
			top, sum := l.top(tops.Edges)
			tops.AddTop(top, sum)
		}
		var soft fused.LongRow
		for soft.Begin(0, n, most); soft.Next(); {
			y, sum, top := make([]float, 6), make([]float, 2), make([]float, 2)
			for h := range 2 {
				top[h] = float(h) - 1 + l.logits.Row(int(soft.Edges[0]))[h] // of each piece another, and none the largest
				s, m := l.softmax(soft.Edges[0], soft.Edges[1], h, float64(top[h]))
				sum[h] = float(s)
				for j, v := range m {
					y[3*h+j] = float(v)
				}
			}
			soft.AddSoftmax(y, top, sum)
		}
		bias := normal(rng, 6)
		got, same := mean.Mean(2, 3, bias.Data), soft.Mean(2, 3, bias.Data)
		for h := range 2 {
			sum, m := l.softmax(0, n, h, 0)
			for j, v := range m {
				m[j] = v + float64(bias.Data[3*h+j])
			}
			compare.Near(t, "mean", tensor.Of(got[3*h:3*h+3], 3).Data, m[:], rounded)
			compare.Near(t, "mean of softmaxes", tensor.Of(same[3*h:3*h+3], 3).Data, m[:], rounded)
			compare.Near(t, "sum of means", tensor.Of(mean.Sum[h:h+1], 1).Data, []float64{sum}, rounded)
			under := sum / math.Exp(float64(tops.Top[h]))
			compare.Near(t, "sum under the top", tensor.Of(tops.Sum[h:h+1], 1).Data, []float64{under}, rounded)
		}
		total := make([]float64, 2)
		for tops.Again(); tops.Next(); {
			top, sum := l.top(tops.Edges)
			for h := range total {
				total[h] += float64(sum[h] * tops.Factor(h, top[h]))
			}
		}
		compare.Near(t, "all weights", tensor.Of([]float{float(total[0]), float(total[1])}, 2).Data, []float64{1, 1}, rounded)
	}
}

// top returns the largest logits of a piece and the sums of weights below these.
func (l *longRow) top(edges [2]int64) (top, sum []float) {
	top, sum = make([]float, 2), make([]float, 2)
	for h := range top {
		top[h] = l.logits.Row(int(edges[0]))[h]
		for e := edges[0]; e < edges[1]; e++ {
			top[h] = max(top[h], l.logits.Row(int(e))[h])
		}
		s, _ := l.softmax(edges[0], edges[1], h, float64(top[h]))
		sum[h] = float(s)
	}
	return top, sum
}

// Logits of −∞ weigh nothing in any piece, and a NaN is not lost.
func TestLongRowExtremes(t *testing.T) {
	inf, nan := float(math.Inf(1)), float(math.NaN())
	var r fused.LongRow
	r.Begin(0, 3, 1)
	r.AddTop([]float{-inf, -inf, 1}, []float{0, 0, 1})
	r.AddTop([]float{2, -inf, nan}, []float{1, 0, nan})
	r.AddTop([]float{-inf, -inf, 1}, []float{0, 0, 1})
	if r.Top[0] != 2 || r.Sum[0] != 1 || r.Factor(0, -inf) != 0 {
		t.Errorf("one finite logit of three: top %v, sum %v, factor of the others %v; want 2, 1 and 0", r.Top[0], r.Sum[0], r.Factor(0, -inf))
	}
	if r.Sum[1] != 0 || r.Factor(1, -inf) != 0 {
		t.Errorf("no finite logit: sum %v, factor %v", r.Sum[1], r.Factor(1, -inf))
	}
	if r.Sum[2] == r.Sum[2] || r.Top[2] == r.Top[2] {
		t.Errorf("the NaN is lost: top %v, sum %v", r.Top[2], r.Sum[2])
	}
}
