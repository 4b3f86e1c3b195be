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
			{"arxiv", sparseShape{1, 64}},
		}, rowCost(two, heads), prepareUMulESum},
	}
}

func prepareCopyUSum(b *Graph, s sparseShape) workload {
	g := b.get()
	x, y := newOperand(g.NumSrc(), s.width()), tensor.New(g.NumDst(), s.width())
	sum := edgeSum{a: g.In(), x: x, y: y, shape: s}
	return workload{
		call:  func() { sparse.Product{A: g.In()}.Into(y, x) },
		way:   sparse.Product{A: g.In()}.Way(x).String(),
		walk:  walk(g, x, walkParts),
		plain: sum.plain(), rival: sum.gonum(), out: y,
	}
}

func prepareCopyUMean(b *Graph, s sparseShape) workload {
	g := b.get()
	x, y := newOperand(g.NumSrc(), s.width()), tensor.New(g.NumDst(), s.width())
	sum := edgeSum{a: g.In(), x: x, y: y, shape: s, mean: true}
	return workload{
		call:  func() { sparse.Product{A: g.In(), Mean: true}.Into(y, x) },
		way:   sparse.Product{A: g.In(), Mean: true}.Way(x).String(),
		walk:  walk(g, x, walkParts),
		plain: sum.plain(), rival: sum.gonum(), out: y,
	}
}

func prepareUMulESum(b *Graph, s sparseShape) workload {
	g := b.get()
	x, y := newOperand(g.NumSrc(), s.heads, s.dim), tensor.New(g.NumDst(), s.heads, s.dim)
	w := newOperand(g.NumEdges(), s.heads)
	for k, v := range b.weights { // a matrix of one's own: every head has its values
		for h := range w.Row(k) {
			w.Row(k)[h] = v
		}
	}
	sum := edgeSum{a: g.In(), x: x, y: y, w: w, shape: s}
	return workload{
		call:  func() { sparse.Product{A: g.In(), Weights: w}.Into(y, x) },
		way:   sparse.Product{A: g.In(), Weights: w}.Way(x).String(),
		walk:  walk(g, x, walkParts),
		plain: sum.plain(), rival: sum.gonum(), out: y,
	}
}

// edgeSum is a sum of the rows of x into those of y, over the edges of a.
type edgeSum struct {
	a       *sparse.CSR
	x, y, w *tensor.Dense // of w a number an edge and head; nil: 1
	shape   sparseShape
	mean    bool
}

// plain is the sum as loops, over the first rows with about plainFlops.
func (e edgeSum) plain() reference {
	rows, share := firstRows(e.a, e.shape.width())
	return reference{share: share, call: func() {
		for i := range rows {
			to, d := e.y.Row(i), e.shape.dim
			clear(to)
			for k := e.a.Offsets[i]; k < e.a.Offsets[i+1]; k++ {
				from := e.x.Row(int(e.a.Cols[k]))
				if e.w == nil {
					addScaled(to, from, 1)
					continue
				}
				for h, c := range e.w.Row(int(k)) {
					addScaled(to[h*d:(h+1)*d], from[h*d:(h+1)*d], c)
				}
			}
			if n := e.a.Offsets[i+1] - e.a.Offsets[i]; e.mean && n > 0 {
				for j := range to {
					to[j] /= tensor.Float(n)
				}
			}
		}
	}}
}

// gonum is the same rows by gonum, which has no sparse matrices: a loop that calls the
// Axpy of its BLAS for each edge and head, on one thread.
func (e edgeSum) gonum() reference {
	rows, share := firstRows(e.a, e.shape.width())
	return reference{name: gonumName, share: share, call: func() {
		for i := range rows {
			to, d := e.y.Row(i), e.shape.dim
			clear(to)
			for k := e.a.Offsets[i]; k < e.a.Offsets[i+1]; k++ {
				from := e.x.Row(int(e.a.Cols[k]))
				if e.w == nil {
					gonumAxpy(1, vectorOf(from), vectorOf(to))
					continue
				}
				for h, c := range e.w.Row(int(k)) {
					gonumAxpy(c, vectorOf(from[h*d:(h+1)*d]), vectorOf(to[h*d:(h+1)*d]))
				}
			}
			if n := e.a.Offsets[i+1] - e.a.Offsets[i]; e.mean && n > 0 {
				gonumScal(1/tensor.Float(n), vectorOf(to))
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
