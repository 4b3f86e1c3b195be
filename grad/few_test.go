package grad_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
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
