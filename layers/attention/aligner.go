package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Aligner weighs what a decoder sees at each step of what was read. It may look at how
// the step before weighed it.
type Aligner interface {
	Init(rng *rand.Rand)

	// Keys is what all steps read of the keys, a row for each node of the chains source:
	// their projection, made once.
	Keys(t *grad.Tape, source *graph.Graph, keys *grad.Var) *grad.Var

	// Start is what is carried into the first step, whose queries are the destinations
	// of g: a row for each edge. It is nil if nothing is ever carried.
	Start(t *grad.Tape, g *graph.Graph) *grad.Var

	// Weigh returns the weight of every edge of look.Graph, a number each, and what is
	// carried into the next step: a row for each edge, of which the first column is the
	// weight. last was carried here. query has a row for each destination. One whose scores
	// are all −∞ has weights of zero: it hears nothing, as of an empty source.
	Weigh(t *grad.Tape, look Look, query, last *grad.Var) (alpha message.Msg, next *grad.Var)
}

// Look is what the queries of a step see.
type Look struct {
	Graph  *graph.Graph // from keys to queries; the in-edges of a query are in the order of its sequence
	Keys   *grad.Var    // what Aligner.Keys returned
	Places *grad.Var    // of each key its place in its sequence, from 0: N×1, a constant
}

// Content aligns by a score alone: α = softmax(s), or what else Weigh makes of scores.
// Nothing is carried, so no weight is ever stored.
type Content struct {
	Score Score
	By    Weighing
}

// Init makes the Params of the score.
func (l *Content) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Score.Init(rng)
}

// Keys is that of the score.
func (l *Content) Keys(t *grad.Tape, _ *graph.Graph, keys *grad.Var) *grad.Var {
	return l.Score.Keys(t, keys)
}

// Start is nil.
func (l *Content) Start(*grad.Tape, *graph.Graph) *grad.Var { return nil }

// Weigh returns the weights.
func (l *Content) Weigh(t *grad.Tape, look Look, query, _ *grad.Var) (alpha message.Msg, next *grad.Var) {
	return l.By.Of(l.Score.Of(t, look.Keys, query)), nil
}

// meanBy is the mean of values by the weights of an aligner, which are stored only if the
// aligner carries them.
func meanBy(t *grad.Tape, a Aligner, look Look, values, query, last *grad.Var) (c, next *grad.Var) {
	alpha, next := a.Weigh(t, look, query, last)
	return message.UpdateAll(look.Graph, message.U(values).Mul(alpha), message.Sum), next
}
