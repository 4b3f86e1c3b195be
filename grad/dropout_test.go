package grad_test

import (
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// dropped returns ones of that shape after the tape's next dropout.
func dropped(tape *grad.Tape, p float64, shape ...int) []tensor.Float {
	return slices.Clone(tape.Dropout(tape.Input(ones(shape...)), p).Value().Data)
}

func TestDropoutMasks(t *testing.T) {
	tape := grad.NewTape(5)
	tape.Reset()
	first, second := dropped(tape, 0.5, 30, 7), dropped(tape, 0.5, 30, 7)
	tape.Reset()
	next := dropped(tape, 0.5, 30, 7)
	if slices.Equal(first, second) || slices.Equal(first, next) {
		t.Error("two dropouts, or two steps, have the same mask")
	}
	resumed := grad.NewTape(5)
	resumed.SetStep(1)
	if resumed.Step() != 1 || !slices.Equal(dropped(resumed, 0.5, 30, 7), first) || !slices.Equal(dropped(resumed, 0.5, 30, 7), second) {
		t.Error("SetStep does not bring back the masks of that step")
	}
	other := grad.NewTape(6)
	other.SetStep(1)
	if slices.Equal(dropped(other, 0.5, 30, 7), first) {
		t.Error("two seeds have the same mask")
	}
	skipped := grad.NewTape(5)
	skipped.SetStep(1)
	dropped(skipped, 0, 30, 7) // takes the first op number all the same
	if !slices.Equal(dropped(skipped, 0.5, 30, 7), second) {
		t.Error("a dropout of fraction 0 moves the masks after it")
	}
}

// TestDropoutSparse drops the same elements of a matrix in either storage.
func TestDropoutSparse(t *testing.T) {
	x := param(1, 20, 9).Value
	for i := range x.Data {
		if i%3 == 0 {
			x.Data[i] = 0
		}
	}
	eye := tensor.New(9, 9)
	for i := range 9 {
		eye.Data[i*9+i] = 1
	}
	a, b := grad.NewTape(3), grad.NewTape(3)
	dense := a.Dropout(grad.Const(x), 0.4).Value()
	got := b.Dropout(grad.Const(sparse.FromDense(x)), 0.4).MatMul(grad.Const(eye)).Value()
	if !slices.Equal(dense.Data, got.Data) {
		t.Error("sparse and dense features drop differently")
	}
	if c := grad.Const(sparse.FromDense(x)); grad.NewEval().Dropout(c, 0.4) != c {
		t.Error("an eval tape drops sparse elements")
	}
}

// TestDropoutFraction allows five standard deviations.
func TestDropoutFraction(t *testing.T) {
	for _, p := range []float64{0, 0.1, 0.5, 0.6, 0.9, 1} {
		const n = 200 * 500
		kept := 0
		for _, v := range dropped(grad.NewTape(2), p, 200, 500) {
			if v != 0 {
				kept++
				if want := 1 / (1 - p); math.Abs(float64(v)-want) > 1e-5*want {
					t.Fatalf("p = %v: a kept one became %v, want %v", p, v, want)
				}
			}
		}
		mean, dev := n*(1-p), math.Sqrt(n*p*(1-p))
		if math.Abs(float64(kept)-mean) > 5*dev {
			t.Errorf("p = %v: %d of %d kept, want %.0f ± %.0f", p, kept, n, mean, dev)
		}
	}
}

// TestDropoutIndependent counts, for neighbours in every direction, how often
// both, one or none is kept. χ² has three degrees of freedom: above 25 is a
// chance of 2e-5.
func TestDropoutIndependent(t *testing.T) {
	const n, m = 300, 300
	tape := grad.NewTape(11)
	a := dropped(tape, 0.5, n, m)
	b := dropped(tape, 0.5, n, m)
	tape.Reset()
	c := dropped(tape, 0.5, n, m)
	seed := dropped(grad.NewTape(12), 0.5, n, m)
	for what, pair := range map[string][2][]tensor.Float{
		"columns":  {a[:len(a)-1], a[1:]},
		"two on":   {a[:len(a)-2], a[2:]},
		"rows":     {a[:len(a)-m], a[m:]},
		"diagonal": {a[:len(a)-m-1], a[m+1:]},
		"ops":      {a, b}, "steps": {a, c}, "seeds": {a, seed},
	} {
		var count [4]float64
		for i, v := range pair[0] {
			k := 0
			if v != 0 {
				k++
			}
			if pair[1][i] != 0 {
				k += 2
			}
			count[k]++
		}
		want, chi := float64(len(pair[0]))/4, 0.0
		for _, v := range count {
			chi += (v - want) * (v - want) / want
		}
		if chi > 25 {
			t.Errorf("%s: χ² = %.1f for %v", what, chi, count)
		}
	}
	for what, at := range map[string]func(i, j int) tensor.Float{
		"row":    func(i, j int) tensor.Float { return a[i*m+j] },
		"column": func(i, j int) tensor.Float { return a[j*m+i] },
	} {
		for i := range n {
			kept := 0.0
			for j := range m {
				kept += is(at(i, j) != 0)
			}
			if z := (kept - m/2) / math.Sqrt(m/4); math.Abs(z) > 5 {
				t.Errorf("%s %d keeps %v of %d", what, i, kept, m)
			}
		}
	}
}

// TestDropoutOwner takes memory from its own tape and refuses another's Var.
func TestDropoutOwner(t *testing.T) {
	a, b := grad.NewTape(1), grad.NewTape(1)
	misuse(t, "tapes", func() { a.Dropout(b.Input(ones(2, 2)), 0.5) })
	a.Dropout(grad.Const(ones(100, 10)), 0.5)
	if s := a.Stats(); s.InUse == 0 {
		t.Error("the dropout of a constant is not in the tape's arena")
	}
}
