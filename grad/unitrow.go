package grad

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// L2Normalise divides each row along the last axis by its Euclidean length, which
// is summed in float64. A row of zeros stays and gets no gradient.
func (x *Var) L2Normalise() *Var {
	op := Begin("L2Normalise", x)
	y := op.newLike(x)
	n := Notes[units](op)
	*n = units{of: x, x: x.val.Data, y: y.val.Data, inverse: op.Floats(leading(x.Shape())), d: x.Dim(-1)}
	if !op.Dry(0) {
		n.each((*units).forward)
	}
	return op.RecordBy(y, n)
}

// Pull adds to x's gradient.
func (n *units) Pull(dy *tensor.Dense) {
	n.dx, n.dy = n.of.Grad().Data, dy.Data
	n.each((*units).pull)
}

// units is the division of rows of d elements by their lengths.
type units struct {
	of            *Var
	x, y, inverse []tensor.Float
	d             int
	dx, dy        []tensor.Float // while a pullback runs
}

// each calls f with every row.
func (n *units) each(f func(n *units, i int)) {
	rows, grain := len(n.inverse), max(1, normGrain/max(1, n.d))
	if rows <= grain { // without the memory of a closure
		for i := range rows {
			f(n, i)
		}
		return
	}
	par.For(rows, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(n, i)
		}
	})
}

func (n *units) row(a []tensor.Float, i int) []tensor.Float { return a[i*n.d : i*n.d+n.d] }

func (n *units) forward(i int) {
	x := n.row(n.x, i)
	if square := dot64(x, x); square != 0 {
		n.inverse[i] = tensor.Float(1 / math.Sqrt(square))
		simd.Scale.Forward(n.row(n.y, i), x, n.inverse[i])
	}
}

// pull adds (dy − y·⟨dy, y⟩)/‖x‖.
func (n *units) pull(i int) {
	dx, dy, y := n.row(n.dx, i), n.row(n.dy, i), n.row(n.y, i)
	f := n.inverse[i]
	simd.Axpy(dx, f, dy)
	simd.Axpy(dx, -f*tensor.Float(dot64(dy, y)), y)
}
