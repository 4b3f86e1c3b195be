package kernels

import (
	"gonum.org/v1/gonum/blas"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/tensor"
)

// gonumFlops is about how much of a product gonum is timed on: some 20 ms.
const gonumFlops = 1 << 29

// gonum is about a share of the product in gonum's own BLAS, which uses
// GOMAXPROCS threads whatever ours are: some of the rows of C or, where A is
// transposed, some of the steps of k.
func (p *matMul) gonum(share float64) bench.Reference {
	m, k := p.m, p.k
	a := general{Rows: m, Cols: k, Stride: k, Data: p.a.Data}
	transposed := blas.NoTrans
	if p.transpose == tensor.TransA {
		transposed = blas.Trans
		k = max(1, int(share*float64(k)))
		a, share = general{Rows: k, Cols: m, Stride: m, Data: p.a.Data}, float64(k)/float64(p.k)
	} else {
		m = max(1, int(share*float64(m)))
		a.Rows, share = m, float64(m)/float64(p.m)
	}
	b := general{Rows: k, Cols: p.n, Stride: p.n, Data: p.b.Data}
	c := general{Rows: m, Cols: p.n, Stride: p.n, Data: p.c.Data}
	return bench.Reference{Name: bench.Gonum, Share: share, Call: func() { gonumGemm(transposed, blas.NoTrans, 1, a, b, 0, c) }}
}

// vectorOf is x as gonum's BLAS has it.
func vectorOf(x []tensor.Float) strided { return strided{N: len(x), Inc: 1, Data: x} }
