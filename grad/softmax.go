package grad

import (
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Softmax normalises x along the last axis: eˣ/Σeˣ. A row of −Inf alone becomes
// zeros.
func (x *Var) Softmax() *Var {
	op := Begin("Softmax", x)
	y := op.New(x.Value().Shape()...)
	d, n := x.Dim(-1), leading(x.val.Shape())
	for i := range n {
		simd.Softmax(y.val.Data[i*d:i*d+d], x.val.Data[i*d:i*d+d])
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		for i := range n {
			yi, gi, di := y.val.Data[i*d:i*d+d], dy.Data[i*d:i*d+d], dx[i*d:i*d+d]
			c := simd.Dot(yi, gi)
			for j, v := range yi {
				di[j] += v * (gi[j] - c)
			}
		}
	})
}

// LogSoftmax returns x − log Σeˣ along the last axis.
func (x *Var) LogSoftmax() *Var {
	op := Begin("LogSoftmax", x)
	y := op.New(x.Value().Shape()...)
	d, n := x.Dim(-1), leading(x.val.Shape())
	for i := range n {
		simd.LogSoftmax(y.val.Data[i*d:i*d+d], x.val.Data[i*d:i*d+d])
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		op.Scratch(d, func(p []tensor.Float) {
			for i := range n {
				gi, di := dy.Data[i*d:i*d+d], dx[i*d:i*d+d]
				simd.Exp.Forward(p, y.val.Data[i*d:i*d+d], 0)
				var s tensor.Float
				for _, g := range gi {
					s += g
				}
				for j, g := range gi {
					di[j] += g - p[j]*s
				}
			}
		})
	})
}
