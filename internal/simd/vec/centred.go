package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// Columns are what the columns of rows are normalised by: rows of them, at least as long as
// what is normalised. A nil Bias is 0.
type Columns struct{ Centre, Scale, Bias []Float }

// ColumnSlopes are what the gradient of columns that were normalised is made of, rows as
// in [Columns]. Only [ColumnSlopes.ReLUGrad] reads Bias.
type ColumnSlopes struct{ Centre, OfX, At0, OfDY, Bias []Float }

// CentredSquares adds the squares of rows less centre, which is as long as each, to a sum of
// each column, in order:
//
//	sums[j] += Σ_i (x[i,j] − centre[j])²
func CentredSquares(sums, x, centre []Float) {
	sums = sums[:len(centre)]
	if cpu.Fast && whole(x, centre) && centredSquaresFast(sums, x, centre) {
		return
	}
	for n := len(centre); len(x) > 0; x = x[n:] {
		for j, v := range x[:n] {
			v -= centre[j]
			sums[j] += Float(v * v) // rounded: some processors would fuse the two
		}
	}
}

// CentredDots adds a gradient, and its products with rows less Centre, to sums of each column,
// in order:
//
//	dots[j] += Σ_i dy[i,j]·(x[i,j] − centre[j])
//	sums[j] += Σ_i dy[i,j]
func CentredDots(dots, sums, dy, x, centre []Float) {
	n := len(centre)
	dots, sums, dy = dots[:n], sums[:n], dy[:len(x)]
	if cpu.Fast && whole(x, centre) && centredDotsFast(dots, sums, dy, x, centre) {
		return
	}
	for lo := 0; lo < len(x); lo += n {
		for j, c := range centre {
			g := dy[lo+j]
			dots[j] += Float((x[lo+j] - c) * g) // rounded as above
			sums[j] += g
		}
	}
}

// ReLUDots is [CentredDots] where dy is the gradient of the ReLU of c's rows, each as long
// as Centre: of what is not above 0 it counts as 0. The rows are computed anew, which is
// less than to read them.
func (c *Columns) ReLUDots(dots, sums, dy, x []Float) {
	n := len(c.Centre)
	dots, sums, dy = dots[:n], sums[:n], dy[:len(x)]
	centre, scale, bias := c.Centre, c.Scale[:n], c.Bias[:n]
	if cpu.Fast && whole(x, centre) && c.reluDotsFast(dots, sums, dy, x) {
		return
	}
	for lo := 0; lo < len(x); lo += n {
		for j := range centre {
			o, g := x[lo+j]-centre[j], dy[lo+j]
			if !(Float(o*scale[j])+bias[j] > 0) {
				g = 0
			}
			dots[j] += Float(o * g)
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
	if cpu.Fast && standardiseFast(y, x, centre, scale, bias, relu) {
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

// Grad sets, or adds to, the gradient of rows that were normalised, from that of the
// result:
//
//	dx[i] = (x[i] − Centre[i])·OfX[i] + At0[i] + dy[i]·OfDY[i]
//
// dx is none of the others.
func (c *ColumnSlopes) Grad(dx, dy, x []Float, set bool) {
	n := len(x)
	dx, dy = dx[:n], dy[:n]
	centre, ofX, at0, ofDY := c.Centre[:n], c.OfX[:n], c.At0[:n], c.OfDY[:n]
	if cpu.Fast && c.gradFast(dx, dy, x, set) {
		return
	}
	for i, v := range x {
		o := v - centre[i]
		d := Float(o*ofX[i]) + at0[i]
		if set {
			dx[i] = 0
		}
		dx[i] += d
		dx[i] += Float(dy[i] * ofDY[i])
	}
}

// ReLUGrad is Grad where dy is the gradient of a ReLU of the result: of what is not above 0,
// by Bias, it counts as 0. What OfDY multiplies is what normalised rows were multiplied by.
func (c *ColumnSlopes) ReLUGrad(dx, dy, x []Float, set bool) {
	n := len(x)
	dx, dy = dx[:n], dy[:n]
	centre, ofX, at0, ofDY, bias := c.Centre[:n], c.OfX[:n], c.At0[:n], c.OfDY[:n], c.Bias[:n]
	if cpu.Fast && c.reluGradFast(dx, dy, x, set) {
		return
	}
	for i, v := range x {
		o, g := v-centre[i], dy[i]
		if !(Float(o*ofDY[i])+bias[i] > 0) {
			g = 0
		}
		d := Float(o*ofX[i]) + at0[i]
		if set {
			dx[i] = 0
		}
		dx[i] += d
		dx[i] += Float(g * ofDY[i])
	}
}
