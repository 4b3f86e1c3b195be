package graph

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Rel names a relation of a heterogeneous graph: what its edges mean, and the
// types of the nodes that they lead from and to.
type Rel struct{ Src, Name, Dst string }

// String returns src -name-> dst.
func (r Rel) String() string { return r.Src + " -" + r.Name + "-> " + r.Dst }

// compare orders relations by the types of their ends and then by name.
func (r Rel) compare(s Rel) int {
	return cmp.Or(strings.Compare(r.Src, s.Src), strings.Compare(r.Dst, s.Dst), strings.Compare(r.Name, s.Name))
}

// Hetero is an immutable heterogeneous graph: nodes of several types, each type
// numbered from 0 up, and a [Graph] for each relation between them. It is made
// by [NewHetero], or as a block by [NewHeteroBlock] and [Hetero.Split]; the zero
// value has no nodes.
type Hetero struct {
	types  []string
	counts map[string]int
	dst    map[string]int // of a block, the destinations of each type; nil: it is none
	rels   []Rel
	graphs map[Rel]*Graph

	wholeOnce sync.Once
	whole     *Graph // what Homogeneous returns
}

// NewHetero returns the heterogeneous graph of nodes, a number for each type,
// and of relations. A relation between two types is a bipartite graph, one
// within a type may also be homogeneous. The error names a relation whose graph
// does not fit the types.
func NewHetero(nodes map[string]int, relations map[Rel]*Graph) (*Hetero, error) {
	return newHetero(nodes, nil, relations)
}

// newHetero is [NewHetero] or, unless dst is nil, [NewHeteroBlock].
func newHetero(nodes, dst map[string]int, relations map[Rel]*Graph) (*Hetero, error) {
	h := &Hetero{counts: maps.Clone(nodes), dst: maps.Clone(dst), graphs: maps.Clone(relations)}
	h.types = slices.Sorted(maps.Keys(nodes))
	h.rels = slices.SortedFunc(maps.Keys(relations), Rel.compare)
	for _, t := range h.types {
		if err := checkCounts(nodes[t], h.NumDst(t), 0); err != nil {
			return nil, fmt.Errorf("graph: node type %q: %w", t, err)
		}
	}
	for _, r := range h.rels {
		if err := h.check(r, relations[r]); err != nil {
			return nil, fmt.Errorf("graph: relation %v: %w", r, err)
		}
	}
	return h, nil
}

// check checks that g fits relation r.
func (h *Hetero) check(r Rel, g *Graph) error {
	if g == nil {
		return fmt.Errorf("its graph is nil")
	}
	for _, end := range []struct {
		what, of string
		n, want  int
	}{{"source", r.Src, g.NumSrc(), h.NumNodes(r.Src)}, {"destination", r.Dst, g.NumDst(), h.NumDst(r.Dst)}} {
		if _, ok := h.counts[end.of]; !ok {
			return fmt.Errorf("there is no node type %q, only %q", end.of, h.types)
		}
		if end.n != end.want {
			return fmt.Errorf("its graph has %d %s nodes, but there are %d of type %q", end.n, end.what, end.want, end.of)
		}
	}
	if (r.Src != r.Dst || h.dst != nil) && !g.Bipartite() {
		return fmt.Errorf("its graph is homogeneous, want one made by NewBipartite")
	}
	return nil
}

// Types returns the types of nodes, in alphabetical order.
func (h *Hetero) Types() []string { return h.types }

// NumNodes returns the number of nodes of a type, 0 if there is no such type. Of
// a block these are the sources.
func (h *Hetero) NumNodes(of string) int { return h.counts[of] }

// NumDst returns the number of nodes of a type that edges may lead to: all of
// them, but of a block the first ones, its destinations.
func (h *Hetero) NumDst(of string) int {
	if h.dst != nil {
		return h.dst[of]
	}
	return h.counts[of]
}

// Rels returns the relations, ordered by the types of their ends and then by
// name.
func (h *Hetero) Rels() []Rel { return h.rels }

// Into returns the relations that lead to nodes of a type, in the order of
// [Hetero.Rels].
func (h *Hetero) Into(dst string) []Rel {
	var rels []Rel
	for _, r := range h.rels {
		if r.Dst == dst {
			rels = append(rels, r)
		}
	}
	return rels
}

// Graph returns the edges of a relation, or nil if there is no such relation.
func (h *Hetero) Graph(r Rel) *Graph { return h.graphs[r] }

// Homogeneous returns h as one homogeneous graph, as relational layers want it:
// the nodes of type number i have the numbers from ends[i] up to ends[i+1],
// without the latter. The kind of an edge is the place of its relation in
// [Hetero.Rels]. The list is the edges of the first relation, in its own order,
// then those of the second and so on. Its Origin is zero. The graph is made once
// and kept.
//
// It panics with a [*tensor.ShapeError] if there are more than 2³¹−1 nodes or
// edges, or if h is a block.
func (h *Hetero) Homogeneous() (g *Graph, ends []int) {
	ends = h.ends()
	n, edges := ends[len(h.types)], 0
	for _, r := range h.rels {
		edges += h.graphs[r].NumEdges()
	}
	err := checkCounts(n, n, edges)
	if h.dst != nil {
		err = errors.New("it is a block, whose destinations are not all of its nodes")
	}
	if err != nil {
		panic(&tensor.ShapeError{Op: "graph.Homogeneous", Shapes: [][]int{{n, edges}}, Why: err.Error()})
	}
	h.wholeOnce.Do(func() { h.whole = h.join(ends, edges) })
	return h.whole, ends
}

// ends returns where the nodes of each type begin in Homogeneous, and the number of all.
func (h *Hetero) ends() []int {
	ends := make([]int, 1, len(h.types)+1)
	for i, t := range h.types {
		ends = append(ends, ends[i]+h.counts[t])
	}
	return ends
}

// join makes the graph that Homogeneous returns.
func (h *Hetero) join(ends []int, edges int) *Graph {
	l := list{src: make([]int32, 0, edges), dst: make([]int32, 0, edges), kinds: make([]int32, 0, edges)}
	for k, r := range h.rels {
		g := h.graphs[r]
		l.src = appendShifted(l.src, g.In().Cols, ends[h.place(r.Src)])
		l.dst = appendShifted(l.dst, g.Destinations(), ends[h.place(r.Dst)])
		for range g.NumEdges() {
			l.kinds = append(l.kinds, int32(k))
		}
	}
	n := ends[len(h.types)]
	return l.sorted(n, n)
}

// place returns the place of a type, which there is, in Types.
func (h *Hetero) place(of string) int {
	i, _ := slices.BinarySearch(h.types, of)
	return i
}
