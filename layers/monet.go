package layers

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// MoNetConv is a mixture model: where a neighbour stands, in pseudo-coordinates of
// the edge, says by Gaussians how much each of several matrices counts for it.
//
//	y_v = act( agg_u weight_uv·Σ_k exp(−½·‖(e_uv − μ_k)·r_k‖²)·x_u·W_k  [+ residual_v] + b )
//
// of Monti, Boscaini, Masci, Rodolà, Svoboda and Bronstein, "Geometric Deep Learning
// on Graphs and Manifolds Using Mixture Model CNNs", CVPR 2017; DGL's and PyG's
// GMMConv. r_k is one over the standard deviation of each coordinate. Src is
// NumSrc×In, dense or sparse; Dst NumDst×InDst, of which only a residual reads; Edge
// E×EdgeIn; Weight E or E×1. The result is NumDst×Out. A node without in-edges
// aggregates zero. The Gaussians run in tiles and are stored for no edge.
type MoNetConv struct {
	In, Out    int
	InDst      int             `json:",omitempty"` // width of the destinations' features; 0: In
	EdgeIn     int             // number of pseudo-coordinates
	Kernels    int             `json:",omitempty"` // Gaussians; 0: 1
	Aggregate  Aggregator      `json:",omitempty"` // empty: sum, as DGL's; PyG's is mean
	Residual   Residual        `json:",omitempty"`
	NoBias     bool            `json:",omitempty"`
	Activation grad.Activation `json:",omitempty"`

	W    *grad.Param `json:"-"` // In×(Kernels·Out)
	Mu   *grad.Param `json:"-"` // μ, Kernels×EdgeIn
	R    *grad.Param `json:"-"` // r, Kernels×EdgeIn
	WRes *grad.Param `json:"-"` // of a linear residual
	B    *grad.Param `json:"-"` // Out
}

// Init makes the Params: W by Glorot's uniform distribution, μ normal with deviation
// 0.1 and r one, as DGL does, b zero.
func (l *MoNetConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	kernels := cmp.Or(l.Kernels, 1)
	l.W = grad.Glorot(rng, l.In, kernels*l.Out)
	l.Mu, l.R = grad.NewParam(kernels, l.EdgeIn), grad.NewParam(kernels, l.EdgeIn)
	l.Mu.Value.Normal(rng, 0, 0.1)
	l.R.Value.Fill(1)
	l.WRes = l.Residual.param("layers.MoNetConv", rng, cmp.Or(l.InDst, l.In), l.Out)
	l.B = compose.Bias(!l.NoBias, l.Out)
}

// Forward is Apply without features of edges, which the layer wants: it panics. All
// layers on a graph have it.
func (l *MoNetConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply returns the layer's result. There is no attention.
func (l *MoNetConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	kernels := cmp.Or(l.Kernels, 1)
	compose.WantInit("layers.MoNetConv", l.W, kernels*l.Out)
	read := in
	if l.Residual == NoResidual {
		read.Dst = nil
	}
	read.check(g, wants{op: "layers.MoNetConv", own: l.Residual != NoResidual, src: l.W, dst: l.WRes, dstField: "InDst", edge: l.EdgeIn})
	r := l.Aggregate.reducer("layers.MoNetConv", message.Sum)
	if r == message.Max {
		panic(&grad.TapeError{Op: "layers.MoNetConv", Why: "it has no aggregator called max: a sum over the kernels commutes with a sum and a mean only"})
	}
	far := message.E(in.Edge.Reshape(g.NumEdges(), 1, l.EdgeIn)).Sub(message.W(t.Use(l.Mu))).Mul(message.W(t.Use(l.R))) // Kernels×EdgeIn
	gauss := in.weighHeads(far.Dot(far).Scale(-0.5).Exp())
	x := compose.SplitHeads(in.Src.MatMul(t.Use(l.W)), kernels, l.Out)
	y := message.UpdateAll(g, message.U(x).Mul(gauss), r).SumAxis(1).Reshape(g.NumDst(), l.Out)
	y = l.Residual.add(t, g, in, skip{"layers.MoNetConv", y, l.WRes})
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation)}
}
