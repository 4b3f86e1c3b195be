package message

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// tileBytes is the scratch that one tile may fill, so that it stays in the
// first-level cache. Tests change it: no bit of a result depends on it.
var tileBytes = 16 << 10

// tile is a range of edges that is evaluated at once: all in-edges of some
// destinations or, of one destination with many, a part.
type tile struct {
	lo, hi int // edges
	r0, r1 int // destinations
	part   bool
}

// edgesPerTile returns how many edges of so many scratch elements fit a tile.
func edgesPerTile(width int) int {
	return min(max(tileBytes/(4*max(width, 1)), 8), 1024)
}

// tiles calls f with tile after tile. A destination with more than limit edges
// comes alone and in parts: for such a one, hub is called first.
func (p *plan) tiles(limit int, hub func(v int), f func(t tile)) {
	off := p.g.In().Offsets
	n := p.g.NumDst()
	for r0 := 0; r0 < n; {
		lo := int(off[r0])
		if int(off[r0+1])-lo > limit {
			hub(r0)
			p.parts(limit, r0, f)
			r0++
			continue
		}
		r1 := r0 + 1
		for r1 < n && int(off[r1+1])-lo <= limit {
			r1++
		}
		f(tile{lo: lo, hi: int(off[r1]), r0: r0, r1: r1})
		r0 = r1
	}
}

// parts calls f with the edges into v, limit at a time.
func (p *plan) parts(limit, v int, f func(t tile)) {
	off := p.g.In().Offsets
	for lo := int(off[v]); lo < int(off[v+1]); lo += limit {
		f(tile{lo: lo, hi: min(lo+limit, int(off[v+1])), r0: v, r1: v + 1, part: true})
	}
}

// run evaluates a plan tile by tile. Its memory is scratch of one tile and the
// statistics of each destination.
type run struct {
	*plan
	limit int              // edges a tile
	vals  [][]tensor.Float // of each step, for one tile
	adj   [][]tensor.Float // gradients of the values; nil without backward
	stats
}

// stats is what stays of every softmax: for each destination and column the
// largest entry and the sum of exp(entry − top); and in backward the sum that
// its gradient takes.
type stats struct {
	n              int // columns
	top, sum, pull []tensor.Float
}

func newStats(op grad.Op, p *plan) stats {
	n := p.stats()
	size := n * p.g.NumDst()
	return stats{n: n, top: op.Floats(size), sum: op.Floats(size)}
}

// withScratch calls f with a run of p.
func (p *plan) withScratch(op grad.Op, st stats, backward bool, f func(r *run)) {
	r := &run{plan: p, stats: st}
	width := p.width
	if backward {
		width *= 2
	}
	r.limit = edgesPerTile(width)
	op.Scratch(width*r.limit, func(buf []tensor.Float) {
		r.vals = p.cut(buf, r.limit)
		if backward {
			r.adj = p.cut(buf[p.width*r.limit:], r.limit)
		}
		f(r)
	})
}

func (p *plan) cut(buf []tensor.Float, limit int) [][]tensor.Float {
	out := make([][]tensor.Float, len(p.steps))
	for i := range p.steps {
		s := &p.steps[i]
		out[i] = buf[s.at*limit : (s.at+s.width)*limit]
	}
	return out
}

// eachRow calls f with every destination of the tile that has edges there, and
// with the range of its edges, counted from the tile's first.
func (r *run) eachRow(t tile, f func(v, lo, hi int)) {
	off := r.g.In().Offsets
	for v := t.r0; v < t.r1; v++ {
		lo, hi := max(int(off[v]), t.lo), min(int(off[v+1]), t.hi)
		if lo < hi {
			f(v, lo-t.lo, hi-t.lo)
		}
	}
}
