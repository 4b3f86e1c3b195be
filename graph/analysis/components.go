package analysis

import (
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// Components returns the number of weakly connected components of a homogeneous
// graph, and the component of each node: nodes are in the same one if a way
// leads from one to the other that may take edges in either direction. They are
// numbered by their lowest nodes. It panics with a [*tensor.ShapeError] if g is
// bipartite.
func Components(g *graph.Graph) (count int, of []int32) {
	mistake.Homogeneous("analysis.Components", g)
	root := numbers(g.NumNodes()) // of each node one that is not higher; roots are their own
	find := func(v int32) int32 {
		for root[v] != v {
			root[v] = root[root[v]]
			v = root[v]
		}
		return v
	}
	in := g.In()
	for v := range g.NumNodes() {
		for _, u := range in.Cols[in.Offsets[v]:in.Offsets[v+1]] {
			a, b := find(u), find(int32(v))
			root[max(a, b)] = min(a, b)
		}
	}
	of = make([]int32, len(root))
	for v := range of {
		if r := find(int32(v)); int(r) < v {
			of[v] = of[r]
		} else {
			of[v] = int32(count)
			count++
		}
	}
	return count, of
}

// numbers returns 0, 1, … n−1.
func numbers(n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(i)
	}
	return x
}

// LargestComponent returns the nodes of the largest weakly connected component,
// ascending; of components of one size that of the first. It panics as [Components] does.
func LargestComponent(g *graph.Graph) []int32 {
	count, of := Components(g)
	size := make([]int, count)
	best := int32(0)
	for _, c := range of {
		size[c]++
	}
	for c, n := range size {
		if n > size[best] {
			best = int32(c)
		}
	}
	var nodes []int32
	for v, c := range of {
		if c == best {
			nodes = append(nodes, int32(v))
		}
	}
	return nodes
}
