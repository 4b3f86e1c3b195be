package attention

import (
	"math"
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
//
// Normed has the length of v apart from its direction, and a bias:
//
//	s_uv = tanh(k_u·W + q_v·U + b) · g·v/‖v‖
//
// of Salimans and Kingma, "Weight Normalization", 2016, as TensorFlow's BahdanauAttention
// does it. g begins at √(1/Hidden), b at zero.
type Additive struct {
	Key, Query, Hidden int
	Normed             bool `json:",omitempty"`

	W *grad.Param `json:"-"` // Key×Hidden
	U *grad.Param `json:"-"` // Query×Hidden
	V *grad.Param `json:"-"` // Hidden
	G *grad.Param `json:"-"` // 1; nil unless Normed
	B *grad.Param `json:"-"` // Hidden; nil unless Normed
}

// Init makes the Params, uniform up to the root of one over the rows that they read.
func (l *Additive) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W = compose.Uniform(rng, l.Key, l.Hidden, l.Key)
	l.U = compose.Uniform(rng, l.Query, l.Hidden, l.Query)
	l.V = vector(rng, l.Hidden)
	l.G, l.B = nil, nil
	if l.Normed {
		l.G, l.B = one(math.Sqrt(1/float64(l.Hidden))), grad.NewParam(l.Hidden)
	}
}

// Keys returns k·W.
func (l *Additive) Keys(t *grad.Tape, keys *grad.Var) *grad.Var {
	want("attention.Additive", "Key", keys, l.Key, l.W, l.Hidden)
	return keys.MatMul(t.Use(l.W))
}

// Of returns the logits; keys are projected.
func (l *Additive) Of(t *grad.Tape, keys, query *grad.Var) message.Msg {
	want("attention.Additive", "Query", query, l.Query, l.U, l.Hidden)
	compose.WantParam("attention.Additive", l.B, l.Normed)
	v := t.Use(l.V)
	if l.Normed {
		v = v.L2Normalise().Mul(t.Use(l.G))
		query = query.Linear(t.Use(l.U), t.Use(l.B), grad.Identity)
	} else {
		query = query.MatMul(t.Use(l.U))
	}
	return message.UAddV(keys, query).Tanh().Dot(message.W(v))
}
