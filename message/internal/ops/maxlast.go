package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// maxLast is the largest element along the last axis. Its gradient is the first's that is.
var maxLast = Op{
	Name: "MaxLast", Operands: 1, Shape: lastToOne,
	Reads: always(First | Own),
	Forward: func(t *Tile) {
		d, x, y := t.Fold(), t.A, t.Y
		for k := range y {
			y[k] = vec.MaxOf(x[k*d : k*d+d])
		}
	},
	Backward: func(t *Tile, _ int) {
		d, x, y, dx := t.Fold(), t.A, t.Y, t.DX
		for k, g := range t.DY {
			for j := k * d; j < k*d+d; j++ {
				if x[j] == y[k] {
					dx[j] += g
					break
				}
			}
		}
	},
}
