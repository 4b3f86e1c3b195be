package train_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// mapped is a model that keeps its Params in a map.
type mapped struct {
	Parts map[string]*grad.Param `json:"-"`
}

// mapped returns l as one.
func (l *logistic) mapped() *mapped {
	return &mapped{map[string]*grad.Param{"weights": l.W, "bias": l.B, "mean": l.Mean}}
}

// secret is a model whose Params nobody finds but one.
type secret struct {
	B *grad.Param `json:"-"`
	w *grad.Param
}

// says reports an error that does not say all parts.
func says(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v does not say %q", what, err, part)
		}
	}
}

// panicked returns the error that f panics with, or nil.
func panicked(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = v.(error)
		}
	}()
	f()
	return nil
}

// A model whose Params are in a map is trained, saved, loaded and given back its
// best state as any other.
func TestMapOfParams(t *testing.T) {
	plain, m := newLogistic(), newLogistic()
	if _, err := newFit(plain).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := newFit(m)
	f.Model = m.mapped()
	h, err := f.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(values(m), values(plain)) {
		t.Error("the best state of a map is another than that of a struct")
	}
	path := filepath.Join(t.TempDir(), "model")
	if err := train.Save(path, m.mapped()); err != nil {
		t.Fatal(err)
	}
	back := newLogistic()
	if err := train.Load(path, back.mapped()); err != nil {
		t.Fatal(err)
	}
	best, _ := h.Best()
	if got := newFit(back).Eval(grad.NewEval()).Val; got != best.Val {
		t.Errorf("the loaded model scores %v, the saved one %v", got, best.Val)
	}
}

// What Save and the others would lose they refuse, by name.
func TestHiddenParam(t *testing.T) {
	l := newLogistic()
	m := &secret{B: l.B, w: l.W}
	path := filepath.Join(t.TempDir(), "model")
	_, fitErr := (&train.Fit{Model: m, Optimiser: &train.Adam{LR: 1}, Epochs: 1, Loss: newFit(l).Loss}).Run(t.Context())
	for what, err := range map[string]error{
		"Save":            train.Save(path, m),
		"Load":            saveThenLoad(t, l, m),
		"Fit":             fitErr,
		"Bind":            (&train.SGD{LR: 1}).Bind(m),
		"Checkpoint.Save": (&train.Checkpoint{Model: m, Optimiser: &train.Adam{LR: 1}}).Save(path),
		"NewEMA":          panicked(func() { train.NewEMA(m, 0.5) }),
	} {
		says(t, what, err, "*train_test.secret", "w: the field w of train_test.secret is not exported")
	}
	says(t, "a decay of 1", panicked(func() { train.NewEMA(l, 1) }), "decay is 1")
	says(t, "a slash", train.Save(path, map[string]*grad.Param{"opt/W": l.W}), `"opt/W"`, "slash")
}

func saveThenLoad(t *testing.T, saved, loaded any) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model")
	if err := train.Save(path, saved); err != nil {
		t.Fatal(err)
	}
	return train.Load(path, loaded)
}

// A run whose loss is not of its model says so, before it changes anything.
func TestFitOfAnotherModel(t *testing.T) {
	const unknown = "a Param of shape [2 2] that Fit.Model, a *train_test.logistic, does not hold"
	m, other := newLogistic(), newLogistic()
	f := newFit(m)
	f.Model = other
	_, err := f.Run(t.Context())
	says(t, "another model", err, unknown)
	if !slices.Equal(m.W.Value.Data, newLogistic().W.Value.Data) || !slices.Equal(values(other), values(newLogistic())) {
		t.Error("the models were changed all the same")
	}

	f, late := newFit(m), grad.NewParam(2, 2)
	whole, epochs := f.Loss, 0
	f.Loss = func(t *grad.Tape) *grad.Var {
		if epochs++; epochs == 3 { // another Param, in the place of none
			return whole(t).Add(t.Use(late).Sum())
		}
		return whole(t)
	}
	h, err := f.Run(t.Context())
	says(t, "a Param of the third epoch", err, unknown)
	if len(h.Epochs) != 2 {
		t.Errorf("%d epochs, want 2", len(h.Epochs))
	}

	f = newFit(m)
	f.Loss = func(t *grad.Tape) *grad.Var { return t.Watch(tensor.Of([]tensor.Float{1}, 1)).Sum() }
	_, err = f.Run(t.Context())
	says(t, "no Param", err, "none of the Params of Fit.Model")
}

// Of an empty split Fit says so; the scores of none are documented.
func TestEmptySplit(t *testing.T) {
	m := newLogistic()
	x, labels := blobs(60)
	f := newFit(m)
	f.Loss = func(t *grad.Tape) *grad.Var { return m.forward(t, x).Rows(nil).CrossEntropy(nil) }
	_, err := f.Run(t.Context())
	says(t, "no training row", err, "training split empty")

	f = newFit(m)
	all := f.Eval
	f.Eval = func(t *grad.Tape) train.Scores {
		s := all(t)
		s.Val = train.Measure(m.forward(t, x).Rows(nil).Value(), nil)
		return s
	}
	_, err = f.Run(t.Context())
	says(t, "no validation row", err, "no row of the validation part")
	f.By = train.ByLast
	if _, err := f.Run(t.Context()); err != nil {
		t.Errorf("the last epoch needs no validation: %v", err)
	}

	logits, nothing, none := m.forward(nil, x).Value(), tensor.New(0, 2), train.Score{Empty: true}
	unlabelled := slices.Repeat([]int32{grad.NoLabel}, 60)
	if got := train.Measure(nothing, nil); got != none {
		t.Errorf("of no row %+v", got)
	}
	if got := train.Measure(logits, unlabelled); got != none {
		t.Errorf("of no label %+v", got)
	}
	if got := train.MeasureLabels(nothing, nothing); got != none {
		t.Errorf("of no row with many labels %+v", got)
	}
	if a, c := train.Accuracy(nothing, nil), train.Measure(nothing, nil).Loss; a != 0 || c != 0 {
		t.Errorf("accuracy %v and cross-entropy %v of none", a, c)
	}
	if got := train.Measure(logits, labels); got.Empty {
		t.Error("a row is no row")
	}
}

// A run in which no epoch can be the best ends with an error, and the state
// before it.
func TestNoBestEpoch(t *testing.T) {
	f, p := scripted([]train.Score{{Loss: math.NaN()}, {Accuracy: math.NaN()}})
	h, err := f.Run(t.Context())
	says(t, "scores of NaN", err, "of 2 epochs none has a validation score without a NaN")
	if len(h.Epochs) != 2 || p.P.Value.Data[0] != 0 {
		t.Errorf("%d epochs, and the state after %v", len(h.Epochs), p.P.Value.Data[0])
	}
}

// Settings that cannot be meant are refused by Bind and, unbound, by the first
// Step.
func TestOptimiserSettings(t *testing.T) {
	for want, o := range map[string]train.Optimiser{
		"Adam: LR is 0":              &train.Adam{},
		"AdamW: LR is 0":             &train.AdamW{WeightDecay: 1},
		"SGD: LR is 0":               &train.SGD{Momentum: 0.9},
		"Adamax: LR is 0":            &train.Adamax{},
		"RMSprop: LR is 0":           &train.RMSprop{},
		"Adagrad: LR is 0":           &train.Adagrad{},
		"Adadelta: LR is 0":          &train.Adadelta{},
		"NAdam: LR is 0":             &train.NAdam{},
		"RAdam: LR is 0":             &train.RAdam{},
		"Adam: LR is -1":             &train.Adam{LR: -1},
		"SGD: LR is NaN":             &train.SGD{LR: math.NaN()},
		"WeightDecay is -0.1":        &train.Adam{LR: 1, WeightDecay: -0.1},
		"Adam: Beta1 is 1":           &train.Adam{LR: 1, Beta1: 1},
		"AdamW: Beta2 is -0.5":       &train.AdamW{LR: 1, Beta2: -0.5},
		"Adamax: Beta2 is 1.5":       &train.Adamax{LR: 1, Beta2: 1.5},
		"RAdam: Eps is -1":           &train.RAdam{LR: 1, Eps: -1},
		"NAdam: MomentumDecay is -1": &train.NAdam{LR: 1, MomentumDecay: -1},
		"Rho is 1":                   &train.Adadelta{LR: 1, Rho: 1},
		"Alpha is 2":                 &train.RMSprop{LR: 1, Alpha: 2},
		"RateDecay is +Inf":          &train.Adagrad{LR: 1, RateDecay: math.Inf(1)},
		"Initial is -1":              &train.Adagrad{LR: 1, Initial: -1},
		"SGD: Momentum is -0.9":      &train.SGD{LR: 1, Momentum: -0.9},
		"Nesterov needs":             &train.SGD{LR: 1, Nesterov: true},
		"Every is 0":                 &train.SGD{LR: 1, Schedule: train.StepDecay{}},
		"Gamma is 0":                 &train.SGD{LR: 1, Schedule: train.Exponential{}},
		"from 0 to 0":                &train.SGD{LR: 1, Schedule: train.Warmup{Then: train.Linear{Steps: 3}}},
		"Width is 0":                 &train.SGD{LR: 1, Schedule: train.Noam{Warmup: 3}},
		"Warmup is 0":                &train.SGD{LR: 1, Schedule: train.Noam{Width: 3}},
		"Schedule's Steps is 0":      &train.SGD{LR: 1, Schedule: train.Cosine{}},
		"Adam: the Schedule's Steps": &train.Adam{LR: 1, Schedule: train.OneCycle{}},
		"AdamW: the Schedule's Step": &train.AdamW{LR: 1, Schedule: train.Polynomial{}},
		"Schedule's First is 0":      &train.SGD{LR: 1, Schedule: train.CosineRestarts{}},
	} {
		m := newLogistic()
		says(t, "Bind", o.Bind(m), want)
		says(t, "Step", panicked(func() { o.Step(grad.Grads{{Param: m.W, Value: m.W.Value.Like()}}) }), want)
	}
	unbound := &train.SGD{LR: 1, Groups: []train.Group{{Match: "W"}}}
	says(t, "groups without Bind", panicked(func() { unbound.Step(nil) }), "call Bind")
}

// Without a rate of its own an optimiser trains what all groups have one for, and
// a schedule may be 0.
func TestOptimiserRates(t *testing.T) {
	one := tensor.Of([]tensor.Float{1, 1}, 2)
	m := newLogistic()
	o := &train.SGD{Groups: []train.Group{{Match: "W", Frozen: true}, {Match: "B", LR: 0.5}}}
	if err := o.Bind(m); err != nil {
		t.Fatal(err)
	}
	o.Step(grad.Grads{{Param: m.B, Value: one}})
	if m.B.Value.Data[0] != -0.5 {
		t.Errorf("B is %v", m.B.Value.Data)
	}
	still := &train.SGD{LR: 1, Schedule: train.ScheduleFunc(func(int) float64 { return 0 })}
	still.Step(grad.Grads{{Param: m.B, Value: one}})
	if m.B.Value.Data[0] != -0.5 {
		t.Errorf("a schedule of 0 made B %v", m.B.Value.Data)
	}
}

// A 0 that is meant is not the preset.
func TestZeroForPreset(t *testing.T) {
	p, q := grad.NewParam(2), grad.NewParam(2)
	zero, none := &train.Adam{LR: 1, Beta1: grad.Zero, Beta2: grad.Zero}, &train.RMSprop{LR: 1, Alpha: grad.Zero}
	for i, g := range []tensor.Float{2, -0.5, 8} { // without memory the size of a gradient is no matter
		grads := tensor.Of([]tensor.Float{g, -g}, 2)
		zero.Step(grad.Grads{{Param: p, Value: grads}})
		none.Step(grad.Grads{{Param: q, Value: grads}})
		want := []float64{-1, 0, -1}[i]
		for _, got := range []tensor.Float{p.Value.Data[0], -p.Value.Data[1], q.Value.Data[0], -q.Value.Data[1]} {
			if math.Abs(float64(got)-want) > 1e-5 {
				t.Errorf("after step %d: %v and %v, want %v", i+1, p.Value.Data, q.Value.Data, want)
			}
		}
	}
	if f := (train.MultiStep{At: []int{1}, Gamma: grad.Zero}).Factor(1); f != 0 {
		t.Errorf("a Gamma of 0 gives the factor %v", f)
	}
}

// An optimiser that is bound takes the gradients of its model only, and fresh
// ones.
func TestStepRefuses(t *testing.T) {
	m, tape := newLogistic(), grad.NewTape(1)
	o := &train.Adam{LR: 1}
	if err := o.Bind(m); err != nil {
		t.Fatal(err)
	}
	says(t, "another model", panicked(func() { o.Step(tape.Backward(tape.Use(grad.NewParam(3, 1)).Sum())) }), "shape [3 1]", "bind the model that is trained")
	tape.Reset()
	first := tape.Backward(tape.Use(m.B).Sum())
	tape.Reset()
	err := panicked(func() { o.Step(first) })
	says(t, "stale gradients", err, "last Reset")
	if _, ok := err.(*grad.TapeError); !ok {
		t.Errorf("panicked with %s", fmt.Sprintf("%T", err))
	}
	if m.B.Value.Data[0] != 0 {
		t.Error("B was changed all the same")
	}
}
