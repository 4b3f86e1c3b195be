package train

import (
	"errors"
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// trained compares what a run trains with what its model holds: a Param outside
// the model would be neither saved nor restored.
type trained struct {
	model any
	held  map[*grad.Param]bool
	last  []*grad.Param // those of the last gradients
	used  bool          // some gradient was of the model
	moved bool          // some gradient was not zero
}

// hold makes the Params of a model those that may be trained.
func (t *trained) hold(model any) {
	*t = trained{model: model, held: map[*grad.Param]bool{}}
	for _, p := range grad.Params(model) {
		t.held[p] = true
	}
}

// check returns an error if the gradients are of a Param that the model does not
// hold. It costs next to nothing where they are those of the step before.
func (t *trained) check(gs grad.Grads) error {
	same := len(gs) == len(t.last)
	for i := range gs {
		same = same && gs[i].Param == t.last[i]
	}
	if same {
		return nil
	}
	t.last = t.last[:0]
	for _, g := range gs {
		switch {
		case g.Param == nil: // a watched value
		case !t.held[g.Param]:
			return fmt.Errorf("train: the loss uses a Param of shape %v that Fit.Model, a %T, does not hold: is it the model that is trained, and was Init called before Run?", g.Param.Value.Shape(), t.model)
		default:
			t.used = true
		}
		t.last = append(t.last, g.Param)
	}
	return nil
}

// idle returns an error if an epoch, of which these are the last gradients, has
// taught the model nothing, nor can the next.
func (t *trained) idle(loss float64) error {
	switch {
	case !t.used:
		return fmt.Errorf("train: the loss uses none of the Params of Fit.Model, a %T: is it the model that is trained?", t.model)
	case !t.moved && loss == 0:
		return errors.New("train: the loss of the first epoch is 0, and so are all its gradients: is the training split empty, or no row of it labelled?")
	}
	return nil
}

// see notes whether any gradient is not zero.
func (t *trained) see(gs grad.Grads) {
	for i := 0; i < len(gs) && !t.moved; i++ {
		t.moved = gs[i].Param != nil && !isZero(gs[i].Value.Data)
	}
}

func isZero(x []tensor.Float) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

// DivergedError reports that training met a number it cannot go on from.
type DivergedError struct {
	Epoch int     // counts from 1
	What  string  // "the loss", "the gradient of …" or "…, after the step"
	Param string  // the path of the Param, if it is about one
	Value float64 // NaN, an infinity, or what is above Limit
	Limit float64 // Fit.Limit, if Value is above it; else 0
	Op    string  // the operation that made the first such number, where the tape can tell
	Good  int     // the model has again the state after this epoch; 0: the one it came with
	Saved string  // the last checkpoint, of an earlier epoch; empty: none was written
}

func (e *DivergedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "train: epoch %d: %s is %v", e.Epoch, e.What, e.Value)
	if e.Limit > 0 {
		fmt.Fprintf(&b, ", above the limit of %v", e.Limit)
	}
	if e.Op != "" {
		fmt.Fprintf(&b, " (first: %s)", e.Op)
	}
	fmt.Fprintf(&b, "; the last good state, of epoch %d, is restored", e.Good)
	if e.Saved != "" {
		fmt.Fprintf(&b, "; the last checkpoint is %s", e.Saved)
	}
	return b.String() + "; try a lower rate, or look for NaN in the data"
}

func isDiverged(err error) bool { return errors.As(err, new(*DivergedError)) }

// finder is a tape that finds the operation a NaN came from.
type finder interface {
	FirstNonFinite() (op string, found bool)
}

// diverged returns the error for a value of this epoch.
func (r *run) diverged(what string, p *grad.Param, v float64) *DivergedError {
	e := &DivergedError{Epoch: len(r.history.Epochs) + 1, What: what, Value: v, Good: r.goodEpoch, Saved: r.saved}
	for name, q := range grad.Params(r.Model) {
		if q == p {
			e.Param = name
		}
	}
	if f, ok := any(r.tape).(finder); ok {
		e.Op, _ = f.FirstNonFinite()
	}
	return e
}

// inspect returns an error that names the first gradient that is not finite.
func (r *run) inspect(grads grad.Grads) error {
	r.looks = r.looks[:0]
	for i := range grads {
		r.looks = append(r.looks, grads[i].Value.Data)
	}
	if dense.Sound(r.looks) {
		return nil
	}
	for i := range grads {
		if v := notFinite(grads[i].Value.Data); v != 0 {
			p := grads[i].Param
			return r.diverged("the gradient of "+r.name(p), p, v)
		}
	}
	return nil
}

// sound returns an error if a Param is not finite: such a state is not saved.
func (r *run) sound() error {
	for name, p := range grad.Params(r.Model) {
		if v := notFinite(p.Value.Data); v != 0 {
			e := r.diverged(name+", after the step,", p, v)
			e.Epoch = len(r.history.Epochs)
			return e
		}
	}
	return nil
}

// notFinite returns the first NaN or infinity in x, or 0.
func notFinite(x []tensor.Float) float64 {
	if dense.Sound([][]tensor.Float{x}) {
		return 0
	}
	for _, v := range x {
		if v-v != 0 {
			return float64(v)
		}
	}
	return 0
}

func (r *run) name(p *grad.Param) string {
	for name, q := range grad.Params(r.Model) {
		if q == p {
			return name
		}
	}
	return "a watched value or a Param outside the model"
}
