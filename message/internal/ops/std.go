package ops

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Std is √(Σ(m − mean)²/n), with slope 0 where it is 0. The mean is kept, in two parts.
//
// The sum of squares leaves the range of float32 where messages differ by more than 1.8e19,
// and loses digits where they differ by less than 1e-15. Such a column is computed
// again, in float64. Its deviation is not squared: it waits in the result with a minus for Finish.
var Std = &Reducer{
	Name: "Std", Floats: 2, Carry: true,
	Take: func(d *Arrivals) {
		for i := range d.Messages {
			vec.Welford(d.Out, d.Kept[0], d.Kept[1], d.Message(i), d.Before+i+1)
		}
		takeWide(d)
	},
	Finish: func(d *Arrivals) {
		at := 0
		for k, s := range d.Out {
			if s < 0 {
				roots(d, d.Out[at:k])
				d.Out[k], at = -s, k+1
			}
		}
		roots(d, d.Out[at:])
	},
	Pull: pullStd,
}

// The mean of squares of a Std has all of its digits in this range. Of messages that are plain at
// least, a sum of squares that is nought says that they are equal.
const (
	leastMeanSquare = 0x1p-100
	mostMeanSquare  = 0x1p+100
	plainMessage    = 0x1p-39
)

// wideColumn is a column that is computed again.
type wideColumn struct {
	at                int     // where it stands
	first, above, sum float64 // the first message, what the mean is above it, and the sum of squares
	infinite          bool    // a message is infinite or NaN: what there is stays
}

// takeWide computes again what must be, after messages have been taken. The largest of the messages and
// nought are carried.
func takeWide(d *Arrivals) {
	whole, last := d.Messages == d.Count, d.Before+d.Messages == d.Count
	if d.Count < 2 || whole && !leaves(d) {
		return
	}
	if d.Before == 0 {
		clear(d.Carry)
	}
	for i := range d.Messages {
		vec.TopRows(d.Carry, d.Message(i))
	}
	if !last || !whole && !leaves(d) {
		return
	}
	wide := wideColumns(d)
	if len(wide) == 0 {
		return
	}
	d.Again(func(d *Arrivals) { takeAll(wide, d) })
	for _, c := range wide {
		if c.infinite {
			continue
		}
		mean := tensor.Float(c.first + c.above)
		d.Kept[0][c.at], d.Kept[1][c.at] = mean, tensor.Float(c.first+c.above-float64(mean))
		if d.Out[c.at] = tensor.Float(math.Sqrt(c.sum / float64(d.Count))); d.Out[c.at] > 0 {
			d.Out[c.at] *= -1
		}
	}
}

// leaves reports whether a sum of squares leaves the range in which it has all of its digits.
func leaves(d *Arrivals) bool {
	n := float32(d.Count)
	least, most := math.Float32bits(leastMeanSquare*n), math.Float32bits(mostMeanSquare*n)
	outside := uint32(0) // its sign: bits of positive numbers ascend as these do, without a branch an element
	for _, s := range d.Out {
		bits := math.Float32bits(float32(s))
		outside |= (bits - least) | (most - bits)
	}
	return int32(outside) < 0
}

// wideColumns returns the columns that are to be computed again. Messages that are none of them above
// nought, and whose mean it is, are all nought.
func wideColumns(d *Arrivals) (wide []wideColumn) {
	n, mean, low := tensor.Float(d.Count), d.Kept[0], d.Kept[1]
	least, most := leastMeanSquare*n, mostMeanSquare*n
	for j, s := range d.Out {
		if s >= least && s <= most || s == 0 && (mean[j] == 0 && low[j] == 0 && d.Carry[j] == 0 || mean[j] >= plainMessage || mean[j] <= -plainMessage) {
			continue
		}
		wide = append(wide, wideColumn{at: j})
	}
	return wide
}

// takeAll takes messages. The first of the destination is
// taken off all, so that equal ones have a deviation of nought.
func takeAll(wide []wideColumn, d *Arrivals) {
	for i := range d.Messages {
		m, n := d.Message(i), d.Before+i+1
		for k := range wide {
			c := &wide[k]
			v := float64(m[c.at])
			if n == 1 {
				c.first = v
			}
			e := v - c.first - c.above
			c.above += e / float64(n)
			c.sum += e * (v - c.first - c.above)
			c.infinite = c.infinite || v-v != 0
		}
	}
}

func roots(d *Arrivals, sums []tensor.Float) {
	d.Divide(sums, sums)
	vec.Sqrt.Forward(sums, sums, 0)
}

// pullStd adds g·(m − mean)/(n·std), where std is not zero.
func pullStd(d *Arrivals) {
	n, k := tensor.Float(d.Count), len(d.Out)
	wide, to := pullWide(d)
	factor, x := d.Tmp[:k], d.Tmp[k:2*k]
	for j, s := range d.Out {
		if factor[j] = 0; s > 0 {
			factor[j] = d.DOut[j] / (n * s)
		}
	}
	for i := range d.Messages {
		vec.Sub.Forward(x, d.Message(i), d.Kept[0], 1, 1)
		vec.Sub.Forward(x, x, d.Kept[1], 1, 1)
		vec.Mul.BackwardX(d.Gradient(i), factor, x, x, 1, 1)
	}
	for k, at := range wide {
		d.DM[at] = to[k]
	}
}

// pullWide returns what gradients of messages come to, and where they stand, in the columns
// whose 1/(n·std) or distances could leave the range of float32.
func pullWide(d *Arrivals) (at []int, to []tensor.Float) {
	n := float64(d.Count)
	for j, s := range d.Out {
		if square := float64(s) * float64(s); !(s > 0) || square >= leastMeanSquare && square <= mostMeanSquare {
			continue
		}
		for i := range d.Messages {
			x := float64(d.Message(i)[j]) - float64(d.Kept[0][j]) - float64(d.Kept[1][j])
			k := i*d.Stride + j
			at, to = append(at, k), append(to, d.DM[k]+tensor.Float(float64(d.DOut[j])*(x/float64(s))/n))
		}
	}
	return at, to
}
