package hetero

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
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

// Graph is an immutable heterogeneous graph: nodes of several types, each type
// numbered from 0 up, and a [graph.Graph] for each relation between them. It is made
// by [New] and [Of], or as a block by [NewBlock] and [Split]; the zero
// value has no nodes.
type Graph struct {
	types  []string
	counts map[string]int
	dst    map[string]int // of a block, the destinations of each type; nil: it is none
	rels   []Rel
	graphs map[Rel]*graph.Graph

	wholeOnce sync.Once
	whole     *graph.Graph // what Homogeneous returns
}

// New returns the heterogeneous graph of nodes, a number for each type,
// and of relations. A relation between two types is a bipartite graph, one
// within a type may also be homogeneous. The error names a relation of a type that there
// is none of. It panics with a [*tensor.ShapeError] if a number is negative, or the graph of a
// relation is nil, or homogeneous between two types, or has other numbers of nodes.
func New(nodes map[string]int, relations map[Rel]*graph.Graph) (*Graph, error) {
	return build("hetero.New", nodes, nil, relations)
}

// build is [New] or, unless dst is nil, [NewBlock].
func build(op string, nodes, dst map[string]int, relations map[Rel]*graph.Graph) (*Graph, error) {
	h := &Graph{counts: maps.Clone(nodes), dst: maps.Clone(dst), graphs: maps.Clone(relations)}
	h.types = slices.Sorted(maps.Keys(nodes))
	h.rels = slices.SortedFunc(maps.Keys(relations), Rel.compare)
	for _, t := range h.types {
		mistake.NotNegative(op, fmt.Sprintf("nodes of type %q", t), nodes[t])
		mistake.NotNegative(op, fmt.Sprintf("destinations of type %q", t), h.NumDst(t))
		if err := mistake.Counts(nodes[t], h.NumDst(t), 0); err != nil {
			return nil, fmt.Errorf("hetero: node type %q: %w", t, err)
		}
	}
	for _, r := range h.rels {
		if err := h.check(op, r, relations[r]); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// check checks that g fits relation r.
func (h *Graph) check(op string, r Rel, g *graph.Graph) error {
	if g == nil {
		mistake.Panic(op, nil, "relation %v: its graph is nil", r)
	}
	for _, end := range []struct {
		what, of string
		n, want  int
	}{{"source", r.Src, g.NumSrc(), h.NumNodes(r.Src)}, {"destination", r.Dst, g.NumDst(), h.NumDst(r.Dst)}} {
		if _, ok := h.counts[end.of]; !ok {
			return fmt.Errorf("hetero: relation %v: there is no node type %q, only %q", r, end.of, h.types)
		}
		if end.n != end.want {
			mistake.Panic(op, []int{g.NumSrc(), g.NumDst()}, "relation %v: its graph has %d %s nodes, but there are %d of type %q", r, end.n, end.what, end.want, end.of)
		}
	}
	if (r.Src != r.Dst || h.dst != nil) && !g.Bipartite() {
		mistake.Panic(op, []int{g.NumDst()}, "relation %v: its graph is homogeneous, want one made by graph.NewBipartite", r)
	}
	return nil
}

// Types returns the types of nodes, in alphabetical order.
func (h *Graph) Types() []string { return h.types }

// NumNodes returns the number of nodes of a type, 0 if there is no such type. Of
// a block these are the sources.
func (h *Graph) NumNodes(of string) int { return h.counts[of] }

// NumDst returns the number of nodes of a type that edges may lead to: all of
// them, but of a block the first ones, its destinations.
func (h *Graph) NumDst(of string) int {
	if h.dst != nil {
		return h.dst[of]
	}
	return h.counts[of]
}

// Rels returns the relations, ordered by the types of their ends and then by
// name.
func (h *Graph) Rels() []Rel { return h.rels }

// Into returns the relations that lead to nodes of a type, in the order of
// [Graph.Rels].
func (h *Graph) Into(dst string) []Rel {
	var rels []Rel
	for _, r := range h.rels {
		if r.Dst == dst {
			rels = append(rels, r)
		}
	}
	return rels
}

// Graph returns the edges of a relation, or nil if there is no such relation.
func (h *Graph) Graph(r Rel) *graph.Graph { return h.graphs[r] }

// Homogeneous returns h as one homogeneous graph, as relational layers want it:
// the nodes of type number i have the numbers from ends[i] up to ends[i+1],
// without the latter. The kind of an edge is the place of its relation in
// [Graph.Rels]. The list is the edges of the first relation, in its own order,
// then those of the second and so on. Its Origin is zero. The graph is made once
// and kept.
//
// It panics with a [*tensor.ShapeError] if there are more than 2³¹−1 nodes or
// edges, or if h is a block.
func Homogeneous(h *Graph) (g *graph.Graph, ends []int) {
	ends = h.ends()
	n, edges := ends[len(h.types)], 0
	for _, r := range h.rels {
		edges += h.graphs[r].NumEdges()
	}
	if h.dst != nil {
		mistake.Panic("hetero.Homogeneous", []int{n, edges}, "it is a block, whose destinations are not all of its nodes")
	}
	if err := mistake.Counts(n, n, edges); err != nil {
		mistake.Panic("hetero.Homogeneous", []int{n, edges}, "%v", err)
	}
	h.wholeOnce.Do(func() { h.whole = h.join(ends, edges) })
	return h.whole, ends
}

// ends returns where the nodes of each type begin in Homogeneous, and the number of all.
func (h *Graph) ends() []int {
	ends := make([]int, 1, len(h.types)+1)
	for i, t := range h.types {
		ends = append(ends, ends[i]+h.counts[t])
	}
	return ends
}

// join makes the graph that Homogeneous returns.
func (h *Graph) join(ends []int, edges int) *graph.Graph {
	src, dst, kinds := make([]int32, 0, edges), make([]int32, 0, edges), make([]int32, 0, edges)
	for k, r := range h.rels {
		g := h.graphs[r]
		firstSrc, firstDst := int32(ends[h.place(r.Src)]), int32(ends[h.place(r.Dst)])
		to := g.Destinations()
		for e, u := range g.In().Cols {
			src, dst, kinds = append(src, firstSrc+u), append(dst, firstDst+to[e]), append(kinds, int32(k))
		}
	}
	return graph.Must(graph.WithKinds(graph.Must(graph.New(ends[len(h.types)], src, dst)), kinds))
}

// place returns the place of a type, which there is, in Types.
func (h *Graph) place(of string) int {
	i, _ := slices.BinarySearch(h.types, of)
	return i
}

// Of is the way back from [Homogeneous]: it returns g as nodes of several
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
// there twice. It panics with a [*tensor.ShapeError] if g is bipartite, or unless there is a type for each node.
func Of(g *graph.Graph, types []string, of []int32, names []string) (h *Graph, nodes map[string][]int32, err error) {
	mistake.Homogeneous("hetero.Of", g)
	mistake.Length("hetero.Of", "types", len(of), "nodes", g.NumNodes())
	nodes = make(map[string][]int32, len(types))
	for _, t := range types {
		if _, twice := nodes[t]; twice {
			return nil, nil, fmt.Errorf("hetero: there are two types %q", t)
		}
		nodes[t] = []int32{}
	}
	number := make([]int32, len(of)) // of a node within its type
	for v, t := range of {
		if t < 0 || int(t) >= len(types) {
			return nil, nil, fmt.Errorf("hetero: node %d has type %d, not in %s", v, t, mistake.Range(len(types)))
		}
		name := types[t]
		number[v] = int32(len(nodes[name]))
		nodes[name] = append(nodes[name], int32(v))
	}
	lists, err := byRelation(g, types, of, names)
	if err != nil {
		return nil, nil, err
	}
	counts, relations := make(map[string]int, len(types)), make(map[Rel]*graph.Graph, len(lists))
	for t, list := range nodes {
		counts[t] = len(list)
	}
	for r, l := range lists {
		for i := range l.src { // destinations ascend, as they do in g
			l.src[i], l.dst[i] = number[l.src[i]], number[l.dst[i]]
		}
		var part *graph.Graph
		if r.Src == r.Dst {
			part, err = graph.New(counts[r.Dst], l.src, l.dst)
		} else {
			part, err = graph.NewBipartite(counts[r.Src], counts[r.Dst], l.src, l.dst)
		}
		if err != nil {
			return nil, nil, err
		}
		relations[r] = graph.WithOrigin(part, graph.Origin{Edges: l.edges, Src: slices.Clone(nodes[r.Src]), Dst: slices.Clone(nodes[r.Dst])})
	}
	h, err = New(counts, relations)
	return h, nodes, err
}

// list is the edges of a relation, in the order of the graph that they are of.
type list struct{ src, dst, edges []int32 }

// byRelation returns the edges of each relation, under g's numbers.
func byRelation(g *graph.Graph, types []string, of []int32, names []string) (map[Rel]*list, error) {
	lists, kinds := map[Rel]*list{}, g.Kinds()
	for e, v := range g.Destinations() {
		u, kind := g.In().Cols[e], int32(0)
		if kinds != nil {
			kind = kinds[e]
		}
		if int(kind) >= len(names) {
			return nil, fmt.Errorf("hetero: edge %d has kind %d, and there are names for %d kinds", e, kind, len(names))
		}
		r := Rel{types[of[u]], names[kind], types[of[v]]}
		l := lists[r]
		if l == nil {
			l = new(list)
			lists[r] = l
		}
		l.src, l.dst, l.edges = append(l.src, u), append(l.dst, v), append(l.edges, int32(e))
	}
	return lists, nil
}
