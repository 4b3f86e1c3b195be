package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// InnerProduct decodes an edge from the rows of its ends: the logit of u→v is z_u·z_v.
// With any encoder before it, it is a graph autoencoder.
//
// It is that of Kipf and Welling, "Variational Graph Auto-Encoders", 2016. z is N×F; the
// logits are E×1, for each pair that a graph of pairs has as an edge. A zero row gives the
// logit 0. What runs is the rule of scalar products on edges, or tiles.
type InnerProduct struct{}

// Init does nothing: there are no Params. All layers have it.
func (l *InnerProduct) Init(*rand.Rand) {}

// Forward returns the logit of each edge of pairs, in its own order.
func (l *InnerProduct) Forward(_ *grad.Tape, pairs *graph.Graph, z *grad.Var) *grad.Var {
	in := In{Src: z}
	in.check(pairs, wants{op: "layers.InnerProduct", source: true})
	in.checkDense("layers.InnerProduct", "its rows are embeddings, such as a layer's result")
	compose.WantMatrix("layers.InnerProduct", "x", z)
	return message.ApplyEdges(pairs, message.UDotV(z, message.OnDst(pairs, z))).Reshape(pairs.NumEdges(), 1)
}

// Loss is the mean binary cross-entropy over the edges of g, which are there, plus
// that over the pairs of negatives, which are not.
func (l *InnerProduct) Loss(t *grad.Tape, g, negatives *graph.Graph, z *grad.Var) *grad.Var {
	compose.WantGraph("layers.InnerProduct", g)
	compose.WantGraph("layers.InnerProduct", negatives)
	there := tensor.New(g.NumEdges(), 1)
	there.Fill(1)
	yes := l.Forward(t, g, z).BCE(grad.Const(there))
	return yes.Add(l.Forward(t, negatives, z).BCE(grad.Const(tensor.New(negatives.NumEdges(), 1))))
}
