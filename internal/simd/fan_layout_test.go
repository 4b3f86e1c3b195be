//go:build amd64 && !noasm && !f64

package simd

import (
	"testing"
	"unsafe"
)

// The generator writes down where the fields of a Fan are.
func TestFanLayout(t *testing.T) {
	var f Fan
	want := []uintptr{0, 24, 48, 72, 96, 120, 144, 168, 192, 216, 240, 264, 288, 296, 304, 308, 320, 328, 336, 344}
	for i, at := range []uintptr{
		unsafe.Offsetof(f.Offsets), unsafe.Offsetof(f.Cols), unsafe.Offsetof(f.U), unsafe.Offsetof(f.V),
		unsafe.Offsetof(f.A), unsafe.Offsetof(f.C), unsafe.Offsetof(f.Z), unsafe.Offsetof(f.D), unsafe.Offsetof(f.G),
		unsafe.Offsetof(f.DV), unsafe.Offsetof(f.DA), unsafe.Offsetof(f.R), unsafe.Offsetof(f.Width), unsafe.Offsetof(f.H),
		unsafe.Offsetof(f.Slope), unsafe.Offsetof(f.Add), unsafe.Offsetof(f.ahead), unsafe.Offsetof(f.last), unsafe.Offsetof(f.bytes), unsafe.Offsetof(f.left),
	} {
		if at != want[i] {
			t.Errorf("field %d is at %d, the assembly reads it at %d", i, at, want[i])
		}
	}
}
