package exec

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
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

// chunk is a range of edges that one thread treats: all in-edges of some
// destinations or, of one destination with many, a part. How a graph is cut into
// chunks follows from its edges and the width of the message alone.
type chunk struct {
	lo, hi int // edges
	r0, r1 int // destinations
	hub    int // which of the destinations in parts this is, or −1
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
	limit = min(edgesPerTile(width/far), spmm.Rows(p.NearWidth).Edges())
	return min(edgesPerTile((width+p.NearWidth)/far), limit), limit
}

// parts calls f with edges into v, limit at a time.
func parts(limit, lo, hi, v int, f func(t tile)) {
	for ; lo < hi; lo += limit {
		f(tile{lo: lo, hi: min(lo+limit, hi), r0: v, r1: v + 1, part: true})
	}
}

// chunkTask is a loop over chunks.
type chunkTask func(i int)

// Chunk runs one chunk.
func (f chunkTask) Chunk(i int) { f(i) }

// eachChunk calls f with 0 to n−1, on several threads.
func eachChunk(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	par.Run(n, chunkTask(f))
}

// add is dst += src.
func add(dst, src []tensor.Float) { vec.Add.Forward(dst, dst, src, 1, 1) }

// resize returns a slice of n elements, of s if that is long enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Overlap reports whether x and y share elements.
func Overlap(x, y []tensor.Float) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	start := func(s []tensor.Float) uintptr { return uintptr(unsafe.Pointer(&s[0])) }
	end := func(s []tensor.Float) uintptr { return uintptr(unsafe.Pointer(&s[len(s)-1])) }
	return start(x) <= end(y) && start(y) <= end(x)
}
