package attention

import (
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message"
)

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
