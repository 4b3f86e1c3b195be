package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// scaleBy is the product with one number for each run. Plans make it of a product.
var scaleBy = Op{
	Name: "Mul by runs", Operands: 2, InPlace: true, Sets: true,
	Reads:   other,
	Forward: func(t *Tile) { vec.Runs(t.Run).Scale(t.Y, t.B, t.A) },
	Backward: func(t *Tile, operand int) {
		switch {
		case operand == 1:
			t.clearFresh()
			vec.Runs(t.Run).Dot(t.DX, t.A, t.DY)
		case t.Fresh:
			vec.Runs(t.Run).Scale(t.DX, t.B, t.DY)
		default:
			vec.Runs(t.Run).Axpy(t.DX, t.B, t.DY)
		}
	},
}
