package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// InnerProduct decodes an edge from the rows of its ends: the logit of u→v is z_u·z_v.
// With any encoder before it, it is a graph autoencoder.
//
// It is that of Kipf and Welling, "Variational Graph Auto-Encoders", 2016. z is N×F; the
// logits are E×1, for each pair that a graph of pairs has as an edge. A zero row gives the
// logit 0. What runs is the kernel of scalar products on edges, or tiles.
type InnerProduct struct{}

// Init does nothing: there are no Params. All layers have it.
func (l *InnerProduct) Init(*rand.Rand) {}

// Forward returns the logit of each edge of pairs, in its own order.
func (l *InnerProduct) Forward(_ *grad.Tape, pairs *graph.Graph, z *grad.Var) *grad.Var {
	In{Src: z}.check(pairs, wants{op: "layers.InnerProduct"})
	return message.ApplyEdges(pairs, message.UDotV(z, forV(pairs, dstRows(pairs, z)))).Reshape(pairs.NumEdges(), 1)
}

// Loss is the mean binary cross-entropy over the edges of g, which are there, plus
// that over the pairs of negatives, which are not.
func (l *InnerProduct) Loss(t *grad.Tape, g, negatives *graph.Graph, z *grad.Var) *grad.Var {
	there := tensor.New(g.NumEdges(), 1)
	there.Fill(1)
	yes := l.Forward(t, g, z).BCE(grad.Const(there))
	return yes.Add(l.Forward(t, negatives, z).BCE(grad.Const(tensor.New(negatives.NumEdges(), 1))))
}

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
	if l.First == nil {
		panic(&grad.TapeError{Op: "layers.VGAE", Why: "it has no weights; was Init called?"})
	}
	In{Src: x}.check(g, wants{op: "layers.VGAE", width: l.In})
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
