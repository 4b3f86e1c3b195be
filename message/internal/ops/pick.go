package ops

import "github.com/edgewise-ml/edgewise/internal/simd/vec"

// pick is the row of the edge's kind, of messages with a row for each kind. Of a leaf the row is read
// where it stands, by package exec.
var pick = Op{
	Name: "Pick", Operands: 1, Extra: Choice,
	Shape: func(s *Step, x, _ []int) string {
		if s.Shape = x[1:]; len(s.Shape) == 0 {
			s.Shape = []int{1}
		}
		return ""
	},
	Forward: func(t *Tile) {
		n := t.Width
		for e, k := range t.Rows {
			at := e*t.From + int(k)*n
			copy(t.Y[e*n:(e+1)*n], t.A[at:at+n])
		}
	},
	Backward: func(t *Tile, _ int) {
		n := t.Width
		for e, k := range t.Rows {
			dx := t.DX[e*t.From+int(k)*n:][:n]
			vec.Add.Forward(dx, dx, t.DY[e*n:(e+1)*n], 1, 1)
		}
	},
}
