package exec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// pullUnary is the gradient of a function of each element.
func (w *worker) pullUnary(i int, dy []tensor.Float) {
	s := &w.plan.Steps[i]
	if s.Unary == vec.Shift {
		w.handOn(s.A, dy)
		return
	}
	dx, fresh := w.gradOf(s.A)
	x, y := w.values[s.A], w.values[i]
	switch { // what is not read may not be there
	case s.Linear():
		x, y = dy, dy
	case s.SlopeFromResult():
		x = y
	case s.Unary != vec.SiLU:
		y = x
	}
	if fresh {
		s.Unary.SetBackward(dx, dy, x[:len(dy)], y[:len(dy)], s.C)
		return
	}
	s.Unary.Backward(dx, dy, x[:len(dy)], y[:len(dy)], s.C)
}

// pullBinary is the gradient of a function of two operands.
func (w *worker) pullBinary(s *plan.Step, dz []tensor.Float) {
	x, y := w.values[s.A], w.values[s.B]
	if w.plan.Steps[s.A].Needs {
		switch {
		case s.Binary == vec.Add || s.Binary == vec.Sub:
			w.handOn(s.A, dz)
		default:
			if dx, fresh := w.gradOf(s.A); fresh && s.Binary == vec.Mul {
				vec.Mul.Forward(dx, dz, y, 1, 1)
			} else {
				clearFresh(dx, fresh)
				s.Binary.BackwardX(dx, dz, x, y, 1, 1)
			}
		}
	}
	if w.plan.Steps[s.B].Needs {
		if s.Binary == vec.Add {
			w.handOn(s.B, dz)
			return
		}
		if dy, fresh := w.gradOf(s.B); fresh && s.Binary == vec.Mul {
			vec.Mul.Forward(dy, dz, x, 1, 1)
		} else {
			clearFresh(dy, fresh)
			s.Binary.BackwardY(dy, dz, x, y, 1, 1)
		}
	}
}

// pullScale is the gradient of a product with one number for each run.
func (w *worker) pullScale(s *plan.Step, dz []tensor.Float) {
	if w.plan.Steps[s.A].Needs {
		c := w.values[s.B][:len(dz)/s.Run]
		if dx, fresh := w.gradOf(s.A); fresh {
			vec.Runs(s.Run).Scale(dx, c, dz)
		} else {
			vec.Runs(s.Run).Axpy(dx, c, dz)
		}
	}
	if w.plan.Steps[s.B].Needs {
		dc, fresh := w.gradOf(s.B)
		clearFresh(dc, fresh)
		vec.Runs(s.Run).Dot(dc, w.values[s.A], dz)
	}
}
