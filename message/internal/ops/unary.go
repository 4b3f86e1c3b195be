package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// unary is a function of each element.
var unary = Op{
	Name: "Unary", Operands: 1, InPlace: true, Sets: true,
	Reads:   unaryReads,
	Forward: func(t *Tile) { t.Unary.Forward(t.Y, t.A, t.C) },
	Backward: func(t *Tile, _ int) {
		x, y := t.A, t.Y
		switch r := unaryReads(t.Step, 0); { // what is not read may not be there
		case r == 0:
			x, y = t.DY, t.DY
		case r == First:
			y = x
		case r == Own:
			x = y
		}
		if t.Fresh {
			t.Unary.SetBackward(t.DX, t.DY, x, y, t.C)
		} else {
			t.Unary.Backward(t.DX, t.DY, x, y, t.C)
		}
	},
}

func unaryReads(s *Step, _ int) Reads {
	switch s.Unary {
	case vec.Sign:
		return None
	case vec.Shift:
		return Same
	case vec.Scale, vec.Neg:
		return 0 // the slope is the same everywhere
	case vec.ReLU, vec.ELU, vec.Sigmoid, vec.Tanh, vec.Exp, vec.Sqrt, vec.Reciprocal:
		return Own
	case vec.SiLU:
		return First | Own
	}
	if s.Unary == vec.LeakyReLU && s.C > 0 {
		return Own
	}
	return First
}
