package bench

import (
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sumKernels are sums of messages.
func sumKernels() []sparseKernel {
	one := func(s sparseShape) int { return s.width() }
	two := func(s sparseShape) int { return 2 * s.width() }
	none := func(sparseShape) int { return 0 }
	heads := func(s sparseShape) int { return s.heads }
	widths := []sparseCase{
		{"cora", sparseShape{1, 64}}, {"pubmed", sparseShape{1, 64}}, {"arxiv", sparseShape{1, 64}},
		{"arxiv", sparseShape{1, 128}}, {"reddit-tenth", sparseShape{1, 64}},
	}
	return []sparseKernel{
		{"copy_u_sum", widths, rowCost(one, none), prepareCopyUSum},
		{"copy_u_mean", []sparseCase{{"arxiv", sparseShape{1, 64}}}, rowCost(one, none), prepareCopyUMean},
		{"u_mul_e_sum", []sparseCase{
			{"pubmed", sparseShape{8, 8}}, {"arxiv", sparseShape{8, 8}}, {"arxiv", sparseShape{1, 128}},
		}, rowCost(two, heads), prepareUMulESum},
	}
}

func prepareCopyUSum(b *Graph, s sparseShape) workload {
	g := b.get()
	x, y := newOperand(g.NumSrc(), s.width()), tensor.New(g.NumDst(), s.width())
	return workload{
		call:  func() { sparse.Product{A: g.In()}.Into(y, x) },
		walk:  walk(g, x, walkParts),
		plain: plainSum(g.In(), x, y, nil, s),
	}
}

func prepareCopyUMean(b *Graph, s sparseShape) workload {
	g := b.get()
	x, y := newOperand(g.NumSrc(), s.width()), tensor.New(g.NumDst(), s.width())
	return workload{
		call: func() { sparse.Product{A: g.In(), Mean: true}.Into(y, x) },
		walk: walk(g, x, walkParts),
	}
}

func prepareUMulESum(b *Graph, s sparseShape) workload {
	g := b.get()
	x, y := newOperand(g.NumSrc(), s.heads, s.dim), tensor.New(g.NumDst(), s.heads, s.dim)
	w := newOperand(g.NumEdges(), s.heads)
	return workload{
		call:  func() { sparse.Product{A: g.In(), Weights: w}.Into(y, x) },
		walk:  walk(g, x, walkParts),
		plain: plainSum(g.In(), x, y, w, s),
	}
}

// plainSum is the sum as loops, over the first rows with about plainFlops.
func plainSum(a *sparse.CSR, x, y, w *tensor.Dense, s sparseShape) reference {
	rows, share := firstRows(a, s.width())
	return reference{share: share, call: func() {
		for i := range rows {
			to := y.Row(i)
			clear(to)
			for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
				from := x.Row(int(a.Cols[k]))
				if w == nil {
					addScaled(to, from, 1)
					continue
				}
				for h, c := range w.Row(int(k)) {
					addScaled(to[h*s.dim:(h+1)*s.dim], from[h*s.dim:(h+1)*s.dim], c)
				}
			}
		}
	}}
}

// firstRows returns how many rows of a have about plainFlops of work, if a
// nonzero has that of width elements, and their share of all.
func firstRows(a *sparse.CSR, width int) (rows int, share float64) {
	for rows < a.NumRows && float64(a.Offsets[rows])*float64(2*width) < plainFlops {
		rows++
	}
	return rows, float64(a.Offsets[rows]) / float64(max(a.NNZ(), 1))
}
