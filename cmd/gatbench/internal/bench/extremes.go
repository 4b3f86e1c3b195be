package bench

import (
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// extremeKernels are the largest and the smallest of messages, with the edge
// that each came from, which a gradient needs.
func extremeKernels() []sparseKernel {
	on := []sparseCase{{"arxiv", sparseShape{1, 64}}}
	one := func(s sparseShape) int { return s.width() }
	none := func(sparseShape) int { return 0 }
	return []sparseKernel{
		{"copy_u_max", on, rowCost(one, none), prepareExtreme(sparse.MaxDense)},
		{"copy_u_min", on, rowCost(one, none), prepareExtreme(sparse.MinDense)},
	}
}

func prepareExtreme(f func(dst *tensor.Dense, arg []int32, a *sparse.CSR, x *tensor.Dense)) func(*Graph, sparseShape) workload {
	return func(b *Graph, s sparseShape) workload {
		g := b.get()
		x, y := newOperand(g.NumSrc(), s.width()), tensor.New(g.NumDst(), s.width())
		arg := make([]int32, len(y.Data))
		return workload{call: func() { f(y, arg, g.In(), x) }, walk: walk(g, x, walkParts)}
	}
}
