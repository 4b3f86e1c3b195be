package sparse

import (
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// scatterOnceRoom is how large, in elements, the rows of all nonzeros may be, and the result:
// beyond it to turn the structure on many threads is cheaper.
const scatterOnceRoom = 1 << 20

// scattersOnce reports whether this is the first product with the transpose of its structure, and
// cheaper by a's rows. To turn a structure takes longer than two such products, and pairs that are
// drawn anew each step have only one. The second one turns it.
func (p Product) scattersOnce(dst *tensor.Dense) bool {
	f := dst.RowLen()
	return p.Weights != nil && p.Weights.RowLen() == 1 && (f == 8 || f == 16 || f == spmm.SpillWidth) &&
		p.A.NNZ()*f <= scatterOnceRoom && len(dst.Data) <= scatterOnceRoom &&
		!p.A.turned() && !p.A.root().met.Swap(true)
}

// scatterOnce is runT by a's rows, on one thread: each may add to any row of dst.
func (p Product) scatterOnce(dst, x *tensor.Dense) {
	if !p.Add {
		dst.Zero()
	}
	f := dst.RowLen()
	s := spmm.Spill{Y: dst.Data, X: x.Data, YStride: f, XStride: f, Width: f, Cols: p.A.Cols, W: p.Weights.Data, Offsets: p.A.Offsets}
	s.Add()
}
