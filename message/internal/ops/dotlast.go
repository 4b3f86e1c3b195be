package ops

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// dotLast is scalar products along the last axis.
var dotLast = Op{
	Name: "Dot", Operands: 2, Broadcast: true, Sets: true,
	Shape: func(s *Step, x, y []int) string {
		shape, ok := tensor.Broadcast(x, y)
		if !ok || x[len(x)-1] != y[len(y)-1] {
			return clash
		}
		s.Shape = withLast(shape, 1)
		return ""
	},
	Reads: other,
	Forward: func(t *Tile) {
		clear(t.Y)
		vec.Runs(t.Fold()).Dot(t.Y, t.A, t.B)
	},
	Backward: func(t *Tile, operand int) {
		x := [2][]tensor.Float{t.B, t.A}[operand]
		if t.Fresh {
			vec.Runs(t.Fold()).Scale(t.DX, t.DY, x)
		} else {
			vec.Runs(t.Fold()).Axpy(t.DX, t.DY, x)
		}
	},
}
