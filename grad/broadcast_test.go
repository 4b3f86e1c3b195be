package grad_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestFewRows shows that functions of few rows and one more have the bits that
// they have among many: those that follow get no gradient.
func TestFewRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 41))
	for name, f := range map[string]func(x, y *grad.Var) *grad.Var{
		"Add": (*grad.Var).Add, "Sub": (*grad.Var).Sub, "Mul": (*grad.Var).Mul,
		"Div": (*grad.Var).Div, "Min": (*grad.Var).Min, "Max": (*grad.Var).Max,
	} {
		for _, s := range [][2]int{{1, 1}, {1, 7}, {3, 2}, {5, 1}, {4, 33}} {
			n, d := s[0], s[1]
			x, y, dz := random(rng, n, d), random(rng, d), random(rng, n, d)
			many := n + 2000/d
			run := func(rows int) (z, dx, dy []tensor.Float) {
				tape, wide, g := grad.NewTape(1), random(rng, rows, d), tensor.New(rows, d)
				copy(wide.Data, x.Data)
				copy(g.Data, dz.Data)
				xv, yv := tape.Watch(wide), tape.Watch(y)
				zv := f(xv, yv)
				gs := tape.BackwardFrom(zv, g)
				return zv.Value().Data[:n*d], gs.Of(xv).Data[:n*d], gs.Of(yv).Data
			}
			z1, dx1, dy1 := run(n)
			z2, dx2, dy2 := run(many)
			if !slices.Equal(z1, z2) || !slices.Equal(dx1, dx2) || d > 1 && !slices.Equal(dy1, dy2) {
				t.Errorf("%s of %v: other bits than among %d rows", name, s, many)
			}
		}
	}
}

// TestFewHeads compares products with attention vectors that are taken one by
// one with those of a block of rows.
func TestFewHeads(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 42))
	for _, s := range [][3]int{{1, 1, 1}, {2, 4, 3}, {8, 1, 19}, {1, 8, 8}} {
		n, h, d := s[0], s[1], s[2]
		x, y := random(rng, n, h, d), random(rng, h, d)
		run := func(rows int) []tensor.Float {
			tape, wide, dz := grad.NewTape(1), tensor.New(rows, h, d), tensor.New(rows, h, 1)
			copy(wide.Data, x.Data)
			for i := range n * h {
				dz.Data[i] = tensor.Float(i + 1)
			}
			xv, yv := tape.Watch(wide), tape.Watch(y)
			z := xv.Dot(yv)
			gs := tape.BackwardFrom(z, dz)
			return slices.Concat(z.Value().Data[:n*h], gs.Of(xv).Data[:n*h*d], gs.Of(yv).Data)
		}
		few, many := run(n), run(n+20)
		for i, v := range few {
			if diff := float64(v - many[i]); diff > 1e-4 || diff < -1e-4 {
				t.Errorf("%v: number %d is %v, among more rows %v", s, i, v, many[i])
			}
		}
	}
}

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
