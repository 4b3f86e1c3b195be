package grad

import (
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// L2Normalise divides each row along the last axis by its Euclidean length, which
// is summed in float64. A row of zeros stays and gets no gradient.
func (x *Var) L2Normalise() *Var {
	op := Begin("L2Normalise", x)
	y := op.New(x.Value().Shape()...)
	inverse := op.Floats(leading(x.Shape()))
	d := x.Dim(-1)
	if !op.Dry(0) {
		x.eachRow(func(lo, hi int) {
			square := 0.0
			for _, v := range x.val.Data[lo:hi] {
				square += float64(v) * float64(v)
			}
			if square == 0 {
				return
			}
			f := 1 / math.Sqrt(square)
			inverse[lo/d] = tensor.Float(f)
			for i := lo; i < hi; i++ {
				y.val.Data[i] = tensor.Float(float64(x.val.Data[i]) * f)
			}
		})
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		x.eachRow(func(lo, hi int) {
			if lo == hi {
				return
			}
			dot, f := 0.0, float64(inverse[lo/d])
			for i := lo; i < hi; i++ {
				dot += float64(dy.Data[i]) * float64(y.val.Data[i])
			}
			for i := lo; i < hi; i++ {
				dx[i] += tensor.Float(f * (float64(dy.Data[i]) - dot*float64(y.val.Data[i])))
			}
		})
	})
}
