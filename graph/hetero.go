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

// Heterogeneous is the way back from [Hetero.Homogeneous]: it returns g as nodes of several
// types with a graph for each relation between them. of[v] says which of types node v has,
// and names[k] what edges of kind k mean; if g has no kinds, all are of kind 0. An edge
// from u to v is of the relation {types[of[u]], names[kind], types[of[v]]}; a relation that
// has no edges is not there.
//
// nodes holds, for each type, the nodes of g that have it, ascending: node i of type t is
// nodes[t][i]. So rows x of g's nodes become those of a type by one gather, and From() of
// a relation's graph leads to g's nodes and edges. Within a destination edges keep g's
// order; the list is that order. Members are not kept.
//
// The error names a node or an edge whose type or kind there is none of, or a type that is
// there twice. It panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) Heterogeneous(types []string, of []int32, names []string) (h *Hetero, nodes map[string][]int32, err error) {
	g.wantHomogeneous("graph.Heterogeneous")
	if len(of) != g.NumNodes() {
		return nil, nil, fmt.Errorf("graph: %d types for %d nodes, want one of each", len(of), g.NumNodes())
	}
	nodes = make(map[string][]int32, len(types))
	for _, t := range types {
		if _, twice := nodes[t]; twice {
			return nil, nil, fmt.Errorf("graph: there are two types %q", t)
		}
		nodes[t] = []int32{}
	}
	number := make([]int32, len(of)) // of a node within its type
	for v, t := range of {
		if t < 0 || int(t) >= len(types) {
			return nil, nil, fmt.Errorf("graph: node %d has type %d, not in %s", v, t, span(len(types)))
		}
		name := types[t]
		number[v] = int32(len(nodes[name]))
		nodes[name] = append(nodes[name], int32(v))
	}
	lists, err := g.byRelation(types, of, names)
	if err != nil {
		return nil, nil, err
	}
	counts, relations := make(map[string]int, len(types)), make(map[Rel]*Graph, len(lists))
	for t, list := range nodes {
		counts[t] = len(list)
	}
	for r, l := range lists {
		l.src, l.dst = gather(number, l.src), gather(number, l.dst)
		part := l.sorted(counts[r.Src], counts[r.Dst])
		part.order = nil // of each node they ascend in g, too
		part.top().bipartite = r.Src != r.Dst
		part.from.Src, part.from.Dst = slices.Clone(nodes[r.Src]), slices.Clone(nodes[r.Dst])
		relations[r] = part
	}
	h, err = NewHetero(counts, relations)
	return h, nodes, err
}

// byRelation returns the edges of each relation, under g's numbers.
func (g *Graph) byRelation(types []string, of []int32, names []string) (map[Rel]*list, error) {
	lists := map[Rel]*list{}
	for e, v := range g.Destinations() {
		u, kind := g.In().Cols[e], int32(0)
		if g.kinds != nil {
			kind = g.kinds[e]
		}
		if int(kind) >= len(names) {
			return nil, fmt.Errorf("graph: edge %d has kind %d, and there are names for %d kinds", e, kind, len(names))
		}
		r := Rel{types[of[u]], names[kind], types[of[v]]}
		l := lists[r]
		if l == nil {
			l = new(list)
			lists[r] = l
		}
		l.src, l.dst, l.parent = append(l.src, u), append(l.dst, v), append(l.parent, int32(e))
	}
	return lists, nil
}
