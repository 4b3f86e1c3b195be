package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
)

// GCNConv is graph convolution: each node takes the normalised sum of its
// in-neighbours.
//
//	y_v = act( Σ_u weight_uv·c_uv·x_u·W + b )
//
// of Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional
// Networks", ICLR 2017. Norm says what c is; the paper's graph has a loop at
// each node, which is up to the data. Src is NumSrc×In, dense or sparse; Weight
// E or E×1. The result is NumDst×Out. A node without in-edges gets act(b).
//
// The degrees are those of the graph at hand. Of a block they are the block's,
// which is not what the whole graph would give; to keep the whole graph's, pass
// the block's rows of [SymmetricWeights] as In.Weight, with NormNone.
type GCNConv struct {
	In, Out    int
	Norm       Norm            `json:",omitempty"`
	NoBias     bool            `json:",omitempty"`
	Activation grad.Activation `json:",omitempty"`

	W *grad.Param `json:"-"` // In×Out
	B *grad.Param `json:"-"` // Out
}

// Init makes the Params: W by Glorot's uniform distribution, b zero.
func (l *GCNConv) Init(rng *rand.Rand) {
	l.W = glorot(rng, l.In, l.Out)
	l.B = bias(!l.NoBias, l.Out)
}

// Forward returns the layer's result for the features x of g's sources.
func (l *GCNConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges. In.Dst is not read, and there is
// no attention.
func (l *GCNConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	in.checkEdge("layers.GCNConv", 0)
	w := t.Use(l.W)
	var y *grad.Var
	if in.Src.Sparse() != nil || l.Out <= l.In {
		y = l.propagate(g, in.Src.MatMul(w), in.Weight)
	} else { // the sum commutes with W: take it where the rows are short
		y = l.propagate(g, in.Src, in.Weight).MatMul(w)
	}
	return Out{Y: finish(t, y, l.B, l.Activation)}
}

// propagate returns Σ_u weight_uv·c_uv·x_u, with c_uv as a factor of each side.
func (l *GCNConv) propagate(g *graph.Graph, x, weight *grad.Var) *grad.Var {
	left, right := l.Norm.factors(g, weight)
	if left != nil {
		x = x.Mul(left)
	}
	m := message.U(x)
	if weight != nil {
		m = m.Mul(message.E(weight))
	}
	y := message.UpdateAll(g, m, message.Sum)
	if right != nil {
		y = y.Mul(right)
	}
	return y
}
