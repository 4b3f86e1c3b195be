package grad

import (
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Norm returns the Euclidean length of all gradients together, added in float64
// in their order.
func (gs Grads) Norm() float64 {
	s := 0.0
	for _, g := range gs {
		for _, v := range g.Value.Data {
			s += float64(v) * float64(v)
		}
	}
	return math.Sqrt(s)
}

// ClipNorm scales all gradients by max/(norm + 1e-6) if their [Grads.Norm] is
// larger than that allows, as PyTorch does, and returns the norm before. If it
// is NaN or infinite it leaves the gradients as they are, for the caller to see.
func (gs Grads) ClipNorm(max float64) float64 {
	norm := gs.Norm()
	c := max / (norm + 1e-6)
	if !(c < 1) || math.IsInf(norm, 0) {
		return norm
	}
	for _, g := range gs {
		for i, v := range g.Value.Data {
			g.Value.Data[i] = tensor.Float(c * float64(v))
		}
	}
	return norm
}

// ClipValue moves every element into [−max, max]; NaN stays.
func (gs Grads) ClipValue(max float64) {
	hi := tensor.Float(max)
	for _, g := range gs {
		for i, v := range g.Value.Data {
			if v > hi {
				g.Value.Data[i] = hi
			} else if v < -hi {
				g.Value.Data[i] = -hi
			}
		}
	}
}
