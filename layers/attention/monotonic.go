package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Monotonic aligns by reading on from where the step before stopped, and never back. At
// each key it stops with probability p; the weights are the expectation:
//
//	p_ij = σ(s_ij + r + noise)      q_ij = (1 − p_i,j−1)·q_i,j−1 + α_i−1,j      α_ij = p_ij·q_ij
//
// of Raffel, Luong, Liu, Weiss and Eck, "Online and Linear-Time Attention by Enforcing
// Monotonic Alignments", ICML 2017, by the recursion, which is exact for any length.
// Before the first step all attention is on the first key. The weights of a query come to
// one or less: what is missing ran off the end, and reads zero.
//
// On a tape that does not record it stops for good: at the first key, from where it
// stopped before, whose p is above a half; with Rand it draws. With Expected it weighs
// there as it does while it learns, but without noise.
//
// With Drawn it stops for good while it learns, too: at each key with probability p, by the
// tape's counters and without noise. No gradient goes through where it stopped; the scores learn
// by REINFORCE, each step by the losses that came of it:
//
//	logits, a := net.Apply(t, source, tokens, target, fed)
//	each := grad.CrossEntropy{Reduction: grad.EachLoss}.Of(logits, labels)
//	loss := each.Mean().Add(align.LogP(a).Reinforce(baseline.Advantage(attention.ToGo(target, each))))
type Monotonic struct {
	Score    Score
	Noise    float64    `json:",omitempty"` // its deviation, while learning; 0: 1, grad.Zero: none
	Offset   float64    `json:",omitempty"` // r at first; 0: −1. Longer inputs want less
	Expected bool       `json:",omitempty"`
	Drawn    bool       `json:",omitempty"`
	Rand     *rand.Rand `json:"-"` // draws the stops; not for several goroutines

	R *grad.Param `json:"-"` // a number
}

// Init makes the Params.
func (l *Monotonic) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Score.Init(rng)
	l.R = grad.NewParam(1)
	l.R.Value.Fill(tensor.Float(grad.Preset(l.Offset, -1)))
}

// Keys is that of the score.
func (l *Monotonic) Keys(t *grad.Tape, _ *graph.Graph, keys *grad.Var) *grad.Var {
	compose.WantParam("attention.Monotonic", l.R, true)
	return l.Score.Keys(t, keys)
}

// Start is the weights: all on the first key.
func (l *Monotonic) Start(_ *grad.Tape, g *graph.Graph) *grad.Var {
	if l.Drawn {
		return onFirst(g, 2) // and logarithms of probabilities
	}
	return onFirst(g, 1)
}

// Weigh returns the weights.
func (l *Monotonic) Weigh(t *grad.Tape, look Look, query, last *grad.Var) (alpha message.Msg, next *grad.Var) {
	s := message.ApplyEdges(look.Graph, l.Score.Of(t, look.Keys, query).Add(message.W(t.Use(l.R)))).Reshape(-1, 1)
	if n := l.noise(t, s.Dim(0)); n != nil {
		s = s.Add(n)
	}
	if l.Drawn {
		return l.weighDrawn(t, look.Graph, s, last)
	}
	if p := s.Sigmoid(); l.Expected || t.Recording() {
		next = stopping(look.Graph, p, last)
	} else {
		next = l.stop(t, look.Graph, p, last).Columns(0, 1)
	}
	return message.E(next), next
}

// noise is what makes p all or nothing: a network that is sure withstands it. It is a
// function of the tape's seed, its step and the place in the program.
func (l *Monotonic) noise(t *grad.Tape, n int) *grad.Var {
	deviation := grad.Preset(l.Noise, 1)
	if !t.Recording() || l.Drawn || l.Noise == grad.Zero {
		return nil
	}
	m := t.NextDropout(0.5)
	x := tensor.New(n, 1)
	x.Normal(rand.New(rand.NewPCG(uint64(m.K0), uint64(m.K1))), 0, deviation)
	return grad.Const(x)
}
