package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// Columns are what the columns of rows are normalised by: rows of them, at least as long as
// what is normalised. A nil Bias is 0.
type Columns struct{ Centre, Scale, Bias []Float }

// ColumnSlopes are what the gradient of columns that were normalised is made of, rows as
// in [Columns].
type ColumnSlopes struct{ Centre, OfX, At0, OfDY []Float }

// CentredSquares adds the squares of rows less centre, which is as long as each, to a sum of
// each column, in order:
//
//	sums[j] += Σ_i (x[i,j] − centre[j])²
func CentredSquares(sums, x, centre []Float) {
	sums = sums[:len(centre)]
	if cpu.AVX2 && whole(x, centre) {
		centredSquaresFast(sums, x, centre)
		return
	}
	for n := len(centre); len(x) > 0; x = x[n:] {
		for j, v := range x[:n] {
			v -= centre[j]
			sums[j] += Float(v * v) // rounded: some processors would fuse the two
		}
	}
}

// CentredDots adds a gradient, and its products with rows less centre, to sums of each column,
// in order. With y, the results of a ReLU, dy is that of its results:
//
//	g[i,j] = dy[i,j] where y[i,j] > 0, else 0
//	dots[j] += Σ_i g[i,j]·(x[i,j] − centre[j])
//	sums[j] += Σ_i g[i,j]
//
// A nil y stands for rows above 0.
func CentredDots(dots, sums, dy, y, x, centre []Float) {
	n := len(centre)
	dots, sums, dy = dots[:n], sums[:n], dy[:len(x)]
	if y != nil {
		y = y[:len(x)]
	}
	if cpu.AVX2 && whole(x, centre) {
		centredDotsFast(dots, sums, dy, y, x, centre)
		return
	}
	for lo := 0; lo < len(x); lo += n {
		for j, c := range centre {
			g := dy[lo+j]
			if y != nil && !(y[lo+j] > 0) {
				g = 0
			}
			dots[j] += Float((x[lo+j] - c) * g) // rounded as above
			sums[j] += g
		}
	}
}

// Standardise sets normalised rows, and with relu the ReLU of them:
//
//	y[i] = (x[i] − Centre[i])·Scale[i] + Bias[i]
//
// y may be x.
func (c *Columns) Standardise(y, x []Float, relu bool) {
	n := len(x)
	centre, scale, bias := c.Centre[:n], c.Scale[:n], c.Bias
	if y = y[:n]; bias != nil {
		bias = bias[:n]
	}
	if cpu.AVX2 {
		standardiseFast(y, x, centre, scale, bias, relu)
		return
	}
	for i, v := range x {
		v = Float((v - centre[i]) * scale[i]) // rounded as above
		if bias != nil {
			v += bias[i]
		}
		if relu {
			v = max(v, 0)
		}
		y[i] = v
	}
}

// Grad sets, or adds to, the gradient of rows that were normalised, from that of the result
// or, with its results y, of a ReLU of it:
//
//	g[i] = dy[i] where y[i] > 0, else 0
//	dx[i] = (x[i] − Centre[i])·OfX[i] + At0[i] + g[i]·OfDY[i]
//
// A nil y stands for elements above 0. dx is none of the others.
func (c *ColumnSlopes) Grad(dx, dy, y, x []Float, set bool) {
	n := len(x)
	dx, dy = dx[:n], dy[:n]
	centre, ofX, at0, ofDY := c.Centre[:n], c.OfX[:n], c.At0[:n], c.OfDY[:n]
	if y != nil {
		y = y[:n]
	}
	if cpu.AVX2 {
		c.gradFast(dx, dy, y, x, set)
		return
	}
	for i, v := range x {
		g := dy[i]
		if y != nil && !(y[i] > 0) {
			g = 0
		}
		d := Float((v-centre[i])*ofX[i]) + at0[i]
		if set {
			dx[i] = 0
		}
		dx[i] += d
		dx[i] += Float(g * ofDY[i])
	}
}
