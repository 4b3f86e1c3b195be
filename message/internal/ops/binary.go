package ops

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// binary is a function of pairs of elements.
var binary = Op{
	Name: "Binary", Operands: 2, Broadcast: true, InPlace: true, Sets: true,
	Shape: func(s *Step, x, y []int) string {
		var ok bool
		if s.Shape, ok = tensor.Broadcast(x, y); !ok {
			return clash
		}
		return ""
	},
	Reads: func(s *Step, operand int) Reads {
		switch {
		case s.Binary == vec.Add || s.Binary == vec.Sub && operand == 0:
			return Same
		case s.Binary == vec.Sub:
			return 0
		case s.Binary == vec.Mul:
			return other(s, operand)
		}
		return First | Second
	},
	Forward: func(t *Tile) { t.Binary.Forward(t.Y, t.A, t.B, 1, 1) },
	Backward: func(t *Tile, operand int) {
		if t.Fresh && t.Binary == vec.Mul {
			vec.Mul.Forward(t.DX, t.DY, [2][]tensor.Float{t.B, t.A}[operand], 1, 1)
			return
		}
		t.clearFresh()
		if operand == 0 {
			t.Binary.BackwardX(t.DX, t.DY, t.A, t.B, 1, 1)
		} else {
			t.Binary.BackwardY(t.DX, t.DY, t.A, t.B, 1, 1)
		}
	},
}
