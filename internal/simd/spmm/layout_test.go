//go:build amd64 && !noasm && !f64

package spmm

import (
	"testing"
	"unsafe"
)

// The generator writes down where the fields of a rowCall are.
func TestRowCallLayout(t *testing.T) {
	var c rowCall
	for i, at := range []uintptr{
		unsafe.Offsetof(c.out), unsafe.Offsetof(c.x), unsafe.Offsetof(c.w), unsafe.Offsetof(c.offsets),
		unsafe.Offsetof(c.cols), unsafe.Offsetof(c.edges), unsafe.Offsetof(c.arg), unsafe.Offsetof(c.from),
		unsafe.Offsetof(c.to), unsafe.Offsetof(c.end), unsafe.Offsetof(c.rows), unsafe.Offsetof(c.stride),
		unsafe.Offsetof(c.weights), unsafe.Offsetof(c.outs), unsafe.Offsetof(c.shape), unsafe.Offsetof(c.left),
		unsafe.Offsetof(c.far), unsafe.Offsetof(c.done), unsafe.Offsetof(c.set),
		unsafe.Offsetof(c.unordered), unsafe.Offsetof(c.mean), unsafe.Offsetof(c.stream),
	} {
		if at != uintptr(8*i) {
			t.Errorf("field %d is at %d, the assembly reads it at %d", i, at, 8*i)
		}
	}
}
