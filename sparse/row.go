package sparse

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// add is y += x.
func add(y, x []tensor.Float) { vec.Add.Forward(y, y, x, 1, 1) }

// axpy is y += a·x.
func axpy(y []tensor.Float, a tensor.Float, x []tensor.Float) { vec.Axpy(y, a, x) }

// axpyHeads is y[h,:] += w[h]·x[h,:], for len(w) heads.
func axpyHeads(y, w, x []tensor.Float) {
	d := len(x) / max(1, len(w))
	for h, s := range w {
		axpy(y[h*d:h*d+d], s, x[h*d:h*d+d])
	}
}

// fits reports whether x has the given rows and row length.
func fits(x *tensor.Dense, rows, rowLen int) bool {
	return x.Rows() == rows && x.RowLen() == rowLen
}
