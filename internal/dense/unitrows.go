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
// A row of zeros is left out: Y and Inverse are to be zero before.
type UnitRows struct {
	X          []tensor.Float
	D          int            // of the elements of a row
	Y, Inverse []tensor.Float // what Forward sets and Backward reads

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

func (n *UnitRows) forward(i int) {
	x := n.row(n.X, i)
	if square := Dot64(x, x); square != 0 {
		n.Inverse[i] = tensor.Float(1 / math.Sqrt(square))
		vec.Scale.Forward(n.row(n.Y, i), x, n.Inverse[i])
	}
}

func (n *UnitRows) backward(i int) {
	dx, dy, y := n.row(n.dx, i), n.row(n.dy, i), n.row(n.Y, i)
	f := n.Inverse[i]
	vec.Axpy(dx, f, dy)
	vec.Axpy(dx, -f*tensor.Float(Dot64(dy, y)), y)
}
