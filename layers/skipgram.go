package layers

import (
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// SkipGram learns a row for each node from who meets whom on random walks: the row of a
// node tells which nodes stand near it, and negatives which do not.
//
//	loss = mean over u→v of −log σ(z_u·c_v)  +  mean over negatives of −log σ(−z_u·c_v)
//
// of Mikolov, Sutskever, Chen, Corrado and Dean, "Distributed Representations of Words and
// Phrases", NIPS 2013, as DeepWalk and node2vec have it for nodes; PyG's Node2Vec. The
// walks are sample.Walks, the pairs sample.Contexts of them, the negatives
// sample.Corruptions. There are no features: a node that is not there cannot be told of.
type SkipGram struct {
	Nodes, Width int

	Z *grad.Param `json:"-"` // Nodes×Width, the result
	C *grad.Param `json:"-"` // Nodes×Width, of nodes as contexts
}

// Init makes the Params, normally distributed, with rows of length 1 or so.
func (l *SkipGram) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Z, l.C = grad.NewParam(l.Nodes, l.Width), grad.NewParam(l.Nodes, l.Width)
	for _, p := range []*grad.Param{l.Z, l.C} {
		p.Value.Normal(rng, 0, 1/math.Sqrt(float64(l.Width)))
	}
}

// Loss returns the loss for pairs of a node and one in its context, and for pairs that
// were drawn: the edges of two graphs of all nodes.
func (l *SkipGram) Loss(t *grad.Tape, contexts, negatives *graph.Graph) *grad.Var {
	compose.WantInit("layers.SkipGram", l.Z, l.Width)
	compose.WantNodes("layers.SkipGram", contexts, grad.Const(l.Z.Value))
	compose.WantNodes("layers.SkipGram", negatives, grad.Const(l.Z.Value))
	there := tensor.New(contexts.NumEdges(), 1)
	there.Fill(1)
	yes := l.logits(t, contexts).BCE(grad.Const(there))
	return yes.Add(l.logits(t, negatives).BCE(grad.Const(tensor.New(negatives.NumEdges(), 1))))
}

// logits returns z_u·c_v of each edge u→v.
func (l *SkipGram) logits(t *grad.Tape, pairs *graph.Graph) *grad.Var {
	z, c := t.Use(l.Z), t.Use(l.C)
	return message.ApplyEdges(pairs, message.UDotV(z, c)).Reshape(pairs.NumEdges(), 1)
}
