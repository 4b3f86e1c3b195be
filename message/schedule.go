package message

import (
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
)

// schedule is where everything stands in the frames of a sweep over a graph.
type schedule struct {
	places  []*place
	rows    int     // of a frame
	first   []int32 // the row of init of each node of level 0
	inOrder bool    // first is 0, 1, 2 …
	rank    []int32 // of each node, its row behind those of first
	edges   []int32 // the edges into level 1, 2, …
}

// place is where a level stands.
type place struct {
	row    int          // the frame's first row that the level writes
	lo, hi int          // the rows that it reads
	in     *graph.Graph // from those to its nodes
	edge   int          // the first of its edges in schedule.edges
}

type scheduleKey struct {
	shared, kinds bool
	first         *int32 // of the kinds
}

// scheduleOf returns the schedule of sweeps over g whose init is one row for all roots, or not.
// It is worked out once a graph.
func scheduleOf(g *graph.Graph, l *graph.Levels, shared bool) *schedule {
	key := scheduleKey{shared: shared, kinds: g.Kinds() != nil}
	if k := g.Kinds(); len(k) > 0 {
		key.first = &k[0]
	}
	return graph.Derive(g, key, func() *schedule { return newSchedule(g, l, shared) })
}

func newSchedule(g *graph.Graph, l *graph.Levels, shared bool) *schedule {
	roots := l.Order[:l.Offsets[1]]
	p := &schedule{rows: len(roots) + len(l.Order), rank: l.Rank}
	p.placeRoots(g, roots, shared)
	for n := 1; n < l.Len(); n++ {
		p.placeLevel(g, l.Order, l.Offsets[n], l.Offsets[n+1])
	}
	return p
}

// roots is how many rows there are before those of the nodes.
func (p *schedule) roots() int { return p.rows - len(p.rank) }

// placeRoots has level 0 read the first rows of the frame, each node its own. The
// edges from there are of kind 0, if g has kinds.
func (p *schedule) placeRoots(g *graph.Graph, nodes []int32, shared bool) {
	row := map[int32]int32{}
	for i, v := range g.Roots() {
		row[v] = int32(i)
	}
	p.inOrder = !shared
	in := &sparse.CSR{NumRows: len(nodes), NumCols: len(nodes), Offsets: make([]int64, len(nodes)+1), Cols: make([]int32, len(nodes))}
	p.first = make([]int32, len(nodes))
	for i, v := range nodes {
		in.Offsets[i+1], in.Cols[i] = int64(i+1), int32(i)
		if !shared {
			p.first[i] = row[v]
			p.inOrder = p.inOrder && row[v] == int32(i)
		}
	}
	before := make([]int32, len(nodes)) // the state before a root stands one before it
	for i, v := range nodes {
		before[i] = v - 1
	}
	at := &place{row: len(nodes), hi: len(nodes), in: graph.WithPlaces(graph.Must(graph.FromCSR(in)), before, nodes)}
	if g.Kinds() != nil {
		at.in = graph.Must(graph.WithKinds(at.in, make([]int32, len(nodes))))
	}
	p.places = append(p.places, at)
}

// placeLevel finds the rows of the frame that a level reads: from its first
// predecessor's to its last. Of chains these are a prefix of the level before. The level is
// order[before:end].
func (p *schedule) placeLevel(g *graph.Graph, order []int32, before, end int) {
	roots, nodes := p.roots(), order[before:end]
	at := &place{row: roots + before, lo: p.rows, edge: len(p.edges)}
	in := &sparse.CSR{NumRows: len(nodes), Offsets: []int64{0}}
	var kinds []int32
	for _, v := range nodes {
		off := g.In().Offsets
		for e := off[v]; e < off[v+1]; e++ {
			r := p.rank[g.In().Cols[e]] + int32(roots)
			at.lo, at.hi = min(at.lo, int(r)), max(at.hi, int(r)+1)
			in.Cols, p.edges = append(in.Cols, r), append(p.edges, int32(e))
			if k := g.Kinds(); k != nil {
				kinds = append(kinds, k[e])
			}
		}
		in.Offsets = append(in.Offsets, int64(len(in.Cols)))
	}
	for i := range in.Cols {
		in.Cols[i] -= int32(at.lo)
	}
	in.NumCols = at.hi - at.lo
	at.in = graph.WithPlaces(graph.Must(graph.FromCSR(in)), order[at.lo-roots:at.hi-roots], nodes)
	if kinds != nil {
		at.in = graph.Must(graph.WithKinds(at.in, kinds))
	}
	p.places = append(p.places, at)
}
