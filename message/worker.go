package message

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// worker is one thread's scratch in a pass over the edges.
type worker struct {
	*run
	buf    []tensor.Float
	vals   [][]tensor.Float // of each step, for one tile
	adj    [][]tensor.Float // gradients of the values, where they are at the moment
	own    [][]tensor.Float // and where each has room of its own
	has    []bool           // a gradient has come in
	dst    []int32          // the destination of each edge of the tile
	rows   []int32
	tmp    []tensor.Float // of the widest step, for one tile
	mix    []tensor.Float
	dump   []tensor.Float // for gradients that are not wanted now
	pull   []tensor.Float // at the destination in parts: what the gradients across its edges sum
	best   []tensor.Float // of a choice: the entries chosen so far, and their edges
	edge   []int32
	fixed  [2]int    // the pass and the edges for which steps that are fixed have been computed
	last   tile      // of which dst tells
	pass   *backPass // whose window takes gradients of leaves; nil: none
	work   chunk     // backward: what is being done, and its partial sums
	part   []tensor.Float
	fan    simd.Fan       // of the edges of a tile
	span   [2]int64       // its Offsets, of a part
	bin    []tensor.Float // for gradients that are not wanted, of edges and of
	rest   []tensor.Float // destinations
	pairs  []tensor.Float // of retrace
	even   []tensor.Float // a row for each destination of a tile: the gradient of its messages,
	scaled []tensor.Float // and its product with what all share
}

var workers = sync.Pool{New: func() any { return new(worker) }}

// resize returns a slice of n elements, of s if that is long enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// hire returns a worker for edges that are no more than most.
func (r *run) hire(most int) *worker {
	w := workers.Get().(*worker)
	w.run, w.pass, w.last = r, nil, tile{hi: -1}
	limit := min(r.limit, max(most, 1))
	wide := r.n
	for i := range r.steps {
		wide = max(wide, r.steps[i].width)
	}
	size := r.width
	if r.back {
		size = r.all
	}
	w.buf = resize(w.buf, size*limit)
	w.vals, w.adj, w.own = resize(w.vals, len(r.steps)), resize(w.adj, len(r.steps)), resize(w.own, len(r.steps))
	w.has = resize(w.has, len(r.steps))
	w.dst, w.rows = resize(w.dst, limit), resize(w.rows, limit)
	w.tmp, w.mix = resize(w.tmp, wide*limit), resize(w.mix, wide*max(limit, 4))
	w.pull = resize(w.pull, r.n)
	for i := range r.steps {
		s := &r.steps[i]
		at := s.at
		if r.back {
			at, w.own[i] = s.full, nil
			if s.grad >= 0 {
				w.own[i] = w.buf[s.grad*limit : (s.grad+s.width)*limit]
			}
		}
		if !s.inArray() && !(r.back && s.dead) {
			w.vals[i] = w.buf[at*limit : (at+s.width)*limit]
		}
	}
	if now := [2]int{r.number, limit}; w.fixed != now {
		w.fixed = now
		w.spoil()
		w.computeFixed(limit)
	}
	return w
}

// spoil spoils what holds anything until it is set; what is fixed for a pass is made next.
func (w *worker) spoil() {
	for _, x := range [...][]tensor.Float{w.buf, w.tmp, w.mix, w.dump, w.pull, w.bin, w.rest, w.pairs, w.even, w.scaled} {
		spoil.Floats(x[:cap(x)])
	}
	spoil.Ints(w.dst)
	spoil.Ints(w.rows)
}

// computeFixed computes the steps whose values are the same on every edge, for
// all edges that a tile may have.
func (w *worker) computeFixed(limit int) {
	r := w.run
	for i := range r.steps {
		if r.steps[i].fixed && !r.steps[i].there && !(r.back && r.steps[i].dead) {
			w.compute(i, tile{hi: limit})
		}
	}
}

// dismiss hands a worker back. After a panic it is left to the collector.
func (w *worker) dismiss() {
	w.run, w.pass, w.part, w.fan = nil, nil, nil, simd.Fan{}
	clear(w.vals)
	clear(w.adj)
	clear(w.own)
	workers.Put(w)
}

// destinations returns the destination of each edge of a tile.
func (w *worker) destinations(t tile) []int32 {
	if w.last != t {
		w.last = t
		w.eachRow(t, func(v, lo, hi int) {
			for e := lo; e < hi; e++ {
				w.dst[e] = int32(v)
			}
		})
	}
	return w.dst[:t.hi-t.lo]
}

// gather copies the rows that a leaf reads.
func (w *worker) gather(i int, t tile) {
	s := &w.steps[i]
	x, y := w.data[s.leaf], w.vals[i]
	n := t.hi - t.lo
	if s.taken {
		w.gatherPicked(s, t, y)
		return
	}
	switch s.kind {
	case leafU:
		simd.Rows(s.width).Gather(y[:n*s.width], x, w.g.In().Cols[t.lo:])
	case leafV:
		simd.Rows(s.width).Gather(y[:n*s.width], x, w.readBy(s, t))
	case leafE:
		w.vals[i] = x[t.lo*s.width : t.hi*s.width]
	case leafW:
		for e := range n {
			copy(y[e*s.width:], x)
		}
	}
}

// readBy returns which row of its array V reads for each edge.
func (w *worker) readBy(s *step, t tile) []int32 {
	rows := w.destinations(t)
	if !s.moved {
		return rows
	}
	for e, v := range rows {
		w.rows[e] = w.drow[v]
	}
	return w.rows[:len(rows)]
}

func (w *worker) gatherPicked(s *step, t tile, y []tensor.Float) {
	x, n := w.data[s.leaf], s.width
	for e := range t.hi - t.lo {
		at := w.leafAt(s, t, e)
		copy(y[e*n:e*n+n], x[at:at+n])
	}
}

// leafAt returns where in its array a leaf reads for edge e of a tile.
func (w *worker) leafAt(s *step, t tile, e int) int {
	row := 0
	switch s.kind {
	case leafU:
		row = int(w.g.In().Cols[t.lo+e])
	case leafE:
		row = t.lo + e
	case leafV:
		if row = int(w.destinations(t)[e]); s.moved {
			row = int(w.drow[row])
		}
	}
	if !s.taken {
		return row * s.width
	}
	return row*s.from*s.width + int(w.kinds(s)[t.lo+e])*s.width
}

// sumRows adds rows of a tile's edges, of n elements, to those of their
// destinations.
func (w *worker) sumRows(y, x []tensor.Float, t tile, n int) {
	x = x[:(t.hi-t.lo)*n]
	if n == 0 || len(x) == 0 {
		return
	}
	if t.part {
		simd.AddRows(y[t.r0*n:t.r1*n], x)
		return
	}
	simd.Rows(n).SumRanges(y[t.r0*n:t.r1*n], x, w.g.In().Offsets[t.r0:t.r1+1])
}
