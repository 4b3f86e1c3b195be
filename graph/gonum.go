package graph

import (
	"fmt"
	"slices"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
)

// FromGonum returns the graph of a gonum graph. Its nodes are numbered by
// ascending ID, and ids holds those. The list is the edges by source and then by
// destination. An undirected graph gives an edge each way. Weights are not
// taken: those of the edges are src.Weight(ids[u], ids[v]).
//
// The error names an ID that occurs twice, or that an edge leads to though it is
// not among src's nodes.
func FromGonum(src gonum.Graph) (g *Graph, ids []int64, err error) {
	for _, n := range gonum.NodesOf(src.Nodes()) {
		ids = append(ids, n.ID())
	}
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			return nil, nil, fmt.Errorf("graph: gonum node ID %d occurs twice", ids[i])
		}
	}
	if err := checkCounts(len(ids), len(ids), 0); err != nil {
		return nil, nil, err
	}
	var us, vs []int32
	for u, id := range ids {
		row := len(vs)
		for _, n := range gonum.NodesOf(src.From(id)) {
			v, ok := slices.BinarySearch(ids, n.ID())
			if !ok {
				return nil, nil, fmt.Errorf("graph: gonum edge %d → %d: there is no node %d", id, n.ID(), n.ID())
			}
			us, vs = append(us, int32(u)), append(vs, int32(v))
		}
		slices.Sort(vs[row:]) // gonum's order is often that of a map
	}
	g, err = New(len(ids), us, vs)
	return g, ids, err
}

// View is a [Graph] as gonum's graph.Directed, for gonum's algorithms. A node's
// ID is its number. Gonum's simple graphs have neither parallel edges nor loops:
// here parallel edges show as one, and a loop shows as an edge, which some
// algorithms overlook (topo.Sort) and others may trip over. Where that matters,
// use g.WithoutSelfLoops().Gonum().
//
// A view allocates for each node walked: it is an adapter, not for hot loops.
type View struct {
	g *Graph
}

var _ gonum.Directed = View{}

// Gonum returns a view of g for gonum's algorithms. It panics with a
// [*tensor.ShapeError] if g is bipartite.
func (g *Graph) Gonum() View {
	g.wantHomogeneous("graph.Gonum")
	return View{g}
}

// Node returns the node of the given ID, or nil.
func (v View) Node(id int64) gonum.Node {
	if !v.has(id) {
		return nil
	}
	return simple.Node(id)
}

// Nodes returns all nodes, ascending.
func (v View) Nodes() gonum.Nodes { return iterate(v.g.nodes()) }

// From returns the nodes that an edge leads to from the node id, ascending.
func (v View) From(id int64) gonum.Nodes {
	if !v.has(id) {
		return gonum.Empty
	}
	out, _ := v.g.Out()
	return iterate(out.Cols[out.Offsets[id]:out.Offsets[id+1]])
}

// To returns the nodes from which an edge leads to the node id, ascending.
func (v View) To(id int64) gonum.Nodes {
	if !v.has(id) {
		return gonum.Empty
	}
	return iterate(v.g.sources(int(id)))
}

// HasEdgeFromTo reports whether there is an edge from uid to vid.
func (v View) HasEdgeFromTo(uid, vid int64) bool {
	return v.has(uid) && v.has(vid) && slices.Contains(v.g.sources(int(vid)), int32(uid))
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
	return simple.Edge{F: simple.Node(uid), T: simple.Node(vid)}
}

// has reports whether id is a node.
func (v View) has(id int64) bool { return id >= 0 && id < int64(v.g.NumDst()) }

// iterate returns the distinct nodes of list, ascending.
func iterate(list []int32) gonum.Nodes {
	if len(list) == 0 {
		return gonum.Empty
	}
	list = slices.Clone(list)
	slices.Sort(list)
	list = slices.Compact(list)
	nodes := make([]gonum.Node, len(list))
	for i, v := range list {
		nodes[i] = simple.Node(v)
	}
	return iterator.NewOrderedNodes(nodes)
}
