package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// AttentionPool reads many rows into one, by a query that is learnt: a [Soft] whose queries
// are all Q.
//
//	α_uv = softmax over the in-edges of v of score(x_u, Q)      y_v = Σ_u α_uv·x_u
//
// Over [graph.Membership] it reads each sentence of a batch, or each graph:
//
//	out := pool.Apply(t, graph.Membership(g), layers.In{Src: h})
//
// Without Query there is no Q, and Score is one that needs none: a [Saliency], whose pool
// is that of Yang and others, "Hierarchical Attention Networks for Document
// Classification", 2016. x is N×F; the result has F columns and a row for each destination,
// zero of one without sources. Weighed by [Gating] it is a gated sum; the pool by
// [message.Max] has no scores at all.
type AttentionPool struct {
	Score Score
	Query int      `json:",omitempty"` // the width of Q; 0: none
	Weigh Weighing // of the scores
	Drop  float64  `json:",omitempty"` // the fraction of weights that are dropped

	Q *grad.Param `json:"-"` // 1×Query; nil without Query
}

// Init makes the Params: the score's, and Q uniform up to the root of one over Query.
func (l *AttentionPool) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Score.Init(rng)
	l.Q = nil
	if l.Query > 0 {
		l.Q = compose.Uniform(rng, 1, l.Query, l.Query)
	}
}

// Apply reads In.Src into the destinations of g. In.Edge is added to the scores, In.Weight
// multiplies the weights; In.Dst is not read.
func (l *AttentionPool) Apply(t *grad.Tape, g *graph.Graph, in layers.In) layers.Out {
	const op = "attention.AttentionPool"
	compose.WantGraph(op, g)
	compose.WantParam(op, l.Q, l.Query > 0)
	var query *grad.Var
	if l.Query > 0 {
		query = t.Use(l.Q).Expand(g.NumDst(), l.Query)
	}
	soft := Soft{Score: l.Score, Weigh: l.Weigh, Drop: l.Drop}
	return soft.mean(op, t, g, in, logitsOf(op, t, g, l.Score, in, query), in.Src)
}
