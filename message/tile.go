package message

import (
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// tileBytes is the scratch that one tile may fill, so that it stays in a near
// cache. Tests change it: no bit of a result depends on it.
var tileBytes = 48 << 10

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
	return min(max(tileBytes/(4*max(width, 1)), 8), 1024)
}

// chunk is a range of edges that one thread treats: all in-edges of some
// destinations or, of one destination with many, a part. How a graph is cut into
// chunks follows from its edges and the width of the message alone.
type chunk struct {
	lo, hi int // edges
	r0, r1 int // destinations
	hub    int // which of the destinations in parts this is, or −1
}

// A pass over the edges is cut into about chunksWanted chunks, of not less than
// chunkWork elements and not more than chunkMost, or chunkEdges edges. A destination of more
// than two chunks is cut too, where the pass allows it.
// Tests change chunkWork: sums of W are taken by chunks, so bits may depend on it.
var chunkWork = 1 << 14

const (
	chunksWanted = 64
	chunkMost    = 1 << 18
	chunkEdges   = 1024
)

func (r *run) edgesPerChunk() int {
	width := 1
	for i := range r.steps {
		width += r.steps[i].width
	}
	least, most := max(chunkWork/width, 4), max(chunkMost/width, 32)
	return min(max(r.g.NumEdges()/chunksWanted, least), most, chunkEdges)
}

// tiles calls f with the tiles of a chunk, one after another. A destination with
// more than limit edges comes alone and in parts: for such a one, hub is called
// first.
func (r *run) tiles(c chunk, hub func(v int), f func(t tile)) {
	off := r.g.In().Offsets
	if c.hub >= 0 {
		parts(r.fit, c.lo, c.hi, c.r0, f)
		return
	}
	for r0 := c.r0; r0 < c.r1; {
		lo := int(off[r0])
		if int(off[r0+1])-lo > r.limit {
			hub(r0)
			parts(r.fit, lo, int(off[r0+1]), r0, f)
			r0++
			continue
		}
		r1 := r0 + 1
		for r1 < c.r1 && int(off[r1+1])-lo <= r.fit {
			r1++
		}
		f(tile{lo: lo, hi: int(off[r1]), r0: r0, r1: r1})
		r0 = r1
	}
}

// begins reports whether no tile before had edges of the tile's destinations.
func (r *run) begins(t tile) bool { return !t.part || t.lo == int(r.g.In().Offsets[t.r0]) }

// parts calls f with edges into v, limit at a time.
func parts(limit, lo, hi, v int, f func(t tile)) {
	for ; lo < hi; lo += limit {
		f(tile{lo: lo, hi: min(lo+limit, hi), r0: v, r1: v + 1, part: true})
	}
}

// stats is what stays of every step across the in-edges, for each destination
// and column: of a softmax the largest entry, or 0, and the sum of exp(entry − top), of
// a quotient the sum, of a choice the last entry chosen and its edge.
type stats struct {
	n        int // columns
	top, sum []tensor.Float
	edge     []int32
}

// run is one pass of an evaluation over all edges. Its memory is scratch of one
// tile for each thread.
type run struct {
	*evaluation
	stats
	red    reduction
	vars   []*grad.Var
	data   [][]tensor.Float // of the Vars
	drow   []int32          // the row that a moved V reads at each destination
	fit    int              // edges a tile; see tileEdges
	limit  int
	dOut   []tensor.Float // backward: the gradient of the result
	back   bool           // the statistics stand, and all values are kept
	number int            // of the pass, among all
	list   *cuts
	turned []tensor.Float // matrices; see turnMatrices
	task   chunkTask      // forward, of a chunk
}

var running = sync.Pool{New: func() any {
	r := new(run)
	r.task = r.forwardChunk
	return r
}}

// passNumber counts passes, so that a worker knows whether it has served this one.
var passNumber atomic.Int64

// run makes ready for a pass.
func (e *evaluation) run(back bool) *run {
	r := running.Get().(*run)
	r.evaluation, r.back, r.vars = e, back, e.reads()
	r.number = int(passNumber.Add(1))
	r.data = r.data[:0]
	for _, x := range r.vars {
		r.data = append(r.data, x.Value().Data)
	}
	r.drow = nil
	if e.g.Bipartite() {
		r.drow = e.g.DstRows()
	}
	size := e.nStat * e.g.NumDst()
	r.stats = stats{n: e.nStat, top: e.floats[:size], sum: e.floats[size : 2*size]}
	won := e.ints
	if e.edges {
		r.edge, won = won[:size], won[size:]
	}
	if len(e.rs) > 0 {
		r.red = newReduction(e, e.floats[2*size:], won)
	}
	if r.fit, r.limit = e.tileEdges(back); back {
		r.turnMatrices()
	}
	return r
}

// tileEdges returns how many edges tiles of several destinations, and parts of
// one, should have, so that the rows that are read where they stand stay in cache
// while a tile is worked on; and how many a destination may have before it comes
// in parts, which costs more than reading rows from afar.
func (p *plan) tileEdges(back bool) (fit, limit int) {
	width, far := p.width, 1
	if back {
		width, far = p.all, backTile
	}
	limit = min(edgesPerTile(width/far), simd.Rows(p.near).Edges())
	return min(edgesPerTile((width+p.near)/far), limit), limit
}

// dismiss hands a run back. After a panic it is left to the collector.
func (r *run) dismiss() {
	r.evaluation, r.stats, r.red = nil, stats{}, reduction{}
	r.vars, r.drow, r.dOut, r.list = nil, nil, nil, nil
	clear(r.data)
	running.Put(r)
}

// kinds returns which of the rows of its row each edge takes.
func (r *run) kinds(s *step) []int32 { return r.aside(s).rows }

// of returns the statistics of a step at destination v.
func (r *run) of(x []tensor.Float, s *step, v int) []tensor.Float {
	at := v*r.n + s.stat
	return x[at : at+s.width]
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
