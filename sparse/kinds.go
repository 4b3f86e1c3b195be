package sparse

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Kinds is a matrix of ones whose nonzeros are of several kinds, as the edges of a
// relational graph are, for products in which each kind has a matrix of its own:
//
//	y[i,:] = Σ_c of_k(x[Cols[k],:])·W_c    for the nonzeros k of row i of kind c
//
// where of is the sum or, with a mean, the mean of the nonzeros of a row and a kind. The
// rows of one kind are added up before they are multiplied, in [Kinds.Grad] those of one
// column, some hundred at a time, so that none of these sums is ever stored.
//
// A Kinds may be used by any number of goroutines at once.
type Kinds struct {
	rows    *kindTiles
	columns func() *kindTiles // of the transpose, made when first asked for
}

// NewKinds returns the matrix of a's structure whose nonzero k has kind kinds[k], from 0
// up to n. It panics with a [*tensor.ShapeError] where the list does not fit.
func NewKinds(a *CSR, kinds []int32, n int, mean bool) *Kinds {
	given("sparse.NewKinds", a)
	if len(kinds) != a.NNZ() || len(kinds) > 0 && (slices.Min(kinds) < 0 || int(slices.Max(kinds)) >= n) {
		panic(&tensor.ShapeError{Op: "sparse.NewKinds", Shapes: [][]int{{len(kinds)}, {n}, a.Shape()}, Why: "want a kind for each nonzero, from 0 up to their number"})
	}
	k := &Kinds{rows: newKindTiles(a, kinds, nil, n)}
	k.rows.mean = mean
	k.columns = sync.OnceValue(func() *kindTiles {
		var shares []tensor.Float
		t, perm := a.structureT()
		if mean {
			shares = picked(kindShares(a, kinds, n), perm)
		}
		return newKindTiles(t, picked(kinds, perm), shares, n)
	})
	return k
}

// picked returns the elements of x that perm names.
func picked[T any](x []T, perm []int32) []T {
	y := make([]T, len(perm))
	for i, k := range perm {
		y[i] = x[k]
	}
	return y
}

// kindShares returns for each nonzero 1/n, where n is how many of its kind its row has.
func kindShares(a *CSR, kinds []int32, n int) []tensor.Float {
	shares, count := make([]tensor.Float, len(kinds)), make([]int, n)
	for i := range a.NumRows {
		lo, hi := a.Offsets[i], a.Offsets[i+1]
		for _, c := range kinds[lo:hi] {
			count[c]++
		}
		for k := lo; k < hi; k++ {
			shares[k] = 1 / tensor.Float(count[kinds[k]])
		}
		for _, c := range kinds[lo:hi] {
			count[c] = 0
		}
	}
	return shares
}

// kindTiles are the rows of a matrix in tiles, whose nonzeros are in the order of their
// kinds: what a row has of a kind is a row of csr.
type kindTiles struct {
	csr    *CSR    // tile by tile, in a tile kind by kind, of each the rows in order
	of     []int32 // of each row of csr: the row of the matrix
	starts []int32 // of each kind of each tile: its first row of csr; and the end
	bounds []int   // of each tile: its first row of the matrix; and the end
	n      int     // kinds
	most   int     // rows of csr that a tile has of a kind, at most
	mean   bool    // a row of csr is divided by the number of its nonzeros
}

// A tile has about so many rows of csr, and nonzeros: the rows of the result that it is
// added to stay in the second cache, and there are enough of a kind for a product.
const (
	kindTileRows  = 2048
	kindTileEdges = 1 << 15
)

// newKindTiles arranges the nonzeros of a, which have these kinds and values, ones if nil.
func newKindTiles(a *CSR, kinds []int32, values []tensor.Float, n int) *kindTiles {
	t := &kindTiles{csr: &CSR{Offsets: []int64{0}, Cols: make([]int32, len(kinds)), NumCols: a.NumCols}, n: n}
	if values != nil {
		t.csr.Values = make([]tensor.Float, len(kinds))
	}
	t.cut(a, kinds)
	at, rows := make([]int, n+1), []int32(nil)
	for i, lo := range t.bounds[:len(t.bounds)-1] {
		first, end := int(a.Offsets[lo]), int(a.Offsets[t.bounds[i+1]])
		clear(at)
		for _, c := range kinds[first:end] {
			at[c+1]++
		}
		for c := range n {
			at[c+1] += at[c]
		}
		rows = slices.Grow(rows[:0], end-first)[:end-first]
		for row := lo; row < t.bounds[i+1]; row++ {
			for k := a.Offsets[row]; k < a.Offsets[row+1]; k++ {
				to := at[kinds[k]]
				at[kinds[k]]++ // in the end the first of the next kind
				rows[to], t.csr.Cols[first+to] = int32(row), a.Cols[k]
				if values != nil {
					t.csr.Values[first+to] = values[k]
				}
			}
		}
		t.end(rows, at[:n], first)
	}
	t.starts = append(t.starts, int32(len(t.of)))
	t.csr.NumRows = len(t.of)
	return t
}

// cut chooses the tiles.
func (t *kindTiles) cut(a *CSR, kinds []int32) {
	seen := make([]int, t.n) // in row seen−1
	sums, first := 0, 0
	t.bounds = append(t.bounds, 0)
	for i := range a.NumRows {
		of := 0
		for _, c := range kinds[a.Offsets[i]:a.Offsets[i+1]] {
			if seen[c] != i+1 {
				seen[c] = i + 1
				of++
			}
		}
		if i > first && (sums+of > kindTileRows || i-first >= kindTileRows || a.Offsets[i+1]-a.Offsets[first] > kindTileEdges) {
			t.bounds = append(t.bounds, i)
			sums, first = 0, i
		}
		sums += of
	}
	t.bounds = append(t.bounds, a.NumRows)
}

// end adds the rows of csr of a tile, from the rows of its nonzeros, of which those of
// each kind go up to an end. first is the first of these nonzeros among all.
func (t *kindTiles) end(rows []int32, ends []int, first int) {
	lo := 0
	for _, hi := range ends {
		t.starts = append(t.starts, int32(len(t.of)))
		for k := lo; k < hi; k++ {
			if k == lo || rows[k] != rows[k-1] {
				t.of = append(t.of, rows[k])
			}
			if k+1 == hi || rows[k] != rows[k+1] {
				t.csr.Offsets = append(t.csr.Offsets, int64(first+k+1))
			}
		}
		t.most = max(t.most, len(t.of)-int(t.starts[len(t.starts)-1]))
		lo = hi
	}
}

// tiles returns how many there are.
func (t *kindTiles) tiles() int { return len(t.bounds) - 1 }
