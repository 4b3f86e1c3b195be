package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Dots are inner products sampled at the nonzeros of a matrix (SDDMM): the
// gradient of a [Product] with respect to its Weights. [Dots.Into] computes them.
type Dots struct {
	A   *CSR
	Add bool // they are added to what they go into, which is overwritten otherwise
}

// Into sets dst, for each nonzero and head, to the inner product of its column's
// row of x and its row's row of y, or with Add adds it. H is dst's row length:
//
//	dst[k,h] += ⟨x[Cols[k],h,:], y[i,h,:]⟩    for the nonzeros k of each row i
func (p Dots) Into(dst, x, y *tensor.Dense) {
	a := p.A
	given("sparse.Dots", a, dst, x, y)
	if x.Rows() != a.NumCols || y.Rows() != a.NumRows || x.RowLen() != y.RowLen() || !headed(a, dst, x) {
		panic(tensor.Mismatch("sparse.Dots", dst, a, x, y))
	}
	if x.RowLen() == 0 {
		if !p.Add {
			dst.Zero()
		}
		return
	}
	k := dotKernels.Get().(*dotKernel)
	k.EdgeDot = spmm.EdgeDot{Gather: a.gather(x), Y: y.Data, Z: dst.Data, Heads: dst.RowLen(), Set: !p.Add}
	k.Stream = passes(dst)
	if way := a.chosen(p.shape(dst.RowLen(), x.RowLen())); way != (Way{}) {
		k.z = scratch.Borrow(len(dst.Data))
		a.pass(way, x.Data, x.RowLen(), k)
		scratch.Repay(k.z)
	} else {
		a.run(x.RowLen(), k)
	}
	*k = dotKernel{}
	dotKernels.Put(k)
}

// dotKernel is Dots of some rows.
type dotKernel struct {
	spmm.EdgeDot
	z *[]tensor.Float // in the order of blocks
}

var dotKernels = sync.Pool{New: func() any { return new(dotKernel) }}

func (k *dotKernel) rows(lo, hi int) { k.AddRows(lo, hi) }

// begin puts what is added to in the order of the blocks.
func (k *dotKernel) begin(t *passTask, panel int) {
	if w := int64(k.Heads); !k.Set {
		t.each(t.a, panel, func(to, from, n int64) { copy((*k.z)[to*w:(to+n)*w], k.Z[from*w:]) })
	}
}

// end puts the products where they belong.
func (k *dotKernel) end(t *passTask, panel int) {
	w := int64(k.Heads)
	t.each(t.a, panel, func(from, to, n int64) { copy(k.Z[to*w:(to+n)*w], (*k.z)[from*w:]) })
}

func (k *dotKernel) block(t *passTask, panel, _ int, g spmm.Gather) {
	d := k.EdgeDot
	d.Gather, d.Y, d.Z, d.Stream = g, k.Y[t.bounds[panel]*t.f:], *k.z, false // they are read again soon
	d.AddRows(0, len(g.Offsets)-1)
}

// headed reports whether w has a row for each nonzero of a and as many heads as
// a row of x can be cut into.
func headed(a *CSR, w, x *tensor.Dense) bool {
	heads, f := w.RowLen(), x.RowLen()
	return w.Rows() == a.NNZ() && (f == 0 || heads > 0 && f%heads == 0)
}

// farFrom is the size of a table, in bytes, from which its rows are fetched
// ahead: it is beyond the second cache of a core.
const farFrom = 1 << 20

// passes reports whether a result that is set passes by the caches.
func passes(dst *tensor.Dense) bool { return len(dst.Data) >= cpu.StreamFrom }

// gather returns how a's nonzeros point at the rows of x.
func (a *CSR) gather(x *tensor.Dense) spmm.Gather {
	return spmm.Gather{X: x.Data, Offsets: a.Offsets, Cols: a.Cols, F: x.RowLen(), Far: 4*len(x.Data) > farFrom}
}
