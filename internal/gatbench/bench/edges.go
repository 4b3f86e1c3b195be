package bench

import (
	"math"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// edgeKernels have a result for each edge.
func edgeKernels() []sparseKernel {
	on := []sparseCase{{"pubmed", sparseShape{8, 8}}, {"arxiv", sparseShape{8, 8}}}
	return []sparseKernel{
		{"u_dot_v", on, dotCost, prepareUDotV},
		{"edge_softmax", on, softmaxCost(2, 23), prepareEdgeSoftmax},
		{"edge_softmax_both", on, softmaxCost(5, 27), prepareEdgeSoftmaxBoth},
	}
}

// dotCost is that of reading the rows of both ends and writing a number for each edge and head.
func dotCost(g *Graph, s sparseShape) (flops, bytes, gathered float64) {
	return costOfRows(g, s, g.targets, 2*s.width(), s.heads)
}

// softmaxCost is that of a kernel which passes over so many arrays of a number
// for each edge and head, with so many operations, 20 of them for the exponential.
func softmaxCost(arrays, each int) func(g *Graph, s sparseShape) (flops, bytes, gathered float64) {
	return func(g *Graph, s sparseShape) (flops, bytes, gathered float64) {
		return float64(each) * float64(g.edges*s.heads), float64(arrays*g.edges*s.heads*floatSize + 8*g.rows), 0
	}
}

func prepareUDotV(b *Graph, s sparseShape) workload {
	g := b.get()
	x, y := newOperand(g.NumSrc(), s.heads, s.dim), newOperand(g.NumDst(), s.heads, s.dim)
	z := tensor.New(g.NumEdges(), s.heads)
	rows, share := firstRows(g.In(), s.width())
	return workload{
		call: func() { sparse.Dots{A: g.In()}.Into(z, x, y) },
		way:  sparse.Dots{A: g.In()}.Way(x, s.heads).String(),
		walk: walk(g, x, walkParts),
		plain: reference{share: share, call: func() {
			for v := range rows {
				for k := g.In().Offsets[v]; k < g.In().Offsets[v+1]; k++ {
					plainDots(z.Row(int(k)), x.Row(int(g.In().Cols[k])), y.Row(v), s.dim)
				}
			}
		}},
		rival: reference{name: gonumName, share: share, call: func() { gonumDots(g.In(), rows, z, x, y, s) }},
		out:   z,
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

// gonumDots is the inner products of the first rows by gonum: a call of its Dot for each
// edge and head, on one thread.
func gonumDots(a *sparse.CSR, rows int, z, x, y *tensor.Dense, s sparseShape) {
	for v := range rows {
		to := y.Row(v)
		for k := a.Offsets[v]; k < a.Offsets[v+1]; k++ {
			from, d := x.Row(int(a.Cols[k])), s.dim
			for h := range z.Row(int(k)) {
				z.Row(int(k))[h] = gonumDot(vectorOf(from[h*d:(h+1)*d]), vectorOf(to[h*d:(h+1)*d]))
			}
		}
	}
}

func prepareEdgeSoftmax(b *Graph, s sparseShape) workload {
	g := b.get()
	x, y := newOperand(g.NumEdges(), s.heads), tensor.New(g.NumEdges(), s.heads)
	return workload{
		call:  func() { sparse.Softmax{A: g.In()}.Into(y, x) },
		plain: plainSoftmax(g.In(), x, y),
		out:   y,
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
	forward := plainSoftmax(g.In(), x, y)
	rows, _ := firstRows(g.In(), 32*s.heads) // those of forward
	return workload{
		call: func() {
			sparse.Softmax{A: g.In()}.Into(y, x)
			sparse.Softmax{A: g.In()}.Grad(dx, y, dy)
		},
		plain: reference{share: forward.share, call: func() {
			forward.call()
			plainSoftmaxGrad(g.In(), rows, dx, y, dy)
		}},
		out: dx,
	}
}

// plainSoftmaxGrad is the gradient of the softmax as loops, over the first rows.
func plainSoftmaxGrad(a *sparse.CSR, rows int, dx, y, dy *tensor.Dense) {
	for i := range rows {
		for h := range y.RowLen() {
			sum := tensor.Float(0)
			for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
				sum += y.Row(int(k))[h] * dy.Row(int(k))[h]
			}
			for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
				dx.Row(int(k))[h] = y.Row(int(k))[h] * (dy.Row(int(k))[h] - sum)
			}
		}
	}
}
