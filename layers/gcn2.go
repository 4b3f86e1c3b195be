package layers

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// GCN2Conv is a layer of GCNII, a graph convolution that may be 64 layers deep:
// each layer returns to the features of the first and stays near the identity,
// the nearer the deeper it stands.
//
//	z = (1−α)·S·h + α·h⁰,   y = act( (1−β)·z + β·z·W + b ),   β = log(λ/Layer + 1)
//
// of Chen, Wei, Huang, Ding and Li, "Simple and Deep Graph Convolutional Networks",
// ICML 2020, with (S·h)_v = Σ_u weight_uv·c_uv·h_u. With TwoWeights the two parts
// of z have matrices of their own, as the paper's GCNII*. Norm says what c is; the
// paper's graph has a loop at each node, which is up to the data. DGL's c is
// [NormIn], or [NormWeighted] where there are weights; PyG has no b.
//
// Src is h, NumSrc×Width, dense; Dst is h⁰, NumDst×Width, and where it is nil h is
// h⁰: the first layer. Weight is E or E×1. The result is NumDst×Width. For a node
// without in-edges S·h is zero. A layer is one product with a sparse matrix and one
// with W.
type GCN2Conv struct {
	Width      int
	Layer      int             `json:",omitempty"` // number of the layer, from 1; 0: 1
	Alpha      float64         `json:",omitempty"` // 0: 0.1, as in the paper; none is [grad.Zero]
	Lambda     float64         `json:",omitempty"` // λ; 0: 0.5, as in the paper
	TwoWeights bool            `json:",omitempty"` // h⁰ has a matrix of its own
	Norm       Norm            `json:",omitempty"`
	NoBias     bool            `json:",omitempty"`
	Activation grad.Activation `json:",omitempty"`

	W      *grad.Param `json:"-"` // Width×Width
	WFirst *grad.Param `json:"-"` // Width×Width, of h⁰; nil without TwoWeights
	B      *grad.Param `json:"-"` // Width
}

// Init makes the Params: matrices by Glorot's uniform distribution, b zero.
func (l *GCN2Conv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W, l.WFirst = grad.Glorot(rng, l.Width, l.Width), nil
	if l.TwoWeights {
		l.WFirst = grad.Glorot(rng, l.Width, l.Width)
	}
	l.B = compose.Bias(!l.NoBias, l.Width)
}

// Forward returns the layer's result where the features x of g's sources are
// those of the first layer, too.
func (l *GCN2Conv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with h⁰ as In.Dst and weights of the edges. There is no
// attention.
func (l *GCN2Conv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantInit("layers.GCN2Conv", l.W, l.Width)
	in.check(g, wants{op: "layers.GCN2Conv", own: true, src: l.W, srcField: "Width"})
	in.checkDense("layers.GCN2Conv", "give it the product with a matrix, such as a Linear's result")
	alpha := grad.Preset(l.Alpha, 0.1)
	beta := math.Log(cmp.Or(l.Lambda, 0.5)/float64(cmp.Or(l.Layer, 1)) + 1)
	mapped := func(z *grad.Var, w *grad.Param) *grad.Var {
		return z.Scale(1 - beta).Add(z.MatMul(t.Use(w)).Scale(beta))
	}
	heard := l.Norm.propagation("layers.GCN2Conv", g, in.Weight).of(in.Src).Scale(1 - alpha)
	first := in.onDst(g, func(x *grad.Var) *grad.Var { return x.Scale(alpha) })
	var y *grad.Var
	if l.TwoWeights {
		y = mapped(heard, l.W).Add(mapped(first, l.WFirst))
	} else {
		y = mapped(heard.Add(first), l.W)
	}
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation)}
}
