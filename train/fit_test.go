package train_test

import (
	"context"
	"errors"
	"math"
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
			logits := m.forward(t, x).Value()
			return train.Scores{Train: train.Measure(logits, labels, fitted), Val: train.Measure(logits, labels, held)}
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
		byLoss bool
		want   tensor.Float
	}{
		"accuracy":        {[]train.Score{{Loss: 1, Accuracy: 0.5}, {Loss: 2, Accuracy: 0.7}, {Loss: 0.5, Accuracy: 0.6}}, false, 2},
		"ties by loss":    {[]train.Score{{Loss: 2, Accuracy: 0.7}, {Loss: 1, Accuracy: 0.7}, {Loss: 1.5, Accuracy: 0.7}}, false, 2},
		"then the first":  {[]train.Score{{Loss: 2, Accuracy: 0.7}, {Loss: 2, Accuracy: 0.7}}, false, 1},
		"loss":            {[]train.Score{{Loss: 2, Accuracy: 0.9}, {Loss: 3, Accuracy: 0.99}, {Loss: 1, Accuracy: 0.1}}, true, 3},
		"loss, then acc":  {[]train.Score{{Loss: 2, Accuracy: 0.5}, {Loss: 2, Accuracy: 0.6}}, true, 2},
		"NaN is no score": {[]train.Score{{Loss: nan, Accuracy: 0.9}, {Loss: 1, Accuracy: 0.2}, {Loss: nan, Accuracy: 0.8}}, false, 2},
		"none":            {[]train.Score{{Loss: nan}, {Accuracy: nan}}, false, 0},
	} {
		f, p := scripted(c.scores)
		if c.byLoss {
			f.By = train.ByLoss
		}
		h, err := f.Run(t.Context())
		if err != nil {
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

func TestFitPatience(t *testing.T) {
	up := []train.Score{{Accuracy: 1}, {Accuracy: 0}, {Accuracy: 2}, {Accuracy: 0}, {Accuracy: 0}, {Accuracy: 3}}
	for patience, want := range map[int]int{0: 6, 1: 2, 2: 5, 3: 6} {
		f, _ := scripted(up)
		f.Patience = patience
		h, err := f.Run(t.Context())
		if err != nil || len(h.Epochs) != want {
			t.Errorf("patience %d: %d epochs, want %d (%v)", patience, len(h.Epochs), want, err)
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
		"needs a Model":      func(f *train.Fit) { f.Model = nil },
		"an Optimiser":       func(f *train.Fit) { f.Optimiser = nil },
		"and a Loss":         func(f *train.Fit) { f.Loss = nil },
		"Epochs is 0":        func(f *train.Fit) { f.Epochs = 0 },
		"Patience is -1":     func(f *train.Fit) { f.Patience = -1 },
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
