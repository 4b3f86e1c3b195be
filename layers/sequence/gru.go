package sequence

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// GRU carries a state h along chains.
//
//	r = σ(x_t·W_r + h·U_r + b_r)      z = σ(x_t·W_z + h·U_z + b_z)
//	n = tanh(x_t·W_n + b_n + r·(h·U_n + b_u))
//	h_t = (1−z)·n + z·h
//
// of Cho et al., "Learning Phrase Representations using RNN Encoder–Decoder for
// Statistical Machine Translation", 2014, in the form of cuDNN and PyTorch,
// which resets the product. With ResetBefore it is the paper's own, in which the
// state is reset before the product: n = tanh(x_t·W_n + b_n + (r·h)·U_n).
//
// h is that of the predecessor: the sum where there are several, the initial one
// at a root, so an isolated node is a chain of one. x is N×In, dense or sparse;
// the result is N×Hidden.
//
// The gates stand in PyTorch's order r, z, n. B holds the sums of PyTorch's two
// biases for r and z, and bias_ih for n; BN is bias_hh for n.
type GRU struct {
	In, Hidden  int
	ResetBefore bool `json:",omitempty"`
	NoBias      bool `json:",omitempty"`

	W  *grad.Param `json:"-"` // In×3·Hidden
	U  *grad.Param `json:"-"` // Hidden×3·Hidden
	B  *grad.Param `json:"-"` // 3·Hidden; nil with NoBias
	BN *grad.Param `json:"-"` // Hidden, b_u; nil with NoBias or ResetBefore
}

// Init makes the Params: the weights uniform up to 1/√Hidden, the biases zero.
func (l *GRU) Init(rng *rand.Rand) {
	m := l.Hidden
	l.W, l.U = compose.Uniform(rng, l.In, 3*m, m), compose.Uniform(rng, m, 3*m, m)
	l.B, l.BN = compose.Bias(!l.NoBias, 3*m), compose.Bias(!l.NoBias && !l.ResetBefore, m)
}

// Forward returns h of every node of g, from a state of zeros.
func (l *GRU) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.ForwardFrom(t, g, x, nil)[0]
}

// ForwardFrom returns h of every node of g, from an initial h as
// [LSTM.ForwardFrom] wants it; nil is zeros.
func (l *GRU) ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) message.State {
	c := cell{"sequence.GRU", l.W, l.U, l.Hidden, 3}
	c.check(g, x)
	xp := input{x, t.Use(l.W), compose.Use(t, l.B)}.inLevels(t, g) // of all nodes at once
	init = c.start(t, init, 1)
	if l.ResetBefore {
		return l.resetBefore(t, g, xp, init)
	}
	u, bn := t.Use(l.U), compose.Use(t, l.BN)
	return message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
		h := arrived(lv, prev[0])
		prev[0] = gruOperands{lv.Take(xp), h.MatMul(u), h, bn}.apply(true)
		return prev
	})
}

// resetBefore is ForwardFrom in the paper's form. A product stands between the
// gates, so it is spelt out.
func (l *GRU) resetBefore(t *grad.Tape, g *graph.Graph, xp *grad.Var, init message.State) message.State {
	m := l.Hidden
	u, xs := t.Use(l.U).Split(2*m, m), xp.Split(2*m, m)
	return message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
		h := arrived(lv, prev[0])
		rz := h.MatMul(u[0]).Add(lv.Take(xs[0])).Sigmoid()
		r, z := rz.Columns(0, m), rz.Columns(m, 2*m)
		n := r.Mul(h).MatMul(u[1]).Add(lv.Take(xs[1])).Tanh()
		prev[0] = n.Add(z.Mul(h.Sub(n)))
		return prev
	})
}
