package layers

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// TAGConv is a filter that adapts to the topology: a polynomial of the adjacency
// with a matrix for each number of hops, the node itself included.
//
//	y = act( Σ_{k≤K} S^k·x·W_k + b ),   (S·x)_v = Σ_u weight_uv·c_uv·x_u
//
// of Du, Zhang, Wu, Moura and Kar, "Topology Adaptive Graph Convolutional
// Networks", 2017. Norm says what c is; DGL's is [NormIn], or [NormWeighted] where
// there are weights, PyG's [NormSymmetric]. Src is NumSrc×In, dense or sparse;
// Weight E or E×1. The result is NumDst×Out. A node without in-edges gets
// act(x_v·W_0 + b).
//
// The products come first and are summed by Horner's rule, so each hop carries
// Out columns; a hop runs as one product with a sparse matrix. More than one hop
// wants a graph whose nodes are sources and destinations, as [SGConv] does.
type TAGConv struct {
	In, Out    int
	K          int             `json:",omitempty"` // hops; 0: 2, as in the paper
	Norm       Norm            `json:",omitempty"`
	NoBias     bool            `json:",omitempty"`
	Activation grad.Activation `json:",omitempty"`

	W *grad.Param `json:"-"` // ((K+1)·In)×Out, W_0 on top
	B *grad.Param `json:"-"` // Out
}

// Init makes the Params: W by Glorot's uniform distribution, b zero.
func (l *TAGConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W = grad.Glorot(rng, (cmp.Or(l.K, 2)+1)*l.In, l.Out)
	l.B = compose.Bias(!l.NoBias, l.Out)
}

// Forward returns the layer's result for the features x of g's sources.
func (l *TAGConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges. In.Dst is not read, and there is
// no attention.
func (l *TAGConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	hops := cmp.Or(l.K, 2)
	compose.WantInit("layers.TAGConv", l.W, l.Out)
	In{Src: in.Src, Edge: in.Edge, Weight: in.Weight}.check(g, wants{op: "layers.TAGConv", hops: hops, source: true, width: &l.In})
	s, z := l.Norm.propagation("layers.TAGConv", g, in.Weight), hopProducts(in.Src, t.Use(l.W), hops+1)
	y := z[hops]
	for k := hops - 1; k >= 0; k-- {
		y = s.of(y).Add(message.OnDst(g, z[k]))
	}
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation)}
}
