package exec

import (
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The backward pass goes over the edges once, by destination. Gradients of V and
// E are added where they belong, those of W to sums of each chunk, which are
// added up in order. Those of U may belong anywhere: a window of the edges'
// gradients is kept, and when it is full each part of the sources takes what is
// its own out of it, in the order of the edges. So no bit depends on the threads
// or the tiles, and the memory does not grow with the number of edges.

// WindowFloats is the size of a window. Tests change it: bits may depend on it.
var WindowFloats = 1 << 20

const (
	windowChunks = 64      // the most chunks of a window
	windowEdges  = 1 << 16 // and edges: they are counted in 16 bits
)

// backPass is a backward pass over the edges.
type backPass struct {
	pass  *pass
	plan  *plan.Plan   // the pass's
	graph *graph.Graph // the pass's
	op    grad.Op      // the evaluation's

	chunks  []chunk
	hubs    []int          // the destinations in parts,
	hubSums []tensor.Float // and what the gradients across the edges of each sum
	leaves  []leafGrad
	leafOf  []*leafGrad    // of each step; nil: has none
	width   int            // partial sums of a chunk
	partial []tensor.Float // those of the chunks of a window
	windows []int          // the end of each window, in chunks
	room    int            // edges of the largest window
	order   *sourceOrder   // of leaves of sources
	compact compactGrad    // of a leaf that is scored and summed

	at         int       // the number of the window that is done,
	first, end int       // its chunks,
	base       int       // and its first edge
	scattered  *leafGrad // the leaf whose window is being added

	tasks  struct{ chunk, scatter, hub chunkTask }
	inRoom func(buf []tensor.Float)
}

var backPasses = sync.Pool{New: func() any {
	b := new(backPass)
	b.tasks.chunk, b.tasks.scatter, b.tasks.hub = b.chunk, b.scatter, b.measureHub
	b.inRoom = b.allWindows
	return b
}}

// backward recomputes the plan tile by tile, or in walks, and adds to the gradient of
// every leaf.
func (b *backPass) backward(p *pass) {
	l := p.partitionOf(true)
	b.pass, b.plan, b.graph, b.op = p, p.plan, p.graph, p.eval.op
	b.chunks, b.hubs, b.first = l.chunks, l.hubs, 0
	b.findLeaves()
	b.measureHubs()
	width := b.cutWindows()
	if !b.op.Measuring() {
		b.findOrders(l, width)
	}
	b.op.Scratch(b.makeRoom(), b.inRoom)
	for i := range b.leaves {
		if k := &b.leaves[i]; k.addTo != nil && !b.op.Measuring() {
			add(k.addTo, k.dx)
		}
	}
	b.release()
}

// measureHubs computes, for all destinations in parts, what the gradients across
// their edges sum.
func (b *backPass) measureHubs() {
	columns := b.pass.stats.columns
	b.hubSums = b.op.Floats(len(b.hubs) * columns)
	if columns > 0 && len(b.hubs) > 0 && !b.op.Measuring() {
		Each(len(b.hubs), b.tasks.hub)
	}
	for _, v := range b.hubs {
		b.clear(v, v+1)
	}
}

// makeRoom makes room for the largest window, and returns how many elements of leaves'
// gradients are kept in it.
func (b *backPass) makeRoom() (floats int) {
	chunks := 0
	b.room, chunks = b.largest()
	b.partial = b.op.Floats(chunks * b.width)
	for i := range b.leaves {
		k := &b.leaves[i]
		if !k.step.Gathers() {
			continue
		}
		floats += b.room * k.keeps()
		if k.step.Picked || k.compact != nil {
			k.to = b.op.Ints(b.room)
		}
		if k.compact != nil {
			b.compact.makeRoom(b, k.step.Width)
		}
	}
	return floats
}

// release hands the pass back. After a panic it is left to the collector.
func (b *backPass) release() {
	clear(b.leaves)
	clear(b.leafOf)
	*b = backPass{leaves: b.leaves, leafOf: b.leafOf, windows: b.windows, compact: compactGrad{signs: b.compact.signs}, tasks: b.tasks, inRoom: b.inRoom}
	backPasses.Put(b)
}

// allWindows does all windows, whose gradients find room in buf.
func (b *backPass) allWindows(buf []tensor.Float) {
	for i := range b.leaves {
		if k := &b.leaves[i]; k.step.Gathers() {
			n := b.room * k.keeps()
			k.window, buf = buf[:n], buf[n:]
		}
	}
	if b.op.Measuring() {
		return
	}
	for b.at, b.end = range b.windows {
		b.window()
	}
}

// findOrders finds in which order gradients go back to sources.
func (b *backPass) findOrders(l *partition, width int) {
	for i := range b.leaves {
		switch k := &b.leaves[i]; {
		case k.compact != nil:
			b.compact.order = l.sourceOrder(b.graph, everyChunk, nil)
		case k.step.Kind == ir.LeafU && b.order == nil:
			b.order = l.sourceOrder(b.graph, windowsOf{width, WindowFloats}, b.windows)
		}
	}
}

// cutWindows finds the end of each window, in chunks, and returns how many elements are
// kept of an edge.
func (b *backPass) cutWindows() (width int) {
	for i := range b.leaves {
		if k := &b.leaves[i]; k.compact != nil {
			width += 2 * k.keeps() // about as much is beside: signs, places, rows of destinations
		} else if k.step.Gathers() {
			width += k.step.Width
		}
	}
	b.windows = b.windows[:0]
	from := 0
	for i, c := range b.chunks {
		edges := c.hi - b.chunks[from].lo
		if i > from && (i-from == windowChunks || edges*width > WindowFloats || edges > windowEdges) {
			b.windows, from = append(b.windows, i), i
		}
	}
	b.windows = append(b.windows, len(b.chunks))
	return width
}

// largest returns the most edges and chunks of a window.
func (b *backPass) largest() (edges, chunks int) {
	from := 0
	for _, end := range b.windows {
		if from < end {
			edges, chunks = max(edges, b.chunks[end-1].hi-b.chunks[from].lo), max(chunks, end-from)
		}
		from = end
	}
	return edges, chunks
}

// window does the chunks from first to end.
func (b *backPass) window() {
	if b.first == b.end {
		return
	}
	b.base = b.chunks[b.first].lo
	clear(b.partial)
	Each(b.end-b.first, b.tasks.chunk)
	for i := range b.leaves {
		k := &b.leaves[i]
		switch {
		case k.step.Kind == ir.LeafU:
			b.scattered = k
			Each(b.buckets(k), b.tasks.scatter)
		case k.step.Gathers():
			b.scatterPicked(k)
		}
	}
	for i := b.first; i < b.end; i++ {
		for j := range b.leaves {
			if k := &b.leaves[j]; k.step.Sums() {
				k.collect(b.chunks[i], b.partial[(i-b.first)*b.width:(i-b.first+1)*b.width])
			}
		}
	}
	b.first = b.end
}

// chunk does one chunk of the window.
func (b *backPass) chunk(i int) {
	c := b.chunks[b.first+i]
	w := b.pass.newWorker(c.hi - c.lo)
	w.back, w.chunk, w.partial = b, c, b.partial[i*b.width:(i+1)*b.width]
	b.aimChunk(c)
	switch n := b.pass.stats.columns; {
	case c.hub >= 0:
		copy(w.acrossSums, b.hubSums[c.hub*n:(c.hub+1)*n])
		w.tilesBack(c)
	case b.pass.eval.walks && b.plan.ScoreIsValue >= 0:
		w.walkBack(c)
	default:
		w.tilesBack(c)
	}
	w.release()
}

// clear empties the gradients of the destinations from r0 to r1 that are fresh.
func (b *backPass) clear(r0, r1 int) {
	for i := range b.leaves {
		b.leaves[i].clear(r0, r1)
	}
}

// measureHub computes the sums that the gradients across the edges of a
// destination in parts take.
func (b *backPass) measureHub(i int) {
	w := b.pass.newWorker(b.pass.limit)
	w.sumAcross(b.hubs[i])
	copy(b.hubSums[i*b.pass.stats.columns:], w.acrossSums)
	w.release()
}

// aimChunk tells where the gradients of a chunk's edges belong.
func (b *backPass) aimChunk(c chunk) {
	for j := range b.leaves {
		if k := &b.leaves[j]; k.step.Gathers() && k.step.Picked {
			b.aimPicked(k, c)
		}
	}
	if b.plan.ScoreIsValue >= 0 {
		b.compact.place(b, c)
	}
}

// aimPicked says which rows of a picked leaf the edges of a chunk have.
func (b *backPass) aimPicked(k *leafGrad, c chunk) {
	to, kinds := k.to[c.lo-b.base:c.hi-b.base], b.pass.kindsOf(k.step)[c.lo:c.hi]
	if k.step.Kind == ir.LeafW {
		copy(to, kinds)
		return
	}
	for e, u := range b.graph.In().Cols[c.lo:c.hi] {
		to[e] = u*int32(k.step.PickFrom) + kinds[e]
	}
}

// buckets is in how many parts the edges of a window give back to a leaf.
func (b *backPass) buckets(k *leafGrad) int {
	if k.compact != nil {
		return b.compact.order.buckets
	}
	return b.order.buckets
}

// scatter adds a bucket's part of the window to the gradient of U.
func (b *backPass) scatter(bucket int) {
	k := b.scattered
	if k.compact != nil {
		b.compact.scatter(b, k, bucket)
		return
	}
	to := k.to
	if !k.step.Picked {
		to = b.graph.In().Cols[b.base:]
	}
	from, end := b.order.span(b.at, bucket)
	simd.Rows(k.step.Width).Scatter(k.dx, k.window, to, b.order.order[b.base+from:b.base+end])
}

// stripe is the columns that one thread adds of a picked W.
const stripe = 16

// scatterPicked adds the window to the gradient of a picked W: any edge may have
// any row, so the threads share the columns.
func (b *backPass) scatterPicked(k *leafGrad) {
	n, edges := k.step.Width, b.chunks[b.end-1].hi-b.base
	par.For(n, stripe, func(lo, hi int) {
		for e, row := range k.to[:edges] {
			add(k.dx[int(row)*n+lo:int(row)*n+hi], k.window[e*n+lo:e*n+hi])
		}
	})
}
