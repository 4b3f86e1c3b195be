package pool

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Diff makes of each graph one of Clusters nodes, to each of which every node belongs by a
// share:
//
//	S = softmax(GNN(x))      y = Sᵀ·x      A' = Sᵀ·A·S
//
// of Ying and others, "Hierarchical Graph Representation Learning with Differentiable
// Pooling" (DiffPool), NeurIPS 2018, where x is another network's result. The GNN is a
// SAGEConv here. x is N×In. An isolated node has the shares of its own row; a graph without
// nodes has Clusters rows of zeros and weights of zero. What runs are [message.UpdateAll] on
// the edges and a product for each node of its shares with its row.
type Diff struct {
	In, Clusters int

	GNN *layers.SAGEConv `json:"-"`
}

// Clustered is what [Diff] makes of a batch.
type Clustered struct {
	Graph  *graph.Graph // a complete graph of Clusters nodes, with loops, for each member of before
	Y      *grad.Var    // a row for each of its nodes
	Weight *grad.Var    // A': of each of its edges, E×1
	Share  *grad.Var    // S, N×Clusters

	// What the paper adds to the loss, so that shares follow the edges and are decided:
	// ‖A − S·Sᵀ‖² over all pairs of nodes of a graph, of all graphs together, and the mean
	// over the nodes of the entropy of their shares.
	Link, Entropy *grad.Var
}

// Init makes the GNN and its Params.
func (l *Diff) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Clusters")
	l.GNN = &layers.SAGEConv{In: l.In, Out: l.Clusters}
	l.GNN.Init(rng)
}

// Forward returns the clusters of the nodes x of g. Edges count in their
// direction; of parallel ones Link is not right.
func (l *Diff) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) Clustered {
	const op = "pool.Diff"
	compose.WantNodes(op, g, x)
	compose.WantDense(op, "x", x, "rows are taken, and a pool stands behind a layer")
	compose.WantRows(op, x, l.In, "In")
	compose.WantMade(op, "Params", l.GNN != nil)
	logits := l.GNN.Forward(t, g, x)
	s, c := logits.Softmax(), l.Clusters
	members := len(g.NodeOffsets()) - 1
	read := func(y *grad.Var) *grad.Var { return message.Readout(g, s.Outer(y), message.Sum) } // Sᵀ·y of each graph
	heard := message.UpdateAll(g, message.U(s), message.Sum)
	complete := make([]*graph.Graph, members)
	for m := range complete {
		complete[m] = graph.Complete(c) // its edges are by destination and then by source, as read(heard) is
	}
	gram := read(s)
	joined := message.ApplyEdges(g, message.UDotV(s, s))
	return Clustered{
		Graph: graph.Batch(complete...), Share: s,
		Y:       read(x).Reshape(members*c, x.Dim(1)),
		Weight:  read(heard).Reshape(members*c*c, 1),
		Link:    gram.Square().Sum().Sub(joined.Sum().Scale(2)).Shift(float64(g.NumEdges())),
		Entropy: s.Mul(logits.LogSoftmax()).Sum().Scale(-1 / float64(max(1, g.NumNodes()))),
	}
}
