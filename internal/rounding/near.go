package rounding

import (
	"fmt"
	"math"
	"testing"
)

// margin is how many times its bound an error may be: that of a single rounding comes near to its bound, and roundings
// that the bound takes as independent are nearly so.
const margin = 5

// Alike reports whether two results may be equal in Float, or either the larger.
func Alike(x, y Result) bool { return math.Abs(x.Value-y.Value) <= margin*(x.Bound+y.Bound) }

// Near fails the test unless got is what the formula says, to five times its bounds. With -v it says
// which part of that the largest error is.
func Near[F ~float32 | ~float64](t testing.TB, what string, got []F, want []Result) {
	t.Helper()
	at, part, err := Largest(got, want)
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if testing.Verbose() {
		t.Logf("%s: the largest error is %.3f of what is allowed, of number %d", what, part, at)
	}
}

// Largest returns where the error of got is the largest part of what is allowed, that part, and an error
// if it is more than 1.
func Largest[F ~float32 | ~float64](got []F, want []Result) (at int, part float64, err error) {
	if len(got) != len(want) {
		return 0, 0, fmt.Errorf("%d numbers, want %d", len(got), len(want))
	}
	for i, v := range got {
		w := want[i]
		off, allowed := math.Abs(float64(v)-w.Value), margin*w.Bound
		switch {
		case float64(v) == w.Value, v != v && w.Value != w.Value:
			continue
		case math.IsInf(w.Value, 0) || w.Value != w.Value || allowed != allowed:
			allowed = 0
		}
		if !(off <= part*allowed) {
			at, part = i, off/allowed
		}
		if !(off <= allowed) && err == nil {
			err = fmt.Errorf("number %d of %d is %v, want %v to %.2g", i, len(got), v, w.Value, allowed)
		}
	}
	return at, part, err
}
