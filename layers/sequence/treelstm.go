package sequence

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TreeLSTM carries a state and a cell from the leaves of trees to their roots,
// with a forget gate for each child.
//
//	h̃ = Σ_k h_k                         f_k = σ(x·W_f + h_k·U_f + b_f)
//	[i g o] = [σ tanh σ](x·W + h̃·U + b)
//	c = i·g + Σ_k f_k·c_k               h = o·tanh(c)
//
// is the child-sum Tree-LSTM of Tai, Socher and Manning, "Improved Semantic
// Representations From Tree-Structured Long Short-Term Memory Networks", ACL
// 2015. The graph has an edge from each child to its parent, as [graph.Trees]
// makes it; any other acyclic graph will do. x is N×In, dense or sparse, with
// rows of zeros for nodes that have no input; the result is N×Hidden. A leaf,
// and so an isolated node, has one child, the initial state: zeros.
//
// With an Arity it is the N-ary Tree-LSTM of that paper, in which the place of a child
// counts:
//
//	[i g o] = [σ tanh σ](x·W + Σ_k h_k·U^(k) + b)
//	f_k = σ(x·W_f + Σ_l h_l·U_f^(kl) + b_f)
//
// The place is the kind of the edge, for [graph.Trees] the child's ordinal, and must be
// below Arity. A child that is not there is zero; without kinds all children are the
// first. Several in one place are summed. With OwnChild U_f^(kl) is zero for k ≠ l, so
// a forget gate sees its own child alone.
//
// On a chain both are an [LSTM].
type TreeLSTM struct {
	In, Hidden int
	Arity      int     `json:",omitempty"` // how many children a node has at most; 0: any number, and their order is nothing
	OwnChild   bool    `json:",omitempty"` // of a child's forget gate: it sees no sibling
	ForgetBias float64 `json:",omitempty"` // what Init makes of b_f

	W  *grad.Param `json:"-"` // In×3·Hidden, of i, g, o
	U  *grad.Param `json:"-"` // Hidden×3·Hidden; of an Arity, child below child, Arity·Hidden×3·Hidden
	B  *grad.Param `json:"-"` // 3·Hidden
	WF *grad.Param `json:"-"` // In×Hidden, of the forget gate
	UF *grad.Param `json:"-"` // Hidden×Hidden; of an Arity U_f^(kl) in block row l and block column k, with OwnChild Arity·Hidden×Hidden
	BF *grad.Param `json:"-"` // Hidden
}

// Init makes the Params: the weights uniform up to 1/√Hidden, the biases zero
// but for the forget gate's.
func (l *TreeLSTM) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	m, k := l.Hidden, max(1, l.Arity)
	l.W, l.U, l.B = compose.Uniform(rng, l.In, 3*m, m), compose.Uniform(rng, k*m, 3*m, m), grad.NewParam(3*m)
	seen := k
	if l.OwnChild {
		seen = 1
	}
	l.WF, l.UF, l.BF = compose.Uniform(rng, l.In, m, m), compose.Uniform(rng, k*m, seen*m, m), grad.NewParam(m)
	l.BF.Value.Fill(tensor.Float(l.ForgetBias))
}

// Forward returns h of every node of g.
func (l *TreeLSTM) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.ForwardFrom(t, g, x, nil)[0]
}

// States returns h and c of every node of g.
func (l *TreeLSTM) States(t *grad.Tape, g *graph.Graph, x *grad.Var) message.State {
	return l.ForwardFrom(t, g, x, nil)
}

// like is what the layer has to be like.
func (l *TreeLSTM) like() cell {
	return cell{op: "sequence.TreeLSTM", w: l.W, u: l.U, hidden: l.Hidden, gates: 3, arity: l.Arity}
}

// checkForget panics unless U_f is as OwnChild says.
func (l *TreeLSTM) checkForget() {
	compose.WantParam("sequence.TreeLSTM", l.UF, true)
	seen := max(1, l.Arity)
	if l.OwnChild {
		seen = 1
	}
	if l.UF.Value.Dim(1) != seen*l.Hidden {
		compose.SetBefore("sequence.TreeLSTM", "OwnChild")
	}
}

// ForwardFrom returns h and c of every node of g, from an initial h and c that
// have a row for each of g.Roots(), the leaves of a tree, or one for all; nil is zeros. It
// is the first child of a leaf.
func (l *TreeLSTM) ForwardFrom(t *grad.Tape, g *graph.Graph, x *grad.Var, init message.State) message.State {
	like := l.like()
	like.check(g, x)
	l.checkForget()
	in, forget := l.inputs(t, x)
	xp, xf := in.inLevels(t, g), forget.inLevels(t, g) // of all nodes at once
	init = like.start(t, init, 2)
	if l.Arity > 0 {
		children, step := like.childrenOf(g), l.step(t)
		return message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
			prev[0], prev[1] = step(children.of(lv, prev[0]), children.of(lv, prev[1]), lv.Take(xp), lv.Part(xf), roomOf(lv))
			return prev
		})
	}
	u, uf := t.Use(l.U), t.Use(l.UF)
	// The third state is h·U_f, so that a node computes it once, not its parents.
	s := message.Sweep(g, append(init[:2:2], l.remembered(t, init[0])), func(lv *message.Level, prev message.State) message.State {
		sum := arrived(lv, prev[0])
		f := message.V(lv.Part(xf)).Add(message.U(prev[2])).Sigmoid()
		kept := message.UpdateAll(lv.In, f.Mul(message.U(prev[1])), message.Sum)
		h, c := gateOperands{z: lv.Take(xp).AddProduct(sum, u), c: kept}.applyTo(treeGates, roomOf(lv))
		prev[0], prev[1], prev[2] = h, c, h.MatMul(uf)
		return prev
	})
	return s[:2]
}

// treeGates are gates that are given what the forget gates keep.
var treeGates = gateForm{over: true, forget: NoForget}

// remembered is h·U_f of the initial h, which is mostly zeros of no tape.
func (l *TreeLSTM) remembered(t *grad.Tape, h *grad.Var) *grad.Var {
	if h.Needs() || slices.ContainsFunc(h.Value().Data, func(v tensor.Float) bool { return v != 0 }) {
		return h.MatMul(t.Use(l.UF))
	}
	return h
}

// Step returns h and c of nodes of one child each, the first, from those of the children,
// as [LSTM.Step] does.
func (l *TreeLSTM) Step(t *grad.Tape, x *grad.Var, prev message.State) message.State {
	prev = l.like().before(t, x, prev, 2, 0)
	l.checkForget()
	in, forget := l.inputs(t, x)
	h, c := prev[0], prev[1]
	if k := l.Arity; k > 1 {
		none := grad.Begin("sequence.TreeLSTM", x).New(x.Dim(0), (k-1)*l.Hidden)
		h, c = grad.Concat(h, none), grad.Concat(c, none)
	}
	after, next := l.step(t)(h, c, in.project(), forget.project(), room{})
	return message.State{after, next}
}

// inputs are what the gates, and the forget gates, read of x.
func (l *TreeLSTM) inputs(t *grad.Tape, x *grad.Var) (in, forget input) {
	return input{x: x, w: t.Use(l.W), b: t.Use(l.B)}, input{x: x, w: t.Use(l.WF), b: t.Use(l.BF)}
}

// step returns what makes h and c of those of the children, side by side in their places,
// and of the gates' share of x.
func (l *TreeLSTM) step(t *grad.Tape) func(h, c, xp, xf *grad.Var, to room) (after, next *grad.Var) {
	u, look := t.Use(l.U), l.look(t)
	return func(h, c, xp, xf *grad.Var, to room) (after, next *grad.Var) {
		return gateOperands{z: xp.AddProduct(h, u), c: keepChildren(look(h), xf, c)}.applyTo(treeGates, to)
	}
}

// look returns what makes the forget gates' share of the children's h.
func (l *TreeLSTM) look(t *grad.Tape) func(h *grad.Var) *grad.Var {
	m, uf := l.Hidden, t.Use(l.UF)
	if !l.OwnChild || l.Arity <= 1 {
		return func(h *grad.Var) *grad.Var { return h.MatMul(uf) }
	}
	widths := make([]int, l.Arity)
	for k := range widths {
		widths[k] = m
	}
	own := uf.SplitAxis(0, widths...)
	f := make([]*grad.Var, len(own)) // once, as a level must not allocate
	return func(h *grad.Var) *grad.Var {
		for k, w := range own {
			f[k] = h.Columns(k*m, (k+1)*m).MatMul(w)
		}
		return grad.Concat(f...)
	}
}
