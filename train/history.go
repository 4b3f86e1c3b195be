package train

import (
	"fmt"
	"time"
)

// Epoch is what is known about one epoch when it is over.
type Epoch struct {
	N    int     // counts from 1
	Loss float64 // the training loss, before the epoch's step
	Scores
	Best bool          // it is the best so far
	Took time.Duration // the step and the evaluation
}

// History is the epochs of a run, in order.
type History struct {
	Epochs []Epoch
}

// Best returns the best epoch. ok is false if there was no evaluation, or none
// without a NaN.
func (h *History) Best() (best Epoch, ok bool) {
	for _, e := range h.Epochs {
		if e.Best {
			best, ok = e, true
		}
	}
	return best, ok
}

// DivergedError reports that training met a number it cannot go on from.
type DivergedError struct {
	Epoch int     // counts from 1
	What  string  // "the loss", or which Param's gradient
	Value float64 // NaN or an infinity
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("train: epoch %d: %s is %v; the last good state is restored; try a lower rate, or look for NaN in the data", e.Epoch, e.What, e.Value)
}
