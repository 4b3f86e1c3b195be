package compare

import (
	"fmt"
	"math"
	"slices"
)

// Test is what a comparison needs of a *testing.T, a *testing.B or a *rapid.T.
type Test interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Float is a number.
type Float interface{ ~float32 | ~float64 }

// Dense is what a *tensor.Dense is; this package is for the tests of tensor, too.
type Dense[F Float] interface {
	Shape() []int
	Rows() int
	Row(i int) []F
}

// Bits ends the test unless got has the bits of want, and no NaN.
func Bits[F Float](t Test, what string, got, want []F) {
	t.Helper()
	Near(t, what, got, want, SameBits)
}

// Equal ends the test unless got is equal to want, without a NaN. Zeros of both signs are equal.
func Equal[F Float](t Test, what string, got, want []F) {
	t.Helper()
	Near(t, what, got, want, Exactly)
}

// Near ends the test unless each number of got is near to that of want, and there are as many.
func Near[G, W Float](t Test, what string, got []G, want []W, by Tolerance) {
	t.Helper()
	if err := Differ(got, want, by); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// Number ends the test unless got is near to want.
func Number[G Float, W Float | ~int](t Test, what string, got G, want W, by Tolerance) {
	t.Helper()
	if !by.Near(float64(got), float64(want)) {
		t.Fatalf("%s is %v, want %s", what, got, wanted(by, 0, want, math.Abs(float64(want))))
	}
}

// Slices ends the test unless got has as many slices as want, and each is near to it.
func Slices[G, W Float](t Test, what string, got [][]G, want [][]W, by Tolerance) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d arrays, want %d", what, len(got), len(want))
	}
	for i, x := range got {
		Near(t, fmt.Sprintf("%s: array %d", what, i), x, want[i], by)
	}
}

// Array ends the test unless got has the shape of want, and each number is near.
func Array[F Float, A Dense[F]](t Test, what string, got, want A, by Tolerance) {
	t.Helper()
	Shaped(t, what, got, want.Shape(), flat(want), by)
}

// Shaped ends the test unless got has a shape, and the numbers of an array of this shape are near to want.
func Shaped[F, W Float, A Dense[F]](t Test, what string, got A, shape []int, want []W, by Tolerance) {
	t.Helper()
	if !slices.Equal(got.Shape(), shape) {
		t.Fatalf("%s has the shape %v, want %v", what, got.Shape(), shape)
	}
	Near(t, what, flat(got), want, by)
}

// Arrays ends the test unless got has the arrays of want, of their shapes, and each is near to it.
func Arrays[F Float, A Dense[F]](t Test, what string, got, want []A, by Tolerance) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d arrays, want %d", what, len(got), len(want))
	}
	for i, x := range got {
		Array(t, fmt.Sprintf("%s: array %d", what, i), x, want[i], by)
	}
}

// flat returns the numbers of an array.
func flat[F Float, A Dense[F]](x A) (all []F) {
	for i := range x.Rows() {
		all = append(all, x.Row(i)...)
	}
	return all
}

// Differ returns nil where each number of got is near to that of want, and otherwise says which is the first that is not.
func Differ[G, W Float](got []G, want []W, by Tolerance) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d numbers, want %d", len(got), len(want))
	}
	largest := 0.0
	if by.size == ofLargest {
		for _, v := range want {
			if v := math.Abs(float64(v)); v > largest && !math.IsInf(v, 0) {
				largest = v
			}
		}
	}
	first, all := -1, 0
	for i, v := range got {
		if w := float64(want[i]); by.holds(float64(v), w, by.allowed(i, w, largest)) {
			continue
		}
		if all++; first < 0 {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	err := fmt.Errorf("number %d of %d is %v, want %s", first, len(got), got[first], wanted(by, first, want[first], largest))
	if all > 1 {
		err = fmt.Errorf("%w, the first of %d that are off", err, all)
	}
	return err
}

// wanted says what number i should be.
func wanted[W Float | ~int](by Tolerance, i int, want W, largest float64) string {
	if by.bits {
		return fmt.Sprintf("the bits of %v", want)
	}
	if allowed := by.allowed(i, float64(want), largest); allowed > 0 {
		return fmt.Sprintf("%v to %.3g", want, allowed)
	}
	return fmt.Sprint(want)
}
