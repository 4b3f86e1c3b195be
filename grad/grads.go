package grad

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Grad is the gradient of one Param, or of one watched Var.
type Grad struct {
	Param *Param // nil: of Watched
	Value *tensor.Dense

	of   *Var
	pass uint32 // the Backward of its tape that made it
}

// Grads holds the gradients of a computation, in the order in which the Params
// were first used. They live until the tape's next Reset or Backward: then their
// memory is another's, and a method that is called on them panics with a
// [*TapeError].
type Grads []Grad

// MustLive panics with a [*TapeError] of the operation op if gs are from before
// their tape's last Reset or Backward. Every method of Grads and the optimisers
// of package train call it.
func (gs Grads) MustLive(op string) {
	for i := range gs {
		v := gs[i].of
		if v == nil || v.tape == nil {
			continue // a Grad that no tape has made
		}
		if v.gen != v.tape.gen {
			panic(&TapeError{Op: op, Why: "the gradients are from before their tape's last Reset; use them, or clone their values, before it"})
		}
		if gs[i].pass != v.tape.passes {
			panic(&TapeError{Op: op, Why: "the gradients are from before their tape's last Backward, which takes their memory: use them before it, add up the losses instead, or take a tape for each"})
		}
	}
}

// Of returns the gradient of a Var that was made by Use or Watch, or nil.
func (gs Grads) Of(v *Var) *tensor.Dense {
	gs.MustLive("Grads.Of")
	for _, g := range gs {
		if g.of == v && v != nil {
			return g.Value
		}
	}
	return nil
}

// Param returns the gradient of a Param, or nil.
func (gs Grads) Param(p *Param) *tensor.Dense {
	gs.MustLive("Grads.Param")
	for _, g := range gs {
		if g.Param == p && p != nil {
			return g.Value
		}
	}
	return nil
}

// SumGrads adds the gradients of several tapes, in the order of the arguments,
// into the first. All must have used the same Params, in the same order. Of two
// losses on one tape, add up the losses: a tape keeps the gradients of its last
// Backward only, and those of an earlier one panic here.
func SumGrads(gs ...Grads) Grads {
	if len(gs) == 0 {
		return nil
	}
	for _, g := range gs {
		g.MustLive("SumGrads")
	}
	for _, g := range gs[1:] {
		if !slices.EqualFunc(gs[0], g, func(a, b Grad) bool { return a.Param == b.Param }) {
			panic(&TapeError{Op: "SumGrads", Why: "the computations used different Params, or in another order"})
		}
		for i := range g {
			gs[0][i].Value.Add(g[i].Value)
		}
	}
	return gs[0]
}

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
func (gs Grads) ClipNorm(limit float64) float64 { return gs.clip("ClipNorm", limit, gs.Norm) }

// NormOf is Norm with another power than 2: the p-th root of the sum of the p-th powers of what
// is |g|, and of an infinite p the largest |g|, as PyTorch's norm_type has it.
func (gs Grads) NormOf(p float64) float64 {
	if !(p > 0) {
		panic(&TapeError{Op: "Grads.NormOf", Why: fmt.Sprintf("the power is %v; it must be above 0", p)})
	}
	if p == 2 {
		return gs.Norm()
	}
	gs.MustLive("Grads.NormOf")
	sum, most := 0.0, 0.0
	for _, g := range gs {
		if g.Param == nil {
			continue
		}
		for _, v := range g.Value.Data {
			x := math.Abs(float64(v))
			most = max(most, x) // of a NaN it is NaN
			if p == 1 {
				sum += x
			} else if !math.IsInf(p, 1) {
				sum += math.Pow(x, p)
			}
		}
	}
	if math.IsInf(p, 1) {
		return most
	}
	return math.Pow(sum, 1/p)
}

// ClipNormOf is ClipNorm by [Grads.NormOf].
func (gs Grads) ClipNormOf(p, limit float64) float64 {
	return gs.clip("ClipNormOf", limit, func() float64 { return gs.NormOf(p) })
}

// clip scales the gradients so that a norm of theirs is at most limit.
func (gs Grads) clip(op string, limit float64, of func() float64) float64 {
	checkLimit(op, limit)
	norm := of()
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
