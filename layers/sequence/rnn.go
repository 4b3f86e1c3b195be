package sequence

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// RNN carries a state h along chains.
//
//	h_t = a(x_t·W + h·U + b)
//
// of Elman, "Finding Structure in Time", 1990. h is that of the predecessor: the
// sum where there are several, the initial one at a root, so an isolated node is
// a chain of one. x is N×In, dense or sparse; the result is N×Hidden. a is tanh
// unless Activation names another.
//
// b is the sum of PyTorch's two.
type RNN struct {
	In, Hidden int
	Activation grad.Activation `json:",omitempty"` // "" is tanh
	NoBias     bool            `json:",omitempty"`

	W *grad.Param `json:"-"` // In×Hidden
	U *grad.Param `json:"-"` // Hidden×Hidden
	B *grad.Param `json:"-"` // Hidden; nil with NoBias
}

// Init makes the Params: the weights uniform up to 1/√Hidden, the bias zero.
func (l *RNN) Init(rng *rand.Rand) {
	m := l.Hidden
	l.W, l.U, l.B = compose.Uniform(rng, l.In, m, m), compose.Uniform(rng, m, m, m), compose.Bias(!l.NoBias, m)
}

// Forward returns h of every node of g, from a state of zeros.
func (l *RNN) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.ForwardFrom(t, g, x, nil)[0]
}

// ForwardFrom returns h of every node of g, from an initial h as
// [LSTM.ForwardFrom] wants it; nil is zeros.
func (l *RNN) ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) message.State {
	c := cell{"sequence.RNN", l.W, l.U, l.Hidden, 1}
	c.check(g, x)
	xp := input{x, t.Use(l.W), compose.Use(t, l.B)}.inLevels(t, g) // of all nodes at once
	u, a := t.Use(l.U), l.Activation
	if a == "" {
		a = grad.Tanh
	}
	return message.Sweep(g, c.start(t, init, 1), func(lv *message.Level, prev message.State) message.State {
		prev[0] = arrived(lv, prev[0]).MatMul(u).Add(lv.Take(xp)).Activate(a)
		return prev
	})
}
