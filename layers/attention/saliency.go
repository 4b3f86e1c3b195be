package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Saliency is a score that nobody asks for: what a key is worth by itself.
//
//	s_u = tanh(k_u·W + b)·c
//
// of Yang and others, "Hierarchical Attention Networks for Document Classification", 2016,
// where c is the "context vector" that says what an informative word is like. Keys are
// N×Key; the query is not read and may be nil.
type Saliency struct {
	Key, Hidden int

	W *grad.Param `json:"-"` // Key×Hidden
	B *grad.Param `json:"-"` // Hidden
	C *grad.Param `json:"-"` // Hidden
}

// Init makes the Params: weights uniform up to the root of one over the rows that they
// read, b zero.
func (l *Saliency) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W, l.B, l.C = compose.Uniform(rng, l.Key, l.Hidden, l.Key), grad.NewParam(l.Hidden), vector(rng, l.Hidden)
}

// Keys returns the score of each key, N×1.
func (l *Saliency) Keys(t *grad.Tape, keys *grad.Var) *grad.Var {
	want("attention.Saliency", "Key", keys, l.Key, l.W, l.Hidden)
	return keys.Linear(t.Use(l.W), t.Use(l.B), grad.Tanh).Dot(t.Use(l.C))
}

// Of returns the logits: what Keys returned.
func (l *Saliency) Of(_ *grad.Tape, keys, _ *grad.Var) message.Msg { return message.U(keys) }
