package layers

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// SGConv is a graph convolution of K hops without anything between them: as many
// [GCNConv] with one matrix in all.
//
//	y = act( S^K·x·W + b ),   (S·x)_v = Σ_u weight_uv·c_uv·x_u
//
// of Wu and others, "Simplifying Graph Convolutional Networks", ICML 2019. Norm
// says what c is; the paper's graph has a loop at each node, which is up to the
// data. Src is NumSrc×In, dense or sparse; Weight E or E×1. The result is
// NumDst×Out. A node without in-edges gets act(b).
//
// More than one hop wants a graph whose nodes are sources and destinations. For
// some seeds that is their [graph.Neighbourhood] of K hops, with the whole
// graph's rows of [SymmetricWeights] as In.Weight, and NormNone.
type SGConv struct {
	In, Out    int
	K          int             `json:",omitempty"` // hops; 0: 2, as in the paper
	Norm       Norm            `json:",omitempty"`
	NoBias     bool            `json:",omitempty"`
	Activation grad.Activation `json:",omitempty"`

	W *grad.Param `json:"-"` // In×Out
	B *grad.Param `json:"-"` // Out
}

// Init makes the Params: W by Glorot's uniform distribution, b zero.
func (l *SGConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W = grad.Glorot(rng, l.In, l.Out)
	l.B = compose.Bias(!l.NoBias, l.Out)
}

// Forward returns the layer's result for the features x of g's sources.
func (l *SGConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges. In.Dst is not read, and there is
// no attention.
func (l *SGConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	hops := cmp.Or(l.K, 2)
	compose.WantInit("layers.SGConv", l.W, l.Out)
	In{Src: in.Src, Edge: in.Edge, Weight: in.Weight}.check(g, wants{op: "layers.SGConv", hops: hops, src: l.W})
	y := l.Norm.propagation("layers.SGConv", g, in.Weight).project(in.Src, t.Use(l.W), hops)
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation)}
}
