package grad

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Norm returns the Euclidean norm of the gradients of all Params together, added
// in float64 in their order. Watched values do not count.
func (gs Grads) Norm() float64 {
	gs.MustLive("Grads.Norm")
	sum := 0.0
	for _, g := range gs {
		if g.Param != nil {
			sum += dense.Dot64(g.Value.Data, g.Value.Data)
		}
	}
	return math.Sqrt(sum)
}

// ClipNorm scales the gradients of all Params so that their [Grads.Norm] is at
// most limit, and returns the norm they had. A norm that is not finite scales
// nothing, for the caller to see.
func (gs Grads) ClipNorm(limit float64) float64 {
	checkLimit("ClipNorm", limit)
	norm := gs.Norm()
	if !(norm > limit) || math.IsInf(norm, 0) {
		return norm
	}
	by := tensor.Float(limit / norm)
	for _, g := range gs {
		if g.Param != nil {
			for i := range g.Value.Data {
				g.Value.Data[i] *= by
			}
		}
	}
	return norm
}

// ClipValue moves each element of the gradient of each Param into the range from
// −limit to limit. A NaN stays.
func (gs Grads) ClipValue(limit float64) {
	checkLimit("ClipValue", limit)
	gs.MustLive("Grads.ClipValue")
	top := tensor.Float(limit)
	for _, g := range gs {
		if g.Param == nil {
			continue
		}
		for i, v := range g.Value.Data {
			g.Value.Data[i] = max(-top, min(top, v))
		}
	}
}

// checkLimit panics if a limit would turn gradients round, or is NaN.
func checkLimit(op string, limit float64) {
	if !(limit >= 0) {
		panic(&TapeError{Op: op, Why: fmt.Sprintf("the limit is %v; it must be a number, and not negative", limit)})
	}
}
