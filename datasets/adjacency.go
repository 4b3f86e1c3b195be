package datasets

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/pickle"
	"github.com/edgewise-ml/edgewise/sparse"
)

// edges is the edges of an adjacency: into each node those from others, in both
// directions, once, by source.
type edges struct {
	in    *sparse.CSR
	loops int // nodes that had an edge to themselves
}

// bothDirections returns both directions of a list of edges, whose ends are below n, in the
// order u, v, u, v, ….
func bothDirections(n int, ends []int32) edges {
	offsets := make([]int64, n+2)
	loop := make([]bool, n)
	e := edges{}
	for i := 0; i < len(ends); i += 2 {
		u, v := ends[i], ends[i+1]
		if u != v {
			offsets[u+2]++
			offsets[v+2]++
		} else if !loop[u] {
			loop[u] = true
			e.loops++
		}
	}
	for v := range n {
		offsets[v+2] += offsets[v+1]
	}
	cols := make([]int32, offsets[n+1])
	for i := 0; i < len(ends); i += 2 {
		if u, v := ends[i], ends[i+1]; u != v {
			cols[offsets[u+1]], cols[offsets[v+1]] = v, u
			offsets[u+1]++
			offsets[v+1]++
		}
	}
	// Now node v's sources end at offsets[v+1].
	par.For(n, 1024, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			slices.Sort(cols[offsets[v]:offsets[v+1]])
		}
	})
	kept := int64(0)
	for v := range n {
		row := cols[offsets[v]:offsets[v+1]]
		offsets[v] = kept
		kept += int64(copy(cols[kept:], slices.Compact(row)))
	}
	offsets[n] = kept
	e.in = &sparse.CSR{NumRows: n, NumCols: n, Offsets: offsets[:n+1], Cols: cols[:kept]}
	return e
}

// adjacency is a pickled dictionary of the neighbours of each node. Nodes that
// have none may be left out, so it does not say how many nodes there are.
type adjacency struct {
	keys    []int32
	ends    []int32 // of each edge both, in turn
	of, at  int     // the node and the place of the largest neighbour
	largest int64   // −1: there is none
}

// adjacencyOf reads the dictionary.
func adjacencyOf(v any) (*adjacency, error) {
	d, ok := v.(*pickle.Dict)
	if !ok {
		return nil, fmt.Errorf("it holds %s, not a dictionary of neighbours", kindOf(v))
	}
	l := &adjacency{keys: make([]int32, len(d.Keys)), ends: make([]int32, 0, 2*countNeighbours(d)), largest: -1}
	taken := make(map[*any]bool, len(d.Keys))
	for i, key := range d.Keys {
		u, ok := node(key)
		if !ok {
			return nil, fmt.Errorf("key %d of the graph is %s, want the number of a node", i, show(key))
		}
		items, ok := itemsOf(d.Values[i])
		if !ok || len(items) > 0 && taken[&items[0]] { // a list shared by all nodes would be a square of edges
			return nil, fmt.Errorf("node %d has %s, or another node's; it needs a list of neighbours of its own", u, kindOf(d.Values[i]))
		}
		l.keys[i] = int32(u)
		if len(items) == 0 {
			continue
		}
		taken[&items[0]] = true
		if len(l.ends)+2*len(items) > math.MaxInt32 {
			return nil, errors.New("there are more than 2³¹ edges")
		}
		for j, item := range items {
			w, ok := node(item)
			if !ok {
				return nil, fmt.Errorf("neighbour %d of node %d is %s, want the number of a node", j, u, show(item))
			}
			if w > l.largest {
				l.of, l.at, l.largest = int(u), j, w
			}
			l.ends = append(l.ends, int32(u), int32(w))
		}
	}
	return l, nil
}

// edges returns both directions of every edge, once, of a graph of n nodes.
func (l *adjacency) edges(n int) (edges, error) {
	seen := make([]bool, n)
	for i, u := range l.keys {
		if int(u) >= n || seen[u] {
			return edges{}, fmt.Errorf("key %d of the graph is %d, or is repeated; its nodes are 0 to %d", i, u, n-1)
		}
		seen[u] = true
	}
	if l.largest >= int64(n) {
		return edges{}, fmt.Errorf("neighbour %d of node %d is %d; the nodes are 0 to %d", l.at, l.of, l.largest, n-1)
	}
	return bothDirections(n, l.ends), nil
}

// countNeighbours returns how many neighbours a dictionary lists, at most eight for
// each node that it has: those of a list that is repeated are not to be trusted.
func countNeighbours(d *pickle.Dict) int {
	count := 0
	for _, v := range d.Values {
		items, _ := itemsOf(v)
		count += len(items)
	}
	return min(count, 8*len(d.Values))
}

// itemsOf returns the elements of a list, a set or a tuple.
func itemsOf(v any) ([]any, bool) {
	switch v := v.(type) {
	case *pickle.List:
		return v.Items, true
	case pickle.Tuple:
		return v, true
	}
	return nil, false
}

// node returns the node that v is.
func node(v any) (int64, bool) {
	i, ok := v.(int64)
	return i, ok && i >= 0 && i < math.MaxInt32
}

// show describes a value that should have been a node.
func show(v any) string {
	if i, ok := v.(int64); ok {
		return strconv.FormatInt(i, 10)
	}
	return kindOf(v)
}
