package pool

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Graclus makes one node of each two that are matched by the normalised cut of the edges
// between them ([analysis.Matching]), and of each that is left over:
//
//	y_c = max_{v in c} x_v      w'_cd = Σ_{u in c, v in d} w_uv
//
// as Defferrard, Bresson and Vandergheynst pool in "Convolutional Neural Networks on Graphs
// with Fast Localized Spectral Filtering", NeurIPS 2016. It has no Params. x is N×F, the
// result C×F, where C is half of N or more; a node without edges stays as it is. The seed
// fixes which nodes are matched. What runs is a matching, on one thread, and a reduction of
// rows by cluster.
type Graclus struct {
	Aggregate layers.Aggregator `json:",omitempty"` // of the nodes of a cluster: max, the empty one, mean or sum
	Seed      uint64            `json:",omitempty"` // of the order in which nodes look for a partner
}

// Coarse is what [Graclus] makes of a batch.
type Coarse struct {
	Graph   *graph.Graph   // of the clusters; members as before
	Y       *grad.Var      // a row for each of them
	Weight  []tensor.Float // of each of Graph's edges, how much they were together before
	Cluster []int32        // of each node of before
}

// Forward returns the clusters of the nodes x of g. weight is a number for each edge of g,
// none of them negative; nil is 1. It panics with a [*grad.TapeError] where one cannot be, and with a
// [*tensor.ShapeError] if there are not as many as edges.
func (l *Graclus) Forward(_ *grad.Tape, g *graph.Graph, x *grad.Var, weight []tensor.Float) Coarse {
	const op = "pool.Graclus"
	compose.WantNodes(op, g, x)
	compose.WantDense(op, "x", x, "rows are taken, and a pool stands behind a layer")
	if n := g.NumEdges(); weight != nil && len(weight) != n {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{len(weight)}, {n}}, Why: fmt.Sprintf("%d weights for %d edges", len(weight), n)})
	}
	cluster, err := analysis.Matching(g, rand.New(rand.NewPCG(l.Seed, 0x6c1)), weight)
	if err != nil {
		panic(&grad.TapeError{Op: op, Why: err.Error()})
	}
	h, into, err := graph.Contract(g, cluster)
	if err != nil {
		panic(&grad.TapeError{Op: op, Why: err.Error()}) // there is no matching that cannot be contracted
	}
	c := Coarse{Graph: h, Cluster: cluster, Weight: make([]tensor.Float, h.NumEdges())}
	for e, k := range into {
		switch {
		case k < 0:
		case weight == nil:
			c.Weight[k]++
		default:
			c.Weight[k] += weight[e]
		}
	}
	nodes := make([]int32, len(cluster))
	for v := range nodes {
		nodes[v] = int32(v)
	}
	in := graph.Must(graph.NewBipartite(len(nodes), h.NumNodes(), nodes, cluster))
	c.Y = message.UpdateAll(in, message.U(x), l.reducer(op))
	return c
}

// reducer returns what is made of the nodes of a cluster.
func (l *Graclus) reducer(op string) message.Reducer {
	switch l.Aggregate {
	case "", layers.AggregateMax:
		return message.Max
	case layers.AggregateMean:
		return message.Mean
	case layers.AggregateSum:
		return message.Sum
	}
	panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("it has no aggregator called %s", l.Aggregate)})
}
