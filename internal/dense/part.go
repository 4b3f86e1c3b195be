package dense

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// part is rows or elements lo to hi.
type part struct{ lo, hi int }

// addTo adds src to dst.
func addTo(dst, src []tensor.Float) { vec.Axpy(dst, 1, src) }

// add adds v to element j of d, unless d is nil.
func add(d []tensor.Float, j int, v float64) {
	if d != nil {
		d[j] += tensor.Float(v)
	}
}
