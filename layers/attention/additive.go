package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Additive is the score of a small network:
//
//	s_uv = tanh(k_u·W + q_v·U)·v
//
// of Bahdanau, Cho and Bengio, "Neural Machine Translation by Jointly Learning to Align and
// Translate", ICLR 2015. Keys are N×Key, queries M×Query.
type Additive struct {
	Key, Query, Hidden int

	W *grad.Param `json:"-"` // Key×Hidden
	U *grad.Param `json:"-"` // Query×Hidden
	V *grad.Param `json:"-"` // Hidden
}

// Init makes the Params, uniform up to the root of one over the rows that they read.
func (l *Additive) Init(rng *rand.Rand) {
	l.W = compose.Uniform(rng, l.Key, l.Hidden, l.Key)
	l.U = compose.Uniform(rng, l.Query, l.Hidden, l.Query)
	l.V = compose.Uniform(rng, 1, l.Hidden, l.Hidden)
}

// Keys returns k·W.
func (l *Additive) Keys(t *grad.Tape, keys *grad.Var) *grad.Var {
	return keys.MatMul(t.Use(l.W))
}

// Of returns the logits; keys are projected.
func (l *Additive) Of(t *grad.Tape, keys, query *grad.Var) message.Msg {
	return message.UAddV(keys, query.MatMul(t.Use(l.U))).Tanh().Dot(message.W(t.Use(l.V)))
}
