package datasets

import (
	"errors"
	"fmt"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Labels are classes, one a row: a node, an edge or a graph. −1 is not known.
type Labels []int32

// Of returns the labels of some rows, in their order. They go with those rows of what a
// network returns:
//
//	loss := net.Forward(t, g, x).Rows(split.Train).CrossEntropy(labels.Of(split.Train))
//
// It panics with a [*tensor.ShapeError] if there is no such row.
func (l Labels) Of(rows []int32) []int32 {
	out := make([]int32, len(rows))
	for i, r := range rows {
		if uint(r) >= uint(len(l)) {
			panic(&tensor.ShapeError{Op: "datasets.Labels.Of", Shapes: [][]int{{len(l)}}, Why: fmt.Sprintf("there is no row %d", r)})
		}
		out[i] = l[r]
	}
	return out
}

// Kinds says which of several kinds each node or edge is of.
type Kinds struct {
	Names []string
	Of    []int32 // the number of its name; −1: none, as of loops that were added
}

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
