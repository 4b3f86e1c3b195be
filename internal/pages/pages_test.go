package pages

import (
	"testing"
	"unsafe"
)

func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 1000, least/4 - 1, least / 4, 3*least/4 + 17} {
		x := Make[float32](n/2, n)
		if len(x) != n/2 || cap(x) < n {
			t.Fatalf("%d of %d elements are %d of %d", n/2, n, len(x), cap(x))
		}
		x = x[:n]
		for i, v := range x {
			if v != 0 {
				t.Fatalf("element %d of %d is %v, want zero", i, n, v)
			}
			x[i] = 1
		}
	}
}

// What is asked for is whole huge pages of the slice and nothing beyond.
func TestInside(t *testing.T) {
	all := make([]byte, 4*huge)
	start := uintptr(unsafe.Pointer(&all[0]))
	for _, from := range []int{0, 1, 4096, huge - 1, huge, huge + 1} {
		for _, n := range []int{0, 1, huge - 1, huge, huge + 1, 2*huge + 4096} {
			b := all[from : from+n]
			got := inside(b)
			if len(got)%huge != 0 {
				t.Fatalf("%d bytes are not whole pages", len(got))
			}
			first := (start + uintptr(from) + huge - 1) / huge * huge
			want := max(0, (int(start)+from+n)/huge*huge-int(first))
			if len(got) != want {
				t.Fatalf("%d bytes from %d: %d asked for, want %d", n, from, len(got), want)
			}
			if want > 0 && uintptr(unsafe.Pointer(&got[0])) != first {
				t.Fatalf("%d bytes from %d: starts at %x, want %x", n, from, &got[0], first)
			}
		}
	}
}
