package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/tensor"
)

// VGAE encodes nodes as Gaussians: two graph convolutions say where each is, and how
// wide, and the decoder reads a draw from it.
//
//	h = ReLU(GCN(x)),   μ = GCN_μ(h),   log σ = GCN_σ(h),   z = μ + σ·ε with ε ~ N(0, 1)
//
// of Kipf and Welling, "Variational Graph Auto-Encoders", 2016. x is N×In, dense or
// sparse; z is N×Out, μ itself while nothing is recorded. The paper's graph has a loop at
// each node, which is up to the data. A node without in-edges gets the biases. The
// convolutions run as those of [GCNConv].
type VGAE struct {
	In, Hidden, Out int
	Norm            Norm `json:",omitempty"`

	First  *GCNConv `json:"-"`
	Mu     *GCNConv `json:"-"`
	LogStd *GCNConv `json:"-"`
}

// Init makes the Params of the three convolutions.
func (l *VGAE) Init(rng *rand.Rand) {
	compose.WantOptions(l, "In", "Hidden", "Out")
	l.First = &GCNConv{In: l.In, Out: l.Hidden, Norm: l.Norm, Activation: grad.ReLU}
	l.Mu = &GCNConv{In: l.Hidden, Out: l.Out, Norm: l.Norm}
	l.LogStd = &GCNConv{In: l.Hidden, Out: l.Out, Norm: l.Norm}
	for _, conv := range []*GCNConv{l.First, l.Mu, l.LogStd} {
		conv.Init(rng)
	}
}

// Forward returns z for the features x of g's nodes.
func (l *VGAE) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	z, _ := l.Encode(t, g, x)
	return z
}

// Encode returns z, and how far the Gaussians are from N(0, 1): the mean over the nodes
// of the Kullback-Leibler divergence. The paper adds it to [InnerProduct.Loss] once more
// divided by the number of nodes. A log σ above 10 counts as 10.
func (l *VGAE) Encode(t *grad.Tape, g *graph.Graph, x *grad.Var) (z, divergence *grad.Var) {
	compose.WantMade("layers.VGAE", "Params", l.First != nil)
	In{Src: x}.check(g, wants{op: "layers.VGAE", width: &l.In, hops: 2})
	h := l.First.Forward(t, g, x)
	mu, log := l.Mu.Forward(t, g, h), l.LogStd.Forward(t, g, h).Clamp(-1e30, 10)
	excess := log.Scale(2).Shift(1).Sub(mu.Square()).Sub(log.Scale(2).Exp())
	divergence = excess.Sum().Scale(-0.5 / float64(max(1, mu.Dim(0))))
	if mask := t.NextDropout(0.5); mask != nil { // its keys are those of seed, step and place
		noise := tensor.New(mu.Shape()...)
		noise.Normal(rand.New(rand.NewPCG(uint64(mask.K0), uint64(mask.K1))), 0, 1)
		return mu.Add(log.Exp().Mul(grad.Const(noise))), divergence
	}
	return mu, divergence
}
