package exec

import (
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The backward pass goes over the edges once, by destination. Gradients of V and
// E are added where they belong, those of W to sums of each chunk, which are
// added up in order. Those of U may belong anywhere: a window of the edges'
// gradients is kept, and when it is full each part of the sources takes what is
// its own out of it, in the order of the edges. So no bit depends on the threads
// or the tiles, and the memory does not grow with the number of edges.

// backPass is a backward pass over the edges.
type backPass struct {
	pass    *pass
	op      grad.Op // the evaluation's
	window  window
	ends    []int          // of the windows, in chunks
	partial []tensor.Float // the partial sums of the chunks of a window
	hubs    []int          // the destinations in parts,
	hubSums []tensor.Float // and what the gradients across the edges of each sum
	tasks   struct{ chunk, scatter, hub chunkTask }
	inRoom  func(buf []tensor.Float)
}

var backPasses = sync.Pool{New: func() any {
	b := new(backPass)
	b.tasks.chunk, b.tasks.scatter, b.tasks.hub = b.chunk, b.window.scatter, b.measureHub
	b.inRoom = b.allWindows
	return b
}}

// backward recomputes the plan tile by tile, or in walks, and adds to the gradient of
// every leaf.
func (b *backPass) backward(p *pass) {
	l := partitionOf(p.plan, p.graph, true)
	b.pass, b.op, b.hubs = p, p.eval.op, l.hubs
	w := &b.window
	w.pass, w.chunks, w.first = p, l.chunks, 0
	w.findLeaves()
	b.measureHubs()
	width := b.cutWindows()
	if !tape.Measuring(b.op) {
		w.findOrders(l, b.ends, width)
	}
	chunks := b.findLargest()
	b.partial = b.op.Floats(chunks * w.sums)
	b.op.Scratch(w.makeRoom(), b.inRoom)
	for i := range w.leaves {
		if k := &w.leaves[i]; k.addTo != nil && !tape.Measuring(b.op) {
			add(k.addTo, k.dx)
		}
	}
	b.release()
}

// release hands the pass back. After a panic it is left to the collector.
func (b *backPass) release() {
	w := &b.window
	clear(w.leaves)
	clear(w.leafOf)
	*w = window{leaves: w.leaves, leafOf: w.leafOf, compact: compactGrad{signs: w.compact.signs}}
	b.pass, b.op, b.partial, b.hubs, b.hubSums = nil, grad.Op{}, nil, nil, nil
	backPasses.Put(b)
}

// measureHubs computes, for all destinations in parts, what the gradients across
// their edges sum.
func (b *backPass) measureHubs() {
	columns := b.pass.stats.columns
	b.hubSums = b.op.Floats(len(b.hubs) * columns)
	if columns > 0 && len(b.hubs) > 0 && !tape.Measuring(b.op) {
		eachChunk(len(b.hubs), b.tasks.hub)
	}
	for _, v := range b.hubs {
		b.window.clear(v, v+1)
	}
}

// measureHub computes the sums that the gradients across the edges of a
// destination in parts take.
func (b *backPass) measureHub(i int) {
	w := b.pass.readyWorker(b.pass.limit)
	w.sumInEdges(b.hubs[i])
	copy(b.hubSums[i*b.pass.stats.columns:], w.inEdgeSums)
	w.release()
}

// cutWindows finds the end of each window, in chunks, and returns how many elements are
// kept of an edge.
func (b *backPass) cutWindows() (width int) {
	for i := range b.window.leaves {
		if k := &b.window.leaves[i]; k.compact != nil {
			width += 2 * k.keeps() // about as much is beside: signs, places, rows of destinations
		} else if k.step.Gathers() {
			width += k.step.Width
		}
	}
	b.ends = b.ends[:0]
	chunks, from := b.window.chunks, 0
	for i, c := range chunks {
		edges := c.hi - chunks[from].lo
		if i > from && (i-from == windowChunks || edges*width > WindowFloats || edges > windowEdges) {
			b.ends, from = append(b.ends, i), i
		}
	}
	b.ends = append(b.ends, len(chunks))
	return width
}

// findLargest finds the most edges of a window, and returns the most chunks.
func (b *backPass) findLargest() (chunks int) {
	w, from := &b.window, 0
	w.room = 0
	for _, end := range b.ends {
		if from < end {
			w.room, chunks = max(w.room, w.chunks[end-1].hi-w.chunks[from].lo), max(chunks, end-from)
		}
		from = end
	}
	return chunks
}

// allWindows does all windows, whose gradients find room in buf.
func (b *backPass) allWindows(buf []tensor.Float) {
	w := &b.window
	for i := range w.leaves {
		if k := &w.leaves[i]; k.step.Gathers() {
			n := w.room * k.keeps()
			k.window, buf = buf[:n], buf[n:]
		}
	}
	if tape.Measuring(b.op) {
		return
	}
	for w.number, w.end = range b.ends {
		b.oneWindow()
	}
}

// oneWindow does the chunks of the window.
func (b *backPass) oneWindow() {
	w := &b.window
	if w.first == w.end {
		return
	}
	w.base = w.chunks[w.first].lo
	clear(b.partial)
	eachChunk(w.end-w.first, b.tasks.chunk)
	for i := range w.leaves {
		k := &w.leaves[i]
		switch {
		case k.step.Kind == ops.LeafU:
			w.scattered = k
			eachChunk(w.buckets(k), b.tasks.scatter)
		case k.step.Gathers():
			w.scatterPicked(k)
		}
	}
	for i := w.first; i < w.end; i++ {
		for j := range w.leaves {
			if k := &w.leaves[j]; k.step.Sums() {
				k.collect(w.chunks[i], b.partial[(i-w.first)*w.sums:(i-w.first+1)*w.sums])
			}
		}
	}
	w.first = w.end
}

// chunk does one chunk of the window.
func (b *backPass) chunk(i int) {
	c := b.window.chunks[b.window.first+i]
	w := b.pass.readyWorker(c.hi - c.lo)
	w.window, w.chunk, w.partial = &b.window, c, b.partial[i*b.window.sums:(i+1)*b.window.sums]
	b.window.aimChunk(c)
	switch n := b.pass.stats.columns; {
	case c.hub >= 0:
		copy(w.inEdgeSums, b.hubSums[c.hub*n:(c.hub+1)*n])
		w.backwardTiles(c)
	case b.pass.eval.walks && b.pass.plan.ScoreIsValue >= 0:
		w.walkBack(c)
	default:
		w.backwardTiles(c)
	}
	w.release()
}
