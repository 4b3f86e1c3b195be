package exec

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The sum of squares of a Std leaves the range of float32 where messages differ by more than 1.8e19,
// and loses digits where they differ by less than 1e-15. Such a column of a destination is computed
// again, in float64. Its deviation is not squared: it waits in the result with a minus for finishRow.

// The mean of squares of a Std has all of its digits in this range. Of messages that are plain at
// least, a sum of squares that is nought says that they are equal.
const (
	leastMeanSquare = 0x1p-100
	mostMeanSquare  = 0x1p+100
	plainMessage    = 0x1p-39
)

// wideColumn is a column of a destination that is computed again.
type wideColumn struct {
	at, out           int // where it stands in a message and in a row of the result
	mean, low         *tensor.Float
	first, above, sum float64 // the first message, what the mean is above it, and the sum of squares
	infinite          bool    // a message is infinite or NaN: what there is stays
}

// takeWide computes what a Std has of v again where that must be, after the messages m of edges e0,
// e0+1, … have been taken.
func (w *worker) takeWide(v, e0 int, m []tensor.Float) {
	r := &w.pass.reduction
	lo, hi, end := int(r.off[v]), int(r.off[v+1]), e0+len(m)/r.width
	whole := e0 == lo && end == hi
	if hi-lo < 2 || whole && !r.leaves(v) {
		return
	}
	if e0 == lo {
		w.tops = append(w.tops[:0], make([]tensor.Float, r.width)...)
	}
	if vec.TopRows(w.tops, m); end < hi || !whole && !r.leaves(v) {
		return
	}
	wide := r.wideColumns(v, w.tops)
	switch last := len(w.plan.Steps) - 1; {
	case len(wide) == 0:
		return
	case whole:
		takeAll(wide, m, r.width, 0)
	default:
		parts(w.pass.fit, lo, hi, v, func(t tile) {
			w.evaluate(t, w.plan.Computed())
			takeAll(wide, w.values[last][:(t.hi-t.lo)*r.width], r.width, t.lo-lo)
		})
	}
	r.wide.Store(true)
	row := r.out.Row(v)
	for _, c := range wide {
		if c.infinite {
			continue
		}
		*c.mean = tensor.Float(c.first + c.above)
		*c.low = tensor.Float(c.first + c.above - float64(*c.mean))
		if row[c.out] = tensor.Float(math.Sqrt(c.sum / float64(hi-lo))); row[c.out] > 0 {
			row[c.out] *= -1
		}
	}
}

// leaves reports whether a sum of squares at v leaves the range in which it has all of its digits.
func (r *reduction) leaves(v int) bool {
	n, row := float32(r.off[v+1]-r.off[v]), r.out.Row(v)
	least, most := math.Float32bits(leastMeanSquare*n), math.Float32bits(mostMeanSquare*n)
	outside := uint32(0) // its sign: bits of positive numbers ascend as these do, without a branch an element
	for i, red := range r.rs {
		for at := i * r.last; red == ir.Std && at < len(row); at += r.last * len(r.rs) {
			for _, s := range row[at : at+r.last] {
				bits := math.Float32bits(float32(s))
				outside |= (bits - least) | (most - bits)
			}
		}
	}
	return int32(outside) < 0
}

// wideColumns returns the columns at v that are to be computed again; tops are the largest of the
// messages and nought. Messages that are none of them above it, and whose mean it is, are all nought.
func (r *reduction) wideColumns(v int, tops []tensor.Float) (wide []wideColumn) {
	n, row := tensor.Float(r.off[v+1]-r.off[v]), r.out.Row(v)
	least, most := leastMeanSquare*n, mostMeanSquare*n
	for i, red := range r.rs {
		for at := 0; red == ir.Std && at < r.width; at += r.last {
			c := column{i, at, at*len(r.rs) + i*r.last, r.last}
			mean, low := r.side(c, v, 0), r.side(c, v, 1)
			for j, s := range row[c.out : c.out+c.n] {
				if s >= least && s <= most || s == 0 && (mean[j] == 0 && low[j] == 0 && tops[at+j] == 0 || mean[j] >= plainMessage || mean[j] <= -plainMessage) {
					continue
				}
				wide = append(wide, wideColumn{at: at + j, out: c.out + j, mean: &mean[j], low: &low[j]})
			}
		}
	}
	return wide
}

// takeAll takes messages of so many elements each, before which others were taken. The first is
// taken off all, so that equal ones have a deviation of nought.
func takeAll(wide []wideColumn, m []tensor.Float, width, before int) {
	for at, n := 0, before+1; at < len(m); at, n = at+width, n+1 {
		for k := range wide {
			c := &wide[k]
			v := float64(m[at+c.at])
			if n == 1 {
				c.first = v
			}
			d := v - c.first - c.above
			c.above += d / float64(n)
			c.sum += d * (v - c.first - c.above)
			c.infinite = c.infinite || v-v != 0
		}
	}
}

// finishStd makes deviations of the sums of squares over so many messages, but for those that are there
// with a minus.
func (r *reduction) finishStd(out, count []tensor.Float) {
	at := 0
	if r.wide.Load() {
		for k, s := range out {
			if s < 0 {
				roots(out[at:k], count)
				out[k], at = -s, k+1
			}
		}
	}
	roots(out[at:], count)
}

func roots(sums, count []tensor.Float) {
	vec.Div.Forward(sums, sums, count, 1, 0)
	vec.Sqrt.Forward(sums, sums, 0)
}

// pullWide returns what gradients of messages at v come to, and where in dm they stand, in the columns
// whose 1/(n·std) or distances could leave the range of float32.
func (r *reduction) pullWide(c column, v int, m, dm, g []tensor.Float) (at []int, to []tensor.Float) {
	std, mean, low := r.out.Row(v)[c.out:c.out+c.n], r.side(c, v, 0), r.side(c, v, 1)
	n := float64(r.off[v+1] - r.off[v])
	for j, s := range std {
		if square := float64(s) * float64(s); !(s > 0) || square >= leastMeanSquare && square <= mostMeanSquare {
			continue
		}
		for k := c.at + j; k < len(m); k += r.width {
			d := float64(m[k]) - float64(mean[j]) - float64(low[j])
			at, to = append(at, k), append(to, dm[k]+tensor.Float(float64(g[j])*(d/float64(s))/n))
		}
	}
	return at, to
}
