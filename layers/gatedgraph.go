package layers

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GatedGraphConv lets each node's state be updated by a GRU that reads the messages
// of its in-neighbours, several times with the same weights.
//
//	h⁰ = [x ‖ 0],   m_v = Σ_u weight_uv·(h_u·W_k + b_k),   h^{t+1} = GRU(m, h^t),   y = h^T
//
// of Li, Tarlow, Brockschmidt and Zemel, "Gated Graph Sequence Neural Networks",
// ICLR 2016, where k is the kind of the edge. The b_k are DGL's; with PerStep each
// step has a matrix of its own and with NoBias there are no b_k, as PyG has it. Src is
// NumSrc×In, dense, In at most Out; Weight E or E×1. The result is NumDst×Out. A node
// without in-edges hears zero. The gates stand in PyTorch's order r, z, n:
//
//	n = tanh(m·W_n + b_n + r·(h·U_n + b_u)),   h^{t+1} = (1−z)·n + z·h
//
// An edge's product is taken once a node and, with kinds, picked in tiles; with one
// kind a step is one sum of rows. More than one step wants a graph whose nodes are
// sources and destinations, as [SGConv] does.
type GatedGraphConv struct {
	In, Out int
	Steps   int  `json:",omitempty"` // T; 0: 1
	Kinds   int  `json:",omitempty"` // of edges; 0: 1
	PerStep bool `json:",omitempty"` // a matrix for each step
	NoBias  bool `json:",omitempty"` // without b_k; the GRU keeps its own

	W      *grad.Param `json:"-"` // Kinds×Out×Out, or with PerStep (Steps·Kinds)×Out×Out
	B      *grad.Param `json:"-"` // b_k, Kinds×Out
	WGates *grad.Param `json:"-"` // Out×3·Out
	BGates *grad.Param `json:"-"` // 3·Out
	UGates *grad.Param `json:"-"` // Out×3·Out
	BState *grad.Param `json:"-"` // 3·Out; that of n stands within the reset
}

// Init makes the Params: matrices by Glorot's uniform distribution, biases zero.
func (l *GatedGraphConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	if l.In > l.Out {
		panic(&grad.TapeError{Op: "layers.GatedGraphConv", Why: fmt.Sprintf("In is %d and Out %d: x is padded to Out, so In may not be larger", l.In, l.Out)})
	}
	kinds, matrices := cmp.Or(l.Kinds, 1), 1
	if l.PerStep {
		matrices = cmp.Or(l.Steps, 1)
	}
	l.W, l.B = glorotPer(rng, matrices*kinds, l.Out, l.Out), nil
	if !l.NoBias {
		l.B = grad.NewParam(kinds, l.Out)
	}
	l.WGates, l.BGates = grad.Glorot(rng, l.Out, 3*l.Out), compose.Bias(true, 3*l.Out)
	l.UGates, l.BState = grad.Glorot(rng, l.Out, 3*l.Out), compose.Bias(true, 3*l.Out)
}

// Forward returns the layer's result for the features x of g's sources.
func (l *GatedGraphConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges and, on a bipartite graph, one step.
// In.Dst, In wide, is what the destinations begin with. There is no attention.
func (l *GatedGraphConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	steps := cmp.Or(l.Steps, 1)
	compose.WantInit("layers.GatedGraphConv", l.W, l.Out)
	in.check(g, wants{op: "layers.GatedGraphConv", hops: steps, own: true, width: &l.In})
	in.checkDense("layers.GatedGraphConv", "give it the product with a matrix, such as a Linear's result")
	if l.Kinds > 1 {
		wantKinds("layers.GatedGraphConv", g, l.Kinds, "Kinds")
	}
	h := l.pad(in.Src)
	states := In{Src: h}
	if in.Dst != nil {
		states.Dst = l.pad(in.Dst)
	}
	own := states.onDst(g, func(x *grad.Var) *grad.Var { return x })
	for i := range steps {
		own = l.gates(t, message.UpdateAll(g, in.weigh(l.heard(t, g, h, i)), message.Sum), own)
		h = own
	}
	return Out{Y: own}
}

// pad appends zeros to the rows of x until they are Out wide.
func (l *GatedGraphConv) pad(x *grad.Var) *grad.Var {
	if l.In == l.Out {
		return x
	}
	return grad.Concat(x, grad.Const(tensor.New(x.Dim(0), l.Out-l.In)))
}

// heard is the message of a step.
func (l *GatedGraphConv) heard(t *grad.Tape, g *graph.Graph, h *grad.Var, step int) message.Msg {
	w, kinds := t.Use(l.W), cmp.Or(l.Kinds, 1)
	if l.PerStep {
		w = w.RowRange(step*kinds, (step+1)*kinds)
	}
	z := perKind(h, w) // N×Kinds×Out
	if l.B != nil {
		z = z.Add(t.Use(l.B))
	}
	if l.Kinds > 1 {
		return message.U(z).Pick(g.Kinds())
	}
	return message.U(z.Reshape(h.Dim(0), l.Out))
}

// gates is a step of the GRU.
func (l *GatedGraphConv) gates(t *grad.Tape, m, h *grad.Var) *grad.Var {
	z := compose.Affine(t, m, l.WGates, l.BGates).Split(l.Out, l.Out, l.Out)
	u := compose.Affine(t, h, l.UGates, l.BState).Split(l.Out, l.Out, l.Out)
	reset, keep := z[0].Add(u[0]).Sigmoid(), z[1].Add(u[1]).Sigmoid()
	n := z[2].Add(reset.Mul(u[2])).Tanh()
	return h.Sub(n).Mul(keep).Add(n)
}
