package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// sumLast is sums along the last axis.
var sumLast = Op{
	Name: "SumLast", Operands: 1, Shape: lastToOne, Sets: true,
	Forward: func(t *Tile) {
		clear(t.Y)
		vec.Runs(t.Fold()).Sum(t.Y, t.A)
	},
	Backward: func(t *Tile, _ int) {
		if t.Fresh {
			vec.Runs(t.Fold()).Spread(t.DX, t.DY)
		} else {
			vec.Runs(t.Fold()).SpreadAdd(t.DX, t.DY)
		}
	},
}
