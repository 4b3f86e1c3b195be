package attention

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message"
)

// Normaliser is how logits become weights, over the in-edges of each query.
type Normaliser string

// The normalisers. Those marked * give weights whose sum is not 1.
const (
	Softmax   Normaliser = ""          // exp(s)/Σexp(s)
	Smoothing Normaliser = "smoothing" // σ(s)/Σσ(s), of Chorowski and others, 2015: flatter
	Sparsemax Normaliser = "sparsemax" // the nearest weights to s: exact zeros
	Threshold Normaliser = "threshold" // softmax, less what is below Least, over the rest's sum
	TopK      Normaliser = "topk"      // softmax of the K largest
	Hardmax   Normaliser = "hardmax"   // 1 for the largest, the lowest edge of several; no gradient
	Gating    Normaliser = "gating"    // * σ(s): each edge by itself
)

// Weighing makes weights of logits. The zero value is a softmax.
type Weighing struct {
	By    Normaliser `json:",omitempty"`
	Least float64    `json:",omitempty"` // of Threshold: the smallest weight that is kept
	K     int        `json:",omitempty"` // of TopK: how many are kept
}

// Of returns the weights. A query without keys has none; one whose logits are all −∞ has
// zeros, and so has one none of whose weights reaches Least. It panics with a
// [*grad.TapeError] if the fields do not say what By needs.
func (w Weighing) Of(logits message.Msg) message.Msg {
	switch w.By {
	case Softmax:
		return logits.Softmax()
	case Smoothing:
		return logits.Neg().Softplus().Neg().Softmax() // log σ(s), so that nothing underflows
	case Sparsemax:
		return logits.Sparsemax()
	case Threshold:
		if !(w.Least > 0 && w.Least <= 1) {
			w.bad(fmt.Sprintf("Least is %v, want a weight from 0 to 1: what is smaller is dropped", w.Least))
		}
		alpha := logits.Softmax()
		kept := alpha.Neg().Shift(w.Least).Sign().ReLU().Neg().Shift(1) // 0 below Least, else 1
		return alpha.Mul(kept).Normalise()
	case TopK:
		if w.K < 1 {
			w.bad(fmt.Sprintf("K is %d, want 1 or more: so many keys are kept", w.K))
		}
		return logits.TopK(w.K).Softmax()
	case Hardmax:
		return logits.Hardmax()
	case Gating:
		return logits.Sigmoid()
	}
	w.bad(fmt.Sprintf("By is %q, which is no normaliser", string(w.By)))
	panic("unreachable")
}

func (w Weighing) bad(why string) {
	panic(&grad.TapeError{Op: "attention.Weighing", Why: why})
}
