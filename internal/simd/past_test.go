package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// onLine returns n numbers that start with a cache line, if shift is zero, with
// guard words around them, and a check that those still stand.
func onLine(n, shift int) (x []Float, intact func() bool) {
	x, _ = guarded(n+16+shift, 0, func() Float { return guard })
	at := shift
	for uintptr(unsafe.Pointer(unsafe.SliceData(x[at-shift:])))%64 != 0 {
		at++
	}
	all := x
	for i := range n {
		all[at+i] = Float(math.NaN())
	}
	return all[at : at+n : at+n], func() bool {
		for i, v := range all {
			if (i < at || i >= at+n) && v != guard {
				return false
			}
		}
		return true
	}
}

// sameBits fails where two slices differ in a bit.
func sameBits(t *testing.T, what string, got, want []Float) {
	t.Helper()
	for i, v := range got {
		if math.Float64bits(float64(v)) != math.Float64bits(float64(want[i])) && (v == v || want[i] == want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, v, want[i])
		}
	}
}

// pastTrial checks that a result set past the caches has the bits of one that is
// not: set fills in a slice of n elements.
func pastTrial(t *testing.T, what string, n int, set func(y []Float, past bool)) {
	t.Helper()
	want := make([]Float, n)
	set(want, false)
	for shift := range 9 {
		y, intact := onLine(n, shift)
		set(y, true)
		sameBits(t, fmt.Sprintf("%s, shifted by %d", what, shift), y, want)
		if !intact() {
			t.Fatalf("%s, shifted by %d: wrote outside", what, shift)
		}
	}
}

func checkPast(t *testing.T, rng *rand.Rand, f, heads int) {
	t.Helper()
	tr := newRowTrial(rng, 6, 20, f, max(heads, 1), plain(rng))
	what := fmt.Sprintf("of %d in %d heads", f, heads)
	for _, mean := range []bool{false, true} {
		pastTrial(t, "RowSum "+what, tr.rows*f, func(y []Float, past bool) {
			p := RowSum{Gather: tr.Gather, Y: y, W: tr.w, Heads: heads, Set: true, Mean: mean}
			p.Past = past
			p.AddRows(0, tr.rows)
		})
	}
	number := make([]int32, tr.rows*f)
	pastTrial(t, "RowBest "+what, tr.rows*f, func(y []Float, past bool) {
		p := RowBest{Gather: tr.Gather, Y: y, W: tr.w, Heads: heads, Arg: make([]int32, len(y))}
		p.Past = past
		p.SetRows(0, tr.rows)
		if !past {
			copy(number, p.Arg)
		}
		for i, k := range p.Arg {
			if k != number[i] {
				t.Fatalf("RowBest %s: element %d is from %d, want %d", what, i, k, number[i])
			}
		}
	})
	if heads > 0 {
		pastTrial(t, "EdgeDot "+what, len(tr.Cols)*heads, func(z []Float, past bool) {
			p := EdgeDot{Gather: tr.Gather, Y: tr.y, Z: z, Heads: heads, Set: true}
			p.Past = past
			p.AddRows(0, tr.rows)
		})
	}
}

// Rows of whole lines are set past the caches, and others where they are wanted.
func TestPast(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	for f := 1; f < 150; f++ {
		checkPast(t, rng, f, 0)
	}
	for _, hd := range [][2]int{{1, 64}, {1, 128}, {8, 8}, {8, 16}, {8, 32}, {4, 8}, {12, 8}, {3, 5}, {8, 5}, {64, 1}} {
		checkPast(t, rng, hd[0]*hd[1], hd[0])
	}
}

func checkPastSegments(t *testing.T, rng *rand.Rand, rows, most, n int) {
	t.Helper()
	o, c := edgesOf(rng, rows, 1, most)
	end := int(o[rows]) * n
	x, y := draw(len(c)*n, plain(rng)), draw(len(c)*n, plain(rng))
	from := int(o[0]) * n
	segments := func(to []Float) Segments {
		return Segments{Offsets: o, X: x, Work: make([]Float, SegmentWork(n)), N: n, Y: to}
	}
	what := fmt.Sprintf("softmax of %d segments of %d columns", rows, n)
	pastTrial(t, what, end, func(to []Float, past bool) {
		clear(to[:from])
		s := segments(to)
		if past {
			s.PassCaches()
		}
		s.Softmax()
	})
	pastTrial(t, what+", gradient", end, func(to []Float, past bool) {
		clear(to[:from])
		s := segments(y)
		s.D, s.Set = to, 1
		if past {
			s.PassCaches()
		}
		s.SoftmaxGrad()
	})
}

func TestPastSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for most := range 40 {
		checkPastSegments(t, rng, most, most, 8)
		checkPastSegments(t, rng, most, most, 3)
	}
	checkPastSegments(t, rng, 3, 600, 8) // some of them longer than what may wait
}

func FuzzPast(f *testing.F) {
	f.Add(uint64(1), uint8(8), uint8(8))
	f.Add(uint64(2), uint8(0), uint8(64))
	f.Fuzz(func(t *testing.T, seed uint64, heads, d uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		h := int(heads % 16)
		checkPast(t, rng, max(h, 1)*int(1+d%70), h)
		checkPastSegments(t, rng, int(d%20), int(heads), 8)
	})
}
