package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Bilinear is a scalar product with a matrix in it:
//
//	s_uv = k_u·W·q_vᵀ               "general" of Luong, Pham and Manning, 2015
//	s_uv = (k_u·U)·(q_v·V)          with Rank: W = U·Vᵀ of that rank
//	s_uv = g·(k_u·W·q_vᵀ)           with Scaled; g begins at Begin
//
// Keys are N×Key, queries M×Query. It is not symmetric: what a asks of b is not what b asks
// of a. The keys are multiplied once, for any number of queries.
//
// A step of Adam moves a score by as much as rate·‖k‖₁·‖q‖₁, so the softmax of a wide one is soon
// all but hard, and its gradient small. A g that begins at 1/√Query, the scale of [ScaledDot],
// makes these steps so much smaller: docs/models/decoders.md has what that is worth.
type Bilinear struct {
	Key, Query int
	Rank       int  `json:",omitempty"` // of the matrix; 0: whole
	Scaled     bool `json:",omitempty"`

	Begin float64 `json:",omitempty"` // where g begins; 0: 1, as in TensorFlow's LuongAttention

	W *grad.Param `json:"-"` // Key×Query; nil with Rank
	U *grad.Param `json:"-"` // Key×Rank; nil without Rank
	V *grad.Param `json:"-"` // Query×Rank; nil without Rank
	G *grad.Param `json:"-"` // 1; nil unless Scaled
}

// Init makes the Params: the matrices uniform up to the root of one over the rows that
// they read.
func (l *Bilinear) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W, l.U, l.V, l.G = nil, nil, nil, nil
	if l.Rank > 0 {
		l.U, l.V = compose.Uniform(rng, l.Key, l.Rank, l.Key), compose.Uniform(rng, l.Query, l.Rank, l.Query)
	} else {
		l.W = compose.Uniform(rng, l.Key, l.Query, l.Key)
	}
	if l.Scaled {
		l.G = one(grad.Preset(l.Begin, 1))
	}
}

// Keys returns k·W, or k·U.
func (l *Bilinear) Keys(t *grad.Tape, keys *grad.Var) *grad.Var {
	w, columns := l.W, l.Query
	if l.Rank > 0 {
		w, columns = l.U, l.Rank
	}
	want("attention.Bilinear", "Key", keys, l.Key, w, columns)
	return keys.MatMul(t.Use(w))
}

// Of returns the logits; keys are projected.
func (l *Bilinear) Of(t *grad.Tape, keys, query *grad.Var) message.Msg {
	const op = "attention.Bilinear"
	compose.WantParam(op, l.G, l.Scaled)
	if l.Rank > 0 {
		want(op, "Query", query, l.Query, l.V, l.Rank)
		query = query.MatMul(t.Use(l.V))
	} else {
		want(op, "Query", query, l.Query, l.W, l.Query)
	}
	if l.Scaled {
		query = query.Mul(t.Use(l.G))
	}
	return message.UDotV(keys, query)
}
