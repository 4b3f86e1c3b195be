package tensor

import "gonum.org/v1/gonum/mat"

// Matrix returns d, which has two axes, as a matrix of package mat: a view that
// sees later changes of d. It panics with a [*ShapeError] on other shapes.
func (d *Dense) Matrix() mat.Matrix {
	if d.axes != 2 {
		e := Mismatch("tensor.Matrix", d)
		e.Why = "a matrix has two axes"
		panic(e)
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

// FromMat returns a copy of a matrix of package mat, rounded to [Float].
func FromMat(m mat.Matrix) *Dense {
	r, c := m.Dims()
	d := New(r, c)
	for i := range r {
		row := d.Row(i)
		for j := range row {
			row[j] = Float(m.At(i, j))
		}
	}
	return d
}
