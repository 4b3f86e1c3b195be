package sparse

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// spokeWidth is the width of a head that [simd.Spokes] takes, eight at once, and
// the largest width of one head.
const spokeWidth = 8

// The kinds of records: those of [simd.Tile], and of [simd.Spokes].
const (
	tiled tensor.Float = iota
	spoked
)

// plain reports whether there is nothing at the edges but the mask, so that one
// loop over the edges of a node can do all.
func (k *Attention) plain() bool {
	heads, f := k.El.RowLen(), k.Ft.RowLen()
	return (heads%8 == 0 && f == heads*spokeWidth || heads == 1 && f <= spokeWidth) &&
		k.Ee == nil && k.Weight == nil && k.Slope >= 0 && k.Slope <= 1
}

// mask returns the dropout of the softmax, or nil.
func (k *Attention) mask() *simd.Dropout {
	if k.drops() {
		return k.Drop
	}
	return nil
}

// width is that of a head that stands alone, and else 0.
func (k *Attention) width() int {
	if k.El.RowLen() == 1 {
		return k.Ft.RowLen()
	}
	return 0
}

// powerRow is how many numbers a node has in a table of powers, and the place of
// the first power: eight heads have all their powers up before those down, and
// one has what a record has.
func (b headBlocks) powerRow() (stride, at int) {
	if b.heads == 1 {
		return simd.Record, 1
	}
	return 2 * b.heads, 0
}

// powers sets the powers of the sources, and those of the destinations in the
// records. It reports whether they can be used.
func (t *attendTask) powers() bool {
	if !t.k.plain() {
		return false
	}
	stride, _ := t.powerRow()
	t.pow = borrow(max(t.k.In.NumCols*stride, t.k.derLen())) // so that Backward can take the same
	return setPowers(*t.pow, t.k.El, t.k.Slope, 0) && setPowers(t.stats, t.k.Er, t.k.Slope, 1)
}

// powerLoop is a loop over rows, in parts of some.
type powerLoop struct {
	x        *tensor.Dense
	to       []tensor.Float
	slope    tensor.Float
	copies   int
	tooLarge atomic.Bool
}

var powerLoops = sync.Pool{New: func() any { return new(powerLoop) }}

// setPowers sets, for each row of x and each eight heads, the powers of that, or
// the first parts of the record with copies of 1, as ever for one head. It reports whether all are tame.
func setPowers(to []tensor.Float, x *tensor.Dense, slope tensor.Float, copies int) bool {
	l := powerLoops.Get().(*powerLoop)
	l.x, l.to, l.slope, l.copies = x, to, slope, copies
	l.tooLarge.Store(false)
	par.Run(partsOfRows(x.Rows(), x.RowLen() == 1), l)
	l.x, l.to = nil, nil
	ok := !l.tooLarge.Load()
	powerLoops.Put(l)
	return ok
}

// Chunk does one part.
func (l *powerLoop) Chunk(i int) {
	heads := l.x.RowLen()
	per := rowsOfPart(heads == 1)
	lo, hi := i*per, min((i+1)*per, l.x.Rows())
	if heads == 1 {
		p := simd.Powers{X: l.x.Data[lo:hi], Y: l.to[simd.Record*lo:]}
		if !p.Column(hi-lo, l.slope) {
			l.tooLarge.Store(true)
		}
		return
	}
	size := 2 * (1 + l.copies) // elements of a head
	for lane := 0; lane < heads; lane += 8 {
		p := simd.Powers{
			X: l.x.Data[lo*heads+lane:], Y: l.to[(lo*heads+lane)*size:], XStride: heads, YStride: heads * size, Copy: l.copies,
		}
		if !p.Rows(hi-lo, l.slope) {
			l.tooLarge.Store(true)
			return
		}
	}
}

// spokes computes a part of the destinations. Those with too many edges are taken
// in pieces.
func (t *attendTask) spokes(s *attendSpace, from, to int) {
	k, f := &s.spokes, t.k.Ft.RowLen()
	k.Cols, k.Last, k.Ahead = t.k.In.Cols, len(t.k.In.Cols)-1, ahead(len(t.k.Ft.Data))
	stride, at := t.powerRow()
	k.FarStride, k.XStride, k.YStride, k.RecStride = stride, f, f, t.record()
	k.Width, k.Factors = t.k.width(), s.tile.M
	for lane := 0; lane < t.heads; lane += t.lanes {
		k.Prepare(t.k.Slope, t.k.mask(), lane)
		k.Far, k.X = (*t.pow)[2*lane+at:], t.k.Ft.Data[lane*spokeWidth:]
		for v := from; v < to; {
			k.Offsets = t.k.In.Offsets[v : min(to, v+tileRows)+1]
			k.Y, k.Rec = t.out[v*f+lane*spokeWidth:], t.stats[v*t.record()+simd.Record*lane:]
			n := k.Attend()
			if n == 0 {
				t.long(s, v, lane)
				t.recast(v, lane)
				n = 1
			}
			v += n
		}
	}
}

// recast makes a destination's record of that of tiles.
func (t *attendTask) recast(v, lane int) {
	n := t.lanes
	rec := t.stats[v*t.record()+simd.Record*lane:][:simd.Record*n]
	for h := range n {
		er, top, inverse := float64(rec[h]), float64(rec[n+h]), rec[2*n+h]
		rec[n+h] = tensor.Float(math.Exp(er-top)) * inverse
		rec[2*n+h] = tensor.Float(math.Exp(float64(t.k.Slope)*er-top)) * inverse
	}
}

// choose says whether the records are for spokes, and these can do all that is
// wanted. If they can not, it makes them what tiles take.
func (t *pullTask) choose() {
	kind := &t.stats[len(t.stats)-1]
	t.direct = *kind == spoked && t.into.Ee == nil && t.into.Weight == nil
	if !t.direct && *kind == spoked {
		*kind = tiled
		n := t.lanes
		for at := 0; at+1 < len(t.stats); at += simd.Record * n {
			rec := t.stats[at:][:simd.Record*n]
			for h := range n {
				rec[2*n+h] = rec[n+h] * tensor.Float(math.Exp(-float64(rec[h])))
				rec[n+h] = 0
			}
		}
	}
}

// spokes does a part of the sources.
func (t *pullTask) spokes(s *attendSpace, from, to int, der []tensor.Float) {
	k, f := &s.spokes, t.k.Ft.RowLen()
	k.Cols, k.Perm, k.Last, k.Ahead = t.turned.Cols, t.perm, len(t.perm)-1, ahead(len(t.dOut.Data))
	k.FarStride, k.XStride, k.DerStride = t.record(), f, t.heads
	k.NearStride, k.VStride = t.heads, f
	k.Width, k.Factors = t.k.width(), s.tile.M
	for lane := 0; lane < t.heads; lane += t.lanes {
		k.Prepare(t.k.Slope, t.k.mask(), lane)
		k.Far, k.X, k.Der = t.stats[simd.Record*lane:], t.dOut.Data[lane*spokeWidth:], der[lane:]
		for u, known := from, from; u < to; {
			if u == known {
				known = min(to, u+ownRows)
				t.own(s, u, known, lane)
			}
			t.spokesFrom(s, u, lane)
			k.Offsets = t.turned.Offsets[u : known+1]
			n := k.Retrace()
			if n == 0 {
				t.spokesInPieces(s, u)
				n = 1
			}
			k.Own = k.Own[n*k.OwnStride:]
			u += n
		}
	}
}

// ownRows is how many sources have their powers at a time, which stay in the first
// cache.
const ownRows = 128

// own sets the powers of the sources from lo to hi.
func (t *pullTask) own(s *attendSpace, lo, hi, lane int) {
	p := simd.Powers{X: t.k.El.Data[lo*t.heads+lane:], Y: s.tile.Z, XStride: t.heads}
	stride, at := 2*t.lanes, 0
	if t.heads == 1 {
		stride, at = simd.Record, 1
		p.Column(hi-lo, t.k.Slope)
	} else {
		p.YStride = stride
		p.Rows(hi-lo, t.k.Slope)
	}
	s.spokes.Own, s.spokes.OwnStride = s.tile.Z[at:], stride
}

// spokesFrom sets where the rows of sources from u on are. What is not wanted goes
// to one row that nobody reads, so that the rest has the same bits.
func (t *pullTask) spokesFrom(s *attendSpace, u, lane int) {
	k, f := &s.spokes, t.k.Ft.RowLen()
	k.Near, k.V = t.el[u*t.heads+lane:], t.k.Ft.Data[u*f+lane*spokeWidth:]
	k.Y, k.YStride, k.AddY = s.past, 0, 0
	if t.into.Ft != nil {
		k.Y, k.YStride, k.AddY = t.into.Ft.Data[u*f+lane*spokeWidth:], f, 1-t.sets(SetFt, true)
	}
	k.Rec, k.RecStride, k.AddRec = s.sum, 0, 0
	if t.into.El != nil {
		k.Rec, k.RecStride, k.AddRec = t.into.El.Data[u*t.heads+lane:], t.heads, 1-t.sets(SetEl, true)
	}
}

// spokesInPieces does a source with more edges than a call takes.
func (t *pullTask) spokesInPieces(s *attendSpace, u int) {
	k := &s.spokes
	lo, hi := t.turned.Offsets[u], t.turned.Offsets[u+1]
	for lo < hi {
		s.piece = [2]int64{lo, min(lo+simd.SpokesMost, hi)}
		k.Offsets = s.piece[:]
		k.Retrace()
		lo = s.piece[1]
		k.AddY, k.AddRec = 1, 1
	}
}
