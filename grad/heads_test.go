package grad_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// projected is a matrix and a Param that make a projection in 8 heads of 8.
func projected(rows int) (x *grad.Var, w *grad.Param, row *grad.Param) {
	rng := rand.New(rand.NewPCG(28, uint64(rows)))
	draw := func(shape ...int) *tensor.Dense {
		d := tensor.New(shape...)
		for i := range d.Data {
			d.Data[i] = tensor.Float(rng.NormFloat64())
		}
		return d
	}
	return grad.Const(draw(rows, 5)), &grad.Param{Value: draw(5, 64)}, &grad.Param{Value: draw(8, 8)}
}

// setHeldMost sets how large a projection may be that an evaluation holds.
func setHeldMost(n int) (undo func()) {
	old := cpu.HeldMost
	cpu.HeldMost = n
	return func() { cpu.HeldMost = old }
}

// On either side of the size from which a projection is not held, its products with rows of
// heads and all of it have the same bits, and only beyond it is it not held.
func TestProjectThreshold(t *testing.T) {
	const rows = 70
	x, w, row := projected(rows)
	want := x.MatMul(grad.NewEval().Use(w))
	for _, least := range []int{rows*64 + 1, rows * 64} {
		undo := setHeldMost(least - 1)
		tp := grad.NewEval()
		ft := x.Project(tp.Use(w), 8)
		if held := tape.Projected(ft) == nil; held != (least > rows*64) {
			t.Errorf("of %d elements, from %d on: held %t", rows*64, least, held)
		}
		el, er := ft.Dot(tp.Use(row)), ft.Dot(tp.Use(row))
		if got := tp.Stats().Held; least <= rows*64 && got >= rows*64*4 {
			t.Errorf("%d bytes held for two products of %d each", got, rows*8*4)
		}
		both := want.Reshape(rows, 8, 8).Dot(grad.Const(row.Value)).Value().Data
		for i, z := range []*grad.Var{el, er} {
			if !slices.Equal(z.Value().Data, both) {
				t.Errorf("from %d elements on: product %d with a row has other bits", least, i)
			}
		}
		if !slices.Equal(ft.Value().Data, want.Value().Data) || !slices.Equal(ft.Shape(), []int{rows, 8, 8}) {
			t.Errorf("from %d elements on: the projection %v has other bits", least, ft)
		}
		undo()
	}
}

// What records holds a projection, and so does what has none of the shapes that attention takes.
func TestProjectHeld(t *testing.T) {
	defer setHeldMost(0)()
	x, w, _ := projected(3)
	narrow := &grad.Param{Value: tensor.New(5, 32)}
	for name, ft := range map[string]*grad.Var{
		"training":      x.Project(grad.NewTape(1).Use(w), 8),
		"no tape":       x.Project(grad.Const(w.Value), 8),
		"heads of four": x.Project(grad.NewEval().Use(narrow), 8),
		"four heads":    x.Project(grad.NewEval().Use(narrow), 4),
	} {
		if tape.Projected(ft) != nil {
			t.Errorf("%s: not held", name)
		}
	}
}

// A kept product has the bits of one that is worked out each time, survives Resets and what is done with it, and is worked out once: a
// later change of the Param is not seen. Products of other rows are not kept.
func TestKeepProducts(t *testing.T) {
	defer setHeldMost(0)()
	x, w, row := projected(70)
	part := &grad.Param{Value: w.Value.RowRange(0, 3)}
	b := &grad.Param{Value: tensor.New(64)}
	b.Value.Fill(0.25)
	short := grad.Const(tensor.New(70, 3))
	short.Value().Fill(0.5)
	of := func(tp *grad.Tape, x *grad.Var, own bool) [][]tensor.Float {
		tp.Reset()
		if own {
			x = tp.Input(x.Value())
		}
		use := tp.Use(w)
		ft := x.Project(use, 8)
		all := []*grad.Var{x.MatMul(use), x.Linear(use, tp.Use(b), grad.ReLU), x.Linear(use, tp.Use(b), grad.Identity), x.Linear(use, tp.Use(b), grad.GELU), ft.Dot(tp.Use(row)), ft, x.MatMul(use.Scale(2))}
		all = append(all, short.MatMul(tp.Use(part)), all[0].ReLU(), all[0].AddBias(tp.Use(b), grad.ReLU), x.Columns(0, 3).MatMul(use.RowRange(0, 3)))
		var out [][]tensor.Float
		for _, y := range all {
			out = append(out, slices.Clone(y.Value().Data))
		}
		return out
	}
	want := of(grad.NewEval(), x, false)
	tp := grad.NewEval()
	tape.KeepProducts(tp, x.Value())
	for round := range 4 {
		for i, y := range of(tp, x, round%2 == 1) {
			if !slices.Equal(y, want[i]) {
				t.Errorf("product %d has other bits", i)
			}
		}
	}
	other := grad.Const(x.Value().Clone())
	w.Value.Fill(1)
	changed := of(grad.NewEval(), x, false)
	if got := of(tp, x, false); !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) || !slices.Equal(got[6], changed[6]) {
		t.Error("a kept product follows a change of the Param, or one that is none does not")
	}
	if got := of(tp, other, false); !slices.Equal(got[0], changed[0]) {
		t.Error("products of other rows are kept")
	}
	tape.KeepProducts(tp, nil)
	if got := of(tp, x, false); !slices.Equal(got[0], changed[0]) {
		t.Error("products are still kept")
	}
	defer func() {
		if _, ok := recover().(*grad.TapeError); !ok {
			t.Error("a tape that records keeps products")
		}
	}()
	tape.KeepProducts(grad.NewTape(1), x.Value())
}

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
