//go:build amd64 && !noasm && !f64

package attend

import (
	"testing"
	"unsafe"
)

// The generator writes down where the fields of EdgeRows are.
func TestEdgeRowsLayout(t *testing.T) {
	var f EdgeRows
	want := []uintptr{0, 24, 48, 72, 96, 120, 144, 168, 192, 216, 240, 264, 288, 312, 336, 344, 352, 356, 368, 376, 384, 392}
	for i, at := range []uintptr{
		unsafe.Offsetof(f.Offsets), unsafe.Offsetof(f.Cols), unsafe.Offsetof(f.U), unsafe.Offsetof(f.V),
		unsafe.Offsetof(f.A), unsafe.Offsetof(f.C), unsafe.Offsetof(f.Z), unsafe.Offsetof(f.D), unsafe.Offsetof(f.G),
		unsafe.Offsetof(f.DV), unsafe.Offsetof(f.DA), unsafe.Offsetof(f.R), unsafe.Offsetof(f.Signs), unsafe.Offsetof(f.Places), unsafe.Offsetof(f.Width), unsafe.Offsetof(f.H),
		unsafe.Offsetof(f.Slope), unsafe.Offsetof(f.Add), unsafe.Offsetof(f.ahead), unsafe.Offsetof(f.last), unsafe.Offsetof(f.bytes), unsafe.Offsetof(f.left),
	} {
		if at != want[i] {
			t.Errorf("field %d is at %d, the assembly reads it at %d", i, at, want[i])
		}
	}
}

// And those of CompactGrads.
func TestCompactGradsLayout(t *testing.T) {
	var b CompactGrads
	want := []uintptr{0, 24, 48, 72, 96, 120, 144, 168, 176, 184, 192, 200, 208, 216, 224}
	for i, at := range []uintptr{
		unsafe.Offsetof(b.DU), unsafe.Offsetof(b.R), unsafe.Offsetof(b.A), unsafe.Offsetof(b.Z),
		unsafe.Offsetof(b.Signs), unsafe.Offsetof(b.To), unsafe.Offsetof(b.From), unsafe.Offsetof(b.Width), unsafe.Offsetof(b.H),
		unsafe.Offsetof(b.Slope), unsafe.Offsetof(b.edges), unsafe.Offsetof(b.n), unsafe.Offsetof(b.ahead), unsafe.Offsetof(b.near), unsafe.Offsetof(b.bytes),
	} {
		if at != want[i] {
			t.Errorf("field %d is at %d, the assembly reads it at %d", i, at, want[i])
		}
	}
}

// And those of GATv2Walk.
func TestGATv2WalkLayout(t *testing.T) {
	var s GATv2Walk
	want := []uintptr{0, 24, 48, 72, 96, 120, 168, 192, 216, 240, 264, 288, 312, 336, 360, 392, 401, 408, 416, 424, 432, 440, 448, 704, 736, 768}
	for i, at := range []uintptr{
		unsafe.Offsetof(s.Offsets), unsafe.Offsetof(s.Cols), unsafe.Offsetof(s.U), unsafe.Offsetof(s.V), unsafe.Offsetof(s.A), unsafe.Offsetof(s.Y),
		unsafe.Offsetof(s.Top), unsafe.Offsetof(s.Sum), unsafe.Offsetof(s.R), unsafe.Offsetof(s.DV), unsafe.Offsetof(s.DA),
		unsafe.Offsetof(s.Z), unsafe.Offsetof(s.Signs), unsafe.Offsetof(s.Places), unsafe.Offsetof(s.Work), unsafe.Offsetof(s.Apart), unsafe.Offsetof(s.Set),
		unsafe.Offsetof(s.ahead), unsafe.Offsetof(s.last), unsafe.Offsetof(s.left), unsafe.Offsetof(s.most), unsafe.Offsetof(s.stream),
		unsafe.Offsetof(s.add), unsafe.Offsetof(s.slope), unsafe.Offsetof(s.top), unsafe.Offsetof(s.sum),
	} {
		if at != want[i] {
			t.Errorf("field %d is at %d, the assembly reads it at %d", i, at, want[i])
		}
	}
}
