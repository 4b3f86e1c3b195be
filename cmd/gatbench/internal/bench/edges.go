package bench

import (
	"math"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// edgeKernels have a result for each edge.
func edgeKernels() []sparseKernel {
	heads := func(s sparseShape) int { return s.heads }
	// twice a row: of the source and, from the cache, of the destination
	two := func(s sparseShape) int { return 2 * s.width() }
	on := []sparseCase{{"pubmed", sparseShape{8, 8}}, {"arxiv", sparseShape{8, 8}}}
	return []sparseKernel{
		{"u_dot_v", on, rowCost(two, heads), prepareUDotV},
		{"edge_softmax", on, softmaxCost(2), prepareEdgeSoftmax},
		{"edge_softmax_both", on, softmaxCost(5), prepareEdgeSoftmaxBoth},
	}
}

// softmaxCost is that of a kernel which passes over so many arrays of a number
// for each edge and head.
func softmaxCost(arrays int) func(g *Graph, s sparseShape) (flops, bytes, gathered float64) {
	return func(g *Graph, s sparseShape) (flops, bytes, gathered float64) {
		return 0, float64(arrays*g.edges*s.heads*floatSize + 8*g.nodes), 0
	}
}

func prepareUDotV(b *Graph, s sparseShape) workload {
	g := b.get()
	x, y := newOperand(g.NumSrc(), s.heads, s.dim), newOperand(g.NumDst(), s.heads, s.dim)
	z := tensor.New(g.NumEdges(), s.heads)
	rows, share := firstRows(g.In(), s.width())
	return workload{
		call: func() { sparse.Dots{A: g.In()}.Into(z, x, y) },
		walk: walk(g, x, walkParts),
		plain: reference{share: share, call: func() {
			for v := range rows {
				for k := g.In().Offsets[v]; k < g.In().Offsets[v+1]; k++ {
					plainDots(z.Row(int(k)), x.Row(int(g.In().Cols[k])), y.Row(v), s.dim)
				}
			}
		}},
	}
}

// plainDots sets each element of z to the inner product of a head.
func plainDots(z, x, y []tensor.Float, dim int) {
	for h := range z {
		sum := tensor.Float(0)
		for i, v := range x[h*dim : (h+1)*dim] {
			sum += v * y[h*dim+i]
		}
		z[h] = sum
	}
}

func prepareEdgeSoftmax(b *Graph, s sparseShape) workload {
	g := b.get()
	x, y := newOperand(g.NumEdges(), s.heads), tensor.New(g.NumEdges(), s.heads)
	return workload{
		call:  func() { sparse.Softmax{A: g.In()}.Into(y, x) },
		plain: plainSoftmax(g.In(), x, y),
	}
}

// plainSoftmax is the softmax as loops with math.Exp, over the first rows.
func plainSoftmax(a *sparse.CSR, x, y *tensor.Dense) reference {
	heads := x.RowLen()
	rows, share := firstRows(a, 32*heads) // an exponential is as slow as that many products
	return reference{share: share, call: func() {
		for i := range rows {
			for h := range heads {
				top, sum := math.Inf(-1), 0.0
				for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
					top = max(top, float64(x.Row(int(k))[h]))
				}
				for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
					e := math.Exp(float64(x.Row(int(k))[h]) - top)
					sum += e
					y.Row(int(k))[h] = tensor.Float(e)
				}
				for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
					y.Row(int(k))[h] /= tensor.Float(sum)
				}
			}
		}
	}}
}

func prepareEdgeSoftmaxBoth(b *Graph, s sparseShape) workload {
	g := b.get()
	x, y := newOperand(g.NumEdges(), s.heads), tensor.New(g.NumEdges(), s.heads)
	dy, dx := newOperand(g.NumEdges(), s.heads), tensor.New(g.NumEdges(), s.heads)
	return workload{call: func() {
		sparse.Softmax{A: g.In()}.Into(y, x)
		sparse.Softmax{A: g.In()}.Grad(dx, y, dy)
	}}
}
