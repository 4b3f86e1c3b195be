package sparse

import (
	"fmt"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// flipped is the structure of a transpose.
type flipped struct {
	t    *CSR // without values
	once sync.Once
	perm []int32
}

// order returns perm, which is not made before it is asked for where the transpose is the
// matrix itself.
func (f *flipped) order() []int32 {
	f.once.Do(func() {
		if f.perm == nil {
			f.perm, _ = sortByKey(f.t.NumRows, f.t.Cols)
		}
	})
	return f.perm
}

// Transpose returns the transpose of a: nonzero k of t is nonzero perm[k] of a.
// The nonzeros of a row of t are in the order they have in a, so sums over them
// run in the same order either way.
//
// The structure is computed once, and shared with what [CSR.WithValues] returns: t and perm must not be modified,
// and if a has no values t is the same matrix each time. Values are gathered by
// each call, since those of a may have changed.
func (a *CSR) Transpose() (t *CSR, perm []int32) {
	t, perm = a.structureT()
	if a.Values == nil {
		return t, perm
	}
	a.Settle()
	values := make([]tensor.Float, len(perm))
	pick(values, a.Values, perm)
	return t.WithValues(values), perm
}

// WithValues returns a matrix of a's structure with other values, one a nonzero;
// nil makes every element 1. The two share the structure of their transposes
// too, so that is computed once. It panics with a [*tensor.ShapeError] on
// another number of values.
func (a *CSR) WithValues(values []tensor.Float) *CSR {
	if values != nil && len(values) != a.NNZ() {
		panic(&tensor.ShapeError{Op: "sparse.WithValues", Shapes: [][]int{{len(values)}, a.Shape()}, Why: fmt.Sprintf("want %d values, one a nonzero", a.NNZ())})
	}
	return &CSR{Offsets: a.Offsets, Cols: a.Cols, Values: values, NumRows: a.NumRows, NumCols: a.NumCols, like: a.root()}
}

// root returns the matrix that keeps the transpose of a's structure.
func (a *CSR) root() *CSR {
	if a.like != nil {
		return a.like
	}
	return a
}

// turned reports whether the transpose has been computed.
func (a *CSR) turned() bool { return a.root().flip.Load() != nil }

// structureT is Transpose without values.
func (a *CSR) structureT() (t *CSR, perm []int32) {
	f := a.flipped()
	return f.t, f.order()
}

// flipped returns the structure of the transpose, which is made once.
func (a *CSR) flipped() *flipped {
	r := a.root()
	r.once.Do(func() { r.flip.Store(r.turn()) })
	return r.flip.Load()
}

// turn transposes the structure by a counting sort of the columns, unless it is known to be
// that of its transpose.
func (a *CSR) turn() *flipped {
	if a.whole != nil && a.whole.mirrored() {
		return &flipped{t: &CSR{Offsets: a.Offsets, Cols: a.Cols, NumRows: a.NumCols, NumCols: a.NumRows, whole: a.whole}}
	}
	s := keySort{keys: a.Cols, n: a.NumCols, rows: a.Offsets}
	s.sort()
	return &flipped{t: &CSR{Offsets: s.offsets, Cols: s.row, NumRows: a.NumCols, NumCols: a.NumRows}, perm: s.order}
}

// DiagonalOf says that a is made of square blocks of whole, each with all that is in its rows
// and in its columns there, side by side on the diagonal in any order: a batch of some graphs
// of many. Where whole is its own transpose so is a, and it need not be turned. It is said
// before anything is computed with a.
func (a *CSR) DiagonalOf(whole *CSR) {
	if whole != a { // of itself it says nothing
		a.whole = whole
	}
}

// mirrored reports whether the structure is that of the transpose, in the order of its
// nonzeros too.
func (a *CSR) mirrored() bool {
	r := a.root()
	r.mirror.Do(func() {
		if r.NumRows == r.NumCols {
			t := r.flipped().t
			r.mirrors = slices.Equal(t.Offsets, r.Offsets) && slices.Equal(t.Cols, r.Cols)
		}
	})
	return r.mirrors
}

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
