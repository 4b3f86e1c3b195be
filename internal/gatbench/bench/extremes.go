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
		{"copy_u_max", on, rowCost(one, none), prepareExtreme(sparse.MaxDense, keepMax)},
		{"copy_u_min", on, rowCost(one, none), prepareExtreme(sparse.MinDense, keepMin)},
	}
}

func prepareExtreme(f func(dst *tensor.Dense, arg []int32, a *sparse.CSR, x *tensor.Dense), keep func([]tensor.Float, []int32, []tensor.Float, int32)) func(*Graph, sparseShape) workload {
	return func(b *Graph, s sparseShape) workload {
		g := b.get()
		x, y := newOperand(g.NumSrc(), s.width()), tensor.New(g.NumDst(), s.width())
		arg := make([]int32, len(y.Data))
		rows, share := firstRows(g.In(), s.width())
		return workload{
			call: func() { f(y, arg, g.In(), x) }, walk: walk(g, x, walkParts),
			way: sparse.BestWay(g.In(), x).String(),
			plain: reference{share: share, call: func() {
				for i := range rows {
					plainExtreme(y.Row(i), arg[i*s.width():(i+1)*s.width()], g.In(), x, i, keep)
				}
			}},
			out: y,
		}
	}
}

// plainExtreme sets a row to the extremes over the edges into node i, and arg to their edges.
func plainExtreme(y []tensor.Float, arg []int32, a *sparse.CSR, x *tensor.Dense, i int, keep func(y []tensor.Float, arg []int32, x []tensor.Float, k int32)) {
	first, end := a.Offsets[i], a.Offsets[i+1]
	if first == end {
		clear(y)
		return
	}
	copy(y, x.Row(int(a.Cols[first])))
	for j := range arg {
		arg[j] = int32(first)
	}
	for k := first + 1; k < end; k++ {
		keep(y, arg, x.Row(int(a.Cols[k])), int32(k))
	}
}

func keepMax(y []tensor.Float, arg []int32, x []tensor.Float, k int32) {
	for j, v := range x {
		if v > y[j] {
			y[j], arg[j] = v, k
		}
	}
}

func keepMin(y []tensor.Float, arg []int32, x []tensor.Float, k int32) {
	for j, v := range x {
		if v < y[j] {
			y[j], arg[j] = v, k
		}
	}
}
