package sequence_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Where the biases that keep a state begin: a constant, or with the longest distance T
// log U(1, T−1), which in the mean over many units keeps a half for T/2 steps. The biases
// of 0 and 1 keep next to nothing of 60 steps: σ(1)⁶⁰ is 1e-8.
func TestRetentionBiases(t *testing.T) {
	const m, T = 400, 60
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }
	drawn := func(what string, b []tensor.Float, sign float64) {
		t.Helper()
		mean := 0.0 // of U = e^|b|
		for _, v := range b {
			u := math.Exp(sign * float64(v))
			if u < 1-1e-5 || u > T-1+1e-3 {
				t.Fatalf("%s: e^%v is not between 1 and T−1", what, sign*float64(v))
			}
			mean += u / float64(len(b))
		}
		if mean < 28 || mean > 32 {
			t.Errorf("%s: the mean of U is %.2f, want %d", what, mean, T/2)
		}
		if slices.Min(b) == slices.Max(b) {
			t.Errorf("%s: all units begin alike", what)
		}
	}
	constant := func(what string, b []tensor.Float, want tensor.Float) {
		t.Helper()
		if slices.Min(b) != want || slices.Max(b) != want {
			t.Errorf("%s: biases from %v to %v, want %v", what, slices.Min(b), slices.Max(b), want)
		}
	}
	part := func(p *grad.Param, gate int) []tensor.Float { return p.Value.Data[gate*m : (gate+1)*m] }

	l := &sequence.LSTM{Hidden: m, Chrono: T}
	l.Init(rng())
	drawn("b_f", part(l.B, 1), 1)
	for j, f := range part(l.B, 1) {
		if part(l.B, 0)[j] != -f {
			t.Fatalf("b_i is %v where b_f is %v, want its negative", part(l.B, 0)[j], f)
		}
	}
	constant("b_g", part(l.B, 2), 0)
	constant("b_o", part(l.B, 3), 0)

	l = &sequence.LSTM{Hidden: m, ForgetBias: 5}
	l.Init(rng())
	constant("b_f of 5", part(l.B, 1), 5)
	constant("b_i beside it", part(l.B, 0), 0)

	for _, forget := range []sequence.Forget{sequence.CoupledForget, sequence.NoForget} {
		l = &sequence.LSTM{Hidden: m, Chrono: T, Forget: forget}
		l.Init(rng())
		drawn(string(forget)+": b_i", part(l.B, 0), -1)
	}
	l = &sequence.LSTM{Hidden: m, ForgetBias: 1, Forget: sequence.CoupledForget}
	l.Init(rng())
	constant("coupled b_i", part(l.B, 0), -1)

	for _, c := range []struct {
		l    *sequence.GRU
		gate int
		sign float64
	}{{&sequence.GRU{}, 1, 1}, {&sequence.GRU{UpdateAdmits: true}, 1, -1}, {&sequence.GRU{Minimal: true}, 0, -1}} {
		c.l.Hidden, c.l.Chrono = m, T
		c.l.Init(rng())
		drawn("b_z", part(c.l.B, c.gate), c.sign)
		c.l.Chrono, c.l.KeepBias = 0, 2
		c.l.Init(rng())
		constant("b_z of 2", part(c.l.B, c.gate), tensor.Float(2*c.sign))
	}
	for want, l := range map[string]sequence.Cell{
		"want at least 2":  &sequence.LSTM{In: 1, Hidden: 2, Chrono: 1},
		"choose one":       &sequence.GRU{In: 1, Hidden: 2, Chrono: 9, KeepBias: 1},
		"no forget gate":   &sequence.LSTM{In: 1, Hidden: 2, Forget: "half"},
		"is called coupld": &sequence.LSTM{In: 1, Hidden: 2, Forget: "coupld"},
	} {
		if e := misused(func() { l.Init(rng()) }); e == nil || !strings.Contains(e.Why, want) {
			t.Errorf("got %v, want a TapeError about %q", e, want)
		}
	}
}
