package knowledge

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// DistMult takes a relation for a diagonal bilinear form.
//
//	score = Σ_i x_head,i · r_i · x_tail,i
//
// of Yang, Yih, He, Gao and Deng, "Embedding Entities and Relations for Learning and
// Inference in Knowledge Bases", ICLR 2015. Head and tail may be exchanged, so it is for
// symmetric relations; R-GCN's authors have it as the decoder of their link prediction.
type DistMult struct {
	Relations, Width int

	R *grad.Param `json:"-"` // Relations×Width
}

// Init makes the Param, by Glorot's uniform distribution.
func (l *DistMult) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.R = grad.Glorot(rng, l.Relations, l.Width)
}

// Forward returns the score of each edge of facts.
func (l *DistMult) Forward(t *grad.Tape, facts *graph.Graph, x *grad.Var) *grad.Var {
	check("knowledge.DistMult", facts, x, l.Width, l.R)
	return scores(facts, message.U(x).Mul(message.W(t.Use(l.R)).Pick(facts.Kinds())).Dot(message.V(x)))
}
