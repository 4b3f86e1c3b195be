package gonumgraph

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/graph"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/tensor"
)

// From returns the graph of a gonum graph, directed or undirected, with or without
// weights, and of a multigraph. Its nodes are numbered by ascending ID, and ids holds
// those: node v of g is the node ids[v] of src. An undirected edge becomes an edge each
// way, a loop stays one edge, and each line of a multigraph is an edge. The list is the
// edges by source, then by destination, then by the ID of their line.
//
// weights are those of g's edges in g's own order, which is that of the rows of a message's E;
// nil if src has none.
//
// The error names an ID that occurs twice, an ID that an edge leads to though it is not
// among src's nodes, or a weight that is NaN or too large for a [tensor.Float].
func From(src gonum.Graph) (g *graph.Graph, ids []int64, weights []tensor.Float, err error) {
	r := gonumReader{src: src}
	if r.ids, err = idsOfGonum(src); err != nil {
		return nil, nil, nil, err
	}
	for u := range r.ids {
		if err := r.read(int32(u)); err != nil {
			return nil, nil, nil, err
		}
	}
	if g, err = graph.New(len(r.ids), r.us, r.vs); err != nil {
		return nil, nil, nil, err
	}
	if r.weighted() {
		weights = make([]tensor.Float, len(r.weights))
		for e, k := range g.EdgeOrder() {
			weights[e] = r.weights[k]
		}
	}
	return g, r.ids, weights, nil
}

// idsOfGonum returns the IDs of the nodes, ascending.
func idsOfGonum(src gonum.Graph) (ids []int64, err error) {
	for _, n := range gonum.NodesOf(src.Nodes()) {
		ids = append(ids, n.ID())
	}
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			return nil, fmt.Errorf("gonumgraph: node ID %d occurs twice", ids[i])
		}
	}
	return ids, mistake.Counts(len(ids), len(ids), 0)
}

// gonumReader lists the edges of a gonum graph.
type gonumReader struct {
	src     gonum.Graph
	ids     []int64
	us, vs  []int32
	weights []tensor.Float
}

// gonumEdge is an edge out of a node that is read.
type gonumEdge struct {
	to     int32
	line   int64
	weight float64
}

// weighted reports whether the edges have weights.
func (r *gonumReader) weighted() bool {
	switch r.src.(type) {
	case gonum.WeightedMultigraph, gonum.Weighted:
		return true
	}
	return false
}

// read lists the edges out of node u.
func (r *gonumReader) read(u int32) error {
	id := r.ids[u]
	var edges []gonumEdge
	for _, n := range gonum.NodesOf(r.src.From(id)) {
		v, ok := slices.BinarySearch(r.ids, n.ID())
		if !ok {
			return fmt.Errorf("gonumgraph: edge %d → %d: there is no node %d", id, n.ID(), n.ID())
		}
		edges = r.between(edges, id, n.ID(), int32(v))
	}
	slices.SortFunc(edges, func(a, b gonumEdge) int { // gonum's order is often that of a map
		return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.line, b.line))
	})
	for _, e := range edges {
		w := tensor.Float(e.weight)
		if math.IsNaN(e.weight) || math.IsInf(float64(w), 0) && !math.IsInf(e.weight, 0) {
			return fmt.Errorf("gonumgraph: edge %d → %d: its weight is %v; want a number of at most %.3g", id, r.ids[e.to], e.weight, math.MaxFloat32)
		}
		r.us, r.vs, r.weights = append(r.us, u), append(r.vs, e.to), append(r.weights, w)
	}
	return nil
}

// between appends the edges from the node uid to vid, which is node v.
func (r *gonumReader) between(edges []gonumEdge, uid, vid int64, v int32) []gonumEdge {
	switch src := r.src.(type) {
	case gonum.WeightedMultigraph:
		for _, l := range gonum.WeightedLinesOf(src.WeightedLines(uid, vid)) {
			edges = append(edges, gonumEdge{v, l.ID(), l.Weight()})
		}
	case gonum.Multigraph:
		for _, l := range gonum.LinesOf(src.Lines(uid, vid)) {
			edges = append(edges, gonumEdge{v, l.ID(), 1})
		}
	case gonum.Weighted:
		w := math.NaN() // of an edge that src does not know after all
		if e := src.WeightedEdge(uid, vid); e != nil {
			w = e.Weight()
		}
		edges = append(edges, gonumEdge{v, 0, w})
	default:
		edges = append(edges, gonumEdge{v, 0, 1})
	}
	return edges
}
