package attention

import (
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
