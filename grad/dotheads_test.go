package grad_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// both runs f, which multiplies features with two vectors, and returns results
// and gradients one behind the other.
func both(x, y, z *tensor.Dense, f func(x, y, z *grad.Var) (xy, xz *grad.Var)) []tensor.Float {
	t := grad.NewTape(1)
	var out []tensor.Float
	for range 2 { // the second time from used buffers
		t.Reset()
		xv, yv, zv := t.Watch(x), t.Watch(y), t.Watch(z)
		a, b := f(xv.Scale(1), yv, zv)
		gs := t.Backward(a.Mul(b).Add(a.Tanh()).Sum())
		out = slices.Concat(a.Value().Data, b.Value().Data, gs.Of(xv).Data, gs.Of(yv).Data, gs.Of(zv).Data)
	}
	return out
}

// dots are two products of x, which are one pass where x is the tape's and y and z
// have the shape of a row.
func dots(x, y, z *grad.Var) (xy, xz *grad.Var) { return x.Dot(y), x.Dot(z) }

// apartDots are those products each by itself.
func apartDots(x, y, z *grad.Var) (xy, xz *grad.Var) {
	defer grad.SetWaits(false)()
	return dots(x, y, z)
}

// Two products in one pass have the bits of each by itself, on any number of
// threads.
func TestDots(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 31))
	for _, shape := range [][3]int{{1, 1, 1}, {700, 8, 8}, {3000, 1, 7}, {900, 4, 64}, {5, 3, 5}} {
		n, h, d := shape[0], shape[1], shape[2]
		x, y, z := random(rng, n, h, d), random(rng, h, d), random(rng, h, d)
		want := both(x, y, z, apartDots)
		for _, threads := range append(sparing.Threads(), 1) {
			undo := par.SetThreads(threads)
			got := both(x, y, z, dots)
			undo()
			if !slices.Equal(got, want) {
				t.Errorf("%v on %d threads: other bits than each by itself", shape, threads)
			}
		}
	}
}

// The vectors may have another shape than rows of x.
func TestDotsBroadcast(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 32))
	x, y, z := random(rng, 4, 2, 3), random(rng, 3), random(rng, 4, 2, 3)
	want := both(x, y, z, apartDots)
	if got := both(x, y, z, dots); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The rows may be one, or rows of x: their gradients add up.
func TestDotsShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 34))
	x, y := random(rng, 40, 8, 8), random(rng, 8, 8)
	row := func(x *grad.Var, i int) *grad.Var { return x.RowRange(i, i+1).Reshape(8, 8) }
	for name, pick := range map[string]func(x, y *grad.Var) (a, b *grad.Var){
		"one":       func(_, y *grad.Var) (a, b *grad.Var) { return y, y },
		"row of x":  func(x, y *grad.Var) (a, b *grad.Var) { return row(x, 3), y },
		"rows of x": func(x, _ *grad.Var) (a, b *grad.Var) { return row(x, 3), row(x, 30) },
	} {
		want := both(x, y, y, func(x, y, _ *grad.Var) (xa, xb *grad.Var) {
			a, b := pick(x, y)
			return apartDots(x, a, b)
		})
		got := both(x, y, y, func(x, y, _ *grad.Var) (xa, xb *grad.Var) {
			a, b := pick(x, y)
			return dots(x, a, b)
		})
		compare.Near(t, name+" and Dot", got, want, compare.Off(1e-4, 1e-4)) // of one row the sums are made in another order
	}
}

func BenchmarkDots(b *testing.B) {
	rng := rand.New(rand.NewPCG(33, 33))
	x, y, z := random(rng, 2708, 8, 8), random(rng, 8, 8), random(rng, 8, 8)
	for name, f := range map[string]func(x, y, z *grad.Var) (xy, xz *grad.Var){
		"both":  dots,
		"twice": apartDots,
	} {
		b.Run(name, func(b *testing.B) {
			t := grad.NewTape(1)
			dy := tensor.New(2708, 8, 1)
			for b.Loop() {
				t.Reset()
				a, c := f(t.Watch(x).Scale(1), t.Watch(y), t.Watch(z))
				t.BackwardFrom(a.Add(c), dy)
			}
		})
	}
}
