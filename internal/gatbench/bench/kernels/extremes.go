package kernels

import (
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// extremeKernels are the largest and the smallest of messages, with the edge
// that each came from, which a gradient needs.
func extremeKernels() []kernel {
	on := bench.At(1, 64, "arxiv")
	one := func(s bench.Shape) int { return s.Width() }
	none := func(bench.Shape) int { return 0 }
	return []kernel{
		{"copy_u_max", on, nil, rowCost(one, none), prepareExtreme(sparse.MaxDense, keepMax)},
		{"copy_u_min", on, nil, rowCost(one, none), prepareExtreme(sparse.MinDense, keepMin)},
	}
}

func prepareExtreme(f func(dst *tensor.Dense, arg []int32, a *sparse.CSR, x *tensor.Dense), keep func([]tensor.Float, []int32, []tensor.Float, int32)) func(*bench.Graph, bench.Shape) bench.Work {
	return func(b *bench.Graph, s bench.Shape) bench.Work {
		g := b.Get()
		x, y := bench.Operand(g.NumSrc(), s.Width()), tensor.New(g.NumDst(), s.Width())
		arg := make([]int32, len(y.Data))
		rows, share := firstRows(g.In(), s.Width())
		return bench.Work{
			Call: func() { f(y, arg, g.In(), x) }, Walk: bench.Walk(g, x),
			Way: sparse.BestWay(g.In(), x).String(),
			Plain: bench.Reference{Share: share, Call: func() {
				for i := range rows {
					plainExtreme(y.Row(i), arg[i*s.Width():(i+1)*s.Width()], g.In(), x, i, keep)
				}
			}},
			Out: y,
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
