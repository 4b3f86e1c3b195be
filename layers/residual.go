package layers

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
)

// Residual says what of a destination's own features a layer adds to its
// result. Its text form is its name.
type Residual string

// The residuals. The zero value is none.
const (
	NoResidual       Residual = ""
	ResidualIdentity Residual = "identity" // x_v where the widths agree, else x_v·WRes
	ResidualLinear   Residual = "linear"   // x_v·WRes, always
)

// param returns WRes for features of width in and a result of width out; nil if
// the residual needs none.
func (r Residual) param(op string, rng *rand.Rand, in, out int) *grad.Param {
	if r != NoResidual && r != ResidualIdentity && r != ResidualLinear {
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("Residual is %q, which no residual is called", string(r))})
	}
	if r == NoResidual || r == ResidualIdentity && in == out {
		return nil
	}
	return grad.Glorot(rng, in, out)
}

// add returns y plus the residual.
func (r Residual) add(t *grad.Tape, g *graph.Graph, in In, s skip) *grad.Var {
	if r == NoResidual {
		return s.y
	}
	return s.y.Add(in.onDst(g, func(x *grad.Var) *grad.Var {
		if r == ResidualIdentity && x.Dim(-1) == s.y.Dim(-1) {
			In{Src: x}.checkDense(s.op, "use ResidualLinear")
			return x
		}
		return x.MatMul(t.Use(s.w))
	}))
}

// skip is a result and the weights of the residual around it.
type skip struct {
	op string // the layer
	y  *grad.Var
	w  *grad.Param
}
