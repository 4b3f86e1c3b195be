package train_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/train"
)

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
