package grad_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Products with Params that are kept have the bits of others, on several tapes and after
// Resets, and follow a change of a Param from the next KeepWeights on.
func TestKeepWeights(t *testing.T) {
	w, u, b := grad.NewParam(24, 40), grad.NewParam(40, 40), grad.NewParam(40)
	half := &grad.Param{Value: w.Value.RowRange(0, 12)} // begins where w does
	fill := func(seed int) {
		for _, p := range []*grad.Param{w, u, b} {
			for i := range p.Value.Data {
				p.Value.Data[i] = tensor.Float((i*7+seed)%19-9) / 16
			}
		}
	}
	run := func(tape *grad.Tape, rows int) []tensor.Float {
		tape.Reset()
		x := tensor.New(rows, 24)
		for i := range x.Data {
			x.Data[i] = tensor.Float(i%11) / 3
		}
		xv := tape.Input(x)
		y := xv.Linear(tape.Use(w), tape.Use(b), grad.Tanh).AddProduct(xv.MatMul(tape.Use(w)), tape.Use(u))
		z := xv.Columns(0, 12).MatMul(tape.Use(half))
		return slices.Concat(y.Value().Data, y.MatMulT(tape.Use(u)).Value().Data, z.Value().Data, z.MatMul(grad.Const(u.Value)).Value().Data)
	}
	kept := []*grad.Tape{grad.NewEval(), grad.NewEval()}
	for seed := range 3 {
		fill(seed)
		kept[0].KeepWeights(kept[1])
		for step, rows := range []int{1, 3, 40, 2, 33} {
			got, want := run(kept[step%2], rows), run(grad.NewEval(), rows)
			if !slices.Equal(got, want) {
				t.Fatalf("weights %d, step %d: %d rows differ", seed, step, rows)
			}
		}
	}
	for name, tape := range map[string]*grad.Tape{"alone": grad.NewTape(1), "beside": nil} {
		var bad *grad.TapeError
		err := func() (err error) {
			defer func() { err, _ = recover().(error) }()
			if tape == nil {
				kept[0].KeepWeights(grad.NewTape(1))
			} else {
				tape.KeepWeights()
			}
			return nil
		}()
		if !errors.As(err, &bad) {
			t.Error(fmt.Sprint(name, ": a tape that records was taken: ", err))
		}
	}
	(*grad.Tape)(nil).KeepWeights()
}
