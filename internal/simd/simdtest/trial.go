package simdtest

import (
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Near reports whether got is want to a relative error, or to some hundred of
// the smallest denormals, which a factor such as SiLU's x makes of one.
func Near(got, want Float, tolerance float64) bool {
	g, w := float64(got), float64(want)
	switch {
	case g != g || w != w:
		return g != g && w != w
	case math.IsInf(g, 0) || math.IsInf(w, 0):
		return g == w
	}
	return math.Abs(g-w) <= tolerance*math.Abs(w)+1e-42
}

// Trial runs a kernel as built, by AVX2 where it could do more, and in plain Go on copies
// of the same slices and compares them. Slices are not aligned and have guard words around.
func Trial(t *testing.T, what string, tolerance float64, slices [][]Float, run func(s [][]Float)) {
	t.Helper()
	var goes [][]Float
	for _, x := range slices {
		goes = append(goes, append(make([]Float, 0, len(x)+1), x...))
	}
	undo := cpu.Disable()
	run(goes)
	undo()
	compare := func(what string) {
		t.Helper()
		var asm [][]Float
		var checks []func() bool
		for i, x := range slices {
			c, ok := guarded(len(x), (i+len(x))%8)
			copy(c, x)
			asm, checks = append(asm, c), append(checks, ok)
		}
		run(asm)
		for i, x := range asm {
			if !checks[i]() {
				t.Fatalf("%s of %d: wrote outside slice %d", what, len(x), i)
			}
			for j, v := range x {
				if v != goes[i][j] && !Near(v, goes[i][j], tolerance) {
					t.Fatalf("%s of %d: slice %d at %d is %v, in plain Go %v (was %v)", what, len(x), i, j, v, goes[i][j], slices[i][j])
				}
			}
		}
	}
	compare(what)
	if cpu.Path() == "avx512" {
		defer cpu.Narrow()()
		compare(what + " of AVX2")
	}
}

// Guard stands around the slices of [Guarded].
const Guard = Float(-12345.5)

// Guarded returns n numbers, not aligned, with guard words around them, and a
// check that those still stand.
func Guarded(n, shift int, next func() Float) (x []Float, intact func() bool) {
	x, intact = guarded(n, shift)
	for i := range x {
		x[i] = next()
	}
	return x, intact
}

// guarded is [Guarded] with numbers that are still to be set.
func guarded(n, shift int) (x []Float, intact func() bool) {
	const pad = 16
	all := make([]Float, n+2*pad+shift)
	before, after := all[:pad+shift], all[pad+shift+n:]
	for _, guards := range [][]Float{before, after} {
		for i := range guards {
			guards[i] = Guard
		}
	}
	other := func(v Float) bool { return v != Guard }
	return all[pad+shift : pad+shift+n : pad+shift+n], func() bool {
		return !slices.ContainsFunc(before, other) && !slices.ContainsFunc(after, other)
	}
}
