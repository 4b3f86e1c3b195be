package train

import (
	"errors"
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

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
