package train_test

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

func TestEMA(t *testing.T) {
	m := newLogistic()
	a := train.NewEMA(m, 0.9)
	want, last := 0.0, 0.0
	for i := range 20 {
		last = float64(i*i) + 3
		m.W.Value.Fill(tensor.Float(last))
		m.Mean.Value.Fill(tensor.Float(i))
		a.Update()
		if want = 0.9*want + 0.1*last; i == 0 {
			want = last
		}
	}
	a.Swap()
	if got := float64(m.W.Value.Data[3]); math.Abs(got-want) > 1e-4 {
		t.Errorf("the average is %v, want %v", got, want)
	}
	if got := m.Mean.Value.Data[0]; got != 19 {
		t.Errorf("a frozen Param is %v, want its last value", got)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("an Update of the average by itself is no error")
			}
		}()
		a.Update()
	}()
	a.Swap()
	if got := float64(m.W.Value.Data[3]); got != last {
		t.Errorf("a second Swap gives %v, want %v", got, last)
	}
}

// Whatever of this package writes to a Param says so: products with packed weights are those
// with the Param as it is, also if a single element of it has changed.
func TestChangedParams(t *testing.T) {
	const at = 1
	m := &logistic{In: 200, Classes: 300, W: grad.NewParam(200, 300), B: grad.NewParam(300), Mean: grad.NewParam(200)}
	x := tensor.New(2, 200)
	x.Fill(1)
	loss := func(t *grad.Tape) *grad.Var { // of one element of W
		return grad.Concat(t.Use(m.W).Reshape(-1).RowRange(at, at+1), t.Use(m.B).Scale(0), t.Use(m.Mean).Scale(0)).Sum()
	}
	product := func(tape *grad.Tape) tensor.Float {
		tape.Reset()
		return tape.Input(x).MatMul(tape.Use(m.W)).Value().Row(0)[at]
	}
	packed := grad.NewEval()
	packed.UseWeights(new(grad.Weights))
	path := filepath.Join(t.TempDir(), "model")
	step := func() {
		tape := grad.NewTape(1)
		(&train.SGD{LR: 1}).Step(tape.Backward(loss(tape)))
	}
	fit := func() {
		f := train.Fit{Model: m, Optimiser: &train.SGD{LR: 1}, Epochs: 1, Loss: loss}
		if _, err := f.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	average, opt := train.NewEMA(m, 0.5), &train.SGD{LR: 1}
	average.Update()
	if err := opt.Bind(m); err != nil {
		t.Fatal(err)
	}
	checkpoint := &train.Checkpoint{Model: m, Optimiser: opt}
	for _, c := range []struct {
		name          string
		before, write func()
	}{
		{"SGD.Step", func() {}, step},
		{"Fit.Run", func() {}, fit},
		{"EMA.Swap", func() {}, average.Swap},
		{"EMA.Swap back", func() {}, average.Swap},
		{"Load", func() {
			if err := train.Save(path, m); err != nil {
				t.Fatal(err)
			}
			step()
		}, func() {
			if err := train.Load(path, m); err != nil {
				t.Fatal(err)
			}
		}},
		{"Checkpoint.Load", func() {
			if err := checkpoint.Save(path); err != nil {
				t.Fatal(err)
			}
			step()
		}, func() {
			if err := checkpoint.Load(path); err != nil {
				t.Fatal(err)
			}
		}},
		{"Fit gives back the best", func() {}, func() {
			n := 0.0
			f := train.Fit{Model: m, Optimiser: &train.SGD{LR: 1}, Epochs: 3, Loss: loss, By: train.ByLoss, Eval: func(t *grad.Tape) train.Scores {
				n++
				product(packed)
				return train.Scores{Val: train.Score{Loss: n}}
			}}
			if _, err := f.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		c.before()
		for range 2 {
			product(packed)
		}
		old := slices.Clone(m.W.Value.Data)
		c.write()
		if slices.Equal(old, m.W.Value.Data) {
			t.Fatalf("%s: nothing has changed", c.name)
		}
		if got, want := product(packed), product(grad.NewEval()); got != want {
			t.Errorf("%s: a product of %v with what the Param was, want %v", c.name, got, want)
		}
	}
}
