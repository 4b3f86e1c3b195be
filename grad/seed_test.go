package grad_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestRestart: a tape that starts again drops what a new one drops.
func TestRestart(t *testing.T) {
	x := tensor.New(8, 8)
	x.Fill(1)
	drop := func(tape *grad.Tape) []tensor.Float {
		tape.Reset()
		return slices.Clone(tape.Dropout(grad.Const(x), 0.5).Value().Data)
	}
	old, fresh := grad.NewTape(1), grad.NewTape(2)
	first := drop(old)
	drop(old)
	old.Restart(2)
	if old.Seed() != 2 || old.Step() != 0 {
		t.Errorf("seed %d, step %d", old.Seed(), old.Step())
	}
	if got := drop(old); !slices.Equal(got, drop(fresh)) || slices.Equal(got, first) {
		t.Error("it drops other elements than a new tape")
	}
}

// An evaluation between two steps records and drops nothing, and the next step is
// what it would have been without.
func TestResetEval(t *testing.T) {
	x, w := tensor.New(6, 40), grad.NewParam(40, 3)
	x.Fill(1)
	w.Value.Fill(0.5)
	var masks [2][]tensor.Float
	for i, evaluates := range []bool{false, true} {
		tape := grad.NewTape(3)
		for range 3 {
			tape.Reset()
			y := tape.Dropout(tape.Input(x), 0.5)
			masks[i] = slices.Clone(y.Value().Data)
			if gs := tape.Backward(y.MatMul(tape.Use(w)).Sum()); gs.Param(w) == nil {
				t.Fatal("a step after an evaluation has no gradients")
			}
			if !evaluates {
				continue
			}
			step := tape.Step()
			tape.ResetEval()
			z := tape.Dropout(tape.Input(x), 0.5)
			v := z.MatMul(tape.Use(w))
			if tape.Recording() || v.Needs() || tape.Step() != step || !slices.Equal(z.Value().Data, x.Data) || tape.Stats().Ops != 0 {
				t.Fatalf("an evaluation records or drops: step %d of %d, %d operations", tape.Step(), step, tape.Stats().Ops)
			}
			func() {
				defer func() {
					if _, ok := recover().(*grad.TapeError); !ok {
						t.Error("a Var of the step is alive in the evaluation")
					}
				}()
				y.Value()
			}()
		}
	}
	if !slices.Equal(masks[0], masks[1]) {
		t.Error("evaluations change the masks of the steps after them")
	}
	eval := grad.NewEval()
	eval.ResetEval()
	if eval.Reset(); eval.Recording() {
		t.Error("an eval tape records after ResetEval")
	}
}
