package exec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A product with a matrix takes all rows of a tile's messages at once. The matrix
// is read where it stands. An element of the result is one sum in the order of the
// matrix's rows, and one of the matrix's gradient a sum in the order of the edges,
// however they come in tiles.

// multiply computes a product with a matrix on a tile.
func (w *worker) multiply(s *plan.Step, y []tensor.Float) {
	p := gemm.Product{A: w.values[s.A], RS: s.K, CS: 1, B: w.array(s.Near.W), LDB: s.Run, C: y, LDC: s.Run, M: len(y) / max(s.Run, 1), N: s.Run, K: s.K, Set: true}
	p.MulAdd()
}

// turnMatrices turns the matrices that gradients of messages are multiplied with.
func (p *pass) turnMatrices() {
	if p.plan.TurnWidth == 0 {
		return
	}
	p.turned = resize(p.turned, p.plan.TurnWidth)
	for i := range p.plan.Steps {
		s := &p.plan.Steps[i]
		if s.Kind != ir.MatMul || !p.plan.Steps[s.A].Needs {
			continue
		}
		to, from := p.turned[s.Turned:s.Turned+s.K*s.Run], p.data[p.plan.Steps[s.Near.W].Var]
		for k := range s.K {
			for j, v := range from[k*s.Run : (k+1)*s.Run] {
				to[j*s.K+k] = v
			}
		}
	}
}

// pullMultiply is the gradient of multiply.
func (w *worker) pullMultiply(s *plan.Step, dy []tensor.Float) {
	rows := len(dy) / max(s.Run, 1)
	if w.window != nil && w.plan.Steps[s.Near.W].Needs {
		p := gemm.Product{A: w.values[s.A], RS: 1, CS: s.K, B: dy, LDB: s.Run, C: w.toSum(s.Near.W), LDC: s.Run, M: s.K, N: s.Run, K: rows}
		p.MulAdd()
	}
	if w.plan.Steps[s.A].Needs {
		dx, fresh := w.gradOf(s.A)
		p := gemm.Product{A: dy, RS: s.Run, CS: 1, B: w.pass.turned[s.Turned:], LDB: s.K, C: dx, LDC: s.K, M: rows, N: s.K, K: s.Run, Set: fresh}
		p.MulAdd()
	}
}
