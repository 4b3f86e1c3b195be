package grad_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The gradient that BackwardFrom is given is lent to a summand that was added along: it stays as
// it is, also where another operation adds to that of the summand.
func TestSumLends(t *testing.T) {
	const n = 1000 // more than what is copied to wait
	x, b, dy := param(1, n, 6), param(2, 6), param(3, n, 6).Value
	kept := dy.Clone()
	for name, f := range map[string]func(x, b *grad.Var) *grad.Var{
		"once": func(x, _ *grad.Var) *grad.Var { r := x.Sin(); return grow(x.Tanh()).Add(r) },
		"in turn": func(x, _ *grad.Var) *grad.Var {
			r := x.Sin()
			r = grow(x.Tanh()).Add(r)
			return grow(x.Cos()).Add(r)
		},
		"read before": func(x, _ *grad.Var) *grad.Var { r := x.Sin(); return grow(r.Tanh()).Add(r) },
		"of a product": func(x, b *grad.Var) *grad.Var {
			r := x.MatMul(grad.Concat(b, b, b, b, b, b).Reshape(6, 6))
			return grow(x.Tanh()).Add(r)
		},
		"with a bias of its own": func(x, b *grad.Var) *grad.Var {
			r := grow(x) // has run: x is large
			return grow(r.AddBias(b, grad.Identity).Tanh()).Add(r)
		},
	} {
		run := func(waits bool) (out [][]tensor.Float) {
			defer grad.SetWaits(waits)()
			defer grad.SetHandLeast(0)()
			tape := grad.NewTape(1)
			for range 3 {
				tape.Reset()
				y := f(tape.Use(x), tape.Use(b))
				for range 2 {
					for _, g := range tape.BackwardFrom(y, dy) {
						out = append(out, slices.Clone(g.Value.Data))
					}
				}
			}
			return out
		}
		compare.Slices(t, name, run(true), run(false), compare.Off(1e-5, 1e-5))
		if !slices.Equal(dy.Data, kept.Data) {
			t.Fatalf("%s: the gradient that BackwardFrom was given has changed", name)
		}
	}
}
