package graph

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/sparse"
)

// Block returns one hop of g: a bipartite graph whose destinations are the seeds,
// in the order given, with all their in-edges. Its sources are the seeds and
// then their other in-neighbours, ascending, so destination v is also source v.
// From().Src are the seeds of the block of the layer before; [Blocks] makes
// those of several layers. Within a destination, edges keep g's order; the list is
// the block's own order. Kinds are kept. The error names a seed that is repeated or
// not a node.
// It panics with a [*tensor.ShapeError] if g's destinations are not sources
// ([Graph.DstRows] is nil).
func Block(g *Graph, seeds []int32) (*Graph, error) {
	g.wantDstRows("graph.Block")
	if err := g.checkRows("seed", seeds); err != nil {
		return nil, err
	}
	return g.block(g.rows(slices.Clone(seeds))), nil
}

// BlockOf is [Block] of some of the seeds' in-edges: those into seeds[i] are
// edges[offsets[i]:offsets[i+1]], which may not descend; one that is named twice is
// two edges of the block. It keeps offsets and edges, which must not be modified
// afterwards. The error also names an edge that does not lead to its seed, or an offset that is wrong. It panics as Block
// does, and unless there is an offset for each seed and one more.
func BlockOf(g *Graph, seeds []int32, offsets []int64, edges []int32) (*Graph, error) {
	g.wantDstRows("graph.BlockOf")
	if err := g.checkRows("seed", seeds); err != nil {
		return nil, err
	}
	if err := g.checkInto("graph.BlockOf", seeds, offsets, edges); err != nil {
		return nil, err
	}
	return g.block(g.rowsOf(slices.Clone(seeds), offsets, edges)), nil
}

// BlockFrom is [BlockOf] with sources as the caller has them: those of the seeds first, and
// edge k leads from src[cols[k]]. A node may be there several times, such as once for each time at
// which it is looked at, among the seeds, too. It keeps all that it is given but the seeds. The error
// also names a source that is not what it should be. It panics as BlockOf does, and unless there is a source for each seed
// and a column for each edge.
func BlockFrom(g *Graph, seeds, src []int32, offsets []int64, edges, cols []int32) (*Graph, error) {
	const op = "graph.BlockFrom"
	g.wantDstRows(op)
	mistake.Length(op, "columns", len(cols), "edges", len(edges))
	if len(src) < len(seeds) {
		mistake.Panic(op, []int{len(src), len(seeds)}, "%d sources, of which the first are those of %d seeds", len(src), len(seeds))
	}
	for i, v := range seeds {
		if v < 0 || int(v) >= g.NumDst() {
			return nil, fmt.Errorf("graph: seed %d of %d is node %d, not in %s", i, len(seeds), v, mistake.Range(g.NumDst()))
		}
		if src[i] != g.DstRows()[v] {
			return nil, fmt.Errorf("graph: source %d of %d is not that of seed %d, node %d", i, len(src), i, v)
		}
	}
	if err := g.checkInto(op, seeds, offsets, edges); err != nil {
		return nil, err
	}
	for k, c := range cols {
		if c < 0 || int(c) >= len(src) || src[c] != g.In().Cols[edges[k]] {
			return nil, fmt.Errorf("graph: edge %d, %d of the graph, leads from node %d, and not from source %d of %d", k, edges[k], g.In().Cols[edges[k]], c, len(src))
		}
	}
	h := ofCSR(len(src), offsets, cols, true)
	h.kinds = gather(g.kinds, edges)
	h.from = Origin{Edges: edges, Dst: slices.Clone(seeds), Src: src}
	h.top().dstRows = iota32(len(seeds))
	g.blockPlaces(h, src, h.from.Dst)
	return h, nil
}

// checkInto checks that edges lead into the seeds, as offsets says, and do not descend.
func (g *Graph) checkInto(op string, seeds []int32, offsets []int64, edges []int32) error {
	in := g.In()
	mistake.Length(op, "offsets less one", len(offsets)-1, "seeds", len(seeds))
	if err := checkOffsets(&sparse.CSR{Offsets: offsets, Cols: edges, NumRows: len(seeds)}); err != nil {
		return err
	}
	for i, v := range seeds {
		last := in.Offsets[v]
		for _, e := range edges[offsets[i]:offsets[i+1]] {
			if int64(e) < last || int64(e) >= in.Offsets[v+1] {
				return fmt.Errorf("graph: edge %d of seed %d, node %d, leads elsewhere or comes after a larger one; its in-edges are %d up to %d", e, i, v, in.Offsets[v], in.Offsets[v+1])
			}
			last = int64(e)
		}
	}
	return nil
}

// wantDstRows panics if g's destinations are not sources.
func (g *Graph) wantDstRows(op string) {
	mistake.Nil(op, g)
	if g.top().bipartite && g.top().dstRows == nil {
		mistake.Panic(op, []int{g.NumSrc(), g.NumDst()}, "the graph's destinations are not sources")
	}
}

// block makes h, the in-edges of some of g's destinations, a block.
func (g *Graph) block(h *Graph) *Graph {
	seeds := h.from.Dst
	src, cols := gather(g.DstRows(), seeds), h.In().Cols
	own, others := borrowSet(g.NumSrc()), borrowSet(g.NumSrc())
	for _, u := range src {
		own.add(u)
	}
	own.count()
	place := make([]int32, len(src)) // of the own sources, ascending
	for i, u := range src {
		place[own.rank(u)] = int32(i)
	}
	for _, u := range cols {
		if !own.has(u) {
			others.add(u)
		}
	}
	first, n := int32(len(src)), others.count()
	src = others.appendTo(src, n)
	for e, u := range cols {
		if own.has(u) {
			cols[e] = place[own.rank(u)]
		} else {
			cols[e] = first + others.rank(u)
		}
	}
	own.giveBack()
	others.giveBack()
	h.In().NumCols, h.top().nSrc = len(src), len(src)
	h.from.Src, h.top().dstRows = src, iota32(len(seeds))
	g.blockPlaces(h, src, seeds)
	return h
}

// Blocks returns what a network of that many layers reads to say something of the
// seeds: a block for each layer. The last is the seeds', each other that of the
// sources of the one after it, and the first one's From().Src are the nodes whose
// features are read. Run on these blocks, layers whose rows depend on in-neighbours
// alone give what they give of the seeds in g; so a loss over few nodes, and its
// gradients, need not compute the rows of all. What depends on degrees, as the
// weights of graph convolution, comes from g.
//
// The error names a seed that is repeated or not a node. It panics with a [*tensor.ShapeError] if g is bipartite or layers
// is negative.
func Blocks(g *Graph, seeds []int32, layers int) ([]*Graph, error) {
	g.wantHomogeneous("graph.Blocks")
	mistake.NotNegative("graph.Blocks", "layers", layers)
	if err := g.checkRows("seed", seeds); err != nil {
		return nil, err
	}
	out := make([]*Graph, layers)
	for i := layers - 1; i >= 0; i-- {
		b, err := Block(g, seeds)
		if err != nil {
			return nil, err
		}
		out[i], seeds = b, b.From().Src
	}
	return out, nil
}

// Dst returns the bipartite graph whose destinations are rows, destinations of
// g, in the order given, and whose sources are all of g's under the same
// numbers. Within a destination, edges keep g's order; the list is the result's
// own order. Kinds are kept. The error names a row that is repeated or not a
// destination. Of a graph of blocks the result is one too, except where the
// diagonal is left out.
func Dst(g *Graph, rows []int32) (*Graph, error) {
	mistake.Nil("graph.Dst", g)
	if err := g.checkRows("row", rows); err != nil {
		return nil, err
	}
	rows = slices.Clone(rows) // the Origin keeps them
	var h *Graph
	if g.top().spans != nil {
		h = g.spanRows(rows)
	}
	if h == nil {
		h = g.rows(rows)
	}
	return g.ontoAll(h), nil
}

// ontoAll says that h, in-edges of some of g's destinations, has the sources of g.
func (g *Graph) ontoAll(h *Graph) *Graph {
	h.from.Src = Derive(g, sourcesKey{}, func() []int32 { return iota32(g.NumSrc()) }) // that of all views
	h.top().dstRows = gather(g.DstRows(), h.from.Dst)
	g.viewPlaces(h, h.from.Dst)
	return h
}

// DstOf is [Dst] of some of the rows' in-edges, which are given as [BlockOf] has
// them. It keeps offsets and edges.
func DstOf(g *Graph, rows []int32, offsets []int64, edges []int32) (*Graph, error) {
	mistake.Nil("graph.DstOf", g)
	if err := g.checkRows("row", rows); err != nil {
		return nil, err
	}
	if err := g.checkInto("graph.DstOf", rows, offsets, edges); err != nil {
		return nil, err
	}
	return g.ontoAll(g.rowsOf(slices.Clone(rows), offsets, edges)), nil
}

// sourcesKey is under what a graph keeps the numbers of its sources.
type sourcesKey struct{}

// checkRows checks that rows are distinct destinations.
func (g *Graph) checkRows(what string, rows []int32) error {
	return distinct(what, rows, g.NumDst(), "node")
}

// distinct checks that list holds different things, numbered below n.
func distinct(what string, list []int32, n int, thing string) error {
	seen := borrowSet(n)
	defer seen.giveBack()
	for i, v := range list {
		if v < 0 || int(v) >= n {
			return fmt.Errorf("graph: %s %d of %d is %s %d, not in %s", what, i, len(list), thing, v, mistake.Range(n))
		}
		if !seen.add(v) {
			return fmt.Errorf("graph: %s %d of %d is %s %d, as %s %d is", what, i, len(list), thing, v, what, slices.Index(list, v))
		}
	}
	return nil
}

// rows returns the bipartite graph of the in-edges of the given destinations,
// without the Origin of its sources. It keeps rows.
func (g *Graph) rows(rows []int32) *Graph {
	in, edges := g.In(), g.edgesInto(rows)
	offsets := make([]int64, len(rows)+1)
	for i, v := range rows {
		offsets[i+1] = offsets[i] + in.Offsets[v+1] - in.Offsets[v]
	}
	return g.rowsOf(rows, offsets, edges)
}

// rowsOf is rows of some of the in-edges. It keeps all that it is given.
func (g *Graph) rowsOf(rows []int32, offsets []int64, edges []int32) *Graph {
	h := ofCSR(g.NumSrc(), offsets, gather(g.In().Cols, edges), true)
	h.kinds = gather(g.kinds, edges)
	h.from = Origin{Edges: edges, Dst: rows}
	return h
}

// edgesInto returns the in-edges of the given destinations.
func (g *Graph) edgesInto(rows []int32) []int32 {
	total := 0
	for _, v := range rows {
		total += g.InDegree(int(v))
	}
	edges := make([]int32, 0, total)
	for _, v := range rows {
		lo := g.firstEdge(int(v))
		edges = interval(edges, lo, lo+g.InDegree(int(v)))
	}
	return edges
}

// firstEdge returns the number of edges into destinations below v.
func (g *Graph) firstEdge(v int) int {
	if g.top().spans == nil {
		return int(g.In().Offsets[v])
	}
	n := 0
	for _, s := range g.top().spans {
		if s.Dst >= v {
			break
		}
		n += s.EdgesBefore(min(v-s.Dst, s.NumDst))
	}
	return n
}
