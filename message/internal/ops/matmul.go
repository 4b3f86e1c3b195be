package ops

import (
	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// matMul is the product of the last axis with a matrix, of all rows of a tile's messages at once.
// An element of the result is one sum in the order of the matrix's rows, and one of the matrix's
// gradient a sum in the order of the edges, however they come in tiles. K×Run is the matrix.
var matMul = Op{
	Name: "MatMul", Operands: 2, Whole: true, Sets: true,
	Shape: func(s *Step, x, w []int) string {
		s.K = x[len(x)-1]
		switch {
		case len(w) < 2 || w[0] != s.K:
			return "MatMul wants a matrix with a row for each element of the message's last axis"
		case len(x)+len(w)-2 > tensor.MaxAxes-1:
			return "the products of MatMul have too many axes"
		}
		s.Shape = append(append([]int(nil), x[:len(x)-1]...), w[1:]...)
		s.Run = tensor.Size(w[1:]...)
		return ""
	},
	Reads: func(_ *Step, operand int) Reads { return [2]Reads{0, First}[operand] },
	Forward: func(t *Tile) {
		p := gemm.Product{A: t.A, RS: t.K, CS: 1, B: t.B, LDB: t.Run, C: t.Y, LDC: t.Run, M: len(t.Y) / max(t.Run, 1), N: t.Run, K: t.K, Set: true}
		p.MulAdd()
	},
	Backward: func(t *Tile, operand int) {
		rows := len(t.DY) / max(t.Run, 1)
		p := gemm.Product{A: t.DY, RS: t.Run, CS: 1, B: t.Turned, LDB: t.K, C: t.DX, LDC: t.K, M: rows, N: t.K, K: t.Run, Set: t.Fresh}
		if operand == 1 {
			p = gemm.Product{A: t.A, RS: 1, CS: t.K, B: t.DY, LDB: t.Run, C: t.DX, LDC: t.Run, M: t.K, N: t.Run, K: rows}
		}
		p.MulAdd()
	},
	Turn: func(s *Step, to, from []tensor.Float) {
		for k := range s.K {
			for j, v := range from[k*s.Run : (k+1)*s.Run] {
				to[j*s.K+k] = v
			}
		}
	},
}
