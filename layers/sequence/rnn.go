package sequence

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
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
// With Leak λ the state moves a part of the way, h_t = (1−λ)·h + λ·a(…), of Jaeger et
// al., "Optimization and applications of echo state networks with leaky-integrator
// neurons", 2007; with LearnLeak λ = σ(L), an element for each of the state, which
// begins at Leak. With Residual the state is added to: h_t = h + a(…), which grows
// without bound if a does not turn back.
//
// With LayerNorm (Ba, Kiros and Hinton, 2016) a reads LN(x_t·W + h·U) + b. InputDropout
// and StateDropout are those of an [LSTM]: a mask a chain.
//
// With Orthogonal U begins as an orthogonal matrix (Saxe, McClelland and Ganguli, 2014). Then
// ‖diag(a′)·Uᵀ‖, by which a step back through time lengthens a gradient at most, is at most
// the largest slope of a, which is 1 of tanh and of a ReLU.
//
// b is the sum of PyTorch's two.
type RNN struct {
	In, Hidden int
	Activation grad.Activation `json:",omitempty"` // "" is tanh
	Leak       float64         `json:",omitempty"` // λ, up to 1; 0 is a plain network
	LearnLeak  bool            `json:",omitempty"` // from Leak on, or from a half
	Residual   bool            `json:",omitempty"`
	Orthogonal bool            `json:",omitempty"` // U begins as an orthogonal matrix
	NoBias     bool            `json:",omitempty"`

	LayerNorm    bool    `json:",omitempty"`
	InputDropout float64 `json:",omitempty"` // of x, a mask a chain
	StateDropout float64 `json:",omitempty"` // of h where U reads it, a mask a chain

	W *grad.Param `json:"-"` // In×Hidden
	U *grad.Param `json:"-"` // Hidden×Hidden
	B *grad.Param `json:"-"` // Hidden; nil with NoBias
	L *grad.Param `json:"-"` // Hidden; nil without LearnLeak

	Gain *grad.Param `json:"-"` // Hidden, of the norm
}

// Init makes the Params: the weights uniform up to 1/√Hidden unless U is Orthogonal, the
// bias zero, the gain one.
func (l *RNN) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.checkLeak()
	l.W, l.U = compose.Uniform(rng, l.In, l.Hidden, l.Hidden), recurrentStart(rng, l.Hidden, 1, l.Orthogonal)
	l.B, l.L, l.Gain = compose.Bias(!l.NoBias, l.Hidden), nil, nil
	if l.LearnLeak {
		leak := grad.Preset(l.Leak, 0.5)
		l.L = grad.NewParam(l.Hidden)
		l.L.Value.Fill(tensor.Float(math.Log(leak / (1 - leak))))
	}
	if l.LayerNorm {
		l.Gain = compose.Ones(l.Hidden)
	}
}

// checkLeak panics unless the fields say how far the state moves.
func (l *RNN) checkLeak() {
	why := ""
	switch {
	case !(l.Leak >= 0 && l.Leak <= 1):
		why = fmt.Sprintf("Leak is %v, want a number from 0 to 1", l.Leak)
	case l.LearnLeak && l.Leak == 1:
		why = "a Leak that is learnt must begin below 1, where σ has a slope"
	case l.Residual && (l.Leak > 0 || l.LearnLeak):
		why = "Leak and Residual both say what stays of the state; choose one"
	}
	if why != "" {
		panic(&grad.TapeError{Op: "sequence.RNN", Why: why})
	}
}

// like is what the layer has to be like.
func (l *RNN) like() cell {
	return cell{op: "sequence.RNN", w: l.W, u: l.U, hidden: l.Hidden, gates: 1}
}

// Forward returns h of every node of g, from a state of zeros.
func (l *RNN) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.ForwardFrom(t, g, x, nil)[0]
}

// ForwardFrom returns h of every node of g, from an initial h as
// [LSTM.ForwardFrom] wants it; nil is zeros.
func (l *RNN) ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) message.State {
	like := l.like()
	like.check(g, x)
	xp := l.input(t, x).masked(chainDropout(t, g, l.InputDropout)).inLevels(t, g) // of all nodes at once
	drop, init := chainDropout(t, g, l.StateDropout), like.start(t, init, 1)
	step := l.step(t)
	if f, ok := chainActivations[l.Activation]; ok && !l.LayerNorm && !l.Residual && l.Leak == 0 && !l.LearnLeak {
		r := recurrence{like: like, plan: chainPlanOf(g), u: t.Use(l.U), xp: xp, init: init, drop: drop}
		if s := r.run(t, (*rnnChains)(&f)); s != nil {
			return s
		}
	}
	return message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
		h := arrived(lv, prev[0])
		prev[0] = step(h, drop.on(lv, h), lv.Take(xp))
		return prev
	})
}

// Step returns h after one more row each of x, from that before it, as [LSTM.Step] does.
func (l *RNN) Step(t *grad.Tape, x *grad.Var, prev message.State) message.State {
	like := l.like()
	prev = like.before(t, x, prev, 1, max(l.InputDropout, l.StateDropout))
	return message.State{l.step(t)(prev[0], prev[0], l.input(t, x).project())}
}

// input is what the state reads of x. A norm has the bias behind it.
func (l *RNN) input(t *grad.Tape, x *grad.Var) input {
	in := input{x: x, w: t.Use(l.W)}
	if !l.LayerNorm {
		in.b = compose.Use(t, l.B)
	}
	return in
}

// step returns what makes the next h of h, of what U reads of it and of its share of x.
func (l *RNN) step(t *grad.Tape) func(h, read, xp *grad.Var) *grad.Var {
	l.checkLeak()
	u, a, move := t.Use(l.U), l.Activation, l.move(t)
	if a == "" {
		a = grad.Tanh
	}
	if !l.LayerNorm {
		return func(h, read, xp *grad.Var) *grad.Var { return move(h, xp.AddProduct(read, u).Activate(a)) }
	}
	gain, b := t.Use(l.Gain), compose.Use(t, l.B)
	return func(h, read, xp *grad.Var) *grad.Var {
		return move(h, xp.AddProduct(read, u).LayerNorm(gain, b, normEps).Activate(a))
	}
}

// move returns what makes the next state of the last and of what a says.
func (l *RNN) move(t *grad.Tape) func(h, y *grad.Var) *grad.Var {
	switch {
	case l.LearnLeak:
		leak := t.Use(l.L).Sigmoid()
		return func(h, y *grad.Var) *grad.Var { return mix(h, y, leak) }
	case l.Leak > 0:
		leak := grad.Const(tensor.Of([]tensor.Float{tensor.Float(l.Leak)}, 1))
		return func(h, y *grad.Var) *grad.Var { return mix(h, y, leak) }
	case l.Residual:
		return func(h, y *grad.Var) *grad.Var { return y.Add(h) }
	}
	return func(_, y *grad.Var) *grad.Var { return y }
}

// rnnChains is a plain RNN of some activation, as a chainCell.
type rnnChains vec.Unary

// chainActivations are those whose slope the state tells.
var chainActivations = map[grad.Activation]vec.Unary{"": vec.Tanh, grad.Tanh: vec.Tanh, grad.ReLU: vec.ReLU, grad.Sigmoid: vec.Sigmoid, grad.ELU: vec.ELU}

func (k *rnnChains) forward(r *recurrence, s span) {
	rows := (s.hi - s.lo) * r.m
	vec.Unary(*k).Forward(r.h[s.to*r.m:s.to*r.m+rows], r.z[s.lo*r.m:s.hi*r.m], 1)
}

func (k *rnnChains) begin(*recurrence) {}

func (k *rnnChains) backward(r *recurrence, s span, _ []tensor.Float) {
	dz, y, dy := r.dz[s.lo*r.m:s.hi*r.m], r.h[s.to*r.m:], r.dh[s.to*r.m:]
	clear(dz)
	vec.Unary(*k).Backward(dz, dy[:len(dz)], y[:len(dz)], y[:len(dz)], 1)
}

func (k *rnnChains) end(*recurrence) {}
