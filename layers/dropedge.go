package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// DropEdge takes a fraction P of the edges out of the graph at each step of training,
// so that deep networks overfit and oversmooth less. What is left is a graph of its
// own: a layer on it counts its degrees.
//
// It is that of Rong, Huang, Xu and Huang, "DropEdge: Towards Deep Graph Convolutional
// Networks on Node Classification", ICLR 2020, and has no Params. Which edges stay
// follows from the seed, the step and the place in the program, as in [grad.Tape.Dropout].
// The paper adds the loops afterwards, with [graph.WithSelfLoops]. The graph is
// built anew, which takes about as long as a message on it.
type DropEdge struct {
	P        float64 // fraction of the edges that are dropped
	Together bool    `json:",omitempty"` // u→v and v→u are dropped together, and parallel edges
}

// Init does nothing: there are no Params. All layers have it.
func (l *DropEdge) Init(*rand.Rand) { compose.WantOptions(l) }

// Graph returns what is left of g; g itself while t does not record.
func (l *DropEdge) Graph(t *grad.Tape, g *graph.Graph) *graph.Graph {
	left, _ := l.Apply(t, g, In{})
	return left
}

// Apply is Graph with what a layer on it reads: the rows of in.Edge and in.Weight of
// the edges that are left.
func (l *DropEdge) Apply(t *grad.Tape, g *graph.Graph, in In) (*graph.Graph, In) {
	compose.WantGraph("layers.DropEdge", g)
	compose.WantOptions(l)
	mask := t.NextDropout(l.P)
	if mask == nil {
		return g, in
	}
	dst, kept := g.Destinations(), make([]int32, 0, g.NumEdges())
	for e, u := range g.In().Cols {
		row, col := e, 0
		if v := dst[e]; l.Together {
			row, col = int(min(u, v)), int(max(u, v))
		}
		if mask.Keeps(row, col) {
			kept = append(kept, int32(e))
		}
	}
	left := graph.Must(graph.EdgeSubgraph(g, kept))
	if in.Edge != nil {
		in.Edge = in.Edge.Rows(left.From().Edges)
	}
	if in.Weight != nil {
		in.Weight = in.Weight.Rows(left.From().Edges)
	}
	return left, in
}
