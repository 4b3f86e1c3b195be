package graph

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// Chains returns a disjoint union of chains of the given lengths, each a member
// of the result ([Membership]): nodes are numbered along the first chain,
// then along the second and so on, with an edge from each node to the next of
// its chain. The list is those edges in order. A length of zero is an empty
// chain.
//
// It panics with a [*tensor.ShapeError] on a negative length, and on more than
// 2³¹−1 nodes.
func Chains(lengths ...int) *Graph {
	ends := chainEnds("graph.Chains", lengths)
	total := ends[len(lengths)]
	offsets, cols := make([]int64, 1, total+1), make([]int32, 0, total)
	for i := range lengths {
		for v := ends[i]; v < ends[i+1]; v++ {
			if v > ends[i] {
				cols = append(cols, int32(v-1))
			}
			offsets = append(offsets, int64(len(cols)))
		}
	}
	g := ofCSR(total, offsets, cols, false)
	g.members = &members{src: ends, dst: ends}
	return g
}

// ShiftedChains returns the nodes of [Chains] of the given lengths with, for each of
// the shifts, an edge to v from v−shift where that is a node of v's chain. The kind of
// an edge is the index of its shift, and a node's in-edges are in the order of the
// shifts, as in a [Ring]. A convolution of width k over sequences is a sum over the
// in-edges, each with the weights of its kind: causal and dilated by d with the shifts
// 0, d, … (k−1)·d, of the same length with −r … r. What it would read beyond an end
// of a chain is zero.
//
// It panics with a [*tensor.ShapeError] as Chains does, on more than 2³¹−1 edges, and
// if there are no shifts.
func ShiftedChains(lengths []int, shifts ...int) *Graph {
	const op = "graph.ShiftedChains"
	ends := chainEnds(op, lengths)
	if len(shifts) == 0 {
		mistake.Panic(op, []int{len(lengths)}, "no shifts")
	}
	edges := 0
	for _, n := range lengths {
		for _, s := range shifts {
			edges += max(n-max(s, -s), 0)
		}
	}
	p := pattern{op, ends[len(lengths)], ends[len(lengths)]}
	p.checkEdges(edges)
	offsets, cols := make([]int64, 1, p.nDst+1), make([]int32, 0, edges)
	kinds := make([]int32, 0, edges)
	for i := range lengths {
		for v := ends[i]; v < ends[i+1]; v++ {
			for k, s := range shifts {
				if u := v - s; u >= ends[i] && u < ends[i+1] {
					cols, kinds = append(cols, int32(u)), append(kinds, int32(k))
				}
			}
			offsets = append(offsets, int64(len(cols)))
		}
	}
	g := ofCSR(p.nDst, offsets, cols, false)
	g.kinds, g.members = kinds, &members{src: ends, dst: ends}
	return g
}

// chainEnds returns where chains of the given lengths begin and end, for op.
func chainEnds(op string, lengths []int) []int {
	ends := make([]int, len(lengths)+1)
	for i, n := range lengths {
		switch {
		case n < 0:
			mistake.Panic(op, []int{n}, "chain %d has a negative length", i)
		case n > math.MaxInt32-ends[i]:
			mistake.Panic(op, []int{n}, "more than 2³¹−1 nodes with chain %d", i)
		}
		ends[i+1] = ends[i] + n
	}
	return ends
}

// Trees returns a disjoint union of trees, each a member of the result
// ([Membership]). A tree is given by the parent of each of its nodes, −1
// for a root; one with several roots is a forest and one member still. Edges
// lead from a child to its parent, and the kind of an edge is the child's
// ordinal among its siblings, by number. The list is the edges by child.
//
// The error names the tree and the node whose parent is out of range, or that
// is its own ancestor.
func Trees(parents ...[]int32) (*Graph, error) {
	ends := make([]int, len(parents)+1)
	for i, p := range parents {
		ends[i+1] = ends[i] + len(p)
	}
	total := ends[len(parents)]
	if err := mistake.Counts(total, total, total); err != nil {
		return nil, err
	}
	l := list{kinds: []int32{}}
	for i, parent := range parents {
		if err := checkTree(i, parent); err != nil {
			return nil, err
		}
		base, children := int32(ends[i]), make([]int32, len(parent))
		for v, p := range parent {
			if p < 0 {
				continue
			}
			l.src, l.dst, l.kinds = append(l.src, base+int32(v)), append(l.dst, base+p), append(l.kinds, children[p])
			children[p]++
		}
	}
	g := l.sorted(total, total)
	g.members = &members{src: ends, dst: ends}
	return g, nil
}

// checkTree checks that every node of tree number i leads to a root.
func checkTree(i int, parent []int32) error {
	for v, p := range parent {
		if p < -1 || int(p) >= len(parent) {
			return fmt.Errorf("graph: tree %d: node %d has parent %d, want −1 or a node in %s", i, v, p, mistake.Range(len(parent)))
		}
	}
	walk := make([]int32, len(parent)) // the walk, plus one, that came by first
	for v := range parent {
		u := int32(v)
		for u >= 0 && walk[u] == 0 {
			walk[u] = int32(v) + 1
			u = parent[u]
		}
		if u >= 0 && walk[u] == int32(v)+1 {
			return fmt.Errorf("graph: tree %d: node %d is its own ancestor", i, u)
		}
	}
	return nil
}
