package gradtest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Sharp reports whether Float is float64, so that a check is precise.
const Sharp = tensor.Float(1)+tensor.Float(1e-10) != tensor.Float(1)

// few is how many elements a Param may have that is checked one by one.
const few = 32

// Check fails t unless the gradient of f by every trained Param of the model is
// that of finite differences. The model is anything [grad.Params] can walk; f
// returns a Var of one element and is deterministic: each call is given a tape of
// the same seed and step, which takes back the memory of the call before.
func Check(t testing.TB, model any, f func(t *grad.Tape) *grad.Var) {
	t.Helper()
	if err := Diff(model, f); err != nil {
		t.Error(err)
	}
}

// Diff is Check for use outside a test: it returns an error that names each
// Param whose gradient differs, and by how much.
func Diff(model any, f func(t *grad.Tape) *grad.Var) error {
	tape, moved := grad.NewTape(1), grad.NewTape(1)
	tape.Reset()
	grads := tape.Backward(f(tape))
	value := func() float64 {
		moved.Reset()
		moved.SetStep(tape.Step())
		return float64(f(moved).Value().Data[0])
	}
	var errs []error
	n := 0
	for name, p := range grad.Params(model) {
		if p.Frozen {
			continue
		}
		n++
		g := grads.Param(p)
		if g == nil {
			errs = append(errs, fmt.Errorf("gradtest: %s is not used", name))
			continue
		}
		for _, dir := range directions(len(p.Value.Data)) {
			if err := along(p, g, dir, value); err != nil {
				errs = append(errs, fmt.Errorf("gradtest: %s: %w", name, err))
				break
			}
		}
	}
	if n == 0 {
		errs = append(errs, errors.New("gradtest: the model has no trained Params"))
	}
	return errors.Join(errs...)
}

// directions returns the unit vectors of a small Param, so that an error can be
// seen by itself, and random ones of a large Param: each of those moves every
// element, so an error of any one shows. In float32 a step along one element
// drowns in rounding, so there all are random, and fewer will do for blunders.
func directions(n int) [][]float64 {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	var dirs [][]float64
	if Sharp && n <= few {
		for i := range n {
			d := make([]float64, n)
			d[i] = 1
			dirs = append(dirs, d)
		}
		return dirs
	}
	count := 4
	if Sharp {
		count = 6
	}
	for range count {
		d := make([]float64, n)
		for i := range d {
			d[i] = rng.NormFloat64()
		}
		dirs = append(dirs, d)
	}
	return dirs
}

// along compares the derivative along dir with a central difference.
func along(p *grad.Param, g *tensor.Dense, dir []float64, value func() float64) error {
	h, tol := 1e-6, 1e-6
	if !Sharp {
		h, tol = 3e-3, 3e-2
	}
	var got float64
	for i, d := range dir {
		got += d * float64(g.Data[i])
	}
	at := func(s float64) float64 {
		old := p.Value.Clone()
		for i, d := range dir {
			p.Value.Data[i] += tensor.Float(s * d)
		}
		p.Changed()
		y := value()
		copy(p.Value.Data, old.Data)
		p.Changed()
		return y
	}
	up, down := at(h), at(-h)
	want := (up - down) / (2 * h)
	scale := math.Max(1, math.Abs(want))
	if !Sharp {
		scale += math.Abs(up) // its rounding is what limits the difference
	}
	if diff := math.Abs(got - want); !(diff <= tol*scale) {
		return fmt.Errorf("derivative %.8g, finite difference %.8g", got, want)
	}
	return nil
}
