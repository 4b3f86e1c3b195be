package knowledge

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// ComplEx is [DistMult] in complex numbers, with the tail conjugated, so that head and
// tail differ.
//
//	score = Re Σ_i x_head,i · r_i · conj(x_tail,i)
//
// of Trouillon, Welbl, Riedel, Gaussier and Bouchard, "Complex Embeddings for Simple Link
// Prediction", ICML 2016. Width counts real and imaginary parts, so there are Width/2
// complex numbers.
type ComplEx struct {
	Relations, Width int

	R *grad.Param `json:"-"` // Relations×Width
}

// Init makes the Param, by Glorot's uniform distribution.
func (l *ComplEx) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	even("knowledge.ComplEx", l.Width)
	l.R = grad.Glorot(rng, l.Relations, l.Width)
}

// Forward returns the score of each edge of facts.
func (l *ComplEx) Forward(t *grad.Tape, facts *graph.Graph, x *grad.Var) *grad.Var {
	check("knowledge.ComplEx", facts, x, l.Width, l.R)
	re, im := halves(x)
	rRe, rIm := halves(t.Use(l.R))
	a, b := message.W(rRe).Pick(facts.Kinds()), message.W(rIm).Pick(facts.Kinds())
	hRe, hIm := message.U(re), message.U(im)
	real := hRe.Mul(a).Sub(hIm.Mul(b)).Dot(message.V(re))
	imaginary := hRe.Mul(b).Add(hIm.Mul(a)).Dot(message.V(im))
	return scores(facts, real.Add(imaginary))
}
