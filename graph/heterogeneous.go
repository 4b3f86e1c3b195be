package graph

import (
	"fmt"
	"slices"
)

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
