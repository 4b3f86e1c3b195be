package layers

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// APPNP spreads predictions over the graph, as a random walk does that returns
// to where it began with the probability α at each step: personalised PageRank,
// by K steps of its power iteration.
//
//	z⁰ = x,   z^{k+1} = (1−α)·S·z^k + α·x,   y = act(z^K),   (S·z)_v = Σ_u weight_uv·c_uv·z_u
//
// of Gasteiger, Bojchevski and Günnemann, "Predict then Propagate: Graph Neural
// Networks meet Personalized PageRank", ICLR 2019. Norm says what c is; the
// paper's graph has a loop at each node, which is up to the data. An α of
// [grad.Zero] makes y = act(S^K·x), as [SGConv] propagates. Src is
// NumSrc×F, dense: what an [MLP] predicts from each node alone. Weight is E or
// E×1. The result is NumDst×F. A node without in-edges gets act(α·x_v).
//
// More than one step wants a graph whose nodes are sources and destinations. For
// some seeds that is their [graph.Neighbourhood] of K hops, with the whole
// graph's rows of [SymmetricWeights] as In.Weight, and NormNone.
type APPNP struct {
	K          int             `json:",omitempty"` // steps; 0: 10, as in the paper
	Alpha      float64         `json:",omitempty"` // 0: 0.1, as in the paper; none is [grad.Zero]
	EdgeDrop   float64         `json:",omitempty"` // dropout of S, drawn anew at each step
	Norm       Norm            `json:",omitempty"`
	Activation grad.Activation `json:",omitempty"`
}

// Init does nothing: there are no Params. All layers have it.
func (l *APPNP) Init(*rand.Rand) { compose.WantOptions(l) }

// Forward returns the layer's result for the features x of g's sources.
func (l *APPNP) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges and, on a bipartite graph, one
// step of it: then α·x_v is In.Dst's. There is no attention.
func (l *APPNP) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	steps, alpha := cmp.Or(l.K, 10), grad.Preset(l.Alpha, 0.1)
	in.check(g, wants{op: "layers.APPNP", hops: steps, own: true})
	in.checkDense("layers.APPNP", "give it the product with a matrix, such as a Linear's result")
	s := l.propagation(t, g, in.Weight)
	back := in.onDst(g, func(x *grad.Var) *grad.Var { return x.Scale(alpha) })
	z, whole := in.Src, s.weight
	for range steps {
		if l.EdgeDrop > 0 {
			s.weight = t.Dropout(whole, l.EdgeDrop)
		}
		z = s.of(z).Scale(1 - alpha).Add(back)
	}
	return Out{Y: z.Activate(l.Activation)}
}

// propagation returns S. To be dropped its elements have to be there, as weights
// of the edges.
func (l *APPNP) propagation(t *grad.Tape, g *graph.Graph, weight *grad.Var) propagation {
	if l.EdgeDrop > 0 && t.Recording() {
		return propagation{g: g, weight: l.Norm.Weights(g, weight)}
	}
	return l.Norm.propagation("layers.APPNP", g, weight)
}
