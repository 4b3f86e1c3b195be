package dense

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// UnitRows divides each row of X by its Euclidean length, which is summed in float64:
//
//	for i := range rows {
//		inverse[i] = 1/√(Σ_j x[i,j]²)
//		y[i,j] = x[i,j]·inverse[i]
//	}
//
// A row of zeros is left out: Y and Inverse are to be zero before. Of a row whose squares or
// whose inverse could leave the range of numbers Inverse is infinite: Forward and Backward divide
// it by a power of two first.
type UnitRows struct {
	X          []tensor.Float
	D          int            // of the elements of a row
	Y, Inverse []tensor.Float // what Forward sets and Backward reads, with X

	dx, dy []tensor.Float // while Backward runs
}

// Forward sets Y and Inverse.
func (n *UnitRows) Forward() { n.each((*UnitRows).forward) }

// Backward adds (dy − y·⟨dy, y⟩)/‖x‖ to each row of the gradient of X.
func (n *UnitRows) Backward(dx, dy []tensor.Float) {
	n.dx, n.dy = dx, dy
	n.each((*UnitRows).backward)
	n.dx, n.dy = nil, nil
}

// each calls f with every row.
func (n *UnitRows) each(f func(n *UnitRows, i int)) {
	rows, step := len(n.Inverse), grain(n.D)
	if rows <= step { // without the memory of a closure
		n.eachOf(part{0, rows}, f)
		return
	}
	par.For(rows, step, func(lo, hi int) { n.eachOf(part{lo, hi}, f) })
}

func (n *UnitRows) eachOf(p part, f func(n *UnitRows, i int)) {
	for i := p.lo; i < p.hi; i++ {
		f(n, i)
	}
}

func (n *UnitRows) row(a []tensor.Float, i int) []tensor.Float { return a[i*n.D : i*n.D+n.D] }

// Squares of lengths between which 1/length, and that times a gradient, is far from the ends of
// float32.
const (
	leastSquare = 0x1p-120
	mostSquare  = 0x1p+250
)

func (n *UnitRows) forward(i int) {
	x := n.row(n.X, i)
	square := Dot64(x, x)
	if square < leastSquare || square > mostSquare {
		if inverse, exponent := inverseLength(x); inverse != 0 {
			n.Inverse[i] = tensor.Float(math.Inf(1))
			y := n.row(n.Y, i)
			for j, v := range x {
				y[j] = tensor.Float(math.Ldexp(float64(v), -exponent) * inverse)
			}
			return
		}
	}
	if square != 0 {
		n.Inverse[i] = tensor.Float(1 / math.Sqrt(square))
		vec.Scale.Forward(n.row(n.Y, i), x, n.Inverse[i])
	}
}

// inverseLength returns inverse·2^−exponent, the inverse of the length of x: 0 of zeros, and of a
// row that has no finite length.
func inverseLength(x []tensor.Float) (inverse float64, exponent int) {
	most, square := 0.0, 0.0
	for _, v := range x {
		most = max(most, math.Abs(float64(v)))
	}
	if most == 0 || most-most != 0 {
		return 0, 0
	}
	_, exponent = math.Frexp(most)
	for _, v := range x {
		part := math.Ldexp(float64(v), -exponent)
		square += part * part
	}
	return 1 / math.Sqrt(square), exponent
}

func (n *UnitRows) backward(i int) {
	dx, dy, y := n.row(n.dx, i), n.row(n.dy, i), n.row(n.Y, i)
	f := n.Inverse[i]
	if math.IsInf(float64(f), 1) {
		inverse, exponent := inverseLength(n.row(n.X, i))
		along := Dot64(dy, y)
		for j := range dx {
			dx[j] += tensor.Float(math.Ldexp((float64(dy[j])-along*float64(y[j]))*inverse, -exponent))
		}
		return
	}
	vec.Axpy(dx, f, dy)
	vec.Axpy(dx, -f*tensor.Float(Dot64(dy, y)), y)
}
