package sequence

import (
	"math/rand/v2"

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
// and so an isolated node, has one child of zeros.
//
// On a chain it is an [LSTM].
type TreeLSTM struct {
	In, Hidden int
	ForgetBias float64 `json:",omitempty"` // what Init makes of b_f

	W  *grad.Param `json:"-"` // In×3·Hidden, of i, g, o
	U  *grad.Param `json:"-"` // Hidden×3·Hidden
	B  *grad.Param `json:"-"` // 3·Hidden
	WF *grad.Param `json:"-"` // In×Hidden, of the forget gate
	UF *grad.Param `json:"-"` // Hidden×Hidden
	BF *grad.Param `json:"-"` // Hidden
}

// Init makes the Params: the weights uniform up to 1/√Hidden, the biases zero
// but for the forget gate's.
func (l *TreeLSTM) Init(rng *rand.Rand) {
	m := l.Hidden
	l.W, l.U, l.B = compose.Uniform(rng, l.In, 3*m, m), compose.Uniform(rng, m, 3*m, m), grad.NewParam(3*m)
	l.WF, l.UF, l.BF = compose.Uniform(rng, l.In, m, m), compose.Uniform(rng, m, m, m), grad.NewParam(m)
	l.BF.Value.Fill(tensor.Float(l.ForgetBias))
}

// Forward returns h of every node of g.
func (l *TreeLSTM) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.States(t, g, x)[0]
}

// States returns h and c of every node of g.
func (l *TreeLSTM) States(t *grad.Tape, g *graph.Graph, x *grad.Var) message.State {
	like := cell{"sequence.TreeLSTM", l.W, l.U, l.Hidden, 3}
	like.check(g, x)
	xp := input{x, t.Use(l.W), t.Use(l.B)}.inLevels(t, g) // of all nodes at once
	xf := input{x, t.Use(l.WF), t.Use(l.BF)}.inLevels(t, g)
	u, uf, m := t.Use(l.U), t.Use(l.UF), l.Hidden
	// The third state is h·U_f, so that a node computes it once, not its parents.
	s := message.Sweep(g, like.start(t, nil, 3), func(lv *message.Level, prev message.State) message.State {
		sum := arrived(lv, prev[0])
		forget := message.V(lv.Part(xf)).Add(message.U(prev[2])).Sigmoid()
		kept := message.UpdateAll(lv.In, forget.Mul(message.U(prev[1])), message.Sum)
		z := sum.MatMul(u).Add(lv.Take(xp))
		i, g, o := z.Columns(0, m), z.Columns(m, 2*m), z.Columns(2*m, 3*m)
		c := i.Sigmoid().Mul(g.Tanh()).Add(kept)
		h := o.Sigmoid().Mul(c.Tanh())
		prev[0], prev[1], prev[2] = h, c, h.MatMul(uf)
		return prev
	})
	return s[:2]
}
