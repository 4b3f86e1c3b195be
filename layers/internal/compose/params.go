package compose

import (
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
)

// Uniform returns weights from U(−b, b) with b = 1/√m.
func Uniform(rng *rand.Rand, rows, cols, m int) *grad.Param {
	p := grad.NewParam(rows, cols)
	b := 1 / math.Sqrt(float64(m))
	p.Value.Uniform(rng, -b, b)
	return p
}

// Bias returns n zeros, or nil if there is to be no bias.
func Bias(wanted bool, n int) *grad.Param {
	if !wanted {
		return nil
	}
	return grad.NewParam(n)
}

// GainAndBias returns gains of one and biases of zero, or nils if there are to be
// none.
func GainAndBias(wanted bool, n int) (gain, b *grad.Param) {
	if !wanted {
		return nil, nil
	}
	return Ones(n), grad.NewParam(n)
}

// Ones returns n ones: gains that change nothing yet.
func Ones(n int) *grad.Param {
	p := grad.NewParam(n)
	p.Value.Fill(1)
	return p
}

// Use returns p's value on t, or nil if the layer has no p.
func Use(t *grad.Tape, p *grad.Param) *grad.Var {
	if p == nil {
		return nil
	}
	return t.Use(p)
}

// Affine returns xW + b, or xW if there is no b.
func Affine(t *grad.Tape, x *grad.Var, w, b *grad.Param) *grad.Var {
	if b == nil {
		return x.MatMul(t.Use(w))
	}
	return x.Linear(t.Use(w), t.Use(b), grad.Identity)
}
