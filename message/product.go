package message

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A product with a matrix takes all rows of a tile's messages at once. The matrix
// is read where it stands. An element of the result is one sum in the order of the
// matrix's rows, and one of the matrix's gradient a sum in the order of the edges,
// however they come in tiles.

// placeMatMul checks that the last axis of a message fits a matrix.
func (c *compiler) placeMatMul(s *step, n *node) {
	s.a, s.ends.w = c.compile(n.a), c.compile(n.b)
	x, w := c.steps[s.a].shape, c.steps[s.ends.w].shape
	s.k = x[len(x)-1]
	bad := func(why string) {
		panic(&tensor.ShapeError{Op: c.op, Shapes: [][]int{x, w}, Why: why})
	}
	switch {
	case len(w) < 2 || w[0] != s.k:
		bad("MatMul wants a matrix with a row for each element of the message's last axis")
	case len(x)+len(w)-2 > tensor.MaxAxes-1:
		bad("the products of MatMul have too many axes")
	}
	s.shape = append(slices.Clone(x[:len(x)-1]), w[1:]...)
	s.run = tensor.Size(w[1:]...)
	if s.needs = c.steps[s.ends.w].needs; c.steps[s.a].needs {
		s.turn = c.turn
		c.turn += s.k * s.run
	}
}

// multiply computes a product with a matrix on a tile.
func (w *worker) multiply(s *step, y []tensor.Float) {
	p := simd.Product{A: w.vals[s.a], RS: s.k, CS: 1, B: w.array(s.ends.w), LDB: s.run, C: y, LDC: s.run, M: len(y) / max(s.run, 1), N: s.run, K: s.k, Set: true}
	p.MulAdd()
}

// turnMatrices turns the matrices that gradients of messages are multiplied with.
func (r *run) turnMatrices() {
	if r.turn == 0 {
		return
	}
	r.turned = resize(r.turned, r.turn)
	for i := range r.steps {
		s := &r.steps[i]
		if s.kind != matMul || !r.steps[s.a].needs {
			continue
		}
		to, from := r.turned[s.turn:s.turn+s.k*s.run], r.data[r.steps[s.ends.w].leaf]
		for k := range s.k {
			for j, v := range from[k*s.run : (k+1)*s.run] {
				to[j*s.k+k] = v
			}
		}
	}
}

// pullMultiply is the gradient of multiply.
func (w *worker) pullMultiply(s *step, dy []tensor.Float) {
	rows := len(dy) / max(s.run, 1)
	if w.pass != nil && w.steps[s.ends.w].needs {
		p := simd.Product{A: w.vals[s.a], RS: 1, CS: s.k, B: dy, LDB: s.run, C: w.toSum(s.ends.w), LDC: s.run, M: s.k, N: s.run, K: rows}
		p.MulAdd()
	}
	if w.steps[s.a].needs {
		dx, fresh := w.into(s.a)
		p := simd.Product{A: dy, RS: s.run, CS: 1, B: w.turned[s.turn:], LDB: s.k, C: dx, LDC: s.k, M: rows, N: s.k, K: s.run, Set: fresh}
		p.MulAdd()
	}
}
