package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/edgewise-ml/edgewise/grad"
)

// Fit trains a model on all of its data at once: one step an epoch, then one
// evaluation.
//
// The best epoch is the one of the highest validation accuracy; of those with
// equal accuracy, the one of the lowest validation loss; of those, the first.
// With ByLoss the loss comes first and the accuracy second. An epoch whose
// validation score has a NaN is never the best. At the end of the run, however
// it ends, the model is given back its state after the best epoch. Without Eval
// there is no best epoch, and the model stays as the last step left it.
type Fit struct {
	Model     any
	Optimiser Optimiser
	Seed      uint64 // of dropout
	Epochs    int
	Patience  int  // stop after so many epochs in a row without a new best; 0: never
	ByLoss    bool // choose the best epoch by validation loss

	Loss    func(t *grad.Tape) *grad.Var // of one element
	Eval    func(t *grad.Tape) Scores    // under a tape that drops nothing; may be nil
	OnEpoch func(Epoch)                  // called when an epoch is over; may be nil
}

// Run trains the model. If ctx is cancelled it returns the epochs so far and
// ctx.Err(). If the loss or a gradient becomes NaN or infinite it returns the
// epochs so far and a [*DivergedError]; without Eval the model is then given
// back its last state whose loss was finite.
func (f *Fit) Run(ctx context.Context) (*History, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := f.Optimiser.Bind(f.Model); err != nil {
		return nil, err
	}
	r := &run{Fit: f, train: grad.NewTape(f.Seed), eval: grad.NewEval(), good: capture(f.Model)}
	err := r.epochs(ctx)
	if f.Eval != nil || errors.As(err, new(*DivergedError)) {
		r.good.restore()
	}
	return &r.history, err
}

func (f *Fit) check() error {
	switch {
	case f.Model == nil || f.Optimiser == nil || f.Loss == nil:
		return errors.New("train: Fit needs a Model, an Optimiser and a Loss")
	case f.Epochs < 1:
		return fmt.Errorf("train: Fit.Epochs is %d; it must be at least 1", f.Epochs)
	case f.Patience < 0:
		return fmt.Errorf("train: Fit.Patience is %d; 0 means never to stop early", f.Patience)
	case f.Patience > 0 && f.Eval == nil:
		return errors.New("train: Fit.Patience needs an Eval to watch")
	}
	for _, p := range grad.Params(f.Model) {
		if !p.Frozen {
			return nil
		}
	}
	return fmt.Errorf("train: a %T has no trained Params; was its Init called?", f.Model)
}

// run is one call of Fit.Run.
type run struct {
	*Fit
	train, eval *grad.Tape
	good        state // after the best epoch; without Eval, of the last finite loss
	best        Score
	chosen      bool // there is a best epoch
	history     History
}

func (r *run) epochs(ctx context.Context) error {
	waited := 0
	for n := 1; n <= r.Epochs; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := r.epoch(n)
		if err != nil {
			return err
		}
		r.history.Epochs = append(r.history.Epochs, e)
		if r.OnEpoch != nil {
			r.OnEpoch(e)
		}
		if waited++; e.Best {
			waited = 0
		}
		if r.Patience > 0 && waited >= r.Patience {
			return nil
		}
	}
	return nil
}

// epoch is one step and one evaluation.
func (r *run) epoch(n int) (Epoch, error) {
	start := time.Now()
	e := Epoch{N: n}
	r.train.Reset()
	loss := r.Loss(r.train)
	e.Loss = float64(loss.Value().Data[0])
	if !finite(e.Loss) {
		return e, &DivergedError{Epoch: n, What: "the loss", Value: e.Loss}
	}
	if r.Eval == nil {
		r.good.update() // before Backward, which writes frozen Params
	}
	grads := r.train.Backward(loss)
	if err := r.inspect(grads, n); err != nil {
		return e, err
	}
	r.Optimiser.Step(grads)
	if r.Eval != nil {
		r.eval.Reset()
		e.Scores = r.Eval(r.eval)
		if e.Best = r.better(e.Val); e.Best {
			r.best, r.chosen = e.Val, true
			r.good.update()
		}
	}
	e.Took = time.Since(start)
	return e, nil
}

// inspect returns an error that names the first gradient that is not finite.
func (r *run) inspect(grads grad.Grads, epoch int) error {
	for i := range grads {
		for _, v := range grads[i].Value.Data {
			if v-v != 0 { // NaN and the infinities
				return &DivergedError{Epoch: epoch, What: "the gradient of " + r.name(grads[i].Param), Value: float64(v)}
			}
		}
	}
	return nil
}

func (r *run) name(p *grad.Param) string {
	for name, q := range grad.Params(r.Model) {
		if q == p {
			return name
		}
	}
	return "a watched value or a Param outside the model"
}

// better reports whether s beats the best validation score so far.
func (r *run) better(s Score) bool {
	a, b := r.keys(s)
	if math.IsNaN(a) || math.IsNaN(b) {
		return false
	}
	if !r.chosen {
		return true
	}
	bestA, bestB := r.keys(r.best)
	return a > bestA || a == bestA && b > bestB
}

// keys returns what decides first and what decides second: more is better.
func (f *Fit) keys(s Score) (first, second float64) {
	if f.ByLoss {
		return -s.Loss, s.Accuracy
	}
	return s.Accuracy, -s.Loss
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
