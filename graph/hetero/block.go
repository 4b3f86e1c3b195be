package hetero

import (
	"fmt"
	"maps"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// NewBlock returns a block of several types: what one layer reads to say something
// of some nodes. There are src[t] nodes of type t, of which the first dst[t] are
// destinations too, as in [graph.Block]; a type that is not in dst has no destinations.
// The graph of relation r is bipartite, from src[r.Src] to dst[r.Dst] nodes.
//
// The error names a type that there is none of. It panics as [New] does, and with a [*tensor.ShapeError] if a type has more
// destinations than nodes.
func NewBlock(src, dst map[string]int, relations map[Rel]*graph.Graph) (*Graph, error) {
	const op = "hetero.NewBlock"
	for _, t := range slices.Sorted(maps.Keys(dst)) {
		if n, ok := src[t]; !ok {
			return nil, fmt.Errorf("hetero: there are %d destinations of type %q, but no node type of that name, only %q", dst[t], t, slices.Sorted(maps.Keys(src)))
		} else if dst[t] > n {
			mistake.Panic(op, []int{n, dst[t]}, "node type %q: %d destinations, but %d nodes; destinations are the first of the nodes", t, dst[t], n)
		}
	}
	if dst == nil {
		dst = map[string]int{}
	}
	return build(op, src, dst, relations)
}

// Split returns b, a block of h's [Homogeneous] graph, as a block of several types.
// It has every relation of h, though some may be without edges. b is made by [graph.Block],
// [graph.BlockOf] or [graph.Blocks].
//
// rows holds, for each type, the sources of b that have it, ascending: node i of type t is
// source rows[t][i] of b. Rows x of b's sources become those of a type by one gather. The
// node's number within its type in h is b.From().Src[rows[t][i]] − ends[k], if t is type
// number k. Destinations are b's, in its order.
//
// From() of a relation's graph leads to b's sources, destinations and edges, so weights of
// b's edges are carried over by one gather. Within a destination edges keep b's order; the
// list is that order. Kinds of edges are not kept.
//
// Split takes time in proportion to the size of its result, not of h. The error names a node or an edge
// of b that is not one of h's graph. It panics with a [*tensor.ShapeError] if h is a block, or b is none.
func Split(h *Graph, b *graph.Graph) (block *Graph, rows map[string][]int32, err error) {
	if h.dst != nil {
		mistake.Panic("hetero.Split", nil, "a block of several types cannot be split; split blocks of the graph that it was made from")
	}
	s := splitting{h: h, b: b}
	s.wantBlock("hetero.Split")
	for _, step := range []func() error{s.nodes, s.room, s.edges} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	rows = make(map[string][]int32, len(h.types))
	src, dst := make(map[string]int, len(h.types)), make(map[string]int, len(h.types))
	for t, name := range h.types {
		rows[name], src[name], dst[name] = s.rows[t], len(s.rows[t]), s.nDst[t]
	}
	relations := make(map[Rel]*graph.Graph, len(h.rels))
	for k, r := range h.rels {
		p := s.parts[k]
		g, err := graph.Bags(src[r.Src], p.offsets, p.cols)
		if err == nil && r.Src == r.Dst {
			g, err = graph.WithDstRows(g, b.DstRows()[:dst[r.Dst]])
		}
		if err != nil {
			return nil, nil, err
		}
		relations[r] = graph.WithOrigin(g, graph.Origin{Edges: p.edges, Src: rows[r.Src], Dst: rows[r.Dst][:dst[r.Dst]]})
	}
	block, err = NewBlock(src, dst, relations)
	return block, rows, err
}

// splitting is a block on its way to one of several types.
type splitting struct {
	h *Graph
	b *graph.Graph

	of     []int32   // the type of each of b's sources
	number []int32   // and its number within the type
	rows   [][]int32 // of each type, its sources
	nDst   []int     // and how many of them are destinations
	parts  []part    // of each relation
}

// part is the edges of a relation.
type part struct {
	src, dst int32 // its types
	offsets  []int64
	cols     []int32
	edges    []int32 // of b
}

// wantBlock panics unless b is a block, with a kind for each edge.
func (s *splitting) wantBlock(op string) {
	b := s.b
	if b == nil {
		mistake.Panic(op, nil, "the block to split is nil; make it by graph.Block, BlockOf or Blocks of the Homogeneous graph")
	}
	first, shape := b.DstRows(), []int{b.NumSrc(), b.NumDst()}
	if !b.Bipartite() || len(first) != b.NumDst() || len(b.From().Src) != b.NumSrc() {
		mistake.Panic(op, shape, "%v is no block; make it by graph.Block, BlockOf or Blocks of the Homogeneous graph", b)
	}
	for v, u := range first {
		if int(u) != v {
			mistake.Panic(op, shape, "destination %d is source %d, want the destinations to be the first sources, as graph.Block, BlockOf and Blocks of the Homogeneous graph make them", v, u)
		}
	}
	if len(b.Kinds()) != b.NumEdges() {
		mistake.Panic(op, shape, "the %d edges of the block have no kinds, which say what relation they are of; make it of the Homogeneous graph", b.NumEdges())
	}
}

// nodes finds the type of each source.
func (s *splitting) nodes() error {
	ends, from := s.h.ends(), s.b.From().Src
	types := len(s.h.types)
	s.of, s.number = make([]int32, len(from)), make([]int32, len(from))
	count, t := make([]int32, types), 0
	s.nDst = make([]int, types)
	for i, v := range from {
		if v < 0 || int(v) >= ends[types] {
			return fmt.Errorf("hetero: source %d of the block is node %d, not in %s; make the block of the Homogeneous graph", i, v, mistake.Range(ends[types]))
		}
		if int(v) < ends[t] || int(v) >= ends[t+1] { // most have the type of the one before
			after, _ := slices.BinarySearch(ends, int(v)+1)
			t = after - 1
		}
		s.of[i], s.number[i] = int32(t), count[t]
		count[t]++
		if i < s.b.NumDst() {
			s.nDst[t]++
		}
	}
	s.rows = make([][]int32, types)
	for t, n := range count {
		s.rows[t] = make([]int32, 0, n)
	}
	for i, t := range s.of {
		s.rows[t] = append(s.rows[t], int32(i))
	}
	return nil
}

// room makes room for the edges of each relation.
func (s *splitting) room() error {
	count := make([]int, len(s.h.rels))
	for e, k := range s.b.Kinds() {
		if int(k) >= len(count) {
			return fmt.Errorf("hetero: edge %d of the block has kind %d, and there are %d relations; make the block of the Homogeneous graph", e, k, len(count))
		}
		count[k]++
	}
	s.parts = make([]part, len(count))
	for k, r := range s.h.rels {
		src, dst := s.h.place(r.Src), s.h.place(r.Dst)
		s.parts[k] = part{int32(src), int32(dst), make([]int64, 1, s.nDst[dst]+1), make([]int32, 0, count[k]), make([]int32, 0, count[k])}
	}
	return nil
}

// edges gives each edge to its relation.
func (s *splitting) edges() error {
	in, kinds := s.b.In(), s.b.Kinds()
	into := make([][]*part, len(s.h.types)) // the relations into each type
	for k := range s.parts {
		p := &s.parts[k]
		into[p.dst] = append(into[p.dst], p)
	}
	for v := range s.b.NumDst() {
		for e := in.Offsets[v]; e < in.Offsets[v+1]; e++ {
			u, p := in.Cols[e], &s.parts[kinds[e]]
			if s.of[u] != p.src || s.of[v] != p.dst {
				return fmt.Errorf("hetero: edge %d of the block leads from a node of type %q to one of type %q, but its kind is relation %v; make the block of the Homogeneous graph",
					e, s.h.types[s.of[u]], s.h.types[s.of[v]], s.h.rels[kinds[e]])
			}
			p.cols, p.edges = append(p.cols, s.number[u]), append(p.edges, int32(e))
		}
		for _, p := range into[s.of[v]] {
			p.offsets = append(p.offsets, int64(len(p.cols)))
		}
	}
	return nil
}
