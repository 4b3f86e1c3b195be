package vec

import (
	"math"
	"testing"
)

// TestDropoutFrozen pins the mask: these numbers are part of the format of a
// run, and may never change.
func TestDropoutFrozen(t *testing.T) {
	for _, c := range []struct {
		seed, step uint64
		op         uint32
		p          float64
		row        int
		key, mask  uint32 // bit j of mask: column j is kept
	}{
		{1, 1, 1, 0.5, 0, 0x5d8a4a99, 0x0fcd8cb5},
		{1, 1, 1, 0.5, 1, 0x3fe62667, 0x2b7c0475},
		{1, 2, 1, 0.5, 0, 0xd7c4beb4, 0x9173710a},
		{1, 1, 2, 0.5, 0, 0xe6a1916a, 0x7cf811d6},
		{1<<40 + 7, 1, 1, 0.5, 3, 0xfd09b276, 0x78d39aac},
		{1, 1<<33 + 5, 1, 0.5, 3, 0x1cedfe23, 0x4ad2b1c3},
		{42, 200, 3, 0.6, 2707, 0x52633a83, 0x2a105554},
		{0, 0, 0, 0.1, 1<<31 - 1, 0x9de92c4c, 0xdbff7eff},
	} {
		d := NewDropout(c.seed, c.step, c.op, c.p)
		key, mask := d.Row(c.row), uint32(0)
		for j := range 32 {
			if d.Keep(key, j) {
				mask |= 1 << j
			}
		}
		if key != c.key || mask != c.mask {
			t.Errorf("%+v: key %#08x, mask %#08x", c, key, mask)
		}
	}
}

func TestDropoutEnds(t *testing.T) {
	for _, c := range []struct {
		p    float64
		kept int
		on   bool
		sc   float64
	}{{-1, 1000, false, 1}, {0, 1000, false, 1}, {1, 0, true, 0}, {2, 0, true, 0}} {
		d := NewDropout(1, 2, 3, c.p)
		kept := 0
		for j := range 1000 {
			if d.Keep(d.Row(4), j) {
				kept++
			}
		}
		if kept != c.kept || d.On() != c.on || d.Scale != c.sc {
			t.Errorf("p = %v: %d of 1000 kept, on %v, scale %v", c.p, kept, d.On(), d.Scale)
		}
	}
	if d := NewDropout(1, 2, 3, 0.75); !d.On() || math.Abs(d.Scale-4) > 1e-12 {
		t.Errorf("p = 0.75: on %v, scale %v", d.On(), d.Scale)
	}
}

// TestMixBijective tries the collisions that a birthday would show, and that
// an input bit moves about half of the output bits.
func TestMixBijective(t *testing.T) {
	seen := make(map[uint32]bool, 1<<17)
	for i := range uint32(1 << 17) {
		seen[mix(i*40503)] = true
	}
	if len(seen) != 1<<17 {
		t.Errorf("%d different hashes of %d numbers", len(seen), 1<<17)
	}
	for bit := range 32 {
		moved := 0
		for i := range uint32(1000) {
			for d := mix(i) ^ mix(i^1<<bit); d != 0; d &= d - 1 {
				moved++
			}
		}
		if moved < 15_000 || moved > 17_000 {
			t.Errorf("bit %d moves %.2f bits", bit, float64(moved)/1000)
		}
	}
}

// The assembly folds the threshold's upper half instead of each hash's own, which
// must not show where the two are the same: one element in 65,536.
func TestDropoutAtThreshold(t *testing.T) {
	const n = 1 << 19
	x, y := make([]Float, n), make([]Float, n)
	for i := range x {
		x[i] = 1
	}
	near := 0
	for _, p := range []float64{1e-12, 0.1, 0.5, 0.6, 0.99999} {
		d := NewDropout(3, 1, 4, p)
		key := d.Row(9)
		d.Set(y, x, 9, n)
		for i, v := range y {
			if (v != 0) != d.Keep(key, i) {
				t.Fatalf("p = %v, column %d: %v, kept: %v", p, i, v, d.Keep(key, i))
			}
			if mix(key+uint32(i)*ColumnKey)>>16 == d.Below>>16 {
				near++
			}
		}
	}
	if near < 10 {
		t.Errorf("only %d hashes at the threshold: nothing was tested", near)
	}
}
