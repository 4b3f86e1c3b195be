package datasets

import (
	"errors"
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
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
	return graph.WithKinds(g, list)
}

// Heterogeneous returns d's graph as nodes of several types with a graph for each relation between
// them, as package relational of the layers wants it: types are NodeKinds and relations EdgeKinds,
// of tables a column of words that is called kind of the nodes and relation of the edges. Without
// EdgeKinds all edges are "to". nodes holds the numbers of each type's nodes in d: their features
// are GatherRows of d's, and what is learnt of them is found by these numbers.
//
// The error says so if it is not known which kinds nodes are of, or edges: call it before loops
// are added.
func (d *Dataset) Heterogeneous() (h *hetero.Graph, nodes map[string][]int32, err error) {
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
	return hetero.Of(g, d.NodeKinds.Names, d.NodeKinds.Of, relations)
}

// Homophily says how much more alike the two ends of an edge are, in what is to be learnt of nodes, than chance would have it:
// 1 if they are always alike, 0 if edges say nothing, and less if they lead to what differs. Only edges between nodes that are
// among some, such as those that train, and of which labels are known count; of nil all nodes are. Of classes it is the adjusted
// homophily of Platonov and others, "Characterizing graph datasets for node classification", NeurIPS 2023,
//
//	(h − Σ p²) / (1 − Σ p²)
//
// where h is the share of edges whose ends have one class, and p, for each class, its share of the ends. Of numbers, and of several
// labels, it is the correlation of the two ends, the mean over the columns; of two classes both are the same. An edge counts
// whichever way it leads, one in both directions twice, and loops do not. edges is how many count. Without any, or where all ends
// are alike, it is NaN.
func (d *Dataset) Homophily(among []int32) (h float64, edges int) {
	table := d.Targets
	switch {
	case d.Labels == nil && d.MultiLabels == nil && d.Targets == nil:
		return math.NaN(), 0
	case d.Labels == nil && d.MultiLabels != nil:
		table = d.MultiLabels.Dense()
	}
	ends := d.endsAmong(among)
	if d.Labels != nil {
		return d.homophilyOfClasses(ends)
	}
	var all []float64
	for c := range table.Dim(1) {
		r, n := correlation(ends, func(v int32) float64 { return float64(table.Row(int(v))[c]) })
		if edges = max(edges, n); r == r {
			all = append(all, r)
		}
	}
	for _, r := range all {
		h += r / float64(len(all))
	}
	if len(all) == 0 {
		h = math.NaN()
	}
	return h, edges
}

// endsAmong returns the ends of the edges between some nodes that are no loops.
func (d *Dataset) endsAmong(among []int32) [][2]int32 {
	in := make([]bool, d.Graph.NumNodes())
	for _, v := range among {
		in[v] = true
	}
	var ends [][2]int32
	to := d.Graph.Destinations()
	for e, u := range d.Graph.In().Cols {
		if v := to[e]; u != v && (among == nil || in[u] && in[v]) {
			ends = append(ends, [2]int32{u, v})
		}
	}
	return ends
}

func (d *Dataset) homophilyOfClasses(ends [][2]int32) (h float64, edges int) {
	of, same, chance := make([]float64, d.Classes), 0.0, 0.0
	for _, e := range ends {
		a, b := d.Labels[e[0]], d.Labels[e[1]]
		if a < 0 || b < 0 {
			continue
		}
		edges++
		of[a]++
		of[b]++
		if a == b {
			same++
		}
	}
	n := float64(edges)
	for _, k := range of {
		chance += k / (2 * n) * k / (2 * n)
	}
	if edges == 0 || chance == 1 {
		return math.NaN(), edges
	}
	return (same/n - chance) / (1 - chance), edges
}

// correlation returns that of a number at the two ends of edges, either of which is as good as the other, and the number of
// the edges at both of whose ends it is known.
func correlation(ends [][2]int32, of func(v int32) float64) (r float64, edges int) {
	mean, both, one := 0.0, 0.0, 0.0
	each := func(f func(a, b float64)) {
		for _, e := range ends {
			if a, b := of(e[0]), of(e[1]); a-a == 0 && b-b == 0 {
				f(a, b)
			}
		}
	}
	each(func(a, b float64) { edges, mean = edges+1, mean+a+b })
	mean /= 2 * float64(edges)
	each(func(a, b float64) {
		both += (a - mean) * (b - mean)
		one += ((a-mean)*(a-mean) + (b-mean)*(b-mean)) / 2
	})
	return both / one, edges // NaN of none, and of numbers that are all the same
}
