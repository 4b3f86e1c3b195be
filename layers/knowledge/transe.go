package knowledge

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// TransE takes a relation for a translation: the tail is where the head is moved to.
//
//	score = Margin − ‖x_head + r − x_tail‖₁
//
// of Bordes, Usunier, Garcia-Durán, Weston and Yakhnenko, "Translating Embeddings for
// Modeling Multi-relational Data", NIPS 2013. Squared says ‖·‖₂², of which the paper
// speaks too. It cannot tell the head from the tail of a symmetric relation but by r = 0.
type TransE struct {
	Relations, Width int
	Margin           float64 // what a perfect fact scores
	Squared          bool    `json:",omitempty"`

	R *grad.Param `json:"-"` // Relations×Width
}

// Init makes the Param, by Glorot's uniform distribution.
func (l *TransE) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.R = grad.Glorot(rng, l.Relations, l.Width)
}

// Forward returns the score of each edge of facts.
func (l *TransE) Forward(t *grad.Tape, facts *graph.Graph, x *grad.Var) *grad.Var {
	check("knowledge.TransE", facts, x, l.Width, l.R)
	away := message.U(x).Add(message.W(t.Use(l.R)).Pick(facts.Kinds())).Sub(message.V(x))
	if l.Squared {
		away = away.Mul(away)
	} else {
		away = away.Abs()
	}
	return scores(facts, away.SumLast()).Neg().Shift(l.Margin)
}
