package sparse

import (
	"fmt"
	"math"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/tensor"
)

// CSR is a sparse matrix by rows. Row i has the nonzeros Offsets[i] to
// Offsets[i+1], without the latter; nonzero k stands in column Cols[k] and has
// the value Values[k]. Columns need not be sorted within a row, and one may
// occur several times: then its values add up. A stored zero is a nonzero here.
//
// A CSR may be read by any number of goroutines at once. Its structure must not
// change after the first product or [CSR.Transpose]; its values may.
type CSR struct {
	Offsets []int64        // NumRows+1, from 0 up to the number of nonzeros
	Cols    []int32        // of each nonzero
	Values  []tensor.Float // of each nonzero; nil: every stored element is 1

	NumRows, NumCols int

	like *CSR     // whose structure this is; nil: its own
	left *remains // what a dropout left; nil: there was none
	late *late    // what sets Values when they are asked for; nil: they are set
	once sync.Once
	flip atomic.Pointer[flipped]
	met  atomic.Bool // a product with the transpose ran by the rows of this structure

	cut   sync.Once
	strip *strips // once cut
	kept  kept

	whole   *CSR // which this is blocks of; nil: none that is known
	mirror  sync.Once
	mirrors bool // it is its own transpose: set by mirror
}

// New returns the matrix of the given parts, which it takes over without
// copying. A nil values makes every stored element 1. The error names the first
// offset or column that is wrong.
//
// There are at most 2³¹−1 rows, columns and nonzeros.
func New(rows, cols int, offsets []int64, columns []int32, values []tensor.Float) (*CSR, error) {
	a := &CSR{Offsets: offsets, Cols: columns, Values: values, NumRows: rows, NumCols: cols}
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return a, nil
}

// Validate checks that a is a matrix. The error names the first offset or
// column that is wrong.
func (a *CSR) Validate() error {
	if err := checkSizes(a.NumRows, a.NumCols, len(a.Cols)); err != nil {
		return err
	}
	if len(a.Offsets) != a.NumRows+1 {
		return fmt.Errorf("sparse: %d offsets for %d rows, want %d: one a row and the end", len(a.Offsets), a.NumRows, a.NumRows+1)
	}
	if a.Values != nil && len(a.Values) != len(a.Cols) {
		return fmt.Errorf("sparse: %d values for %d columns, want one each or nil", len(a.Values), len(a.Cols))
	}
	if err := a.checkOffsets(); err != nil {
		return err
	}
	if k := firstOutside(a.Cols, a.NumCols); k < a.NNZ() {
		return fmt.Errorf("sparse: nonzero %d, in row %d, has column %d of a matrix of %d columns", k, a.rowOf(k), a.Cols[k], a.NumCols)
	}
	return nil
}

// CheckFinite returns an error that names the first value that is NaN or
// infinite, for data in which there may be none.
func (a *CSR) CheckFinite() error {
	a.Settle()
	k := first(len(a.Values), func(lo, hi int) int {
		for j, v := range a.Values[lo:hi] {
			if v-v != 0 {
				return lo + j
			}
		}
		return hi
	})
	if k == len(a.Values) {
		return nil
	}
	return fmt.Errorf("sparse: nonzero %d, in row %d and column %d, is %v, want a finite number", k, a.rowOf(k), a.Cols[k], a.Values[k])
}

// rowOf returns the row of nonzero k.
func (a *CSR) rowOf(k int) int {
	return sort.Search(a.NumRows, func(i int) bool { return a.Offsets[i+1] > int64(k) })
}

// checkOffsets checks that the offsets ascend from 0 to the number of nonzeros.
func (a *CSR) checkOffsets() error {
	if a.Offsets[0] != 0 {
		return fmt.Errorf("sparse: offset 0 is %d, want 0", a.Offsets[0])
	}
	nnz := int64(len(a.Cols))
	i := first(a.NumRows, func(lo, hi int) int {
		for i := lo; i < hi; i++ {
			if next := a.Offsets[i+1]; next < a.Offsets[i] || next > nnz {
				return i
			}
		}
		return hi
	})
	if i < a.NumRows {
		if next := a.Offsets[i+1]; next < a.Offsets[i] {
			return fmt.Errorf("sparse: offset %d is %d, below the %d before it", i+1, next, a.Offsets[i])
		}
		return fmt.Errorf("sparse: offset %d is %d, beyond the %d columns", i+1, a.Offsets[i+1], nnz)
	}
	if end := a.Offsets[a.NumRows]; end != nnz {
		return fmt.Errorf("sparse: the last offset is %d, want %d, the number of columns", end, nnz)
	}
	return nil
}

// mostRows is how many rows a matrix can have: int32 indices count them, and a
// system of 32 bits has no more room for their offsets.
const mostRows = min(math.MaxInt32, math.MaxInt/8-1)

// checkSizes checks what int32 indices can count.
func checkSizes(rows, cols, nnz int) error {
	for _, n := range []struct {
		what    string
		n, most int
	}{{"rows", rows, mostRows}, {"columns", cols, math.MaxInt32}, {"nonzeros", nnz, math.MaxInt32}} {
		if n.n < 0 || n.n > n.most {
			return fmt.Errorf("sparse: %d %s, want 0 to %d", n.n, n.what, n.most)
		}
	}
	return nil
}

// Shape returns the number of rows and of columns.
func (a *CSR) Shape() []int { return []int{a.NumRows, a.NumCols} }

// NNZ returns the number of nonzeros.
func (a *CSR) NNZ() int { return len(a.Cols) }

// Row returns the columns and the values of the nonzeros of row i, as views.
// The values are nil if a.Values is.
func (a *CSR) Row(i int) (cols []int32, values []tensor.Float) {
	a.Settle()
	lo, hi := a.Offsets[i], a.Offsets[i+1]
	if a.Values != nil {
		values = a.Values[lo:hi:hi]
	}
	return a.Cols[lo:hi:hi], values
}

// NormaliseRows returns a with each value divided by the sum of its row. A row
// whose sum is zero stays as it is. It is meant for values that are not negative:
// a sum of both signs may be near zero or negative, and is divided by all the
// same. The result shares a's structure.
func (a *CSR) NormaliseRows() *CSR {
	a.Settle()
	b := a.WithValues(make([]tensor.Float, a.NNZ()))
	for i := range a.NumRows {
		lo, hi := a.Offsets[i], a.Offsets[i+1]
		sum := 0.0
		for k := lo; k < hi; k++ {
			sum += float64(a.value(k))
		}
		if sum == 0 {
			sum = 1
		}
		for k := lo; k < hi; k++ {
			b.Values[k] = tensor.Float(float64(a.value(k)) / sum)
		}
	}
	return b
}

// value returns the value of nonzero k.
func (a *CSR) value(k int64) tensor.Float {
	if a.Values == nil {
		return 1
	}
	return a.Values[k]
}

// DenseAbove is the density above which a product with a dense array, and its
// weight gradient, is faster if the matrix is dense too: with 2708×1433 elements
// on an amd64 the two storages met near 0.15 for products 8 wide and near 0.35 for
// products 64 wide. BenchmarkFeatures measures it.
const DenseAbove = 0.25

// Density returns how many of a's elements are stored, as a fraction; duplicates
// count. That of a matrix without elements is 0.
func (a *CSR) Density() float64 {
	return float64(a.NNZ()) / max(1, float64(a.NumRows)*float64(a.NumCols))
}

// Features returns a as it is or, if its density is above a limit, as a dense
// array: the faster of the two to multiply with, for a limit of [DenseAbove].
func Features(a *CSR, above float64) tensor.Array {
	if a.Density() > above {
		return a.Dense()
	}
	return a
}
