package sparse

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Matrix returns a as a matrix of package mat: a view that sees later changes of
// a's values. Its At walks a row, so reading all elements one by one is slow;
// duplicates add up.
func (a *CSR) Matrix() mat.Matrix {
	a.Settle()
	return matrix{a}
}

// matrix is a view of a CSR.
type matrix struct{ a *CSR }

func (m matrix) Dims() (r, c int) { return m.a.NumRows, m.a.NumCols }

func (m matrix) At(i, j int) float64 {
	if uint(i) >= uint(m.a.NumRows) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(m.a.NumCols) {
		panic(mat.ErrColAccess)
	}
	sum := 0.0
	for k := m.a.Offsets[i]; k < m.a.Offsets[i+1]; k++ {
		if int(m.a.Cols[k]) == j {
			sum += float64(m.a.value(k))
		}
	}
	return sum
}

func (m matrix) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// FromMat returns the elements of a matrix of package mat that are not zero,
// rounded to [tensor.Float]; a NaN is not. One that knows its elements, a
// [mat.NonZeroDoer], is not asked for the others. The error is of a matrix that
// is too large.
func FromMat(m mat.Matrix) (*CSR, error) {
	rows, cols := m.Dims()
	if err := checkSizes(rows, cols, 0); err != nil {
		return nil, err
	}
	var r, c []int32
	var v []tensor.Float
	take := func(i, j int, x float64) {
		if x != 0 && len(v) <= math.MaxInt32 {
			r, c, v = append(r, int32(i)), append(c, int32(j)), append(v, tensor.Float(x))
		}
	}
	if d, ok := m.(mat.NonZeroDoer); ok {
		d.DoNonZero(take)
	} else {
		for i := range rows {
			for j := range cols {
				take(i, j, m.At(i, j))
			}
		}
	}
	if v == nil {
		v = []tensor.Float{} // a nil is all ones
	}
	a, _, err := FromCOO(rows, cols, r, c, v)
	return a, err
}
