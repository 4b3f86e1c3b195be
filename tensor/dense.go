package tensor

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/pages"
)

// MaxAxes is the largest number of axes an array can have.
const MaxAxes = 4

// Array is an array of any storage: a [*Dense], or a sparse matrix. What reads
// one says which storages it takes.
type Array interface {
	Shape() []int // one length an axis; not to be modified
}

// Dense is a row-major array of one to four axes. Its elements are Data, row
// after row; the last axis is contiguous. A scalar has the shape [1].
//
// The zero value is not an array: use [New] or [Of].
type Dense struct {
	Data []Float

	dims [MaxAxes]int
	axes int
}

// New returns a zero array of the given shape. A large one is in huge pages
// where the system has them.
func New(shape ...int) *Dense {
	n := Size(shape...)
	return Of(pages.Make[Float](n, n), shape...)
}

// Of returns an array of the given shape over data, which it does not copy.
func Of(data []Float, shape ...int) *Dense {
	d := new(Dense)
	d.Set(data, shape...)
	return d
}

// Set makes d an array of the given shape over data, which it does not copy.
func (d *Dense) Set(data []Float, shape ...int) {
	if n := Size(shape...); n != len(data) {
		badLength(data, shape, n)
	}
	d.Data, d.axes = data, len(shape)
	copy(d.dims[:], shape)
}

// SetShape makes d an array of a shape whose elements are to come: Data is nil.
func (d *Dense) SetShape(shape ...int) {
	d.Data, d.axes = nil, len(shape)
	copy(d.dims[:], shape)
}

func badLength(data []Float, shape []int, n int) {
	panic(&ShapeError{Op: "tensor.Of", Shapes: [][]int{{len(data)}, slices.Clone(shape)}, Why: fmt.Sprintf("%d elements for a shape of %d", len(data), n)})
}

// Size returns the number of elements of a shape. It panics with a
// [*ShapeError] if the shape has no or too many axes, a negative length, or
// more elements than an int can count.
func Size(shape ...int) int {
	if len(shape) == 0 || len(shape) > MaxAxes {
		badShape(shape, "an array has one to four axes")
	}
	n := 1
	for _, s := range shape {
		if s < 0 {
			badShape(shape, "an axis has a negative length")
		}
		over, size := bits.Mul64(uint64(n), uint64(s))
		if over != 0 || size > math.MaxInt/8 {
			badShape(shape, "the size overflows")
		}
		n = int(size)
	}
	return n
}

func badShape(shape []int, why string) {
	panic(&ShapeError{Op: "tensor.Size", Shapes: [][]int{slices.Clone(shape)}, Why: why})
}

// Shape returns the length of each axis. The caller must not modify it.
func (d *Dense) Shape() []int { return d.dims[:d.axes] }

// Axes returns the number of axes.
func (d *Dense) Axes() int { return d.axes }

// Dim returns the length of axis i; a negative i counts from the last axis.
func (d *Dense) Dim(i int) int {
	if i < 0 {
		i += d.axes
	}
	return d.Shape()[i]
}

// Rows returns the length of the first axis.
func (d *Dense) Rows() int { return d.dims[0] }

// RowLen returns the number of elements of one row: of all axes but the first.
func (d *Dense) RowLen() int {
	n := 1
	for _, s := range d.dims[1:max(1, d.axes)] {
		n *= s
	}
	return n
}

// Row returns the elements of row i, as a view.
func (d *Dense) Row(i int) []Float {
	n := d.RowLen()
	return d.Data[i*n : i*n+n : i*n+n]
}

// RowRange returns rows lo to hi, without hi, as a view.
func (d *Dense) RowRange(lo, hi int) *Dense {
	if lo < 0 || hi < lo || hi > d.Rows() {
		panic(&ShapeError{Op: "tensor.RowRange", Shapes: [][]int{slices.Clone(d.Shape()), {lo, hi}}, Why: "no such rows"})
	}
	n := d.RowLen()
	v := &Dense{Data: d.Data[lo*n : hi*n : hi*n], dims: d.dims, axes: d.axes}
	v.dims[0] = hi - lo
	return v
}

// Reshape returns d's elements under another shape, as a view. One length may
// be −1: it stands for what is left.
func (d *Dense) Reshape(shape ...int) *Dense {
	return Of(d.Data, d.Infer(shape...)...)
}

// Infer returns shape with its −1, if there is one, replaced by what is left
// of d's elements.
func (d *Dense) Infer(shape ...int) []int { return d.AppendInfer(nil, shape) }

// AppendInfer is [Dense.Infer] that appends the lengths to out, for which a
// caller may have room.
func (d *Dense) AppendInfer(out, shape []int) []int {
	first, hole, n := len(out), -1, 1
	out = append(out, shape...)
	for i, s := range shape {
		switch {
		case s == -1 && hole < 0:
			hole = i
		case s < 0:
			panic(&ShapeError{Op: "tensor.Reshape", Shapes: [][]int{slices.Clone(d.Shape()), slices.Clone(shape)}, Why: "a length is negative, or −1 twice"})
		default:
			n *= s
		}
	}
	if hole >= 0 {
		if n > 0 {
			out[first+hole] = len(d.Data) / n
		} else {
			out[first+hole] = 0
		}
	}
	if Size(out[first:]...) != len(d.Data) {
		panic(&ShapeError{Op: "tensor.Reshape", Shapes: [][]int{slices.Clone(d.Shape()), slices.Clone(shape)}, Why: "the number of elements differs"})
	}
	return out
}

// Like returns a zero array of d's shape.
func (d *Dense) Like() *Dense { return New(d.Shape()...) }

// Clone returns a copy of d.
func (d *Dense) Clone() *Dense { return Of(slices.Clone(d.Data), d.Shape()...) }

// Zero sets every element to zero.
func (d *Dense) Zero() { clear(d.Data) }

// Fill sets every element to v.
func (d *Dense) Fill(v Float) {
	for i := range d.Data {
		d.Data[i] = v
	}
}

// String returns the shape and, of a small array, the elements.
func (d *Dense) String() string {
	if len(d.Data) > 64 {
		return fmt.Sprintf("Dense%v", d.Shape())
	}
	return fmt.Sprintf("Dense%v%v", d.Shape(), d.Data)
}
