package grad_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
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
