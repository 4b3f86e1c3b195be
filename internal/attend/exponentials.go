package attend

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// nodeExpWidth is the largest width of a head that [simd.Spokes] takes, eight heads
// at once or one.
const nodeExpWidth = 8

// The kinds of records: those of [simd.Tile], and of [simd.Spokes].
const (
	tiled tensor.Float = iota
	spoked
)

// plain reports whether there is nothing at the edges but the mask, so that one
// loop over the edges of a node can do all.
func (k *GAT) plain() bool {
	heads, f := k.El.RowLen(), k.Ft.RowLen()
	return (heads%8 == 0 || heads == 1) && f <= heads*nodeExpWidth &&
		k.Ee == nil && k.Weight == nil && k.Slope >= 0 && k.Slope <= 1
}

// mask returns the dropout of the softmax, or nil.
func (k *GAT) mask() *simd.Dropout {
	if k.drops() {
		return (*simd.Dropout)(k.Drop)
	}
	return nil
}

// oneRecord is how many numbers a node has in the tables of one head: the first
// place is not used, so that a row is in one line of the cache.
const oneRecord = 4

// expRow is how many numbers a node has in a table of powers, and the place of
// the first: eight heads have all their powers up before those down.
func (b headBlocks) expRow() (stride, at int) {
	if b.heads == 1 {
		return oneRecord, 1
	}
	return 2 * b.heads, 0
}

// expRecord is expRow of the records, which are the powers of destinations and
// a number more.
func (b headBlocks) expRecord() (stride, at int) {
	if b.heads == 1 {
		return oneRecord, 1
	}
	return simd.SpokeRecord * b.heads, 0
}

// sourceExps sets the powers of the sources, and reports whether they can be used.
func (t *gatForward) sourceExps() bool {
	if !t.k.plain() {
		return false
	}
	stride, _ := t.expRow()
	size := t.k.In.NumCols * stride
	if t.stats != nil {
		size = max(size, t.k.derLen()) // so that Backward can take the same
	}
	t.pow = scratch.Borrow(size)
	t.overflow.Store(false)
	return setNodeExps(*t.pow, t.k.El, t.k.Slope)
}

// expLoop is a loop over rows, in parts of some.
type expLoop struct {
	x        *tensor.Dense
	to       []tensor.Float
	slope    tensor.Float
	overflow atomic.Bool
}

var expLoops = sync.Pool{New: func() any { return new(expLoop) }}

// setNodeExps sets, for each row of x and each eight heads or one, the powers of
// that. It reports whether all are tame.
func setNodeExps(to []tensor.Float, x *tensor.Dense, slope tensor.Float) bool {
	l := expLoops.Get().(*expLoop)
	l.x, l.to, l.slope = x, to, slope
	l.overflow.Store(false)
	par.Run(partsOfRows(x.Rows(), x.RowLen() == 1), l)
	l.x, l.to = nil, nil
	ok := !l.overflow.Load()
	expLoops.Put(l)
	return ok
}

// Chunk does one part.
func (l *expLoop) Chunk(i int) {
	heads := l.x.RowLen()
	per := rowsOfPart(heads == 1)
	lo, hi := i*per, min((i+1)*per, l.x.Rows())
	stride, _ := headBlocks{heads: heads}.expRow()
	for lane := 0; lane < heads; lane += 8 {
		p := simd.Powers{X: l.x.Data[lo*heads+lane:], Y: l.to[lo*stride+2*lane:], XStride: heads, YStride: stride}
		if !nodeExps(&p, hi-lo, l.slope) {
			l.overflow.Store(true)
			return
		}
	}
}

// nodeExps sets the powers of rows of eight heads or one, and reports whether
// they are tame.
func nodeExps(p *simd.Powers, rows int, slope tensor.Float) bool {
	if p.XStride == 1 {
		return p.Column(rows, slope)
	}
	return p.Rows(rows, slope)
}

// shifts reports whether there is a bias, and spokes add it before they store a row.
func (t *gatForward) shifts() bool {
	return t.k.Bias != nil && t.lanes == 8 && t.k.Ft.RowLen() == 8*t.heads
}

// byNodes computes a part of the destinations. Those with too many edges are taken
// in pieces. It reports whether all logits were tame: else nothing of it counts.
func (t *gatForward) byNodes(s *space, from, to int) bool {
	k, f := &s.exps, t.k.Ft.RowLen()
	k.Cols, k.Last, k.Ahead = t.k.In.Cols, len(t.k.In.Cols)-1, ahead(len(t.k.Ft.Data))
	k.XStride, k.YStride = f, f
	k.Heads, k.Width, k.Factors = t.lanes, f/t.heads, s.tile.M
	k.Stream = len(t.out) >= simd.PastFrom
	stride, at := t.expRow()
	k.FarStride = stride
	stride, _ = t.expRecord()
	k.RecStride = t.recordStride(stride)
	for lane := 0; lane < t.heads; lane += t.lanes {
		k.Prepare(t.k.Slope, t.k.mask(), lane)
		k.Far, k.X = (*t.pow)[2*lane+at:], t.k.Ft.Data[lane*k.Width:]
		if t.shifts() {
			k.Bias = t.k.Bias.Data[lane*k.Width:][:t.lanes*k.Width]
		}
		for v := from; v < to; v += tileRows {
			if t.overflow.Load() || !t.byNodesTo(s, v, min(to, v+tileRows), lane) {
				return false
			}
		}
	}
	return true
}

// byNodesTo computes the destinations from one to another, whose powers it sets
// first, while they are near.
func (t *gatForward) byNodesTo(s *space, from, to, lane int) bool {
	k, f := &s.exps, t.k.Ft.RowLen()
	stride, at := t.expRecord()
	rec := t.records(s, from*stride+simd.SpokeRecord*lane)
	p := simd.Powers{X: t.k.Er.Data[from*t.heads+lane:], Y: rec, XStride: t.heads, YStride: k.RecStride}
	if !nodeExps(&p, to-from, t.k.Slope) {
		return false
	}
	for v := from; v < to; {
		k.Offsets = t.k.In.Offsets[v : to+1]
		k.Y, k.Rec = t.out[v*f+lane*k.Width:], rec[(v-from)*k.RecStride+at:]
		n := k.Attend()
		if n == 0 {
			t.byNodesLong(s, v)
			n = 1
		}
		v += n
	}
	return true
}

// byNodesLong computes a destination with more edges than a call takes, whose row and
// record the spokes have: each piece by itself, and then their mean by their sums.
func (t *gatForward) byNodesLong(s *space, v int) {
	k, n := &s.exps, t.lanes
	row := &s.long
	k.Offsets = row.Edges[:]
	piece := *k
	var part [8 * nodeExpWidth]tensor.Float
	var rec [simd.SpokeRecord * 8]tensor.Float
	var sums [8]tensor.Float
	piece.Bias, piece.Y, piece.Rec, piece.Stream = nil, part[:], rec[:], false
	for row.Begin(t.k.In.Offsets[v], t.k.In.Offsets[v+1], simd.SpokesMost); row.Next(); {
		copy(rec[:2*n], k.Rec)
		piece.Attend()
		for h, up := range k.Rec[:n] {
			sums[h] = up / rec[h]
		}
		row.AddMean(part[:n*k.Width], sums[:n])
	}
	for h, sum := range row.Sum[:n] {
		k.Rec[h] /= sum
		k.Rec[n+h] /= sum
	}
	copy(k.Y, row.Mean(n, k.Width, k.Bias))
}

// choose says whether the records are for spokes, and these can do all that is
// wanted. If they can not, it makes them what tiles take.
func (t *gatBackward) choose() {
	kind := &t.stats[len(t.stats)-1]
	t.direct = *kind == spoked && t.into.Ee == nil && t.into.Weight == nil
	if *kind == spoked && !t.direct {
		*kind = tiled
		t.recast()
	}
}

// recast makes the records, which are for spokes, what tiles take: from the last
// on, since those are larger.
func (t *gatBackward) recast() {
	n := t.lanes
	stride, at := t.expRecord()
	blocks := t.heads / n
	for i := t.k.In.NumRows*blocks - 1; i >= 0; i-- {
		var old [2 * 8]tensor.Float
		copy(old[:2*n], t.stats[i*stride/blocks+at:])
		rec := t.stats[simd.Record*n*i:][:simd.Record*n]
		for h, er := range t.k.Er.Data[i*n:][:n] {
			rec[h], rec[n+h], rec[2*n+h] = er, 0, old[h]*tensor.Float(math.Exp(-float64(er)))
		}
	}
}

// byNodes does a part of the sources.
func (t *gatBackward) byNodes(s *space, from, to int, der []tensor.Float) {
	k, f := &s.exps, t.k.Ft.RowLen()
	k.Cols, k.Perm, k.Last, k.Ahead = t.turned.Cols, t.perm, len(t.perm)-1, ahead(len(t.dOut.Data))
	k.XStride, k.VStride, k.DerStride = f, f, t.heads
	k.OwnStride, _ = headBlocks{heads: t.lanes}.expRow()
	k.Heads, k.Width, k.Factors = t.lanes, f/t.heads, s.tile.M
	k.Stream = t.into.Ft != nil && len(t.into.Ft.Data) >= simd.PastFrom
	var at int
	k.FarStride, at = t.expRecord()
	for lane := 0; lane < t.heads; lane += t.lanes {
		k.Prepare(t.k.Slope, t.k.mask(), lane)
		k.Far, k.X, k.Der = t.stats[simd.SpokeRecord*lane+at:], t.dOut.Data[lane*k.Width:], der[lane:]
		for u := from; u < to; u += tileRows {
			t.byNodesTo(s, u, min(to, u+tileRows), lane)
		}
	}
}

// byNodesTo does the sources from one to another, whose powers it sets first.
func (t *gatBackward) byNodesTo(s *space, from, to, lane int) {
	k := &s.exps
	_, at := t.expRow()
	own := s.tile.A
	p := simd.Powers{X: t.k.El.Data[from*t.heads+lane:], Y: own, XStride: t.heads, YStride: k.OwnStride}
	nodeExps(&p, to-from, t.k.Slope)
	for u := from; u < to; {
		t.byNodesFrom(s, u, lane)
		k.Own = own[(u-from)*k.OwnStride+at:]
		k.Offsets = t.turned.Offsets[u : to+1]
		n := k.Retrace()
		if n == 0 {
			t.byNodesLong(s, u)
			n = 1
		}
		u += n
	}
}

// byNodesFrom sets where the rows of sources from u on are. What is not wanted goes
// to one row that nobody reads, so that the rest has the same bits.
func (t *gatBackward) byNodesFrom(s *space, u, lane int) {
	k, f := &s.exps, t.k.Ft.RowLen()
	k.V = t.k.Ft.Data[u*f+lane*k.Width:]
	k.Y, k.YStride, k.AddY = s.past, 0, 0
	if t.into.Ft != nil {
		k.Y, k.YStride, k.AddY = t.into.Ft.Data[u*f+lane*k.Width:], f, 1-t.sets(SetFt, true)
	}
	k.Rec, k.RecStride, k.AddRec = s.sum, 0, 0
	if t.into.El != nil {
		k.Rec, k.RecStride, k.AddRec = t.into.El.Data[u*t.heads+lane:], t.heads, 1-t.sets(SetEl, true)
	}
}

// byNodesLong does a source with more edges than a call takes.
func (t *gatBackward) byNodesLong(s *space, u int) {
	k := &s.exps
	k.Offsets = s.long.Edges[:]
	for s.long.Begin(t.turned.Offsets[u], t.turned.Offsets[u+1], simd.SpokesMost); s.long.Next(); {
		k.Retrace()
		k.AddY, k.AddRec = 1, 1
	}
}
