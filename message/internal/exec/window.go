package exec

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/sparse"
)

// window is some chunks of edges, one after another, whose gradients for sources are
// kept until each part of the sources takes what is its own out of it. Workers fill it.
// What V, E and W get does not wait.
type window struct {
	pass      *pass
	chunks    []chunk // of all windows
	leaves    []leafGrad
	leafOf    []*leafGrad // of each step; nil: has none
	sums      int         // elements of the partial sums of a chunk
	order     *sourceOrder
	compact   compactGrad // of a leaf that is scored and summed
	room      int         // edges of the largest window
	number    int         // of the window that is done,
	first     int         // its first chunk,
	end       int         // the end of its chunks
	base      int         // and its first edge
	scattered *leafGrad   // the leaf whose gradients are being added
}

// findLeaves finds the leaves whose gradients are wanted, and the number of partial
// sums that a chunk needs for them.
func (w *window) findLeaves() {
	p := w.pass.plan
	w.leaves, w.leafOf, w.sums = resize(w.leaves, len(p.Steps))[:0], resize(w.leafOf, len(p.Steps)), 0
	for i := range p.Steps {
		s := &p.Steps[i]
		w.leafOf[i] = nil
		if !s.Kind.IsLeaf() || !s.Needs {
			continue
		}
		w.leaves = append(w.leaves, leafGrad{pass: w.pass, step: s, i: i, row: s.Width})
		k := &w.leaves[len(w.leaves)-1]
		k.open()
		w.leafOf[i] = k
		if s.Picked {
			k.row *= s.PickFrom
			k.countable()
		}
		if s.Sums() {
			k.at = w.sums
			w.sums += k.row
		}
		k.avoid(w.pass.eval.op, w.leaves[:len(w.leaves)-1])
	}
	if p.ScoreIsValue >= 0 {
		w.leafOf[p.Out().A].compact = &p.Steps[p.ScoreIsValue]
	}
	w.clearShared()
}

// clearShared clears now what two leaves will add to.
func (w *window) clearShared() {
	for i := range w.leaves {
		k := &w.leaves[i]
		shared := func(o leafGrad) bool { return o.i != k.i && Overlap(o.dx, k.dx) }
		if k.fresh && slices.ContainsFunc(w.leaves, shared) {
			k.clear(0, w.pass.graph.NumDst())
			k.fresh = false
		}
	}
}

// clear empties the gradients of the destinations from r0 to r1 that are fresh.
func (w *window) clear(r0, r1 int) {
	for i := range w.leaves {
		w.leaves[i].clear(r0, r1)
	}
}

// makeRoom makes room for the largest window, and returns how many elements of leaves'
// gradients are kept in it.
func (w *window) makeRoom() (floats int) {
	op := w.pass.eval.op
	for i := range w.leaves {
		k := &w.leaves[i]
		if !k.step.Gathers() {
			continue
		}
		floats += w.room * k.keeps()
		if k.step.Picked || k.compact != nil {
			k.to = op.Ints(w.room)
		}
		if k.compact != nil {
			w.compact.places, w.compact.dst = op.Ints(w.room), op.Ints(w.room)
			if !tape.Measuring(op) {
				w.compact.signs = resize(w.compact.signs, w.room*k.step.Width/8)
			}
		}
	}
	return floats
}

// findOrders finds in which order gradients go back to sources: of windows that end at
// such chunks and keep so many elements of an edge.
func (w *window) findOrders(l *partition, ends []int, width int) {
	g := w.pass.graph
	for i := range w.leaves {
		switch k := &w.leaves[i]; {
		case k.compact != nil:
			w.compact.order = l.orders.order(g, l.chunks, everyChunk, nil)
		case k.step.Kind == ops.LeafU && w.order == nil:
			w.order = l.orders.order(g, l.chunks, windowsOf{width, WindowFloats}, ends)
		}
	}
}

// aimChunk tells where the gradients of a chunk's edges belong.
func (w *window) aimChunk(c chunk) {
	for j := range w.leaves {
		if k := &w.leaves[j]; k.step.Gathers() && k.step.Picked {
			w.aimPicked(k, c)
		}
	}
	if p := w.pass.plan; p.ScoreIsValue >= 0 {
		w.compact.place(w.pass.graph.In(), c, c.lo-w.base, w.leafOf[p.Out().A].to)
	}
}

// aimPicked says which rows of a picked leaf the edges of a chunk have.
func (w *window) aimPicked(k *leafGrad, c chunk) {
	to := k.to[c.lo-w.base : c.hi-w.base]
	copy(to, w.pass.kindsOf(k.step, c, to))
	if k.step.Kind == ops.LeafW {
		return
	}
	for e, u := range w.pass.graph.In().Cols[c.lo:c.hi] {
		to[e] += u * int32(k.step.PickFrom)
	}
}

// placesOf are the places of edges of the window, of a compact gradient.
func (w *window) placesOf(lo, hi int) []int32 { return w.compact.places[lo-w.base : hi-w.base] }

// buckets is in how many parts the edges of a window give back to a leaf.
func (w *window) buckets(k *leafGrad) int {
	if k.compact != nil {
		return w.compact.order.buckets
	}
	return w.order.buckets
}

// scatter adds a bucket's part of the window to the gradient of U.
func (w *window) scatter(bucket int) {
	k := w.scattered
	if k.compact != nil {
		w.compact.scatter(k, w.chunks[w.first:w.end], w.first, bucket)
		return
	}
	to := k.to
	if !k.step.Picked {
		to = w.pass.graph.In().Cols[w.base:]
	}
	from, end := w.order.span(w.number, bucket)
	spmm.Rows(k.step.Width).Scatter(k.dx, k.window, to, w.order.order[w.base+from:w.base+end])
}

// stripe is the columns that one thread adds of a picked W.
const stripe = 16

// scatterPicked adds the window to the gradient of a picked W: any edge may have
// any row, so the threads share the columns.
func (w *window) scatterPicked(k *leafGrad) {
	n, edges := k.step.Width, w.chunks[w.end-1].hi-w.base
	par.For(n, stripe, func(lo, hi int) {
		for e, row := range k.to[:edges] {
			add(k.dx[int(row)*n+lo:int(row)*n+hi], k.window[e*n+lo:e*n+hi])
		}
	})
}

// compactGrad is what the window keeps of each edge for a leaf whose rows are both
// scored and summed, as in GATv2: two numbers a head and a sign for each element. The
// thread that adds an edge's gradient to its source makes the row from these. They are
// less than a third of it: rows would have to travel from the processors that make
// them to those that add them.
//
// The edges of a chunk are kept in the places of its source order, those of one
// bucket side by side.
type compactGrad struct {
	order  *sourceOrder // of every chunk
	places []int32      // the place of each edge of the window
	signs  []uint8      // of each place, what attend.EdgeRows.ScoreBrief keeps,
	dst    []int32      // and the destination
}

// place gives the edges of a chunk places in order by bucket, from number first on, and
// says of each place where it comes from, in from, and goes to.
func (k *compactGrad) place(in *sparse.CSR, c chunk, first int, from []int32) {
	places := k.places[first : first+c.hi-c.lo]
	for p, e := range k.order.order[c.lo:c.hi] {
		places[e] = int32(first + p)
	}
	for v := c.r0; v < c.r1; v++ {
		lo, hi := max(int(in.Offsets[v]), c.lo), min(int(in.Offsets[v+1]), c.hi)
		for e := lo; e < hi; e++ {
			p := places[e-c.lo]
			from[p], k.dst[p] = in.Cols[e], int32(v)
		}
	}
}

// scatter adds a bucket's part of the window, whose chunks are numbered from first on, to
// the gradient of the leaf.
func (k *compactGrad) scatter(leaf *leafGrad, chunks []chunk, first, bucket int) {
	list := placeLists.Get().(*[]int32)
	places := (*list)[:0]
	for i, c := range chunks {
		from, to := k.order.span(first+i, bucket)
		for p := from; p < to; p++ {
			places = append(places, int32(c.lo-chunks[0].lo+p))
		}
	}
	s, p := leaf.compact, leaf.pass
	r := attend.CompactGrads{
		DU: leaf.dx, R: p.dOut, A: p.data[p.plan.Steps[s.Near.W].Var], Z: leaf.window, Signs: k.signs,
		To: leaf.to, From: k.dst, Width: s.Run, H: s.Width, Slope: s.C,
	}
	r.Add(places)
	*list = places
	placeLists.Put(list)
}

// placeLists keeps lists of places between calls.
var placeLists = sync.Pool{New: func() any { return new([]int32) }}
