package train

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/ranks"
)

// Fit trains a model: in each epoch one step on all of its data, or with Steps
// several on parts of them, then one evaluation.
//
// By says which epoch is the best. At the end of the run, however it ends, the
// model is given back its state after the best epoch. Without Eval there is no
// best epoch, and the model stays as the last step left it.
//
// A run that cannot mean what it does ends with an error: if Loss uses a Param
// that Model does not hold, or none that it holds; if the first epoch's loss and
// gradients are all 0; if Eval scores no row of the validation part, or never
// without a NaN.
//
// With Checkpoint the run can go on where it was, to the same bits: a Fit with
// Resume and the same settings ends as one that was never stopped. The file
// holds the state of the last step, which trains on, beside that of the best epoch.
//
// Run may be called again, also for another model or with another Seed: it
// begins anew and reuses the memory of the last run. Optimisers and schedules
// remember; give it new ones.
type Fit struct {
	Model     any
	Optimiser Optimiser
	Seed      uint64 // of dropout
	Epochs    int    // in all, those before Resume included
	Patience  int    // stop after so many epochs in a row without progress; 0: never
	By        Criterion

	Steps int // of an epoch; 0: 1. Loss finds which one it is for in t.Step(), which counts them from 1

	// Next makes the data of a step ready before its Loss, such as a batch of [sample.Loader.Into]; nil:
	// Loss needs none. ctx ends with the run, and an error ends the run before the step, as a cancel does.
	//
	// [sample.Loader.Into]: https://pkg.go.dev/github.com/edgewise-ml/edgewise/sample#Loader.Into
	Next func(ctx context.Context, step uint64) error

	// Team is set where several processes train the model together: each takes every Team.Size-th step, beginning with
	// its rank, and the gradients of all ranks make one step of the optimiser. nil: this process is alone.
	// Every rank runs a Fit with the same settings and data; rank 0 alone writes the checkpoint. An error that other ranks
	// do not have is for the caller to end the job with ([ranks.Team.Abort]): they would wait.
	Team *ranks.Team

	// Accumulate is how many steps' gradients each process adds up before the optimiser's step; 0: 1. The weights are then as after
	// one step on all of these data, except that each step normalises its own batch.
	Accumulate int

	// Weight is what the last Loss counts where steps are taken together, such as the number of examples that it is the
	// mean of; nil: all count alike.
	Weight func() float64

	Loss    func(t *grad.Tape) *grad.Var // of one element
	Eval    func(t *grad.Tape) Scores    // under the same tape, which drops nothing and has forgotten the step; in parts with t.ResetEval between, not Reset; may be nil
	OnEpoch func(Epoch)                  // called when an epoch is over; may be nil
	OnStep  func(Step)                   // called in each step before the optimiser's; may be nil

	Limit     float64 // a loss above it counts as diverged; 0: only one that is no finite number
	ClipNorm  float64 // the largest norm of all gradients together; 0: any
	NormPower float64 // of which norm that is, as [grad.Grads.NormOf] has it; 0: 2, the Euclidean
	ClipValue float64 // the largest number in a gradient; 0: any
	Norms     bool    // keep the norm of the gradients in the History also where ClipNorm is 0
	Average   float64 // evaluate, choose and keep the [EMA] of the Params with this decay; 0: the Params

	Checkpoint string // the file; empty: none
	Every      int    // epochs from one checkpoint to the next; 0: only one at the end
	Resume     string // the checkpoint to go on from; empty: begin

	tape *grad.Tape
}

// Run trains the model. If ctx is cancelled it writes the checkpoint and returns
// the epochs so far and ctx.Err(). A step or an evaluation that has begun is given up at its
// next operation on the tape, see [grad.Tape.Within], as if it had not begun; the checkpoint is of the
// last whole step. If the loss or a gradient becomes NaN or
// infinite, or the loss passes Limit, it writes none and returns the epochs so far and a [*DivergedError];
// without Eval the model is then given back its last state whose loss was
// finite.
//
// A Fit without a Model, an Optimiser or a Loss, a ctx that is nil, and a Loss that is no Var of one element are bugs
// of the program, and panic. Settings that cannot be are errors, since they come from flags as often as from code.
func (f *Fit) Run(ctx context.Context) (*History, error) {
	for _, part := range []struct {
		name  string
		value any
	}{{"Model", f.Model}, {"Optimiser", f.Optimiser}, {"Loss", f.Loss}, {"context, its argument,", ctx}} {
		if isNil(part.value) {
			panic(fmt.Errorf("train: Fit.Run: its %s is nil: it needs a Model, an Optimiser, a Loss and a context", part.name))
		}
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := f.Optimiser.Bind(f.Model); err != nil {
		return nil, err
	}
	r := f.begin(ctx)
	defer r.feed()()
	if f.Resume != "" {
		if err := r.resume(); err != nil {
			return nil, err
		}
	}
	defer par.Hot()()
	err := r.epochs()
	if !isDiverged(err) {
		if failed := r.save(); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	r.finish(isDiverged(err))
	return &r.history, err
}

// isNil reports whether v is nil, or a pointer or function that is.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	return (r.Kind() == reflect.Pointer || r.Kind() == reflect.Func) && r.IsNil()
}

func (f *Fit) check() error {
	switch {
	case f.Epochs < 1:
		return fmt.Errorf("train: Fit.Epochs is %d; it must be at least 1", f.Epochs)
	case f.Steps < 0:
		return fmt.Errorf("train: Fit.Steps is %d; 0 means one step an epoch", f.Steps)
	case f.Accumulate < 0:
		return fmt.Errorf("train: Fit.Accumulate is %d; 0 means a step of the optimiser for each step", f.Accumulate)
	case f.Patience < 0:
		return fmt.Errorf("train: Fit.Patience is %d; 0 means never to stop early", f.Patience)
	case f.Patience > 0 && f.Eval == nil:
		return errors.New("train: Fit.Patience needs an Eval to watch")
	case f.By < ByAccuracy || f.By > ByLast:
		return fmt.Errorf("train: Fit.By is %d; it must be ByAccuracy, ByLoss, ByEither or ByLast", f.By)
	case !(f.ClipNorm >= 0 && f.ClipValue >= 0):
		return fmt.Errorf("train: Fit.ClipNorm is %v and Fit.ClipValue %v; neither may be negative", f.ClipNorm, f.ClipValue)
	case !(f.NormPower >= 0):
		return fmt.Errorf("train: Fit.NormPower is %v; it is a number above 0, math.Inf(1) among them, or 0 for the Euclidean norm", f.NormPower)
	case !(f.Limit >= 0):
		return fmt.Errorf("train: Fit.Limit is %v; 0 means none, and it may not be negative", f.Limit)
	case !(f.Average >= 0 && f.Average < 1):
		return fmt.Errorf("train: Fit.Average is %v; a decay is at least 0 and less than 1", f.Average)
	case f.Every < 0 || f.Every > 0 && f.Checkpoint == "":
		return fmt.Errorf("train: Fit.Every is %d and Fit.Checkpoint %q; it needs a file, and must not be negative", f.Every, f.Checkpoint)
	}
	if err := f.checkFile(); err != nil {
		return err
	}
	if err := grad.CheckParams(f.Model); err != nil {
		return fmt.Errorf("train: Fit.Model: %w", err)
	}
	for _, p := range grad.Params(f.Model) {
		if !p.Frozen {
			return nil
		}
	}
	return fmt.Errorf("train: a %T has no trained Params; was its Init called?", f.Model)
}

// checkFile reports now what would keep a checkpoint from being written after
// hours of work.
func (f *Fit) checkFile() error {
	if f.Checkpoint == "" || f.Team.Rank() > 0 {
		return nil
	}
	if _, err := memoryOf(f.Optimiser); err != nil {
		return fmt.Errorf("train: Fit.Checkpoint: %w", err)
	}
	if info, err := os.Stat(f.Checkpoint); err == nil && info.IsDir() || os.IsPathSeparator(f.Checkpoint[len(f.Checkpoint)-1]) {
		return fmt.Errorf("train: Fit.Checkpoint %s is a folder; name a file in it", f.Checkpoint)
	}
	if err := atomicfile.Probe(f.Checkpoint); err != nil {
		return fmt.Errorf("train: Fit.Checkpoint: %w", err)
	}
	return nil
}
