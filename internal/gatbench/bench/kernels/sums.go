package kernels

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sumKernels are sums of messages.
func sumKernels() []kernel {
	one := func(s bench.Shape) int { return s.Width() }
	two := func(s bench.Shape) int { return 2 * s.Width() }
	none := func(bench.Shape) int { return 0 }
	heads := func(s bench.Shape) int { return s.Heads }
	return []kernel{
		{"copy_u_sum", slices.Concat(
			bench.At(1, 64, "cora", "pubmed", "arxiv"), bench.At(1, 128, "arxiv"), bench.At(1, 64, "reddit-tenth"),
		), wideSweep, rowCost(one, none), prepareSum(false)},
		{"copy_u_mean", bench.At(1, 64, "arxiv"), nil, rowCost(one, none), prepareSum(true)},
		{"u_mul_e_sum", slices.Concat(
			bench.At(8, 8, "pubmed", "arxiv"), bench.At(1, 128, "arxiv"), bench.At(1, 64, "arxiv"),
		), wideSweep, rowCost(two, heads), prepareUMulESum},
	}
}

// prepareSum is a product of the matrix of the graph with rows: their sums, or means.
func prepareSum(mean bool) func(*bench.Graph, bench.Shape) bench.Work {
	return func(b *bench.Graph, s bench.Shape) bench.Work {
		a := b.Get().In()
		return edgeSum{
			a: a, x: bench.Operand(a.NumCols, s.Width()), y: tensor.New(a.NumRows, s.Width()), shape: s, mean: mean,
		}.workload(b)
	}
}

// prepareUMulESum has a number for each edge and head.
func prepareUMulESum(b *bench.Graph, s bench.Shape) bench.Work {
	a := b.Get().In()
	w := bench.Operand(a.NNZ(), s.Heads)
	for k, v := range b.Weights { // a matrix of one's own: every head has its values
		for h := range w.Row(k) {
			w.Row(k)[h] = v
		}
	}
	return edgeSum{a: a, x: bench.Operand(a.NumCols, s.Heads, s.Dim), y: tensor.New(a.NumRows, s.Heads, s.Dim), w: w, shape: s}.workload(b)
}

// edgeSum is a sum of the rows of x into those of y, over the edges of a.
type edgeSum struct {
	a       *sparse.CSR
	x, y, w *tensor.Dense // of w a number an edge and head; nil: 1
	shape   bench.Shape
	mean    bool
}

// workload is the sum as a product.
func (e edgeSum) workload(b *bench.Graph) bench.Work {
	p := sparse.Product{A: e.a, Weights: e.w, Mean: e.mean}
	return bench.Work{
		Call: func() { p.Into(e.y, e.x) }, Way: p.Way(e.x).String(), Walk: bench.Walk(b.Get(), e.x),
		Plain: e.plain(), Rival: e.gonum(), Out: e.y,
	}
}

// plain is the sum as loops, over the first rows with about plainFlops.
func (e edgeSum) plain() bench.Reference {
	rows, share := firstRows(e.a, e.shape.Width())
	return bench.Reference{Share: share, Call: func() {
		for i := range rows {
			to, d := e.y.Row(i), e.shape.Dim
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
func (e edgeSum) gonum() bench.Reference {
	rows, share := firstRows(e.a, e.shape.Width())
	return bench.Reference{Name: bench.Gonum, Share: share, Call: func() {
		for i := range rows {
			to, d := e.y.Row(i), e.shape.Dim
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
