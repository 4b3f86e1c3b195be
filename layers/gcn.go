package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
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
// Its spectral reading: it is attention whose only weight is the mask. With
// S = D^−½·A·D^−½, a filter that is a polynomial of first order in the graph's
// Laplacian, and the same θ for both of its terms, becomes S·x·W.
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
	compose.WantOptions(l)
	l.W = grad.Glorot(rng, l.In, l.Out)
	l.B = compose.Bias(!l.NoBias, l.Out)
}

// Forward returns the layer's result for the features x of g's sources.
func (l *GCNConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges. In.Dst is not read, and there is
// no attention.
func (l *GCNConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantInit("layers.GCNConv", l.W, l.Out)
	In{Src: in.Src, Edge: in.Edge, Weight: in.Weight}.check(g, wants{op: "layers.GCNConv", src: l.W})
	y := l.Norm.propagation("layers.GCNConv", g, in.Weight).project(in.Src, t.Use(l.W), 1)
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation)}
}
