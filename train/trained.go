package train

import (
	"errors"
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
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
