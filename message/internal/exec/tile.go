package exec

import (
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// TileBytes is the scratch that one tile may fill, so that it stays in a near
// cache. Tests change it: no bit of a result depends on it.
var TileBytes = 48 << 10

// backTile is how many times larger a tile may be in backward, which has more
// to do with each edge: then fewer destinations come in parts.
const backTile = 4

// tile is a range of edges that is evaluated at once: all in-edges of some
// destinations or, of one destination with many, a part.
type tile struct {
	lo, hi int // edges
	r0, r1 int // destinations
	part   bool
}

// edgesPerTile returns how many edges of so many scratch elements fit a tile.
func edgesPerTile(width int) int {
	return min(max(TileBytes/(4*max(width, 1)), 8), 1024)
}

// tileEdges returns how many edges tiles of several destinations, and parts of
// one, should have, so that the rows that are read where they stand stay in cache
// while a tile is worked on; and how many a destination may have before it comes
// in parts, which costs more than reading rows from afar.
func tileEdges(p *plan.Plan, backward bool) (fit, limit int) {
	width, far := p.Width, 1
	if backward {
		width, far = p.BackWidth, backTile
	}
	limit = min(edgesPerTile(width/far), simd.Rows(p.NearWidth).Edges())
	return min(edgesPerTile((width+p.NearWidth)/far), limit), limit
}

// tiles calls f with the tiles of a chunk, one after another. A destination with
// more than limit edges comes alone and in parts: for such a one, hub is called
// first.
func (p *pass) tiles(c chunk, hub func(v int), f func(t tile)) {
	off := p.graph.In().Offsets
	if c.hub >= 0 {
		parts(p.fit, c.lo, c.hi, c.r0, f)
		return
	}
	for r0 := c.r0; r0 < c.r1; {
		lo := int(off[r0])
		if int(off[r0+1])-lo > p.limit {
			hub(r0)
			parts(p.fit, lo, int(off[r0+1]), r0, f)
			r0++
			continue
		}
		r1 := r0 + 1
		for r1 < c.r1 && int(off[r1+1])-lo <= p.fit {
			r1++
		}
		f(tile{lo: lo, hi: int(off[r1]), r0: r0, r1: r1})
		r0 = r1
	}
}

// parts calls f with edges into v, limit at a time.
func parts(limit, lo, hi, v int, f func(t tile)) {
	for ; lo < hi; lo += limit {
		f(tile{lo: lo, hi: min(lo+limit, hi), r0: v, r1: v + 1, part: true})
	}
}

// begins reports whether no tile before had edges of the tile's destinations.
func (p *pass) begins(t tile) bool { return !t.part || t.lo == int(p.graph.In().Offsets[t.r0]) }
