package knowledge

import (
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// RotatE takes a relation for a rotation of each complex number of a row. So it can tell
// that a relation is symmetric, that one is another's inverse, and that one is two others
// after each other.
//
//	score = Margin − Σ_i |x_head,i · e^{iθ_i} − x_tail,i|
//
// of Sun, Deng, Nie and Tang, "RotatE: Knowledge Graph Embedding by Relational Rotation in
// Complex Space", ICLR 2019. Width counts real and imaginary parts, so there are Width/2
// angles. With Euclidean the sum is √(Σ_i |·|²), as PyG has it, one length in place of many.
// Each root is √(|·|² + 10⁻¹²), whose gradient is finite where the fact is perfect.
type RotatE struct {
	Relations, Width int
	Margin           float64 // what a perfect fact scores
	Euclidean        bool    `json:",omitempty"`

	Phase *grad.Param `json:"-"` // θ, Relations×Width/2
}

// Init makes the Param: angles from −π to π.
func (l *RotatE) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	even("knowledge.RotatE", l.Width)
	l.Phase = grad.NewParam(l.Relations, l.Width/2)
	l.Phase.Value.Uniform(rng, -math.Pi, math.Pi)
}

// Forward returns the score of each edge of facts.
func (l *RotatE) Forward(t *grad.Tape, facts *graph.Graph, x *grad.Var) *grad.Var {
	check("knowledge.RotatE", facts, x, l.Width, l.Phase)
	re, im := halves(x)
	phase := t.Use(l.Phase)
	cos, sin := message.W(phase.Cos()).Pick(facts.Kinds()), message.W(phase.Sin()).Pick(facts.Kinds())
	hRe, hIm := message.U(re), message.U(im)
	real := hRe.Mul(cos).Sub(hIm.Mul(sin)).Sub(message.V(re))
	imaginary := hRe.Mul(sin).Add(hIm.Mul(cos)).Sub(message.V(im))
	away := real.Mul(real).Add(imaginary.Mul(imaginary))
	if l.Euclidean {
		away = away.SumLast().Shift(1e-12).Sqrt()
	} else {
		away = away.Shift(1e-12).Sqrt().SumLast()
	}
	return scores(facts, away).Neg().Shift(l.Margin)
}
