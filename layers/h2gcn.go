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

// H2GCNConv is a round of H2GCN, made for graphs whose neighbours are often of another
// class: a node's neighbours and those that are exactly two edges away stand beside each
// other, apart from the node itself, without weights and without activations.
//
//	y_v = [ Σ_{u∈N₁} x_u/√(d₁v·d₁u) ‖ Σ_{u∈N₂} x_u/√(d₂v·d₂u) ]
//
// of Zhu, Yan, Zhao, Heimann, Akoglu and Koutra, "Beyond Homophily in Graph Neural
// Networks: Current Limitations and Effective Designs", NeurIPS 2020. N_k(v) is who is k
// edges away, in either direction unless Directed, and d_k how many that are; loops and
// parallel edges count for nothing. Src is N×F, dense; the result is N×2F. A node with
// nobody at a distance gets zeros there. The model of the paper is a dense layer before
// the rounds and one after, which reads what all rounds made, side by side:
//
//	r := dense.Forward(t, x).ReLU()
//	all := []*grad.Var{r}
//	for range rounds {
//		r = conv.Forward(t, g, r)
//		all = append(all, r)
//	}
//	logits := out.Forward(t, t.Dropout(grad.Concat(all...), 0.5))
//
// Who is two edges away is worked out once for a graph; each half of the result is a
// product with a sparse matrix.
type H2GCNConv struct {
	Directed bool `json:",omitempty"` // only paths into a node count
}

// Init does nothing: there are no Params. All layers have it.
func (l *H2GCNConv) Init(*rand.Rand) { compose.WantOptions(l) }

// Forward returns the layer's result for the features x of g's nodes.
func (l *H2GCNConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward. In.Dst and In.Weight are not read, and there is no attention.
func (l *H2GCNConv) Apply(_ *grad.Tape, g *graph.Graph, in In) Out {
	In{Src: in.Src, Edge: in.Edge, Weight: in.Weight}.check(g, wants{op: "layers.H2GCNConv"})
	if g.Bipartite() {
		compose.BadGraph("layers.H2GCNConv", g, "the graph is bipartite, and the layer looks two edges far; it wants the whole graph")
	}
	in.checkDense("layers.H2GCNConv", "a dense layer stands before it")
	r := graph.Derive(g, ringsKey{l.Directed}, func() *rings { return newRings(g, l.Directed) })
	return Out{Y: grad.Concat(r[0].of(in.Src), r[1].of(in.Src))}
}

// ringsKey is under what a graph keeps its rings.
type ringsKey struct{ directed bool }

// rings are who is one edge away and who is two.
type rings [2]ring

// ring is a graph of pairs, and 1/√(d_v·d_u) of each.
type ring struct {
	g      *graph.Graph
	weight *tensor.Dense
}

func newRings(g *graph.Graph, directed bool) *rings {
	if !directed {
		g = graph.Undirected(g)
	}
	r := new(rings)
	for i := range r {
		pairs := graph.Must(graph.AtDistance(g, i+1))
		w, out, to := tensor.New(pairs.NumEdges(), 1), pairs.OutDegrees(), pairs.Destinations()
		if !directed {
			out = pairs.InDegrees()
		}
		for e, u := range pairs.In().Cols {
			w.Data[e] = tensor.Float(1 / math.Sqrt(float64(out[u])*float64(pairs.InDegree(int(to[e])))))
		}
		r[i] = ring{pairs, w}
	}
	return r
}

// of returns the sums of the rows around each node.
func (r ring) of(x *grad.Var) *grad.Var {
	return message.UpdateAll(r.g, weighted(x, grad.Const(r.weight)), message.Sum)
}
