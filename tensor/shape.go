package tensor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ShapeError reports operands whose shapes an operation cannot combine. A
// wrong shape is a bug of the program, not a condition to handle, so
// operations panic with it. Use [Try] to make it an error at a boundary.
type ShapeError struct {
	Op     string  // the operation, such as "grad.MatMul"
	Shapes [][]int // its operands' shapes, in order
	Why    string  // what it asked for; may be empty
}

func (e *ShapeError) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	b.WriteString(": cannot take shape")
	for i, s := range e.Shapes {
		if i > 0 {
			b.WriteString(" with")
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

// Try calls f and returns the [*ShapeError] it panicked with, if any, also one
// that another error wraps, such as that of a worker. Any other panic is passed
// on.
func Try(f func()) (err error) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		var shape *ShapeError
		if e, ok := r.(error); !ok || !errors.As(e, &shape) {
			panic(r)
		}
		err = shape
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
