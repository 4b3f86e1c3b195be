package sequence

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Recursive is a recursive network: the states of a node's children, side by side in
// their places, make its own.
//
//	h = a(x·W + Σ_k h_k·U^(k) + b)
//
// of Socher et al., "Parsing Natural Scenes and Natural Language with Recursive Neural
// Networks", ICML 2011, where a node that has children has no x, so that h is
// a([h_0 ‖ h_1]·U + b). The graph is as for a [TreeLSTM]: the place of a child is the kind
// of its edge, below Arity; a child that is not there is zero, and several in one place are
// summed. x is N×In, dense or sparse; the result is N×Hidden. a is tanh unless Activation
// names another. A leaf, and so an isolated node, has the initial state for its first
// child: zeros.
//
// With Words a leaf's state is its row of x itself, as in the paper, whose leaves are word
// vectors: then In is Hidden, there is no W, and x is read at the leaves only.
//
// On a chain it is an [RNN].
type Recursive struct {
	In, Hidden int
	Arity      int             // 0: 2
	Activation grad.Activation `json:",omitempty"` // "" is tanh
	Words      bool            `json:",omitempty"` // a leaf is its x

	W *grad.Param `json:"-"` // In×Hidden; nil with Words
	U *grad.Param `json:"-"` // Arity·Hidden×Hidden, child below child
	B *grad.Param `json:"-"` // Hidden
}

// Init makes the Params: the weights uniform up to 1/√Hidden, the bias zero.
func (l *Recursive) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	m := l.Hidden
	l.W, l.U, l.B = nil, compose.Uniform(rng, l.arity()*m, m, m), grad.NewParam(m)
	if !l.Words {
		l.W = compose.Uniform(rng, l.In, m, m)
	}
}

func (l *Recursive) arity() int {
	if l.Arity == 0 {
		return 2
	}
	return l.Arity
}

func (l *Recursive) activation() grad.Activation {
	if l.Activation == "" {
		return grad.Tanh
	}
	return l.Activation
}

// like is what the layer has to be like. With Words x is as wide as the state, so that U
// stands in for W.
func (l *Recursive) like() cell {
	c := cell{op: "sequence.Recursive", w: l.W, u: l.U, hidden: l.Hidden, gates: 1, arity: l.arity()}
	if l.Words {
		c.w, c.in = l.U, l.Hidden
	}
	return c
}

// Forward returns h of every node of g.
func (l *Recursive) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.ForwardFrom(t, g, x, nil)[0]
}

// ForwardFrom returns h of every node of g, from an initial h as [TreeLSTM.ForwardFrom]
// wants it; nil is zeros. With Words nothing reads it.
func (l *Recursive) ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) message.State {
	like := l.like()
	like.check(g, x)
	init = like.start(t, init, 1)
	if l.Words {
		return l.words(t, g, x, init)
	}
	children := like.childrenOf(g)
	xp := input{x: x, w: t.Use(l.W), b: t.Use(l.B)}.inLevels(t, g)
	u, a := t.Use(l.U), l.activation()
	return message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
		prev[0] = lv.Take(xp).AddProduct(children.of(lv, prev[0]), u).Activate(a)
		return prev
	})
}

// words is ForwardFrom of leaves that are their x.
func (l *Recursive) words(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) message.State {
	u, b, a, children := t.Use(l.U), t.Use(l.B), l.activation(), l.like().childrenOf(g)
	return message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
		if lv.N == 0 {
			prev[0] = lv.Rows(x)
		} else {
			prev[0] = children.of(lv, prev[0]).MatMul(u).AddBias(b, a)
		}
		return prev
	})
}

// Step returns h of nodes of one child each, the first, from that of the children, as
// [LSTM.Step] does. With Words a nil prev makes leaves of x, which else is not read.
func (l *Recursive) Step(t *grad.Tape, x *grad.Var, prev message.State) message.State {
	h := l.like().before(t, x, prev, 1, 0)[0]
	if l.Words && prev == nil {
		return message.State{x}
	}
	if k := l.arity(); k > 1 {
		h = grad.Concat(h, grad.Begin("sequence.Recursive", x).New(x.Dim(0), (k-1)*l.Hidden))
	}
	u, b := t.Use(l.U), t.Use(l.B)
	if l.Words {
		return message.State{h.MatMul(u).AddBias(b, l.activation())}
	}
	return message.State{input{x: x, w: t.Use(l.W), b: b}.project().AddProduct(h, u).Activate(l.activation())}
}
