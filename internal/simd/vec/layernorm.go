package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// Moments are those of a row that is normalised: its mean, what that lost when it was
// rounded, and 1/σ. An element without the mean is x − Mean − Rest, in two steps.
type Moments struct{ Mean, Rest, Scale Float }

// OffsetRows are rows without their means: X[i,j] − Mean[i] − Rest[i].
type OffsetRows struct{ X, Mean, Rest []Float }

// width is the number of elements of a row.
func (o *OffsetRows) width() int { return len(o.X) / max(1, len(o.Mean)) }

// Line is a straight line.
type Line struct{ Slope, At0 Float }

// Squares sets the sums of squares of rows without their means, in float64:
//
//	sums[i] = Σ_j (x[i,j] − mean[i] − rest[i])²
//
// The elements of a row are added in four sums, j%4, those behind the last whole four to
// the first.
func (x OffsetRows) Squares(sums []float64) {
	if cpu.Fast && offsetSquaresFast(sums, x) {
		return
	}
	d := x.width()
	for i, m := range x.Mean {
		var four [4]float64
		for j, v := range x.X[i*d : i*d+d] {
			e := float64(v - m - x.Rest[i])
			four[sumOf(j, d)] += e * e
		}
		sums[i] = folded(four)
	}
}

// sumOf is the sum of four to which element j of d is added.
func sumOf(j, d int) int {
	if j >= d&^3 {
		return 0
	}
	return j & 3
}

// folded is the sum of four.
func folded(four [4]float64) float64 { return (four[0] + four[1]) + (four[2] + four[3]) }

// Dots sets the rows g, and the inner products with rows without their means, in
// float64 as [OffsetRows.Squares] does:
//
//	g[i,j] = dy[i,j]·gain[j]
//	sums[i] = Σ_j g[i,j]·(x[i,j] − mean[i] − rest[i])
//
// A nil gain is 1: then dy stands for g, which is not set.
func (x OffsetRows) Dots(sums []float64, g, dy, gain []Float) {
	if cpu.Fast && offsetDotsFast(sums, g, dy, gain, x) {
		return
	}
	d := x.width()
	for i, m := range x.Mean {
		var four [4]float64
		for j, v := range x.X[i*d : i*d+d] {
			e := dy[i*d+j]
			if gain != nil {
				e *= gain[j]
				g[i*d+j] = e
			}
			four[sumOf(j, d)] += float64(e) * float64(v-m-x.Rest[i])
		}
		sums[i] = folded(four)
	}
}

// Normalise sets a normalised row:
//
//	y[j] = (x[j] − m.Mean − m.Rest)·m.Scale·gain[j] + with[j]
//
// A nil gain is 1, a nil with 0. y may be x or with.
func Normalise(y, x, gain, with []Float, m Moments) {
	if cpu.Fast && normaliseFast(y, x, gain, with, m) {
		return
	}
	for j, v := range x {
		v = Float((v - m.Mean - m.Rest) * m.Scale) // rounded: some processors would fuse
		if gain != nil {
			v = Float(v * gain[j])
		}
		if with != nil {
			v += with[j]
		}
		y[j] = v
	}
}

// NormaliseGrad sets, or adds to, the gradient of a row that was normalised:
//
//	dx[j] = (x[j] − m.Mean − m.Rest)·of.Slope + of.At0 + m.Scale·g[j]
func NormaliseGrad(dx, g, x []Float, m Moments, of Line, set bool) {
	if cpu.Fast && normaliseGradFast(dx, g, x, m, of, set) {
		return
	}
	for j, v := range x {
		d := Float((v-m.Mean-m.Rest)*of.Slope) + of.At0 // rounded as above
		d += Float(m.Scale * g[j])
		if set {
			dx[j] = 0
		}
		dx[j] += d
	}
}

// NormaliseSums adds what a row contributes to the gradients of the gain and of the bias:
//
//	gain[j] += (x[j] − m.Mean − m.Rest)·m.Scale·dy[j]
//	bias[j] += dy[j]
//
// bias may be nil.
func NormaliseSums(gain, bias, x, dy []Float, m Moments) {
	if cpu.Fast && normaliseSumsFast(gain, bias, x, dy, m) {
		return
	}
	for j, v := range x {
		v = Float((v - m.Mean - m.Rest) * m.Scale)
		gain[j] += Float(v * dy[j])
		if bias != nil {
			bias[j] += dy[j]
		}
	}
}
