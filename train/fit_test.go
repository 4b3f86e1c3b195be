package train_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// newFit returns a run of logistic regression.
func newFit(m *logistic) *train.Fit {
	x, labels := blobs(60)
	fitted, held := rowsTo(0, 40), rowsTo(40, 60)
	return &train.Fit{
		Model: m, Optimiser: &train.Adam{LR: 0.05}, Seed: 7, Epochs: 30,
		Loss: func(t *grad.Tape) *grad.Var { return m.forward(t, x).Rows(fitted).CrossEntropy(labels[:40]) },
		Eval: func(t *grad.Tape) train.Scores {
			y := m.forward(t, x)
			return train.Scores{Train: train.Measure(y.Rows(fitted).Value(), labels[:40]), Val: train.Measure(y.Rows(held).Value(), labels[40:])}
		},
	}
}

func TestFitLearns(t *testing.T) {
	m := newLogistic()
	f := newFit(m)
	var seen []train.Epoch
	f.OnEpoch = func(e train.Epoch) { seen = append(seen, e) }
	h, err := f.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	best, ok := h.Best()
	if !ok || best.Val.Accuracy < 0.95 || len(h.Epochs) != 30 || h.Epochs[29].N != 30 {
		t.Errorf("best epoch %+v of %d", best, len(h.Epochs))
	}
	if !slices.Equal(seen, h.Epochs) {
		t.Error("OnEpoch saw other epochs than the history has")
	}
	if got := f.Eval(grad.NewEval()).Val; got != best.Val {
		t.Errorf("the restored model scores %v, its best epoch %v", got, best.Val)
	}
	if m.Mean.Value.Data[1] == 0 {
		t.Error("the frozen running mean was never updated")
	}
}

// TestFitDeterministic runs twice, to the bit.
func TestFitDeterministic(t *testing.T) {
	run := func(seed uint64) (*logistic, []train.Epoch) {
		m := newLogistic()
		f := newFit(m)
		f.Seed = seed
		h, err := f.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range h.Epochs {
			h.Epochs[i].Took = 0
		}
		return m, h.Epochs
	}
	a, ha := run(7)
	b, hb := run(7)
	c, _ := run(8)
	if !slices.Equal(a.W.Value.Data, b.W.Value.Data) || !slices.Equal(ha, hb) {
		t.Error("the same seed gave two results")
	}
	if slices.Equal(a.W.Value.Data, c.W.Value.Data) {
		t.Error("another seed gave the same result")
	}
}

// scripted is a run whose validation scores are given. The model is a counter:
// after epoch n its one weight has been changed n times.
func scripted(scores []train.Score) (*train.Fit, *counter) {
	p := &counter{P: grad.NewParam(1)}
	n := 0
	return &train.Fit{
		Model: p, Optimiser: p, Epochs: len(scores),
		Loss: func(t *grad.Tape) *grad.Var { return t.Use(p.P).Sum() },
		Eval: func(*grad.Tape) train.Scores { n++; return train.Scores{Val: scores[n-1]} },
	}, p
}

// counter is an optimiser that adds 1 to its own Param.
type counter struct {
	P *grad.Param
}

func (c *counter) Bind(any) error { return nil }

func (c *counter) Step(grad.Grads) { c.P.Value.Data[0]++ }

func TestFitChoosesBest(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		scores []train.Score
		by     train.Criterion
		want   tensor.Float
	}{
		"accuracy":        {[]train.Score{{Loss: 1, Accuracy: 0.5}, {Loss: 2, Accuracy: 0.7}, {Loss: 0.5, Accuracy: 0.6}}, train.ByAccuracy, 2},
		"ties by loss":    {[]train.Score{{Loss: 2, Accuracy: 0.7}, {Loss: 1, Accuracy: 0.7}, {Loss: 1.5, Accuracy: 0.7}}, train.ByAccuracy, 2},
		"then the first":  {[]train.Score{{Loss: 2, Accuracy: 0.7}, {Loss: 2, Accuracy: 0.7}}, train.ByAccuracy, 1},
		"loss":            {[]train.Score{{Loss: 2, Accuracy: 0.9}, {Loss: 3, Accuracy: 0.99}, {Loss: 1, Accuracy: 0.1}}, train.ByLoss, 3},
		"loss, then acc":  {[]train.Score{{Loss: 2, Accuracy: 0.5}, {Loss: 2, Accuracy: 0.6}}, train.ByLoss, 2},
		"NaN is no score": {[]train.Score{{Loss: nan, Accuracy: 0.9}, {Loss: 1, Accuracy: 0.2}, {Loss: nan, Accuracy: 0.8}}, train.ByAccuracy, 2},
		"either, both up": {[]train.Score{{Loss: 2, Accuracy: 0.5}, {Loss: 1, Accuracy: 0.6}, {Loss: 3, Accuracy: 0.9}}, train.ByEither, 2},
		"either, not one": {[]train.Score{{Loss: 2, Accuracy: 0.5}, {Loss: 1, Accuracy: 0.4}, {Loss: 2, Accuracy: 0.9}}, train.ByEither, 1},
		"either, as good": {[]train.Score{{Loss: 2, Accuracy: 0.5}, {Loss: 2, Accuracy: 0.5}}, train.ByEither, 2},
		"either, NaN":     {[]train.Score{{Loss: nan, Accuracy: 0.5}, {Loss: 2, Accuracy: 0.1}, {Loss: 1, Accuracy: nan}}, train.ByEither, 2},
		"last, a worse":   {[]train.Score{{Loss: 1, Accuracy: 0.9}, {Loss: 2, Accuracy: 0.5}}, train.ByLast, 2},
		"last, NaN":       {[]train.Score{{Loss: 1, Accuracy: 0.9}, {Loss: nan}}, train.ByLast, 2},
		"none":            {[]train.Score{{Loss: nan}, {Accuracy: nan}}, train.ByAccuracy, 0},
	} {
		f, p := scripted(c.scores)
		f.By = c.by
		h, err := f.Run(t.Context())
		if (err != nil) != (c.want == 0) {
			t.Fatal(err)
		}
		if got := p.P.Value.Data[0]; got != c.want {
			t.Errorf("%s: restored the state of epoch %v, want %v", name, got, c.want)
		}
		if best, ok := h.Best(); ok != (c.want > 0) || best.N != int(c.want) {
			t.Errorf("%s: best epoch is %d, %v", name, best.N, ok)
		}
	}
}

// By the last epoch, only a lower loss is worth waiting for.
func TestFitPatienceByLast(t *testing.T) {
	nan := math.NaN()
	scores := []train.Score{{Loss: nan}, {Loss: 3}, {Loss: 2}, {Loss: 2, Accuracy: 1}, {Loss: nan}, {Loss: 1}, {Loss: 4}, {Loss: 3}, {Loss: 2}}
	for patience, want := range map[int]int{0: 9, 1: 1, 2: 5, 3: 9} {
		f, p := scripted(scores)
		f.By, f.Patience = train.ByLast, patience
		h, err := f.Run(t.Context())
		if err != nil || len(h.Epochs) != want {
			t.Errorf("patience %d: %d epochs, want %d (%v)", patience, len(h.Epochs), want, err)
		}
		if got := p.P.Value.Data[0]; got != tensor.Float(want) {
			t.Errorf("patience %d: the state of epoch %v is left, want %d", patience, got, want)
		}
	}
}

func TestFitPatience(t *testing.T) {
	up := []train.Score{{Accuracy: 1}, {Accuracy: 0}, {Accuracy: 2}, {Accuracy: 0}, {Accuracy: 0}, {Accuracy: 3}}
	for patience, want := range map[int]int{0: 6, 1: 2, 2: 5, 3: 6} {
		f, _ := scripted(up)
		f.Patience = patience
		var waited []int
		f.OnEpoch = func(e train.Epoch) { waited = append(waited, e.Waited) }
		h, err := f.Run(t.Context())
		if err != nil || len(h.Epochs) != want {
			t.Errorf("patience %d: %d epochs, want %d (%v)", patience, len(h.Epochs), want, err)
		}
		if since := []int{0, 1, 0, 1, 2, 0}; !slices.Equal(waited, since[:want]) {
			t.Errorf("patience %d: the epochs without progress are %v, want %v", patience, waited, since[:want])
		}
	}
}

func TestFitCancelled(t *testing.T) {
	f, p := scripted([]train.Score{{Accuracy: 1}, {Accuracy: 3}, {Accuracy: 2}, {Accuracy: 9}})
	ctx, cancel := context.WithCancel(t.Context())
	f.OnEpoch = func(e train.Epoch) {
		if e.N == 3 {
			cancel()
		}
	}
	h, err := f.Run(ctx)
	if !errors.Is(err, context.Canceled) || h == nil || len(h.Epochs) != 3 {
		t.Fatalf("history %v, error %v", h, err)
	}
	if got := p.P.Value.Data[0]; got != 2 {
		t.Errorf("restored the state of epoch %v, want 2", got)
	}
}

// TestFitPatienceByEither waits while the loss or the accuracy gets no worse.
func TestFitPatienceByEither(t *testing.T) {
	scores := []train.Score{
		{Loss: 3, Accuracy: 0.5}, {Loss: 2, Accuracy: 0.4}, {Loss: 4, Accuracy: 0.5}, // one of the two each time
		{Loss: 4, Accuracy: 0.4}, {Loss: 4, Accuracy: 0.4}, {Loss: 0, Accuracy: 1},
	}
	for by, want := range map[train.Criterion]int{train.ByEither: 5, train.ByAccuracy: 3, train.ByLoss: 4} {
		f, _ := scripted(scores)
		f.Patience, f.By = 2, by
		h, err := f.Run(t.Context())
		if err != nil || len(h.Epochs) != want {
			t.Errorf("criterion %d: %d epochs, want %d (%v)", by, len(h.Epochs), want, err)
		}
	}
}

// TestFitDiverges plants a NaN or an infinity in the loss or in a gradient of
// epoch 4.
func TestFitDiverges(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		shift, scale float64 // of the loss, at epoch 4
		eval         bool
		what         string
		want         tensor.Float // the state that is restored
	}{
		"NaN":             {math.NaN(), 1, true, "the loss", 2},
		"+Inf":            {inf, 1, true, "the loss", 2},
		"-Inf, no Eval":   {-inf, 1, false, "the loss", 2},
		"gradient":        {0, inf, true, "the gradient of P", 2},
		"gradient, alone": {0, inf, false, "the gradient of P", 3},
	} {
		f, p := scripted([]train.Score{{Accuracy: 1}, {Accuracy: 3}, {Accuracy: 2}, {}, {}})
		if !c.eval {
			f.Eval = nil
		}
		f.Loss = func(tp *grad.Tape) *grad.Var {
			x := tp.Use(p.P).Sum()
			if tp.Step() != 4 {
				return x
			}
			if c.scale != 1 { // √ at 0 has an infinite slope
				return x.Scale(0).Sqrt()
			}
			return x.Shift(c.shift)
		}
		h, err := f.Run(t.Context())
		var d *train.DivergedError
		if !errors.As(err, &d) || d.Epoch != 4 || d.What != c.what || d.Value-d.Value == 0 || !strings.Contains(err.Error(), "epoch 4") {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		if got := p.P.Value.Data[0]; got != c.want || len(h.Epochs) != 3 {
			t.Errorf("%s: state of epoch %v after %d epochs, want %v after 3", name, got, len(h.Epochs), c.want)
		}
	}
}

// TestFitWithoutEval keeps the last state.
func TestFitWithoutEval(t *testing.T) {
	f, p := scripted(make([]train.Score, 5))
	f.Eval = nil
	h, err := f.Run(t.Context())
	if err != nil || p.P.Value.Data[0] != 5 {
		t.Errorf("state %v, error %v", p.P.Value.Data, err)
	}
	if _, ok := h.Best(); ok {
		t.Error("there is a best epoch without an evaluation")
	}
}

func TestFitChecks(t *testing.T) {
	for want, change := range map[string]func(*train.Fit){
		"Epochs is 0":        func(f *train.Fit) { f.Epochs = 0 },
		"Patience is -1":     func(f *train.Fit) { f.Patience = -1 },
		"Fit.By is 4":        func(f *train.Fit) { f.By = 4 },
		"Fit.Steps is -1":    func(f *train.Fit) { f.Steps = -1 },
		"Fit.Limit is -2":    func(f *train.Fit) { f.Limit = -2 },
		"ClipNorm is NaN":    func(f *train.Fit) { f.ClipNorm = math.NaN() },
		"NormPower is -1":    func(f *train.Fit) { f.NormPower = -1 },
		"ClipValue -1":       func(f *train.Fit) { f.ClipValue = -1 },
		"Average is 1":       func(f *train.Fit) { f.Average = 1 },
		"Every is 2":         func(f *train.Fit) { f.Every = 2 },
		"cannot be saved":    func(f *train.Fit) { f.Checkpoint, f.Optimiser = "file", &counter{} },
		"is a folder":        func(f *train.Fit) { f.Checkpoint = os.TempDir() },
		"takes no file":      func(f *train.Fit) { f.Checkpoint = filepath.Join(os.DevNull, "file") },
		"needs an Eval":      func(f *train.Fit) { f.Patience, f.Eval = 1, nil },
		"Init called":        func(f *train.Fit) { f.Model = &logistic{} },
		`that matches "Q.*"`: func(f *train.Fit) { f.Optimiser = &train.Adam{Groups: []train.Group{{Match: "Q.*"}}} },
	} {
		f := newFit(newLogistic())
		change(f)
		if _, err := f.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", want, err)
		}
	}
}

func TestFitMistakes(t *testing.T) {
	for want, change := range map[string]func(*train.Fit){
		"Fit.Run: its Model is nil":                       func(f *train.Fit) { f.Model = (*logistic)(nil) },
		"Fit.Run: its Optimiser is nil":                   func(f *train.Fit) { f.Optimiser = (*train.Adam)(nil) },
		"Fit.Run: its Loss is nil":                        func(f *train.Fit) { f.Loss = nil },
		"Fit.Loss: it returned nil":                       func(f *train.Fit) { f.Loss = func(*grad.Tape) *grad.Var { return nil } },
		"Fit.Loss: cannot take shape [0]":                 func(f *train.Fit) { f.Loss = func(*grad.Tape) *grad.Var { return grad.Const(tensor.New(0)) } },
		"Fit.Weight: it returned -1, want a finite numbe": func(f *train.Fit) { f.Steps, f.Accumulate, f.Weight = 2, 2, func() float64 { return -1 } },
	} {
		f := newFit(newLogistic())
		change(f)
		if err := panicked(func() { f.Run(t.Context()) }); err == nil || !strings.Contains(err.Error(), "train"+strings.Replace(": "+want, ": Fit.Loss: cannot", ".Fit.Loss: cannot", 1)) {
			t.Errorf("%s: panicked with %v", want, err)
		}
	}
}

// TestFitClips compares with the loop written out.
func TestFitClips(t *testing.T) {
	for _, power := range []float64{0, 1, math.Inf(1)} {
		fitClips(t, power)
	}
}

func fitClips(t *testing.T, power float64) {
	m, own := newLogistic(), newLogistic()
	f, g := newFit(m), newFit(own)
	f.ClipNorm, f.ClipValue, f.Epochs, f.Eval, f.NormPower = 0.05, 0.08, 5, nil, power
	h, err := f.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tape := grad.NewTape(g.Seed)
	for i := range 5 {
		tape.Reset()
		grads := tape.Backward(g.Loss(tape))
		grads.ClipValue(0.08)
		norm := grads.ClipNormOf(cmp.Or(power, 2), 0.05)
		if h.Epochs[i].Norm != norm || norm == 0 || h.Epochs[i].Rate != 0.05 {
			t.Errorf("epoch %d: norm %v, want %v; rate %v", i+1, h.Epochs[i].Norm, norm, h.Epochs[i].Rate)
		}
		g.Optimiser.Step(grads)
	}
	if h.Epochs[0].Norm <= 0.05 {
		t.Error("nothing had to be clipped")
	}
	if !slices.Equal(values(m), values(own)) {
		t.Error("the run and the loop end in two states")
	}
}

// TestFitAverage evaluates the average, keeps it, and trains on without it.
func TestFitAverage(t *testing.T) {
	f, p := scripted(make([]train.Score, 4))
	f.Average = 0.5
	var seen []tensor.Float
	f.Eval = func(*grad.Tape) train.Scores {
		seen = append(seen, p.P.Value.Data[0])
		return train.Scores{Val: train.Score{Accuracy: float64(len(seen))}}
	}
	if _, err := f.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []tensor.Float{1, 1.5, 2.25, 3.125}; !slices.Equal(seen, want) || p.P.Value.Data[0] != 3.125 {
		t.Errorf("evaluated %v and kept %v, want %v", seen, p.P.Value.Data, want)
	}
	f, p = scripted(make([]train.Score, 4))
	f.Average, f.Eval = 0.5, nil
	if _, err := f.Run(t.Context()); err != nil || p.P.Value.Data[0] != 3.125 {
		t.Errorf("without Eval it keeps %v, want the average 3.125 (%v)", p.P.Value.Data, err)
	}
}

// TestFitPlateau shows which score the schedule sees.
func TestFitPlateau(t *testing.T) {
	scores := []train.Score{{Loss: 3, Accuracy: 1}, {Loss: 2, Accuracy: 1}, {Loss: 1, Accuracy: 1}, {Loss: 1, Accuracy: 2}}
	for name, c := range map[string]struct {
		plateau train.Plateau
		eval    bool
		want    []float64
	}{
		"validation loss":     {train.Plateau{By: 0.5}, true, []float64{1, 1, 1, 1}},
		"validation accuracy": {train.Plateau{By: 0.5, Rising: true}, true, []float64{1, 1, 0.5, 0.25}},
		"training loss":       {train.Plateau{By: 0.5}, false, []float64{1, 1, 0.5, 0.25}}, // it does not change
	} {
		f, p := scripted(scores)
		f.Optimiser = &train.SGD{LR: 1, Schedule: &c.plateau, Groups: []train.Group{{Match: "P", Frozen: true}}}
		f.Loss = func(t *grad.Tape) *grad.Var { return t.Use(p.P).Sum() }
		if !c.eval {
			f.Eval = nil
		}
		h, err := f.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if h.Epochs[i].Rate != want {
				t.Errorf("%s: epoch %d has the rate %v, want %v", name, i+1, h.Epochs[i].Rate, want)
			}
		}
	}
}

// TestFitAgain runs a Fit for a second model, in the memory of the first.
func TestFitAgain(t *testing.T) {
	alone, m := newLogistic(), newLogistic()
	if _, err := newFit(alone).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := newFit(m)
	f.Seed, f.Epochs = 99, 3
	if _, err := f.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	*m = *newLogistic()
	f.Seed, f.Epochs, f.Optimiser = 7, 30, &train.Adam{LR: 0.05}
	if _, err := f.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(values(m), values(alone)) {
		t.Error("a second run of a Fit ends in another state than a first")
	}
}

// An evaluation in parts resets the tape by ResetEval and counts no step; one that
// begins a step of training is refused.
func TestFitEvalInParts(t *testing.T) {
	run := func(again func(t *grad.Tape)) (*train.History, error) {
		f := newFit(newLogistic())
		f.Epochs = 3
		eval := f.Eval
		f.Eval = func(t *grad.Tape) train.Scores {
			s := eval(t)
			again(t)
			if t.Recording() {
				return s
			}
			return eval(t)
		}
		return f.Run(context.Background())
	}
	whole, err := run(func(*grad.Tape) {})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := run((*grad.Tape).ResetEval)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range whole.Epochs {
		if p := parts.Epochs[i]; p.Loss != e.Loss || p.Val != e.Val {
			t.Errorf("epoch %d: %+v in parts, want %+v", i+1, p, e)
		}
	}
	var wrong *grad.TapeError
	func() {
		defer func() { wrong, _ = recover().(*grad.TapeError) }()
		_, _ = run((*grad.Tape).Reset)
	}()
	if wrong == nil || !strings.Contains(wrong.Error(), "ResetEval") {
		t.Errorf("an evaluation that begins a step: %v", wrong)
	}
}

// inSteps is newFit in steps of ten rows.
func inSteps(m *logistic) *train.Fit {
	f := newFit(m)
	x, labels := blobs(60)
	f.Steps = 4
	f.Loss = func(t *grad.Tape) *grad.Var {
		lo := (int(t.Step()) - 1) % 4 * 10
		return m.forward(t, x).Rows(rowsTo(lo, lo+10)).CrossEntropy(labels[lo : lo+10])
	}
	return f
}

// TestFitSteps: an epoch of several steps is the loop that takes them, and its
// loss is their mean.
func TestFitSteps(t *testing.T) {
	m := newLogistic()
	f := inSteps(m)
	f.Epochs, f.By = 3, train.ByLast
	h, err := f.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plain := newLogistic()
	loop := inSteps(plain)
	opt, tape := &train.Adam{LR: 0.05}, grad.NewTape(7)
	for epoch := range 3 {
		sum := 0.0
		for range 4 {
			tape.Reset()
			loss := loop.Loss(tape)
			sum += float64(loss.Value().Data[0])
			opt.Step(tape.Backward(loss))
		}
		if got := h.Epochs[epoch].Loss; got != sum/4 {
			t.Errorf("epoch %d: loss %v, want %v", epoch+1, got, sum/4)
		}
	}
	if !slices.Equal(m.W.Value.Data, plain.W.Value.Data) {
		t.Errorf("W is %v, want %v", m.W.Value.Data, plain.W.Value.Data)
	}
}

// TestFitStepsResume: a run of several steps an epoch goes on to the same bytes.
func TestFitStepsResume(t *testing.T) {
	dir := t.TempDir()
	run := func(name, resume string, epochs int) []byte {
		f := inSteps(newLogistic())
		f.Checkpoint, f.Resume, f.Epochs = filepath.Join(dir, name), resume, epochs
		if _, err := f.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(f.Checkpoint)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	whole, half := run("whole", "", 6), run("half", "", 3)
	if bytes.Equal(whole, half) || !bytes.Equal(whole, run("end", filepath.Join(dir, "half"), 6)) {
		t.Error("the resumed run ends with another file")
	}
}

// TestFitLimit: a loss that is finite and far too large stops a run.
func TestFitLimit(t *testing.T) {
	f := newFit(newLogistic())
	f.Optimiser, f.Limit = &train.SGD{LR: 1e6}, 100
	h, err := f.Run(t.Context())
	var d *train.DivergedError
	if !errors.As(err, &d) || d.Limit != 100 || !(d.Value > 100) || math.IsInf(d.Value, 0) || d.Epoch != len(h.Epochs)+1 {
		t.Fatalf("error %v", err)
	}
	if !strings.Contains(err.Error(), ", above the limit of 100; ") {
		t.Errorf("error %v", err)
	}
	f = newFit(newLogistic())
	f.Limit = 100
	if _, err := f.Run(t.Context()); err != nil {
		t.Errorf("a loss below the limit: %v", err)
	}
}
