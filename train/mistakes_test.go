package train_test

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// What is wrong with arrays and lists is a *tensor.ShapeError that names what was called, nil among it.
func TestShapeMistakes(t *testing.T) {
	x, y := tensor.New(2, 3), tensor.New(3, 2)
	ranks := new(train.Ranks)
	for name, made := range map[string][]func(){
		"train.Measure":               {func() { train.Measure(nil, []int32{1}) }, func() { train.Measure(x, []int32{1}) }, func() { train.Measure(x, []int32{-5, 1}) }},
		"train.Accuracy":              {func() { train.Accuracy(nil, nil) }, func() { train.Accuracy(tensor.New(2), []int32{0, 0}) }},
		"train.Majority":              {func() { train.Majority([]int32{0, -7}) }},
		"train.ClassAUC":              {func() { train.ClassAUC(nil, nil) }, func() { train.ClassAUC(x, []int32{9, 0}) }},
		"train.LabelAUC":              {func() { train.LabelAUC(x, nil) }, func() { train.LabelAUC(nil, x) }, func() { train.LabelAUC(x, y) }},
		"train.LabelAveragePrecision": {func() { train.LabelAveragePrecision(nil, nil) }},
		"train.MeasureLabels":         {func() { train.MeasureLabels(nil, x) }, func() { train.MeasureLabels(x, y) }},
		"train.CountLabels":           {func() { train.CountLabels(nil, nil) }, func() { train.CountLabels(x, y) }},
		"train.MeasureNumbers":        {func() { train.MeasureNumbers(x, nil) }, func() { train.MeasureNumbers(x, y) }},
		"train.NewConfusion":          {func() { train.NewConfusion(nil, nil) }, func() { train.NewConfusion(x, []int32{0}) }},
		"train.Confusion.At":          {func() { train.NewConfusion(x, []int32{0, 0}).At(0, 9) }, func() { new(train.Confusion).At(0, 0) }},
		"train.AUC":                   {func() { train.AUC([]float64{1}, nil) }},
		"train.HitsAbove":             {func() { train.HitsAbove(nil, nil, 0) }},
		"train.Ranks.Add":             {func() { ranks.Add([]float64{1, 2}, 7, nil) }, func() { ranks.Add([]float64{1, 2}, 0, []int32{9}) }},
	} {
		for i, made := range made {
			var wrong *tensor.ShapeError
			if err := tensor.Try(made); !errors.As(err, &wrong) || wrong.Op != name {
				t.Errorf("%s: mistake %d: error %v", name, i, err)
			}
		}
	}
}

// Other mistakes panic with an error that says what to write.
func TestOtherMistakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	if err := train.Save(path, newLogistic()); err != nil {
		t.Fatal(err)
	}
	for says, made := range map[string]func(){
		"want a pointer to the struct":             func() { train.LoadConfig(path, struct{}{}) },
		"the model is a <nil>, want a pointer":     func() { train.LoadConfig(path, nil) },
		"NewEMA: the decay is NaN":                 func() { train.NewEMA(newLogistic(), math.NaN()) },
		"NewEMA: a *struct {} has no Params":       func() { train.NewEMA(&struct{}{}, 0.5) },
		"a ScheduleFunc that is nil":               func() { step(&train.SGD{LR: 1, Schedule: train.ScheduleFunc(nil)}) },
		"SGD: Momentum is -1; it must be a finite": func() { step(&train.SGD{LR: 1, Momentum: -1}) },
	} {
		if err := panicked(made); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: panicked with %v", says, err)
		}
	}
	if err := (&train.Checkpoint{Model: newLogistic(), Optimiser: (*train.Adam)(nil)}).Save(path); err == nil || !strings.Contains(err.Error(), "there is no optimiser") {
		t.Errorf("without an optimiser: error %v", err)
	}
}

// step is a step of an optimiser that was not bound.
func step(o train.Optimiser) {
	w, t := grad.NewParam(1, 1), grad.NewTape(1)
	o.Step(t.Backward(t.Use(w).Sum()))
}
