package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// run is one call of Fit.Run.
type run struct {
	*Fit
	ctx       context.Context
	data      context.Context // that Next is called with
	judge     judge
	trained   trained
	average   *EMA // nil: none
	good      state
	current   bool   // good is what the Params are, and has yet to be copied
	goodEpoch int    // that good is the state after; without Eval, the last whose loss was finite
	passing   bool   // each good state is that of one epoch, and nothing fails or is interrupted after a step
	saved     string // the last checkpoint
	unsaved   error  // why one could not be written
	history   History
	looks     [][]tensor.Float // room for inspect
	joint     *joint           // steps that are taken together; nil: each is by itself
	begun     begun
}

// begun is what a run has done of an epoch that was interrupted.
type begun struct {
	steps int // that were made; 0: the epoch has not begun
	epoch Epoch
}

// begin returns a run that has done nothing yet.
func (f *Fit) begin(ctx context.Context) *run {
	if f.tape == nil {
		f.tape = grad.NewTape(f.Seed)
	}
	f.tape.Restart(f.Seed)
	r := &run{Fit: f, ctx: ctx, judge: judge{by: f.By}, good: capture(f.Model)}
	r.trained.hold(f.Model)
	r.passing = f.By == ByLast && f.Eval != nil && f.Next == nil && f.Steps <= 1 && f.Average == 0 && !r.good.frozen() && ctx.Done() == nil
	if f.Average > 0 {
		r.average = NewEMA(f.Model, f.Average)
	}
	if f.Team.Size() > 1 || f.Accumulate > 1 {
		r.joint = newJoint(f)
	}
	return r
}

// feed makes the context of Next, and returns what ends it.
func (r *run) feed() (end func()) {
	r.data, end = context.WithCancel(r.ctx)
	return end
}

// finish leaves the model in the state that the run is for.
func (r *run) finish(diverged bool) {
	r.catchUp()
	switch {
	case r.Eval != nil || diverged:
		r.good.restore()
	case r.average != nil && r.average.updates > 0:
		r.average.Swap()
	}
}

func (r *run) epochs() error {
	for n := len(r.history.Epochs) + 1; n <= r.Epochs && !r.tired(); n++ {
		if err := r.ctx.Err(); err != nil && r.Team.Size() == 1 { // ranks stop together, in a step
			return err
		}
		e, err := r.epoch(n)
		if err != nil {
			return err
		}
		r.history.Epochs = append(r.history.Epochs, e)
		if r.Every > 0 && n%r.Every == 0 && n < r.Epochs {
			if err := r.save(); err != nil {
				return err
			}
		}
		if r.OnEpoch != nil {
			r.OnEpoch(e)
		}
	}
	if r.Eval != nil && !r.judge.chosen && r.By != ByLast && len(r.history.Epochs) > 0 {
		return fmt.Errorf("train: of %d epochs none has a validation score without a NaN, so none is the best; the model is as it was before", len(r.history.Epochs))
	}
	return nil
}

// tired reports whether the run's patience is over.
func (r *run) tired() bool { return r.Patience > 0 && r.judge.waited >= r.Patience }

// epoch is one step and one evaluation.
func (r *run) epoch(n int) (Epoch, error) {
	start := time.Now()
	e, first := r.begun.epoch, r.begun.steps
	e.N, r.begun = n, begun{}
	steps := max(1, r.Steps)
	for i := first; i < steps; i += r.joint.stride() {
		before := e
		if err := r.step(&e, i); err != nil {
			return r.broken(err, begun{i, before})
		}
		if r.average != nil {
			r.average.Update()
		}
	}
	whole := e
	e.Loss /= float64(steps)
	watched := e.Loss
	if r.Eval != nil {
		if err := r.evaluate(&e); err != nil {
			return r.broken(err, begun{steps, whole})
		}
		watched = e.Val.Loss
	}
	if p := r.plateau(); p != nil {
		if p.Rising && r.Eval != nil {
			watched = e.Val.Accuracy
		}
		p.Observe(watched)
	}
	e.Took = time.Since(start)
	return e, nil
}

// broken notes what was done of an epoch that ends with err, if the run can go on from there.
func (r *run) broken(err error, done begun) (Epoch, error) {
	if err == r.ctx.Err() || errors.Is(err, context.Canceled) || errors.As(err, new(*dataError)) || errors.As(err, new(*otherError)) {
		r.begun = done
	}
	return done.epoch, err
}

// dataError says that Next has failed: the step has not begun.
type dataError struct {
	step uint64
	err  error
}

func (e *dataError) Error() string {
	return fmt.Sprintf("train: the data of step %d: %v", e.step, e.err)
}
func (e *dataError) Unwrap() error { return e.err }

// next is Next of the step that begins.
func (r *run) next() error {
	if r.Next == nil {
		return nil
	}
	err := r.Next(r.data, r.tape.Step())
	if err == nil || err == r.ctx.Err() {
		return err
	}
	return &dataError{r.tape.Step(), err}
}

// step is forward, backward and the optimiser's step, the i-th of the epoch. It
// adds to the epoch's loss. Of steps that are taken together it is the first.
func (r *run) step(e *Epoch, i int) error {
	if r.joint != nil {
		return r.joint.step(r, e, i)
	}
	at := r.tape.Step()
	loss, v, err := r.forward()
	if err != nil {
		return err
	}
	if err := r.bounded(v); err != nil {
		return err
	}
	e.Loss += v
	r.remember(e, i)
	grads, err := r.backward(loss, nil)
	if err != nil {
		r.tape.SetStep(at)
		return err
	}
	return r.improve(grads, e, i, v)
}

// forward computes the loss of the tape's next step. If it fails, the step has not begun.
func (r *run) forward() (loss *grad.Var, v float64, err error) {
	at := r.tape.Step()
	r.Team.Stage("data")
	r.tape.Reset()
	if err = r.next(); err == nil {
		r.Team.Stage("forward")
		err = r.tape.Within(r.ctx, func() {
			if loss = r.Loss(r.tape); loss == nil {
				panic(errors.New("train: Fit.Loss: it returned nil, want a Var of one element"))
			}
			if x := loss.Value(); len(x.Data) != 1 {
				panic(&tensor.ShapeError{Op: "train.Fit.Loss", Shapes: [][]int{slices.Clone(x.Shape())}, Why: "the loss must have one element: take its Mean or Sum"})
			}
			v = float64(loss.Value().Data[0])
		})
	}
	if err != nil {
		r.tape.SetStep(at)
	}
	return loss, v, err
}

// bounded returns an error for a loss from which training cannot go on.
func (r *run) bounded(v float64) error {
	if !finite(v) {
		return r.diverged("the loss", nil, v)
	}
	if r.Limit > 0 && v > r.Limit {
		d := r.diverged("the loss", nil, v)
		d.Limit = r.Limit
		return d
	}
	return nil
}

// remember keeps the state before the i-th step of an epoch without Eval, whose loss was finite.
func (r *run) remember(e *Epoch, i int) {
	if r.Eval == nil && i == 0 { // before Backward, which writes frozen Params
		r.good.update()
		r.goodEpoch = e.N - 1
	}
}

// backward computes the gradients of loss.
func (r *run) backward(loss *grad.Var, ready func(grad.Grad)) (grads grad.Grads, err error) {
	err = r.tape.Within(r.ctx, func() { grads = r.tape.BackwardEach(loss, ready) })
	return grads, err
}

// improve is the optimiser's step for the i-th of the epoch, whose loss was v.
func (r *run) improve(grads grad.Grads, e *Epoch, i int, v float64) error {
	if err := r.inspect(grads); err != nil {
		return err
	}
	if err := r.compare(grads, e, i); err != nil {
		return err
	}
	if r.ClipValue > 0 {
		grads.ClipValue(r.ClipValue)
	}
	e.Rate = r.rate()
	norm := r.clip(grads)
	if r.ClipNorm > 0 || r.Norms {
		e.Norm, e.MaxNorm = norm, max(e.MaxNorm, norm)
	}
	if r.OnStep != nil {
		r.OnStep(Step{Epoch: e.N, N: int(r.tape.Step()), Loss: v, Rate: e.Rate, Norm: norm})
	}
	r.current = false // unless an evaluation follows, nobody asks for it any more
	r.Optimiser.Step(grads)
	return nil
}

// clip clips the norm of all gradients, and returns what it was if anybody asks.
func (r *run) clip(grads grad.Grads) float64 {
	switch {
	case r.ClipNorm > 0:
		return grads.ClipNormOf(cmp.Or(r.NormPower, 2), r.ClipNorm)
	case r.Norms || r.OnStep != nil:
		return grads.NormOf(cmp.Or(r.NormPower, 2))
	}
	return 0
}

// compare compares the gradients of the i-th step with the model.
func (r *run) compare(grads grad.Grads, e *Epoch, i int) error {
	if err := r.trained.check(grads); err != nil || e.N > 1 {
		return err
	}
	if r.trained.see(grads); i+r.joint.stride() < r.Steps {
		return nil
	}
	return r.trained.idle(e.Loss)
}

// evaluate scores the Params, or their average, and keeps the best.
func (r *run) evaluate(e *Epoch) error {
	if r.average != nil {
		r.average.Swap()
		defer r.average.Swap()
	}
	r.tape.ResetEval()
	step := r.tape.Step()
	if err := r.scores(e); err != nil {
		return err
	}
	if r.tape.Step() != step {
		panic(&grad.TapeError{Op: "train.Fit.Eval", Why: "it has Reset the tape, which begins a step of training; use ResetEval between the parts of an evaluation"})
	}
	if e.Val.Empty && r.By != ByLast {
		return errors.New("train: Fit.Eval scored no row of the validation part, so no epoch is better than another: is the split empty, or no row of it labelled? ByLast needs none")
	}
	if e.Best = r.judge.see(e.Val); e.Best {
		r.current = true
		r.goodEpoch = e.N
	}
	e.Waited = r.judge.waited
	if !r.passing {
		r.catchUp()
	}
	return nil
}

// scores is Eval. Ranks begin it together or not at all, and rank 0's scores are those of all: they decide how the
// run goes on.
func (r *run) scores(e *Epoch) error {
	if r.Team.Size() == 1 {
		return r.tape.Within(r.ctx, func() { e.Scores = r.Eval(r.tape) })
	}
	if _, err := r.joint.agree(r.ctx.Err()); err != nil {
		return err
	}
	r.Team.Stage("evaluation")
	e.Scores = r.Eval(r.tape)
	return r.joint.share(&e.Scores)
}

// catchUp copies the good state if it is only in the Params.
func (r *run) catchUp() {
	if r.current {
		r.good.update()
		r.current = false
	}
}

// rate is the optimiser's in the step to come.
func (r *run) rate() float64 {
	k, ok := r.Optimiser.(keeper)
	if !ok {
		return 0
	}
	s := k.settings()
	return s.lr * s.factor(k.memory().steps)
}

// plateau returns the schedule that watches the run, if it is one.
func (r *run) plateau() *Plateau {
	if k, ok := r.Optimiser.(keeper); ok {
		return k.settings().plateau()
	}
	return nil
}

// save writes the checkpoint, if one is asked for. The first error ends the run,
// so there is no second.
func (r *run) save() error {
	if r.Fit.Checkpoint == "" || r.Team.Rank() > 0 || len(r.history.Epochs) == 0 && r.begun.steps == 0 || r.unsaved != nil {
		return nil
	}
	if err := r.sound(); err != nil {
		return err
	}
	if r.unsaved = r.checkpoint().Save(r.Fit.Checkpoint); r.unsaved != nil {
		return r.unsaved
	}
	r.saved = r.Fit.Checkpoint
	return nil
}

// checkpoint is all that the run is made of.
func (r *run) checkpoint() *Checkpoint {
	r.catchUp()
	return &Checkpoint{
		Model: r.Model, Optimiser: r.Optimiser, Tape: r.tape, Average: r.average,
		History: &r.history, best: r.good, begun: r.begun,
	}
}

// resume takes up the run of a checkpoint, and sees its scores again. Nothing
// is changed if the file is not of this run.
func (r *run) resume() error {
	return load(r.Resume, func(in io.ReaderAt, size int64) error { return readRun(in, size, r.goOn) })
}

// goOn takes up the run of a checkpoint that was read.
func (r *run) goOn(f *checkpointFile) error {
	if seed := f.run.Seed; seed != nil && *seed != r.Seed {
		return fmt.Errorf("the run's seed is %d and Fit.Seed is %d; they must be the same", *seed, r.Seed)
	}
	for _, e := range f.run.epochs() {
		if best := r.Eval != nil && r.judge.see(e.Val); best != e.Best {
			return fmt.Errorf("epoch %d was chosen or passed over by another rule; Fit.By and Fit.Eval must be those of the run", e.N)
		}
		if e.Best {
			r.goodEpoch = e.N
		}
	}
	if b := f.run.Begun; b != nil {
		if b.Steps > max(1, r.Steps) {
			return fmt.Errorf("the run was interrupted after %d steps of an epoch and Fit.Steps is %d; it must be that of the run", b.Steps, r.Steps)
		}
		r.begun = b.begun()
		if r.Eval == nil {
			r.goodEpoch = len(f.run.epochs())
		}
	}
	r.saved = r.Resume
	return r.checkpoint().take(f)
}
