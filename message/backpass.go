package message

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The backward pass goes over the edges once, by destination. Gradients of V and
// E are added where they belong, those of W to sums of each chunk, which are
// added up in order. Those of U may belong anywhere: a window of the edges'
// gradients is kept, and when it is full each part of the sources takes what is
// its own out of it, in the order of the edges. So no bit depends on the threads
// or the tiles, and the memory does not grow with the number of edges. Where a few
// numbers of an edge tell its row, the window has these: see give.

// windowFloats is the size of a window, and windowChunks the most chunks in it.
// Tests change the size: bits may depend on it.
var windowFloats = 1 << 20

const (
	windowChunks = 64
	windowEdges  = 1 << 16 // they are counted in 16 bits
)

// backPass is a backward pass over the edges.
type backPass struct {
	*run
	chunks  []chunk
	hubs    []int
	pulls   []tensor.Float // of each destination in parts
	sinks   []sink
	sinkOf  []*sink // of each step; nil: has none
	width   int     // partial sums of a chunk
	ends    []int   // of the windows, in chunks
	first   int     // the first chunk of the window
	base    int     // and its first edge
	partial []tensor.Float
	placed  *returns // of a sink of two
	returns *returns // of other leaves of sources
	at      int      // the number of the window,
	room    int      // edges of the largest window
	places  []int32  // of the window's edges among those that are kept for a sink of two, by bucket
	signs   []uint8  // and of each place what simd.Fan.ScoreBrief keeps,
	dests   []int32  // and the destination
	sink    *sink    // the leaf whose window is being added
	end     int      // the end of the window, in chunks
	tasks   struct{ chunk, scatter, hub chunkTask }
	inRoom  func(buf []tensor.Float)
}

var passes = sync.Pool{New: func() any {
	b := new(backPass)
	b.tasks.chunk, b.tasks.scatter, b.tasks.hub = b.chunk, b.scatter, b.measureHub
	b.inRoom = b.allWindows
	return b
}}

// backward recomputes the plan tile by tile, or in walks, and adds to the gradient of
// every leaf.
func (b *backPass) backward(r *run) {
	l := r.chunks(true)
	b.run, b.chunks, b.hubs, b.first = r, l.all, l.hubs, 0
	b.aim()
	b.pulls = r.op.Floats(len(b.hubs) * r.n)
	if r.n > 0 && len(b.hubs) > 0 && !r.op.Measuring() {
		eachChunk(len(b.hubs), b.tasks.hub)
	}
	for _, v := range b.hubs {
		b.clear(v, v+1)
	}
	width := b.windows()
	if !r.op.Measuring() {
		b.findWay(l, width)
	}
	chunks := 0
	b.room, chunks = b.largest()
	b.partial = r.op.Floats(chunks * b.width)
	floats := 0
	for i := range b.sinks {
		if k := &b.sinks[i]; k.gathers() {
			floats += b.room * k.keeps()
			if k.taken || k.two != nil {
				k.to = r.op.Ints(b.room)
			}
			if k.two != nil {
				b.places, b.dests = r.op.Ints(b.room), r.op.Ints(b.room)
				if !r.op.Measuring() {
					b.signs = resize(b.signs, b.room*k.width/8)
				}
			}
		}
	}
	r.op.Scratch(floats, b.inRoom)
	for i := range b.sinks {
		if k := &b.sinks[i]; k.add != nil && !r.op.Measuring() {
			add(k.add, k.dx)
		}
	}
	b.dismiss()
}

// dismiss hands the pass back. After a panic it is left to the collector.
func (b *backPass) dismiss() {
	clear(b.sinks)
	clear(b.sinkOf)
	*b = backPass{sinks: b.sinks, sinkOf: b.sinkOf, ends: b.ends, signs: b.signs, tasks: b.tasks, inRoom: b.inRoom}
	passes.Put(b)
}

// allWindows does all windows, whose gradients find room in buf.
func (b *backPass) allWindows(buf []tensor.Float) {
	for i := range b.sinks {
		if k := &b.sinks[i]; k.gathers() {
			n := b.room * k.keeps()
			k.win, buf = buf[:n], buf[n:]
		}
	}
	if b.op.Measuring() {
		return
	}
	for b.at, b.end = range b.ends {
		b.window()
	}
}

// findWay finds in which order gradients go back to sources.
func (b *backPass) findWay(l *cuts, width int) {
	for i := range b.sinks {
		switch k := &b.sinks[i]; {
		case k.two != nil:
			b.placed = l.back(b.g, everyChunk, nil)
		case k.kind == leafU && b.returns == nil:
			b.returns = l.back(b.g, windowsOf{width, windowFloats}, b.ends)
		}
	}
}

// windows finds the end of each window, in chunks, and returns how many elements are
// kept of an edge.
func (b *backPass) windows() (width int) {
	for i := range b.sinks {
		if k := &b.sinks[i]; k.two != nil {
			width += 2 * k.keeps() // about as much is beside: signs, places, rows of destinations
		} else if k.gathers() {
			width += k.width
		}
	}
	b.ends = b.ends[:0]
	from := 0
	for i, c := range b.chunks {
		edges := c.hi - b.chunks[from].lo
		if i > from && (i-from == windowChunks || edges*width > windowFloats || edges > windowEdges) {
			b.ends, from = append(b.ends, i), i
		}
	}
	b.ends = append(b.ends, len(b.chunks))
	return width
}

// largest returns the most edges and chunks of a window.
func (b *backPass) largest() (edges, chunks int) {
	from := 0
	for _, end := range b.ends {
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
	eachChunk(b.end-b.first, b.tasks.chunk)
	for i := range b.sinks {
		k := &b.sinks[i]
		switch {
		case k.kind == leafU:
			b.sink = k
			eachChunk(b.buckets(k), b.tasks.scatter)
		case k.gathers():
			b.scatterPicked(k)
		}
	}
	for i := b.first; i < b.end; i++ {
		for j := range b.sinks {
			if k := &b.sinks[j]; k.sums() {
				k.collect(b.chunks[i], b.partial[(i-b.first)*b.width:(i-b.first+1)*b.width])
			}
		}
	}
	b.first = b.end
}

// chunk does one chunk of the window.
func (b *backPass) chunk(i int) {
	c := b.chunks[b.first+i]
	w := b.hire(c.hi - c.lo)
	w.pass, w.work, w.part = b, c, b.partial[i*b.width:(i+1)*b.width]
	b.direct(c)
	switch {
	case c.hub >= 0:
		copy(w.pull, b.pulls[c.hub*b.run.n:(c.hub+1)*b.run.n])
		w.tilesBack(c)
	case b.scored && b.both >= 0:
		w.retrace(c)
	default:
		w.tilesBack(c)
	}
	w.dismiss()
}

// tilesBack does a chunk tile by tile.
func (w *worker) tilesBack(c chunk) {
	w.tiles(c, w.measurePull, w.gradient)
}

// clear empties the gradients of the destinations from r0 to r1 that are new.
func (b *backPass) clear(r0, r1 int) {
	for i := range b.sinks {
		b.sinks[i].clear(r0, r1)
	}
}

// gradient evaluates a tile and adds its gradients.
func (w *worker) gradient(t tile) {
	w.foresee(t)
	w.evaluate(t, w.made())
	if w.work.hub < 0 && w.begins(t) {
		w.pass.clear(t.r0, t.r1)
	}
	w.pullBack(t, 0)
	for i := range w.pass.sinks {
		w.pass.sinks[i].deliver(w, t, w.work, w.part)
	}
}

// foresee asks for what a tile's destinations have, and is read late.
func (w *worker) foresee(t tile) {
	simd.Fetch(w.top[t.r0*w.n : t.r1*w.n])
	simd.Fetch(w.sum[t.r0*w.n : t.r1*w.n])
	for i := range w.pass.sinks {
		if k := &w.pass.sinks[i]; k.kind == leafV && !k.moved && !k.taken {
			simd.Fetch(k.dx[t.r0*k.width : t.r1*k.width])
		}
	}
}

// measureHub computes the sums that the gradients across the edges of a
// destination in parts take.
func (b *backPass) measureHub(i int) {
	w := b.hire(b.limit)
	w.measurePull(b.hubs[i])
	copy(b.pulls[i*b.run.n:], w.pull)
	w.dismiss()
}

// measurePull computes, for a destination in parts, the sum that the gradient of
// each step across its edges takes over all of them, from the last step to the
// first.
func (w *worker) measurePull(v int) {
	pass := w.pass
	w.pass = nil // no leaf takes a gradient yet
	defer func() { w.pass = pass }()
	clear(w.pull)
	lo, hi := int(w.g.In().Offsets[v]), int(w.g.In().Offsets[v+1])
	for i := len(w.steps) - 1; i >= 0; i-- {
		s := &w.steps[i]
		if !s.across() || !s.needs || s.kind == topK {
			continue
		}
		c := w.pull[s.stat : s.stat+s.width]
		parts(w.fit, lo, hi, v, func(t tile) {
			w.evaluate(t, w.made())
			w.pullBack(t, i+1)
			if w.has[i] {
				n := (t.hi - t.lo) * s.width
				w.weighPull(s, w.tmp[:n], w.vals[i][:n], w.adj[i])
				simd.AddRows(c, w.tmp[:n])
			}
		})
	}
}

// aim has the gradients of leaves that gather go to the window, or nowhere.
func (w *worker) aim(t tile) {
	if w.pass != nil {
		for i := range w.pass.sinks {
			if k := &w.pass.sinks[i]; k.gathers() && k.two == nil {
				w.adj[k.i] = k.win[(t.lo-w.pass.base)*k.width : (t.hi-w.pass.base)*k.width]
			}
		}
		return
	}
	for i := range w.steps {
		if s := &w.steps[i]; s.gathers() && s.needs {
			w.dump = resize(w.dump, max((t.hi-t.lo)*s.width, cap(w.dump)))
			w.adj[i] = w.dump[:(t.hi-t.lo)*s.width]
		}
	}
}

// direct tells where the gradients of a chunk's edges belong.
func (b *backPass) direct(c chunk) {
	for j := range b.sinks {
		if k := &b.sinks[j]; k.gathers() && k.taken {
			b.aimEdges(k, c)
		}
	}
	if b.both >= 0 {
		b.placeEdges(c)
	}
}

// aimEdges says which rows of a picked leaf the edges of a chunk have.
func (b *backPass) aimEdges(k *sink, c chunk) {
	to, kinds := k.to[c.lo-b.base:c.hi-b.base], b.kinds(k.step)[c.lo:c.hi]
	if k.kind == leafW {
		copy(to, kinds)
		return
	}
	for e, u := range b.g.In().Cols[c.lo:c.hi] {
		to[e] = u*int32(k.from) + kinds[e]
	}
}

// placeEdges gives a chunk's edges places in order by bucket, for the sink of two, and
// says of each place where it comes from and goes to.
func (b *backPass) placeEdges(c chunk) {
	in, to, first := b.g.In(), b.sinkOf[b.out().a].to, int32(c.lo-b.base)
	places := b.places[c.lo-b.base : c.hi-b.base]
	for p, e := range b.placed.order[c.lo:c.hi] {
		places[e] = first + int32(p)
	}
	for v := c.r0; v < c.r1; v++ {
		lo, hi := max(int(in.Offsets[v]), c.lo), min(int(in.Offsets[v+1]), c.hi)
		for e := lo; e < hi; e++ {
			p := places[e-c.lo]
			to[p], b.dests[p] = in.Cols[e], int32(v)
		}
	}
}

// buckets is in how many parts the edges of a window give back to a leaf.
func (b *backPass) buckets(k *sink) int {
	if k.two != nil {
		return b.placed.buckets
	}
	return b.returns.buckets
}

// give adds what some of the window's edges give back to the rows of their
// sources, which were scored and summed. Each makes its row of what it kept, which
// of several heads is less than a third of that: rows would have to travel from the
// processors that make them to those that add them.
func (b *backPass) give(k *sink, places []int32) {
	s := k.two
	r := simd.Returns{
		DU: k.dx, R: b.dOut, A: b.data[b.steps[s.ends.w].leaf], Z: k.win, Signs: b.signs,
		To: k.to, From: b.dests, Width: s.run, H: s.width, Slope: s.c,
	}
	r.Add(places)
}

// scatter adds a bucket's part of the window to the gradient of U.
func (b *backPass) scatter(bucket int) {
	k := b.sink
	if k.two != nil {
		b.giveBucket(k, bucket)
		return
	}
	to := k.to
	if !k.taken {
		to = b.g.In().Cols[b.base:]
	}
	from, end := b.returns.run(b.at, bucket)
	simd.Rows(k.width).Scatter(k.dx, k.win, to, b.returns.order[b.base+from:b.base+end])
}

// giveBucket has a bucket's edges, which are in their places, give back.
func (b *backPass) giveBucket(k *sink, bucket int) {
	list := lists.Get().(*[]int32)
	places := (*list)[:0]
	for i := b.first; i < b.end; i++ {
		first := b.chunks[i].lo - b.base
		from, to := b.placed.run(i, bucket)
		for p := from; p < to; p++ {
			places = append(places, int32(first+p))
		}
	}
	b.give(k, places)
	*list = places
	lists.Put(list)
}

// lists keeps lists of places between calls.
var lists = sync.Pool{New: func() any { return new([]int32) }}

// stripe is the columns that one thread adds of a picked W.
const stripe = 16

// scatterPicked adds the window to the gradient of a picked W: any edge may have
// any row, so the threads share the columns.
func (b *backPass) scatterPicked(k *sink) {
	n, edges := k.width, b.chunks[b.end-1].hi-b.base
	par.For(n, stripe, func(lo, hi int) {
		for e, row := range k.to[:edges] {
			add(k.dx[int(row)*n+lo:int(row)*n+hi], k.win[e*n+lo:e*n+hi])
		}
	})
}
