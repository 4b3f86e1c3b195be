package compare_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/tensor"
)

var _, _ compare.Test = (*testing.B)(nil), (*rapid.T)(nil)

// failure is a test that keeps what was said of it last.
type failure struct{ said string }

func (f *failure) Helper()                           {}
func (f *failure) Fatalf(format string, args ...any) { f.said = fmt.Sprintf(format, args...) }

var nan, inf, zero = math.NaN(), math.Inf(1), 0.0

// Each tolerance takes what is on its border and refuses what is a little further, on either side.
func TestTolerances(t *testing.T) {
	for name, c := range map[string]struct {
		by           compare.Tolerance
		want, border float64
		others       []float64
	}{
		"exactly":                      {by: compare.Exactly, want: 3},
		"bits":                         {by: compare.SameBits, want: 3},
		"off by abs":                   {by: compare.Off(0.25, 0), want: 3, border: 0.25},
		"off by rel":                   {by: compare.Off(0, 0.25), want: 3, border: 0.75},
		"off by both":                  {by: compare.Off(0.5, 0.25), want: -3, border: 1.25},
		"a part of the number":         {by: compare.Part(0.25), want: -3, border: 0.75, others: []float64{100}},
		"a part of one":                {by: compare.Part(0.25), want: 0.5, border: 0.25},
		"a part of the largest":        {by: compare.PartOfLargest(0.25), want: 3, border: 2, others: []float64{1, -8}},
		"a part of one, if larger":     {by: compare.PartOfLargest(0.25), want: 0.5, border: 0.25, others: []float64{0.75}},
		"an infinity is no size":       {by: compare.PartOfLargest(0.25), want: 3, border: 1, others: []float64{-inf, 4}},
		"a part of the terms":          {by: compare.PartOfTerms(0.5, 0.25, []float64{6, 100}), want: 3, border: 2, others: []float64{9}},
		"a tolerance may let NaN pass": {by: compare.Part(0.25).OrNaN(), want: 3, border: 0.75, others: []float64{nan}},
	} {
		for _, sign := range []float64{1, -1} {
			want := append([]float64{c.want}, c.others...)
			got := append([]float64{c.want + sign*c.border}, c.others...)
			if err := compare.Differ(got, want, c.by); err != nil {
				t.Errorf("%s: on the border: %v", name, err)
			}
			got[0] += sign * 1e-9
			if compare.Differ(got, want, c.by) == nil {
				t.Errorf("%s: beyond the border it passes", name)
			}
		}
	}
}

// NaN and infinities are what they are, and nothing else is near to them.
func TestSpecialNumbers(t *testing.T) {
	for name, by := range map[string]compare.Tolerance{
		"exactly": compare.Exactly, "bits": compare.SameBits, "off": compare.Off(1e300, 1e300), "part": compare.Part(1e300),
		"largest": compare.PartOfLargest(1e300), "terms": compare.PartOfTerms(1, 1, []float64{inf}),
	} {
		for _, c := range []struct {
			got, want float64
			is, orNaN bool
		}{
			{nan, nan, false, true}, {nan, 1, false, false}, {1, nan, false, false}, {inf, nan, false, false},
			{inf, inf, true, true}, {-inf, -inf, true, true}, {inf, -inf, false, false}, {1, inf, false, false}, {inf, 1, false, false},
			{math.Float64frombits(math.Float64bits(nan) + 1), nan, false, true},
		} {
			if compare.Differ([]float64{c.got}, []float64{c.want}, by) == nil != c.is {
				t.Errorf("%s: %v for %v: want %v", name, c.got, c.want, c.is)
			}
			if compare.Differ([]float64{c.got}, []float64{c.want}, by.OrNaN()) == nil != c.orNaN {
				t.Errorf("%s or NaN: %v for %v: want %v", name, c.got, c.want, c.orNaN)
			}
		}
		if same := compare.Differ([]float64{zero}, []float64{math.Copysign(0, -1)}, by) == nil; same != (name != "bits") {
			t.Errorf("%s: 0 for −0: %v", name, same)
		}
	}
}

func TestWhatIsSaid(t *testing.T) {
	dense := func(rows, columns int, v ...tensor.Float) []*tensor.Dense {
		return []*tensor.Dense{tensor.Of(v, rows, columns)}
	}
	for want, do := range map[string]func(t *failure){
		"":                     func(t *failure) { compare.Bits(t, "y", []float32{1, 2}, []float32{1, 2}) },
		"y: 2 numbers, want 1": func(t *failure) { compare.Bits(t, "y", []float32{1, 2}, []float32{1}) },
		"y: number 1 of 2 is 3, want the bits of 2": func(t *failure) { compare.Bits(t, "y", []float32{1, 3}, []float32{1, 2}) },
		"y: number 0 of 3 is 1, want 2 to 0.5, the first of 2 that are off": func(t *failure) {
			compare.Near(t, "y", []float32{1, 3, 9}, []float64{2, 3, 1}, compare.Off(0.5, 0))
		},
		"the loss is 1, want 2":        func(t *failure) { compare.Number(t, "the loss", float32(1), 2.0, compare.Exactly) },
		"the loss is 1, want 4 to 0.4": func(t *failure) { compare.Number(t, "the loss", 1.0, 4.0, compare.PartOfLargest(0.1)) },
		"dx: 0 arrays, want 1":         func(t *failure) { compare.Arrays(t, "dx", nil, dense(1, 1, 3), compare.Exactly) },
		"dx: array 0 has the shape [1 2], want [2 1]": func(t *failure) {
			compare.Arrays(t, "dx", dense(1, 2, 3, 4), dense(2, 1, 3, 4), compare.Exactly)
		},
		"dx: array 0: number 3 of 4 is 6, want 7": func(t *failure) {
			compare.Arrays(t, "dx", dense(2, 2, 3, 4, 5, 6), dense(2, 2, 3, 4, 5, 7), compare.Exactly)
		},
	} {
		var f failure
		if do(&f); f.said != want {
			t.Errorf("%q, want %q", f.said, want)
		}
	}
}

// A gradient that is right passes, and x is what it was; one that is a hundredth off does not.
func TestGradient(t *testing.T) {
	x := []tensor.Float{0.5, -1, 2}
	f := func() float64 { return float64(x[0]*x[1]) + float64(x[2])*float64(x[2]) }
	var ok, off failure
	compare.Gradient(&ok, "f", x, []tensor.Float{-1, 0.5, 4}, f)
	compare.Gradient(&off, "f", x, []tensor.Float{-1, 0.5, 4.04}, f)
	compare.Bits(t, "x", x, []tensor.Float{0.5, -1, 2})
	if ok.said != "" || !strings.HasPrefix(off.said, "f: the gradient by differences: number 2 of 3 is 4.04, want ") {
		t.Errorf("%q of a gradient, %q of one that is off", ok.said, off.said)
	}
}
