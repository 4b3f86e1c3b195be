package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// maxLast is the largest element along the last axis. Its gradient is the first's that is.
var maxLast = Op{
	Name: "MaxLast", Operands: 1, Shape: lastToOne,
	Reads: always(First | Own),
	Forward: func(t *Tile) {
		d := t.Fold()
		for k := range t.Y {
			t.Y[k] = vec.MaxOf(t.A[k*d : k*d+d])
		}
	},
	Backward: func(t *Tile, _ int) {
		d := t.Fold()
		for k, g := range t.DY {
			for j := k * d; j < k*d+d; j++ {
				if t.A[j] == t.Y[k] {
					t.DX[j] += g
					break
				}
			}
		}
	},
}
