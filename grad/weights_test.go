package grad_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// packedModel multiplies with its Params in every way that reads packed ones.
type packedModel struct{ W, U, B, Half *grad.Param }

func newPackedModel() *packedModel {
	m := &packedModel{W: grad.NewParam(24, 40), U: grad.NewParam(40, 40), B: grad.NewParam(40)}
	m.Half = &grad.Param{Value: m.W.Value.RowRange(0, 12)} // begins where W does
	m.fill(0)
	return m
}

func (m *packedModel) fill(seed int) {
	for _, p := range []*grad.Param{m.W, m.U, m.B} {
		for i := range p.Value.Data {
			p.Value.Data[i] = tensor.Float((i*7+seed)%19-9) / 16
		}
	}
}

// of returns the results for so many rows, which begin with the number from.
func (m *packedModel) of(tp *grad.Tape, from, rows int) []tensor.Float {
	tp.Reset()
	x := tensor.New(rows, 24)
	for i := range x.Data {
		x.Data[i] = tensor.Float((from+i)%11) / 3
	}
	xv, w, u := tp.Input(x), tp.Use(m.W), tp.Use(m.U)
	y := xv.Linear(w, tp.Use(m.B), grad.Tanh).AddProduct(xv.MatMul(w), u)
	z := xv.Columns(0, 12).MatMul(tp.Use(m.Half))
	h := tp.Input(tensor.New(rows, 40))
	loop := tape.BeginLoop(3*rows, h, u)
	for range 3 {
		h = h.MatMul(u).Add(y).Tanh()
	}
	loop.End()
	return slices.Concat(y.Value().Data, y.MatMulT(u).Value().Data, z.Value().Data, z.MatMul(grad.Const(m.U.Value)).Value().Data, h.Value().Data)
}

// Products with packed Params have the bits of others, on several tapes and after Resets, and
// follow every change of a Param that most of its elements have a part in.
func TestWeights(t *testing.T) {
	m, packed := newPackedModel(), new(grad.Weights)
	tapes := []*grad.Tape{grad.NewEval(), grad.NewEval()}
	for _, tp := range tapes {
		tp.UseWeights(packed)
	}
	for seed := range 3 {
		m.fill(seed)
		for step, rows := range []int{1, 3, 40, 2, 33} {
			if !slices.Equal(m.of(tapes[step%2], seed, rows), m.of(grad.NewEval(), seed, rows)) {
				t.Fatalf("weights %d, step %d: %d rows differ", seed, step, rows)
			}
		}
	}
	m.U.Value = m.U.Value.Clone()
	m.U.Value.Data[1]++
	if !slices.Equal(m.of(tapes[0], 0, 2), m.of(grad.NewEval(), 0, 2)) {
		t.Error("a Param with another Value: the old one was multiplied with")
	}
	if n := len(grad.PackedOf(packed, m.B)); n != 0 {
		t.Errorf("%d copies of a bias", n)
	}
	tapes[0].UseWeights(nil)
	if want := m.of(grad.NewEval(), 0, 2); !slices.Equal(m.of(tapes[0], 0, 2), want) {
		t.Error("without the set again: other bits")
	}
	var bad *grad.TapeError
	if err := func() (err error) {
		defer func() { err, _ = recover().(error) }()
		grad.NewTape(1).UseWeights(packed)
		return nil
	}(); !errors.As(err, &bad) {
		t.Error("a tape that records was taken: ", err)
	}
	(*grad.Tape)(nil).UseWeights(packed)
}

// A change of one element is noticed if it is told, or made by an Update.
func TestWeightsChanged(t *testing.T) {
	m := newPackedModel()
	m.W.Value = tensor.New(24, 40)
	m.U = &grad.Param{Value: tensor.New(40, 40), Frozen: true}
	m.fill(1)
	m.Half = &grad.Param{Value: m.W.Value.RowRange(0, 12)}
	tp := grad.NewEval()
	tp.UseWeights(new(grad.Weights))
	for range 2 {
		m.of(tp, 0, 3)
	}
	for name, change := range map[string]func(){
		"told": func() {
			m.W.Value.Data[1]++
			m.W.Changed()
			m.Half.Changed()
		},
		"updated": func() {
			to := m.U.Value.Clone()
			to.Data[1]++
			train := grad.NewTape(1)
			train.Update(m.U, grad.Const(to))
			train.Backward(train.Use(m.W).Sum())
		},
	} {
		before := m.of(tp, 0, 3)
		change()
		got, want := m.of(tp, 0, 3), m.of(grad.NewEval(), 0, 3)
		if slices.Equal(before, want) {
			t.Fatalf("%s: nothing has changed", name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: a product with what the Param was", name)
		}
	}
}

// Eight goroutines, each with a tape, share one set: each gets its own rows, and there is one
// copy of each Param however many tapes there are.
func TestWeightsOfGoroutines(t *testing.T) {
	m := newPackedModel()
	const goroutines, steps = 8, 6
	want := make([][]tensor.Float, goroutines)
	for g := range want {
		want[g] = m.of(grad.NewEval(), g, 1+g%3)
	}
	for round := range 3 { // each of which packs anew
		packed := new(grad.Weights)
		var begin, all sync.WaitGroup
		begin.Add(1)
		wrong := make([]string, goroutines)
		for g := range goroutines {
			all.Go(func() {
				tp := grad.NewEval()
				tp.UseWeights(packed)
				begin.Wait()
				for step := range steps {
					if !slices.Equal(m.of(tp, g, 1+g%3), want[g]) {
						wrong[g] = fmt.Sprintf("round %d, goroutine %d, step %d: wrong rows", round, g, step)
					}
				}
			})
		}
		begin.Done()
		all.Wait()
		for _, w := range wrong {
			if w != "" {
				t.Error(w)
			}
		}
		held := func() []*tensor.Packed {
			return slices.Concat(grad.PackedOf(packed, m.W), grad.PackedOf(packed, m.U), grad.PackedOf(packed, m.Half))
		}
		before := held()
		if len(before) != 4 { // U also transposed
			t.Errorf("round %d: %d copies of three Params, want 4", round, len(before))
		}
		tp := grad.NewEval()
		tp.UseWeights(packed)
		m.of(tp, 0, 1)
		if !slices.Equal(before, held()) {
			t.Errorf("round %d: another tape has packed again", round)
		}
	}
}
