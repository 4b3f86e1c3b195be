package kernels

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// edgeKernels have a result for each edge.
func edgeKernels() []kernel {
	on := bench.At(8, 8, "pubmed", "arxiv")
	return []kernel{
		{"u_dot_v", on, wideSweep, dotCost, prepareUDotV},
		{"edge_softmax", on, headSweep, softmaxCost(2, 23), prepareEdgeSoftmax},
		{"edge_softmax_both", on, nil, softmaxCost(5, 27), prepareEdgeSoftmaxBoth},
	}
}

// dotCost is that of reading the rows of both ends and writing a number for each edge and head.
func dotCost(g *bench.Graph, s bench.Shape) (flops, bytes, gathered float64) {
	return costOfRows(g, s, g.Targets, 2*s.Width(), s.Heads)
}

// softmaxCost is that of a kernel which passes over so many arrays of a number
// for each edge and head, with so many operations, 20 of them for the exponential.
func softmaxCost(arrays, each int) func(g *bench.Graph, s bench.Shape) (flops, bytes, gathered float64) {
	return func(g *bench.Graph, s bench.Shape) (flops, bytes, gathered float64) {
		return float64(each) * float64(g.Edges*s.Heads), float64(arrays*g.Edges*s.Heads*bench.FloatSize + 8*g.Rows), 0
	}
}

func prepareUDotV(b *bench.Graph, s bench.Shape) bench.Work {
	g := b.Get()
	x, y := bench.Operand(g.NumSrc(), s.Heads, s.Dim), bench.Operand(g.NumDst(), s.Heads, s.Dim)
	z := tensor.New(g.NumEdges(), s.Heads)
	rows, share := firstRows(g.In(), s.Width())
	return bench.Work{
		Call: func() { sparse.Dots{A: g.In()}.Into(z, x, y) },
		Way:  sparse.Dots{A: g.In()}.Way(x, s.Heads).String(),
		Walk: bench.Walk(g, x),
		Plain: bench.Reference{Share: share, Call: func() {
			for v := range rows {
				for k := g.In().Offsets[v]; k < g.In().Offsets[v+1]; k++ {
					plainDots(z.Row(int(k)), x.Row(int(g.In().Cols[k])), y.Row(v), s.Dim)
				}
			}
		}},
		Rival: bench.Reference{Name: bench.Gonum, Share: share, Call: func() { gonumDots(g.In(), rows, z, x, y, s) }},
		Out:   z,
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
func gonumDots(a *sparse.CSR, rows int, z, x, y *tensor.Dense, s bench.Shape) {
	for v := range rows {
		to := y.Row(v)
		for k := a.Offsets[v]; k < a.Offsets[v+1]; k++ {
			from, d := x.Row(int(a.Cols[k])), s.Dim
			for h := range z.Row(int(k)) {
				z.Row(int(k))[h] = gonumDot(vectorOf(from[h*d:(h+1)*d]), vectorOf(to[h*d:(h+1)*d]))
			}
		}
	}
}

func prepareEdgeSoftmax(b *bench.Graph, s bench.Shape) bench.Work {
	g := b.Get()
	x, y := bench.Operand(g.NumEdges(), s.Heads), tensor.New(g.NumEdges(), s.Heads)
	return bench.Work{
		Call:  func() { sparse.Softmax{A: g.In()}.Into(y, x) },
		Plain: plainSoftmax(g.In(), x, y),
		Out:   y,
	}
}

// plainSoftmax is the softmax as loops with math.Exp, over the first rows.
func plainSoftmax(a *sparse.CSR, x, y *tensor.Dense) bench.Reference {
	heads := x.RowLen()
	rows, share := firstRows(a, 32*heads) // an exponential is as slow as that many products
	return bench.Reference{Share: share, Call: func() {
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

func prepareEdgeSoftmaxBoth(b *bench.Graph, s bench.Shape) bench.Work {
	g := b.Get()
	x, y := bench.Operand(g.NumEdges(), s.Heads), tensor.New(g.NumEdges(), s.Heads)
	dy, dx := bench.Operand(g.NumEdges(), s.Heads), tensor.New(g.NumEdges(), s.Heads)
	forward := plainSoftmax(g.In(), x, y)
	rows, _ := firstRows(g.In(), 32*s.Heads) // those of forward
	return bench.Work{
		Call: func() {
			sparse.Softmax{A: g.In()}.Into(y, x)
			sparse.Softmax{A: g.In()}.Grad(dx, y, dy)
		},
		Plain: bench.Reference{Share: forward.Share, Call: func() {
			forward.Call()
			plainSoftmaxGrad(g.In(), rows, dx, y, dy)
		}},
		Out: dx,
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
