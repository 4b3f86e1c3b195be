package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Concat is the score of a small network that reads key and query side by side:
//
//	s_uv = tanh([k_u ‖ q_v]·W)·v
//
// of Luong, Pham and Manning, "Effective Approaches to Attention-based Neural Machine
// Translation", 2015. Keys are N×Key, queries M×Query. It is the function of [Additive],
// whose two matrices stand in W, one over the other; no pair is ever laid side by side.
type Concat struct {
	Key, Query, Hidden int

	W *grad.Param `json:"-"` // (Key+Query)×Hidden
	V *grad.Param `json:"-"` // Hidden
}

// Init makes the Params, uniform up to the root of one over the rows that they read.
func (l *Concat) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W = compose.Uniform(rng, l.Key+l.Query, l.Hidden, l.Key+l.Query)
	l.V = vector(rng, l.Hidden)
}

// Keys returns what the keys add before the tanh.
func (l *Concat) Keys(t *grad.Tape, keys *grad.Var) *grad.Var {
	want("attention.Concat", "Key", keys, l.Key, l.W, l.Hidden)
	return keys.MatMul(t.Use(l.W).RowRange(0, l.Key))
}

// Of returns the logits; keys are projected.
func (l *Concat) Of(t *grad.Tape, keys, query *grad.Var) message.Msg {
	want("attention.Concat", "Query", query, l.Query, l.W, l.Hidden)
	query = query.MatMul(t.Use(l.W).RowRange(l.Key, l.Key+l.Query))
	return message.UAddV(keys, query).Tanh().Dot(message.W(t.Use(l.V)))
}
