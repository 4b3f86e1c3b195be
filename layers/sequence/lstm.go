package sequence

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Peephole says what the gates of an [LSTM] see of its cell. Its text form is
// its name.
type Peephole string

// The peepholes. The zero value is none.
const (
	NoPeephole       Peephole = ""
	DiagonalPeephole Peephole = "diagonal" // a gate sees its own element of the cell
	FullPeephole     Peephole = "full"     // a gate sees all of the cell
)

// LSTM carries a state h and a cell c along chains.
//
//	i = σ(x_t·W_i + h·U_i + b_i)      f = σ(x_t·W_f + h·U_f + b_f)
//	g = tanh(x_t·W_g + h·U_g + b_g)   o = σ(x_t·W_o + h·U_o + b_o)
//	c_t = f·c + i·g                   h_t = o·tanh(c_t)
//
// of Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997, with the forget
// gate of Gers, Schmidhuber and Cummins, 2000. h and c are those of the
// predecessor: the sum where there are several, the initial ones at a root, so
// an isolated node is a chain of one. x is N×In, dense or sparse; the result is
// N×Hidden.
//
// With peepholes (Gers and Schmidhuber, 2000) c·P_i and c·P_f are added inside
// i and f, and c_t·P_o inside o; with PeepOld the output gate sees c instead.
//
// The gates stand in PyTorch's order i, f, g, o, but with one bias: it is the
// sum of PyTorch's two.
type LSTM struct {
	In, Hidden int
	Peephole   Peephole `json:",omitempty"`
	PeepOld    bool     `json:",omitempty"` // the output gate's peephole sees the old cell
	ForgetBias float64  `json:",omitempty"` // what Init makes of b_f; 1 or more helps it to remember
	NoBias     bool     `json:",omitempty"`

	W *grad.Param `json:"-"` // In×4·Hidden
	U *grad.Param `json:"-"` // Hidden×4·Hidden
	B *grad.Param `json:"-"` // 4·Hidden
	P *grad.Param `json:"-"` // P_i, P_f, P_o: 3×Hidden if diagonal, Hidden×3·Hidden if full
}

// Init makes the Params: the weights uniform up to 1/√Hidden, the bias zero but
// for the forget gate's.
func (l *LSTM) Init(rng *rand.Rand) {
	m := l.Hidden
	l.W, l.U = compose.Uniform(rng, l.In, 4*m, m), compose.Uniform(rng, m, 4*m, m)
	l.B, l.P = nil, nil
	if !l.NoBias {
		l.B = grad.NewParam(4 * m)
		for j := range m {
			l.B.Value.Data[m+j] = tensor.Float(l.ForgetBias)
		}
	}
	switch l.Peephole {
	case DiagonalPeephole:
		l.P = compose.Uniform(rng, 3, m, m)
	case FullPeephole:
		l.P = compose.Uniform(rng, m, 3*m, m)
	}
}

// Forward returns h of every node of g, from a state of zeros.
func (l *LSTM) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.ForwardFrom(t, g, x, nil)[0]
}

// ForwardFrom returns h and c of every node of g, from an initial h and c that
// have a row for each of g.Roots(), or one for all; nil is zeros. Of chains the
// state after the last node is Rows(g.Sinks()); its Keep begins the next segment of a
// truncated back-propagation.
func (l *LSTM) ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) message.State {
	like := cell{"sequence.LSTM", l.W, l.U, l.Hidden, 4}
	like.check(g, x)
	xp := input{x, t.Use(l.W), compose.Use(t, l.B)}.inLevels(t, g) // of all nodes at once
	u, gates := t.Use(l.U), l.gates(t)
	return message.Sweep(g, like.start(t, init, 2), func(lv *message.Level, prev message.State) message.State {
		h, c := arrived(lv, prev[0]), arrived(lv, prev[1])
		prev[0], prev[1] = gates(h.MatMul(u).Add(lv.Take(xp)), c)
		return prev
	})
}

// gates returns the step from z and c to h and c.
func (l *LSTM) gates(t *grad.Tape) func(z, c *grad.Var) (h, next *grad.Var) {
	var p *grad.Var
	switch l.Peephole {
	case NoPeephole:
	case DiagonalPeephole:
		p = t.Use(l.P)
	case FullPeephole:
		return l.fullGates(t)
	default:
		panic(&grad.TapeError{Op: "sequence.LSTM", Why: "no peephole is called " + string(l.Peephole)})
	}
	return func(z, c *grad.Var) (h, next *grad.Var) {
		return lstmGates(z, c, p, gateForm{old: l.PeepOld, over: true})
	}
}

// fullGates is gates with full peepholes. Their products stand between the
// gates, so it is spelt out.
func (l *LSTM) fullGates(t *grad.Tape) func(z, c *grad.Var) (h, next *grad.Var) {
	m := l.Hidden
	p := t.Use(l.P).Split(2*m, m)
	return func(z, c *grad.Var) (h, next *grad.Var) {
		in := z.Columns(0, 2*m).Add(c.MatMul(p[0])).Sigmoid()
		i, f, g := in.Columns(0, m), in.Columns(m, 2*m), z.Columns(2*m, 3*m).Tanh()
		next = f.Mul(c).Add(i.Mul(g))
		seen := next
		if l.PeepOld {
			seen = c
		}
		o := z.Columns(3*m, 4*m).Add(seen.MatMul(p[1])).Sigmoid()
		return o.Mul(next.Tanh()), next
	}
}
