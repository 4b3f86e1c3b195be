package gonumgraph

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
)

// View is a [graph.Graph] as gonum's graph.Directed, for gonum's algorithms. A node's
// ID is its number. Gonum's simple graphs have neither parallel edges nor loops:
// here parallel edges show as one, and a loop shows as an edge, which some
// algorithms overlook (topo.Sort) and others may trip over. Where that matters,
// use Of(graph.WithoutSelfLoops(g)).
//
// It is an adapter, not for hot loops: to walk it is faster than to walk one of
// gonum's own graphs, and to range over [graph.Graph.Sources] much faster still.
type View struct{ a *adjacency }

// WeightedView is a [View] with weights, gonum's graph.WeightedDirected.
type WeightedView struct {
	View
	weights []float64 // of the edges by source
}

// UndirectedView is a symmetric [graph.Graph] as gonum's graph.Undirected; otherwise
// it is like a [View].
type UndirectedView struct{ view View }

// WeightedUndirectedView is an [UndirectedView] with weights, gonum's
// graph.WeightedUndirected.
type WeightedUndirectedView struct {
	UndirectedView
	weighted WeightedView
}

var (
	_ gonum.Directed           = View{}
	_ gonum.WeightedDirected   = WeightedView{}
	_ gonum.Undirected         = UndirectedView{}
	_ gonum.WeightedUndirected = WeightedUndirectedView{}
)

type adjacencyKey struct{}

// Of returns a view of g for gonum's algorithms. What it walks is made once
// a graph. It panics with a [*tensor.ShapeError] if g is bipartite.
func Of(g *graph.Graph) View { return view("gonumgraph.Of", g) }

// view is Of in the name of op.
func view(op string, g *graph.Graph) View {
	mistake.Homogeneous(op, g)
	return View{graph.Derive(g, adjacencyKey{}, func() *adjacency { return newAdjacency(g) })}
}

// Weighted returns a view of g in which edge e weighs weights[e]; the
// weights of parallel edges add up. The error names an edge whose weight is NaN.
// It panics with a [*tensor.ShapeError] if g is bipartite or the weights are not
// one an edge.
func Weighted(g *graph.Graph, weights []float64) (WeightedView, error) {
	v := WeightedView{View: view("gonumgraph.Weighted", g)}
	mistake.Length("gonumgraph.Weighted", "weights", len(weights), "edges", g.NumEdges())
	v.weights = make([]float64, v.a.out.NNZ())
	for e, k := range v.a.first {
		if math.IsNaN(weights[e]) {
			return WeightedView{}, fmt.Errorf("gonumgraph: the weight of edge %d, %d → %d, is NaN", e, g.In().Cols[e], g.Destinations()[e])
		}
		v.weights[k] += weights[e]
	}
	return v, nil
}

// Undirected returns an undirected view of g. The error names an edge that
// has no edge back; [graph.Undirected] has them all. It panics with a
// [*tensor.ShapeError] if g is bipartite.
func Undirected(g *graph.Graph) (UndirectedView, error) {
	v := view("gonumgraph.Undirected", g)
	for u, node := range v.a.nodes {
		for _, w := range v.a.row(v.a.out, int64(u)) {
			if !v.HasEdgeFromTo(int64(w), node.ID()) {
				return UndirectedView{}, noWayBack(u, w)
			}
		}
	}
	return UndirectedView{v}, nil
}

// Undirected returns an undirected view with the same weights. The error names an edge
// that has no edge back, or one back of another weight.
func (v WeightedView) Undirected() (WeightedUndirectedView, error) {
	for u := range v.a.nodes {
		for k, w := range v.a.row(v.a.out, int64(u)) {
			there := v.weights[v.a.out.Offsets[u]+int64(k)]
			back, ok := v.a.find(int64(w), int64(u))
			switch {
			case !ok:
				return WeightedUndirectedView{}, noWayBack(u, w)
			case v.weights[back] != there:
				return WeightedUndirectedView{}, fmt.Errorf("gonumgraph: edge %d → %d weighs %v and the edge back %v: an undirected view wants one weight", u, w, there, v.weights[back])
			}
		}
	}
	return WeightedUndirectedView{UndirectedView{v.View}, v}, nil
}

// noWayBack is the error of an edge without one back.
func noWayBack(u int, w int32) error {
	return fmt.Errorf("gonumgraph: edge %d → %d has no edge back: use graph.Undirected first", u, w)
}

// Node returns the node of the given ID, or nil.
func (v View) Node(id int64) gonum.Node {
	if id < 0 || id >= int64(len(v.a.nodes)) {
		return nil
	}
	return v.a.nodes[id]
}

// Nodes returns all nodes, ascending.
func (v View) Nodes() gonum.Nodes {
	if len(v.a.nodes) == 0 {
		return gonum.Empty
	}
	return iterator.NewOrderedNodes(v.a.nodes)
}

// From returns the nodes that an edge leads to from the node id, ascending.
func (v View) From(id int64) gonum.Nodes { return v.a.walk(v.a.out, id) }

// To returns the nodes from which an edge leads to the node id, ascending.
func (v View) To(id int64) gonum.Nodes { return v.a.walk(v.a.in, id) }

// HasEdgeFromTo reports whether there is an edge from uid to vid.
func (v View) HasEdgeFromTo(uid, vid int64) bool {
	_, ok := v.a.find(uid, vid)
	return ok
}

// HasEdgeBetween reports whether there is an edge from xid to yid or back.
func (v View) HasEdgeBetween(xid, yid int64) bool {
	return v.HasEdgeFromTo(xid, yid) || v.HasEdgeFromTo(yid, xid)
}

// Edge returns the edge from uid to vid, or nil.
func (v View) Edge(uid, vid int64) gonum.Edge {
	if !v.HasEdgeFromTo(uid, vid) {
		return nil
	}
	return simple.Edge{F: v.a.nodes[uid], T: v.a.nodes[vid]}
}

// Edges returns all edges, by source and then by destination.
func (v View) Edges() gonum.Edges {
	edges := make([]gonum.Edge, 0, v.a.out.NNZ())
	for u, node := range v.a.nodes {
		for _, w := range v.a.row(v.a.out, int64(u)) {
			edges = append(edges, simple.Edge{F: node, T: v.a.nodes[w]})
		}
	}
	if len(edges) == 0 {
		return gonum.Empty
	}
	return iterator.NewOrderedEdges(edges)
}

// Edge returns the edge from uid to vid, a graph.WeightedEdge, or nil.
func (v WeightedView) Edge(uid, vid int64) gonum.Edge {
	if e := v.WeightedEdge(uid, vid); e != nil {
		return e
	}
	return nil
}

// WeightedEdge returns the edge from uid to vid with its weight, or nil.
func (v WeightedView) WeightedEdge(uid, vid int64) gonum.WeightedEdge {
	k, ok := v.a.find(uid, vid)
	if !ok {
		return nil
	}
	return simple.WeightedEdge{F: v.a.nodes[uid], T: v.a.nodes[vid], W: v.weights[k]}
}

// Weight returns the weight of the edge from xid to yid, if there is one.
// Otherwise a node is at distance 0 of itself, and any other at +Inf.
func (v WeightedView) Weight(xid, yid int64) (w float64, ok bool) {
	if k, ok := v.a.find(xid, yid); ok {
		return v.weights[k], true
	}
	if xid == yid {
		return 0, true
	}
	return math.Inf(1), false
}

// Edges returns all edges, each a graph.WeightedEdge, by source and then by
// destination.
func (v WeightedView) Edges() gonum.Edges { return plainEdges(v.list()) }

// plainEdges is an iterator over edges.
func plainEdges(edges []gonum.WeightedEdge) gonum.Edges {
	if len(edges) == 0 {
		return gonum.Empty
	}
	plain := make([]gonum.Edge, len(edges))
	for i, e := range edges {
		plain[i] = e
	}
	return iterator.NewOrderedEdges(plain)
}

// WeightedEdges returns all edges, by source and then by destination.
func (v WeightedView) WeightedEdges() gonum.WeightedEdges { return weightedEdges(v.list()) }

// weightedEdges is an iterator over edges with their weights.
func weightedEdges(edges []gonum.WeightedEdge) gonum.WeightedEdges {
	if len(edges) == 0 {
		return gonum.Empty
	}
	return iterator.NewOrderedWeightedEdges(edges)
}

// list returns all edges.
func (v WeightedView) list() []gonum.WeightedEdge {
	edges := make([]gonum.WeightedEdge, 0, len(v.weights))
	for u, node := range v.a.nodes {
		for _, w := range v.a.row(v.a.out, int64(u)) {
			edges = append(edges, simple.WeightedEdge{F: node, T: v.a.nodes[w], W: v.weights[len(edges)]})
		}
	}
	return edges
}

// Node returns the node of the given ID, or nil.
func (v UndirectedView) Node(id int64) gonum.Node { return v.view.Node(id) }

// Nodes returns all nodes, ascending.
func (v UndirectedView) Nodes() gonum.Nodes { return v.view.Nodes() }

// From returns the neighbours of the node id, ascending.
func (v UndirectedView) From(id int64) gonum.Nodes { return v.view.From(id) }

// HasEdgeBetween reports whether xid and yid are neighbours.
func (v UndirectedView) HasEdgeBetween(xid, yid int64) bool { return v.view.HasEdgeFromTo(xid, yid) }

// Edge returns the edge between uid and vid, from uid, or nil.
func (v UndirectedView) Edge(uid, vid int64) gonum.Edge { return v.view.Edge(uid, vid) }

// EdgeBetween returns the edge between xid and yid, from xid, or nil.
func (v UndirectedView) EdgeBetween(xid, yid int64) gonum.Edge { return v.view.Edge(xid, yid) }

// Edges returns all edges, each once and from its lower node.
func (v UndirectedView) Edges() gonum.Edges {
	var edges []gonum.Edge
	for u, node := range v.view.a.nodes {
		for _, w := range v.view.a.row(v.view.a.out, int64(u)) {
			if int(w) >= u {
				edges = append(edges, simple.Edge{F: node, T: v.view.a.nodes[w]})
			}
		}
	}
	if len(edges) == 0 {
		return gonum.Empty
	}
	return iterator.NewOrderedEdges(edges)
}

// Edge returns the edge between uid and vid, from uid and a graph.WeightedEdge, or nil.
func (v WeightedUndirectedView) Edge(uid, vid int64) gonum.Edge { return v.weighted.Edge(uid, vid) }

// EdgeBetween is Edge.
func (v WeightedUndirectedView) EdgeBetween(xid, yid int64) gonum.Edge {
	return v.weighted.Edge(xid, yid)
}

// WeightedEdge returns the edge between uid and vid with its weight, from uid, or nil.
func (v WeightedUndirectedView) WeightedEdge(uid, vid int64) gonum.WeightedEdge {
	return v.weighted.WeightedEdge(uid, vid)
}

// WeightedEdgeBetween is WeightedEdge.
func (v WeightedUndirectedView) WeightedEdgeBetween(xid, yid int64) gonum.WeightedEdge {
	return v.weighted.WeightedEdge(xid, yid)
}

// Weight is that of [WeightedView].
func (v WeightedUndirectedView) Weight(xid, yid int64) (w float64, ok bool) {
	return v.weighted.Weight(xid, yid)
}

// Edges returns all edges, each a graph.WeightedEdge, once and from its lower node.
func (v WeightedUndirectedView) Edges() gonum.Edges { return plainEdges(v.list()) }

// WeightedEdges returns all edges, each once and from its lower node.
func (v WeightedUndirectedView) WeightedEdges() gonum.WeightedEdges { return weightedEdges(v.list()) }

// list returns all edges, each once.
func (v WeightedUndirectedView) list() []gonum.WeightedEdge {
	return slices.DeleteFunc(v.weighted.list(), func(e gonum.WeightedEdge) bool { return e.From().ID() > e.To().ID() })
}
