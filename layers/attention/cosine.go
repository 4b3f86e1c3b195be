package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Cosine is the cosine of the angle between key and query, times a sharpness:
//
//	s_uv = β·k_u·q_v / (‖k_u‖·‖q_v‖ + ε)
//
// of Graves, Wayne and Danihelka, "Neural Turing Machines", 2014. Keys are N×D, queries
// M×D. A vector of zeros scores 0; its gradient is finite, and the larger the smaller ε is.
// A sharpness that each query has is a factor of the logits: Of(…).Mul(message.V(beta)).
type Cosine struct {
	Beta  float64 `json:",omitempty"` // β; 0: 1
	Learn bool    `json:",omitempty"` // β is learnt, from Beta on
	Eps   float64 `json:",omitempty"` // ε; 0: 1e-6

	B *grad.Param `json:"-"` // 1: β; nil unless Learn
}

// Init makes the Param.
func (l *Cosine) Init(*rand.Rand) {
	compose.WantOptions(l)
	l.B = nil
	if l.Learn {
		l.B = one(grad.Preset(l.Beta, 1))
	}
}

// Keys returns the keys. Their lengths are taken at each call of Of.
func (l *Cosine) Keys(_ *grad.Tape, keys *grad.Var) *grad.Var { return keys }

// Of returns the logits.
func (l *Cosine) Of(t *grad.Tape, keys, query *grad.Var) message.Msg {
	wantAlike("attention.Cosine", keys, query)
	compose.WantParam("attention.Cosine", l.B, l.Learn)
	lengths := message.UMulV(length(keys), length(query))
	beta := grad.Preset(l.Beta, 1)
	if l.Learn {
		query, beta = query.Mul(t.Use(l.B)), 1
	}
	return message.UDotV(keys, query).Scale(beta).Div(lengths.Shift(grad.Preset(l.Eps, 1e-6)))
}

// length returns the lengths of the rows of x: x·x/‖x‖, whose gradient is zero where x is.
func length(x *grad.Var) *grad.Var { return x.Dot(x.L2Normalise()) }
