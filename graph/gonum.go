package graph

import (
	"fmt"
	"slices"

	gonum "gonum.org/v1/gonum/graph"
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
