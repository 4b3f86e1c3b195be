package datasets

import (
	"errors"
	"fmt"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
)

// Kinds says which of several kinds each node or edge is of.
type Kinds struct {
	Names []string
	Of    []int32 // the number of its name; −1: none, as of loops that were added
}

// nodeKindColumns and edgeKindColumns are what the column that says the kinds is called.
var (
	nodeKindColumns = []string{"kind", "node_type", "node_kind", "type"}
	edgeKindColumns = []string{"relation", "rel", "edge_type", "edge_kind", "kind", "type"}
)

// check returns an error unless there is a kind for each of n of what noun says.
func (k *Kinds) check(n int, noun string) error {
	if k == nil {
		return nil
	}
	if len(k.Of) != n {
		return fmt.Errorf("%d kinds for %d %ss", len(k.Of), n, noun)
	}
	for i, kind := range k.Of {
		if kind < -1 || int(kind) >= len(k.Names) {
			return fmt.Errorf("the kind of %s %d is %d, and there are names for %d", noun, i, kind, len(k.Names))
		}
	}
	return nil
}

// Known reports whether each has a kind.
func (k *Kinds) Known() bool {
	if k == nil {
		return false
	}
	for _, kind := range k.Of {
		if kind < 0 {
			return false
		}
	}
	return true
}

// carried returns the kinds of derived nodes or edges.
func (k *Kinds) carried(from []int32) *Kinds {
	if k == nil {
		return nil
	}
	return &Kinds{k.Names, carried(k.Of, from, -1)}
}

// kinds returns what the first column of these names says of each row of the matrix that was
// made of the columns: nil unless all its cells are words.
func (c *columns) kinds(x *sparse.CSR, names []string) *Kinds {
	titles := make([]string, len(c.list))
	for i := range c.list {
		titles[i] = c.list[i].name
	}
	i := column(titles, names...)
	if x == nil || i < 0 || c.list[i].at[aWord] == 0 || c.list[i].at[anEmpty] > 0 {
		return nil
	}
	texts := c.list[i].texts
	k := &Kinds{Names: make([]string, len(texts)), Of: make([]int32, x.NumRows)}
	for j, place := range placesOf(texts) {
		k.Names[place] = texts[j]
	}
	first := c.first[i]
	for row := range k.Of {
		k.Of[row] = -1
		cols, _ := x.Row(row)
		for _, col := range cols {
			if col >= first && int(col-first) < len(texts) {
				k.Of[row] = col - first
			}
		}
	}
	return k
}

// On returns a graph with these kinds of its edges, which are in its order; those that have none
// are of the kind other, as loops that were added are.
func (k *Kinds) On(g *graph.Graph, other int32) (*graph.Graph, error) {
	order, list := g.EdgeOrder(), make([]int32, len(k.Of))
	for e, kind := range k.Of {
		if kind < 0 {
			kind = other
		}
		list[order[e]] = kind
	}
	return g.WithKinds(list)
}

// Heterogeneous returns d's graph as nodes of several types with a graph for each relation between
// them, as package relational of the layers wants it: types are NodeKinds and relations EdgeKinds,
// of tables a column of words that is called kind of the nodes and relation of the edges. Without
// EdgeKinds all edges are "to". nodes holds the numbers of each type's nodes in d: their features
// are GatherRows of d's, and what is learnt of them is found by these numbers.
//
// The error says so if it is not known which kinds nodes are of, or edges: call it before loops
// are added.
func (d *Dataset) Heterogeneous() (h *graph.Hetero, nodes map[string][]int32, err error) {
	g, relations := d.Graph, []string{"to"}
	switch {
	case d.NodeKinds == nil:
		return nil, nil, errors.New("nothing says which kinds the nodes are of: a table of nodes says it in a column of words that is called kind")
	case !d.NodeKinds.Known():
		return nil, nil, errors.New("some of the nodes have no kind")
	case d.EdgeKinds != nil:
		if !d.EdgeKinds.Known() {
			return nil, nil, errors.New("some of the edges have no kind, such as loops that were added")
		}
		if g, err = d.EdgeKinds.On(g, -1); err != nil {
			return nil, nil, err
		}
		relations = d.EdgeKinds.Names
	}
	return g.Heterogeneous(d.NodeKinds.Names, d.NodeKinds.Of, relations)
}
