package compose_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestHeads multiplies heads by their columns, and merges them, beside plain loops.
func TestHeads(t *testing.T) {
	const rows, heads, a, b = 3, 2, 4, 5
	rng := rand.New(rand.NewPCG(1, 2))
	w := grad.Const(grad.Glorot(rng, a, heads*b).Value)
	x := compose.SplitHeads(grad.Const(compose.Uniform(rng, rows, heads*a, 4).Value), heads, a)
	z := compose.SplitHeads(compose.TimesHeads(x, w), heads, b)
	back := compose.TimesHeadsT(z, w).Value()
	mean, beside := compose.MergeHeads(z, true), compose.MergeHeads(z, false)
	if got := []int{mean.Dim(1), beside.Dim(1)}; !slices.Equal(got, []int{compose.MergedWidth(heads, b, true), compose.MergedWidth(heads, b, false)}) {
		t.Errorf("merged heads are %v wide", got)
	}
	at := func(x *tensor.Dense, i, j int) float64 { return float64(x.Row(i)[j]) }
	for i := range rows {
		for h := range heads {
			for j := range b {
				want := 0.0
				for k := range a {
					want += at(x.Value(), i, h*a+k) * at(w.Value(), k, h*b+j)
				}
				compare.Number(t, "TimesHeads", at(z.Value(), i, h*b+j), want, compare.Off(1e-5, 0))
				compare.Number(t, "heads side by side", at(beside.Value(), i, h*b+j), want, compare.Off(1e-5, 0))
			}
			for k := range a {
				want := 0.0
				for j := range b {
					want += at(z.Value(), i, h*b+j) * at(w.Value(), k, h*b+j)
				}
				compare.Number(t, "TimesHeadsT", at(back, i, h*a+k), want, compare.Off(1e-5, 0))
			}
		}
		for j := range b {
			compare.Number(t, "mean of heads", at(mean.Value(), i, j), (at(z.Value(), i, j)+at(z.Value(), i, b+j))/2, compare.Off(1e-5, 0))
		}
	}
}

// TestWants names the layer, the input and the field in each complaint.
func TestWants(t *testing.T) {
	x, w := grad.Const(tensor.New(2, 3)), grad.NewParam(3, 4)
	for want, f := range map[string]func(){
		"x is nil":                         func() { compose.WantRows("layers.L", nil, 3, "In") },
		"x has 3 columns, In is 5":         func() { compose.WantRows("layers.L", x, 5, "In") },
		"In.Dst has 3 columns, InDst is 1": func() { compose.WantWidth("layers.L", "In.Dst", x, 1, "InDst") },
		"no weights; was Init called?":     func() { compose.WantInit("layers.L", nil, 4) },
		"4 columns, and the layer's":       func() { compose.WantInit("layers.L", w, 5) },
		"no Params; was Init called?":      func() { compose.WantParam("layers.L", nil, true) },
	} {
		err := caught(f)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "layers.L") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	compose.WantRows("layers.L", x, 3, "In")
	compose.WantInit("layers.L", w, 4)
	compose.WantParam("layers.L", nil, false)
}

// caught returns the error that f panics with.
func caught(f func()) (err error) {
	defer func() {
		if e, ok := recover().(error); ok {
			var shape *tensor.ShapeError
			var tape *grad.TapeError
			if err = e; !errors.As(e, &shape) && !errors.As(e, &tape) {
				panic(e)
			}
		}
	}()
	f()
	return nil
}
