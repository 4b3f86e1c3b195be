package tensor

import "gonum.org/v1/gonum/mat"

// Matrix returns d, which has two axes, as a matrix of package mat: a view that
// sees later changes of d. Where [Float] is float64 it is a [mat.Dense] of the same
// elements. It panics with a [*ShapeError] on other shapes.
func (d *Dense) Matrix() mat.Matrix {
	if d.axes != 2 {
		e := Mismatch("tensor.Matrix", d)
		e.Why = "a matrix has two axes"
		panic(e)
	}
	if x, ok := any(d.Data).([]float64); ok && len(x) > 0 { // package mat has no empty ones
		return mat.NewDense(d.dims[0], d.dims[1], x)
	}
	return matrix{d}
}

// matrix is a view of a Dense of two axes.
type matrix struct{ d *Dense }

func (m matrix) Dims() (r, c int) { return m.d.dims[0], m.d.dims[1] }

func (m matrix) At(i, j int) float64 {
	r, c := m.Dims()
	if uint(i) >= uint(r) {
		panic(mat.ErrRowAccess)
	}
	if uint(j) >= uint(c) {
		panic(mat.ErrColAccess)
	}
	return float64(m.d.Data[i*c+j])
}

func (m matrix) T() mat.Matrix { return mat.Transpose{Matrix: m} }

// FromMat returns a copy of a matrix of package mat, rounded to [Float]. A
// [mat.RawMatrixer], such as a [mat.Dense] or a part of one, is read by rows, a
// [mat.NonZeroDoer] is not asked for its zeros, and a transposed matrix is read as
// what was transposed. Any other is asked for each element.
func FromMat(m mat.Matrix) *Dense {
	r, c := m.Dims()
	switch m := m.(type) {
	case mat.RawMatrixer:
		d, raw := New(r, c), m.RawMatrix()
		for i := range r {
			for j, v := range raw.Data[i*raw.Stride : i*raw.Stride+c] {
				d.Data[i*c+j] = Float(v)
			}
		}
		return d
	case mat.NonZeroDoer:
		d := New(r, c)
		m.DoNonZero(func(i, j int, v float64) { d.Data[i*c+j] = Float(v) })
		return d
	case mat.Untransposer:
		d := New(r, c)
		Transpose(d, FromMat(m.Untranspose()))
		return d
	}
	d := New(r, c)
	for i := range r {
		row := d.Row(i)
		for j := range row {
			row[j] = Float(m.At(i, j))
		}
	}
	return d
}
