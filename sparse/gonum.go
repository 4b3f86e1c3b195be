package sparse

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Matrix returns a as a matrix of package mat: a view that sees later changes of
// a's values. Its At walks a row, so reading all elements one by one is slow;
// duplicates add up. It is a [mat.NonZeroDoer], which is the quick way to read them.
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

// DoNonZero calls f for each element that is not zero, by rows.
func (m matrix) DoNonZero(f func(i, j int, v float64)) {
	sums := make([]float64, m.a.NumCols)
	for i := range m.a.NumRows {
		lo, hi := m.a.Offsets[i], m.a.Offsets[i+1]
		for k := lo; k < hi; k++ {
			sums[m.a.Cols[k]] += float64(m.a.value(k))
		}
		for _, j := range m.a.Cols[lo:hi] {
			if v := sums[j]; v != 0 { // once, where there are duplicates
				f(i, int(j), v)
			}
			sums[j] = 0
		}
	}
}

// FromMat returns the elements of a matrix of package mat that are not zero,
// rounded to [tensor.Float]; a NaN is not. A [mat.RawMatrixer], such as a [mat.Dense], is
// read by rows, a [mat.NonZeroDoer] is not asked for its zeros, and a transposed matrix is
// read as what was transposed. Any other is asked for each element. The error is of a
// matrix that is too large.
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
	each(m, take)
	if v == nil {
		v = []tensor.Float{} // a nil is all ones
	}
	a, _, err := FromCOO(rows, cols, r, c, v)
	return a, err
}

// each calls f for each element of m that may not be zero.
func each(m mat.Matrix, f func(i, j int, v float64)) {
	rows, cols := m.Dims()
	switch m := m.(type) {
	case mat.RawMatrixer:
		raw := m.RawMatrix()
		for i := range rows {
			for j, v := range raw.Data[i*raw.Stride : i*raw.Stride+cols] {
				f(i, j, v)
			}
		}
	case mat.NonZeroDoer:
		m.DoNonZero(f)
	case mat.Untransposer:
		each(m.Untranspose(), func(i, j int, v float64) { f(j, i, v) })
	default:
		for i := range rows {
			for j := range cols {
				f(i, j, m.At(i, j))
			}
		}
	}
}
