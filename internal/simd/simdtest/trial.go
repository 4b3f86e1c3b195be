package simdtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Rounded allows a relative error, or some hundred of the smallest denormals, which a factor such as SiLU's x makes of one.
func Rounded(tolerance float64) compare.Tolerance { return compare.Off(1e-42, tolerance).OrNaN() }

// Trial runs a kernel as built, by AVX2 where it could do more, and in plain Go on copies
// of the same slices and compares them. Slices are not aligned and have guard words around.
// It is for results that lose nothing in a sum: for others see [Held].
func Trial(t *testing.T, what string, tolerance float64, slices [][]Float, run func(s [][]Float)) {
	t.Helper()
	goes := copies(slices)
	undo := cpu.Disable()
	run(goes)
	undo()
	onPaths(t, what, slices, run, func(what string, asm [][]Float) {
		t.Helper()
		compare.Slices(t, what+" and in plain Go", asm, goes, Rounded(tolerance))
	})
}

// Held runs a kernel on each path as [Trial] does, and holds every slice against what a formula says of it.
func Held(t *testing.T, what string, slices [][]Float, run func(s [][]Float), want [][]rounding.Result) {
	t.Helper()
	check := func(what string, got [][]Float) {
		t.Helper()
		for i, x := range got {
			rounding.Near(t, fmt.Sprintf("%s: slice %d", what, i), x, want[i])
		}
	}
	goes := copies(slices)
	undo := cpu.Disable()
	run(goes)
	undo()
	check(what+" in plain Go", goes)
	if cpu.Path() != "go" {
		onPaths(t, what, slices, run, check)
	}
}

func copies(slices [][]Float) (all [][]Float) {
	for _, x := range slices {
		all = append(all, append(make([]Float, 0, len(x)+1), x...))
	}
	return all
}

// onPaths runs a kernel as built, and by AVX2 where it could do more, on copies of slices that are not
// aligned, and fails the test where it wrote beside them.
func onPaths(t *testing.T, what string, slices [][]Float, run func(s [][]Float), check func(what string, got [][]Float)) {
	t.Helper()
	once := func(what string) {
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
		}
		check(what, asm)
	}
	once(what)
	if cpu.Path() == "avx512" {
		defer cpu.Narrow()()
		once(what + " of AVX2")
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
