package attention

import (
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message"
)

// Dot is the scalar product s_uv = k_u·q_v, of Luong, Pham and Manning, "Effective
// Approaches to Attention-based Neural Machine Translation", 2015. Keys are N×D, queries
// M×D. It has no Params.
//
// With entries of variance 1 its variance is D, so a wide one makes a hard softmax whose
// gradient is small: see [ScaledDot].
type Dot struct{}

// Init makes nothing.
func (Dot) Init(*rand.Rand) {}

// Keys returns the keys.
func (Dot) Keys(_ *grad.Tape, keys *grad.Var) *grad.Var { return keys }

// Of returns the logits.
func (Dot) Of(_ *grad.Tape, keys, query *grad.Var) message.Msg {
	wantAlike("attention.Dot", keys, query)
	return message.UDotV(keys, query)
}

// ScaledDot is the scalar product over its deviation, s_uv = k_u·q_v/√D, of Vaswani and
// others, "Attention Is All You Need", 2017. Keys are N×D, queries M×D; D is the width that
// the product runs along, so of a head and not of the model. It has no Params.
type ScaledDot struct{}

// Init makes nothing.
func (ScaledDot) Init(*rand.Rand) {}

// Keys returns the keys.
func (ScaledDot) Keys(_ *grad.Tape, keys *grad.Var) *grad.Var { return keys }

// Of returns the logits.
func (ScaledDot) Of(_ *grad.Tape, keys, query *grad.Var) message.Msg {
	wantAlike("attention.ScaledDot", keys, query)
	return message.UDotV(keys, query).Scale(1 / math.Sqrt(float64(max(1, keys.Dim(-1)))))
}
