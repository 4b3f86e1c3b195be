package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// logSumExpLast is log Σeᵐ along the last axis.
var logSumExpLast = Op{
	Name: "LogSumExpLast", Operands: 1, Shape: lastToOne,
	Reads: always(First | Own),
	Forward: func(t *Tile) {
		d := t.Fold()
		for k := range t.Y {
			t.Y[k] = vec.LogSumExp(t.A[k*d : k*d+d])
		}
	},
	Backward: func(t *Tile, _ int) {
		d := t.Fold()
		for k, g := range t.DY {
			vec.LogSumExpBackward(t.DX[k*d:k*d+d], t.A[k*d:k*d+d], t.Y[k], g)
		}
	},
}
