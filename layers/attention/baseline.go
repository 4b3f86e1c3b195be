package attention

import "github.com/edgewise-ml/edgewise/grad"

// Baseline foretells the loss of a draw: the running mean of the losses before it. That of
// the draws which it is compared with is not in it, so the estimate of a gradient stays
// right in the mean. The zero value is ready.
type Baseline struct {
	Rate float64 `json:",omitempty"` // how far a step moves the mean; 0: 0.1
	Mean float64 // of the losses so far
	Any  bool    // there were losses
}

// Advantage returns by how much each loss is smaller than was foretold, for
// [grad.Var.Reinforce], and then moves the mean. Before the first losses it foretells 0.
func (b *Baseline) Advantage(losses *grad.Var) []float64 {
	x := losses.Value().Data
	out, sum := make([]float64, len(x)), 0.0
	for i, loss := range x {
		out[i] = b.Mean - float64(loss)
		sum += float64(loss)
	}
	if len(x) == 0 {
		return out
	}
	rate := grad.Preset(b.Rate, 0.1)
	if !b.Any {
		rate, b.Any = 1, true
	}
	b.Mean += rate * (sum/float64(len(x)) - b.Mean)
	return out
}
