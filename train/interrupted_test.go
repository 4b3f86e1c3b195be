package train_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// breakable is a run of a deep model that is cancelled at the stop-th moment: each operation,
// pullback and call of the Fit's is one.
type breakable struct {
	fit    *train.Fit
	model  *layered
	cancel func()
	stop   int
	moment int
	past   bool
	late   int // operations and pullbacks after that moment
}

// layered is a model of two layers.
type layered struct {
	W    [2]*grad.Param `json:"-"`
	Mean *grad.Param    `json:"-"`
}

func (b *breakable) tick() {
	if b.moment++; b.moment == b.stop {
		b.cancel()
		b.past = true
	}
}

// runs is called by an operation and by a pullback.
func (b *breakable) runs() {
	if b.past {
		b.late++
	}
	b.tick()
}

// mark is x, and counts when it is made and when its gradient comes.
func (b *breakable) mark(x *grad.Var) *grad.Var {
	op := grad.Begin("mark", x)
	y := op.New(x.Shape()...)
	copy(y.Value().Data, x.Value().Data)
	b.runs()
	return op.Record(y, func(dy *tensor.Dense) {
		b.runs()
		if g := x.Grad(); g != nil {
			g.Add(dy)
		}
	})
}

func (b *breakable) logits(t *grad.Tape, x *grad.Var) *grad.Var {
	if b.model.Mean != nil {
		t.Update(b.model.Mean, x.Add(t.Use(b.model.Mean)).MeanAxis(0))
		x = x.Sub(t.Use(b.model.Mean))
	}
	for _, w := range b.model.W {
		x = b.mark(t.Dropout(x, 0.2).MatMul(t.Use(w))).Tanh()
	}
	return x
}

// newBreakable returns one that writes a checkpoint to path.
func newBreakable(path string, set func(f *train.Fit)) *breakable {
	b := &breakable{model: &layered{Mean: &grad.Param{Value: tensor.New(2), Frozen: true}}}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range b.model.W {
		b.model.W[i] = grad.NewParam(2, 2)
		b.model.W[i].Value.Normal(rng, 0, 1)
	}
	x, labels := blobs(16)
	b.fit = &train.Fit{
		Model: b.model, Optimiser: &train.Adam{LR: 0.05}, Seed: 3, Epochs: 2, Checkpoint: path, ClipNorm: 0.5,
		Loss: func(t *grad.Tape) *grad.Var {
			at := int(t.Step()) % 8
			return b.logits(t, x.RowRange(at, at+8)).CrossEntropy(labels[at : at+8])
		},
		Eval: func(t *grad.Tape) train.Scores {
			var s train.Scores
			for lo := 0; lo < 16; lo += 8 {
				t.ResetEval()
				y := b.logits(t, x.RowRange(lo, lo+8)).Value()
				v := train.Measure(y, labels[lo:lo+8])
				s.Val.Loss, s.Val.Accuracy = s.Val.Loss+v.Loss, s.Val.Accuracy+v.Accuracy
			}
			s.Val.Loss = math.Abs(s.Val.Loss - 1.4) // so that the best is not always the last
			return s
		},
		OnStep:  func(train.Step) { b.tick() },
		OnEpoch: func(train.Epoch) { b.tick() },
	}
	set(b.fit)
	return b
}

// run cancels at the moment stop; 0: never.
func (b *breakable) run(stop int) (*train.History, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.cancel, b.stop, b.moment = cancel, stop, 0
	return b.fit.Run(ctx)
}

// params are the numbers of the model.
func (b *breakable) params() []tensor.Float {
	var all []tensor.Float
	for _, p := range grad.Params(b.model) {
		all = append(all, p.Value.Data...)
	}
	return all
}

// A run that is cancelled at any operation, of a step forwards or backwards or of an evaluation,
// does nothing more, leaves the model of its best epoch, and goes on to the bits of a run that was never
// interrupted.
func TestFitInterrupted(t *testing.T) {
	for name, set := range map[string]func(f *train.Fit){
		"a step an epoch": func(*train.Fit) {},
		"two steps":       func(f *train.Fit) { f.Steps, f.By = 2, train.ByLoss },
		"the last": func(f *train.Fit) {
			f.By, f.Model.(*layered).Mean = train.ByLast, nil // no copy is made of each epoch's state if it cannot be interrupted
		},
		"no evaluation": func(f *train.Fit) { f.Steps, f.Eval = 2, nil },
		"an average": func(f *train.Fit) {
			f.Steps, f.Average = 2, 0.5
			f.Optimiser = &train.Adam{LR: 0.05, Schedule: &train.Plateau{Patience: 1, By: 0.5}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			whole := newBreakable(filepath.Join(dir, "whole"), set)
			best := [][]tensor.Float{whole.params()} // after each epoch
			bestOf := func(h *train.History) []tensor.Float {
				e, _ := h.Best()
				return best[e.N]
			}
			if whole.fit.Eval != nil { // of which the model is given back at the end of a run of so many
				for n := 1; n <= 2; n++ {
					short := newBreakable(filepath.Join(dir, "short"), set)
					short.fit.Epochs, short.fit.By = n, train.ByLast
					if _, err := short.run(0); err != nil {
						t.Fatal(err)
					}
					best = append(best, short.params())
				}
			}
			history, err := whole.run(0)
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.ReadFile(whole.fit.Checkpoint)
			if err != nil {
				t.Fatal(err)
			}
			every := 4 // to keep it short
			if name == "two steps" {
				every = 1
			}
			for stop := whole.moment; stop > 0; stop -= every {
				path := filepath.Join(dir, fmt.Sprint(stop))
				b := newBreakable(path, set)
				h, err := b.run(stop)
				if done := len(h.Epochs) == 2; done != (err == nil) || !done && !errors.Is(err, context.Canceled) || done && stop < whole.moment-1 {
					t.Fatalf("cancelled at %d of %d: %d epochs, %v", stop, whole.moment, len(h.Epochs), err)
				}
				if b.late > 0 {
					t.Errorf("cancelled at %d: %d more operations", stop, b.late)
				}
				if b.fit.Eval != nil && !slices.Equal(b.params(), bestOf(h)) {
					t.Errorf("cancelled at %d, after %d epochs: the model is not that of the best epoch", stop, len(h.Epochs))
				}
				on := newBreakable(path, set)
				if _, err := os.Stat(path); err == nil { // a whole step was made
					on.fit.Resume = path
				}
				if h, err = on.run(0); err != nil {
					t.Fatalf("cancelled at %d and resumed: %v", stop, err)
				}
				for i := range h.Epochs {
					h.Epochs[i].Took, history.Epochs[i].Took = 0, 0
				}
				if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, file) || !reflect.DeepEqual(h, history) || !slices.Equal(on.params(), whole.params()) {
					t.Errorf("cancelled at %d and resumed: other bits (%v)", stop, err)
				}
			}
		})
	}
}

// Next is called before each step, with a context that ends with the run; an error of it ends the run before
// the step, which goes on from there to the bits of a whole run.
func TestFitNext(t *testing.T) {
	dir, broken := t.TempDir(), errors.New("no disk")
	var steps []uint64
	var data context.Context
	run := func(name, resume string, fails uint64) (*breakable, error) {
		steps = nil
		b := newBreakable(filepath.Join(dir, name), func(f *train.Fit) {
			f.Steps, f.By, f.Resume = 3, train.ByLoss, resume
			f.Next = func(ctx context.Context, step uint64) error {
				data, steps = ctx, append(steps, step)
				if err := ctx.Err(); err != nil {
					return err
				}
				if step == fails {
					return broken
				}
				return nil
			}
		})
		_, err := b.run(0)
		if data.Err() == nil {
			t.Error("the context of Next outlives the run")
		}
		return b, err
	}
	whole, err := run("whole", "", 0)
	if err != nil || !slices.Equal(steps, []uint64{1, 2, 3, 4, 5, 6}) {
		t.Fatalf("steps %v, %v", steps, err)
	}
	for fails := uint64(1); fails <= 6; fails++ {
		if _, err := run("part", "", fails); !errors.Is(err, broken) || steps[len(steps)-1] != fails {
			t.Fatalf("step %d: %v after %v", fails, err, steps)
		}
		resume := filepath.Join(dir, "part")
		if fails == 1 { // nothing to go on from
			resume = ""
		}
		on, err := run("part", resume, 0)
		if err != nil || steps[0] != fails || !slices.Equal(on.params(), whole.params()) {
			t.Errorf("step %d: resumed with %v, %v, and other bits", fails, steps, err)
		}
	}
}
