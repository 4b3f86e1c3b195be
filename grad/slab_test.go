package grad

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// Buffers of all sizes are zero when they are new, start on a line of the cache,
// and share no element, whether they are of a slab or have their own memory.
func TestSlabs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	var p pool[int32]
	var all [][]int32
	for i := range 120 {
		n := 1 + rng.IntN(1<<rng.IntN(21))
		if i%30 == 29 {
			n = slabMost/slabPart + rng.IntN(100)
		}
		size, _ := class(n)
		buf, made := p.get(n)
		if len(buf) != n || cap(buf) != size || made != size {
			t.Fatalf("%d of %d elements and %d made, want %d of %d", len(buf), cap(buf), made, n, size)
		}
		if at := uintptr(unsafe.Pointer(&buf[0])); at%64 != 0 {
			t.Fatalf("%d elements start at %x", n, at)
		}
		buf = buf[:cap(buf)]
		for j, v := range buf {
			if v != 0 {
				t.Fatalf("element %d of buffer %d is %v", j, i, v)
			}
			buf[j] = int32(i + 1)
		}
		all = append(all, buf)
	}
	for i, buf := range all {
		for j, v := range buf {
			if v != int32(i+1) {
				t.Fatalf("element %d of buffer %d is %v: another has it too", j, i, v)
			}
		}
	}
}
