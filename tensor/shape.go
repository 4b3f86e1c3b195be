package tensor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// A Mistake is what a function panics with where the program that calls it is wrong: a
// [*ShapeError] here, and in other packages *grad.TapeError and *graph.CycleError. It names what
// was called, the values, and what to write. Bad data is no mistake of the program, but an error.
type Mistake interface {
	error
	Mistake()
}

// ShapeError reports operands whose shapes an operation cannot combine. A
// wrong shape is a bug of the program, not a condition to handle, so
// operations panic with it. Use [Try] to make it an error at a boundary.
type ShapeError struct {
	Op     string  // the operation, such as "grad.MatMul"
	Shapes [][]int // its operands' shapes, in order; none where it is not a shape that is wrong
	Why    string  // what it asked for; may be empty
}

// Mistake says that the program is wrong.
func (e *ShapeError) Mistake() {}

func (e *ShapeError) Error() string {
	if len(e.Shapes) == 0 {
		return e.Op + ": " + e.Why
	}
	var b strings.Builder
	b.WriteString(e.Op)
	for i, s := range e.Shapes {
		if i > 0 {
			b.WriteString(" with")
		} else {
			b.WriteString(": cannot take shape")
		}
		fmt.Fprintf(&b, " %v", s)
	}
	if e.Why != "" {
		b.WriteString(": " + e.Why)
	}
	return b.String()
}

// Mismatch returns a [*ShapeError] of op that names the shapes of xs.
func Mismatch(op string, xs ...Array) *ShapeError {
	e := &ShapeError{Op: op}
	for _, x := range xs {
		e.Shapes = append(e.Shapes, slices.Clone(x.Shape()))
	}
	return e
}

// Try calls f and returns the [Mistake] it panicked with, if any, also one
// that another error wraps, such as that of a worker. Any other panic is passed
// on.
func Try(f func()) (err error) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		var m Mistake
		if e, ok := r.(error); !ok || !errors.As(e, &m) {
			panic(r)
		}
		err = m
	}()
	f()
	return nil
}

// Broadcast returns the shape that a and b share under NumPy's rule: shapes are
// aligned at the last axis, and a length of 1 stretches. ok is false where no
// such shape exists.
func Broadcast(a, b []int) (shape []int, ok bool) { return AppendBroadcast(nil, a, b) }

// AppendBroadcast is [Broadcast] that appends the shape to out, for which a
// caller may have room.
func AppendBroadcast(out, a, b []int) (shape []int, ok bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	first := len(out)
	shape = append(out, a...)
	for i, s := range b {
		j := len(a) - len(b) + i
		switch {
		case s == a[j] || s == 1:
		case a[j] == 1:
			shape[first+j] = s
		default:
			return nil, false
		}
	}
	return shape, true
}

// Stretch returns, for every element of an array of shape to, the element of an
// array of shape from that broadcasting puts there. It returns nil where that
// is the element of the same number.
func Stretch(from, to []int) []int32 {
	if slices.Equal(from, to) {
		return nil
	}
	n := 1
	for _, s := range to {
		n *= s
	}
	ix := make([]int32, n)
	stride := make([]int, len(to))
	for i, s := len(from)-1, 1; i >= 0; i-- {
		if from[i] != 1 {
			stride[len(to)-len(from)+i] = s
		}
		s *= from[i]
	}
	for k := range ix {
		rest, at := k, 0
		for i := len(to) - 1; i >= 0; i-- {
			at += rest % to[i] * stride[i]
			rest /= to[i]
		}
		ix[k] = int32(at)
	}
	return ix
}

// overlap reports whether x and y share an element.
func overlap(x, y []Float) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	x0, y0 := start(x), start(y)
	const size = unsafe.Sizeof(x[0])
	return x0 < y0+uintptr(len(y))*size && y0 < x0+uintptr(len(x))*size
}

// Overlaps reports whether x and y share an element.
func (x *Dense) Overlaps(y *Dense) bool { return overlap(x.Data, y.Data) }

func start(x []Float) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

// apart panics if dst overlaps x, which op reads after it has begun to write.
func apart(op string, dst, x *Dense) {
	if overlap(dst.Data, x.Data) {
		panic(overlapping(op, dst, x))
	}
}

// inPlace panics if dst overlaps x without being the same elements. An op that
// reads an element before it writes the one of the same number may use it.
func inPlace(op string, dst, x *Dense) {
	if overlap(dst.Data, x.Data) && (start(dst.Data) != start(x.Data) || len(dst.Data) != len(x.Data)) {
		panic(overlapping(op, dst, x))
	}
}

func overlapping(op string, dst, x *Dense) *ShapeError {
	e := Mismatch("tensor."+op, x, dst)
	e.Why = "the destination overlaps an operand"
	return e
}
