package fused

import (
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// gatForward is a forward pass, in parts of rows.
type gatForward struct {
	headBlocks
	k      *GAT
	out    []tensor.Float
	rec    *Records // nil: a tile's records are in its space, and forgotten
	kind   Kind     // of the pass that runs
	layout recordLayout
	el, er []tensor.Float
	bufs   [2]*[]tensor.Float
	cuts   []int

	exps  *[]tensor.Float // of Exponentials: those of the sources
	mixed atomic.Bool     // of Exponentials: a logit is out of range, so that some destinations go in tiles
}

var gatForwards = sync.Pool{New: func() any { return new(gatForward) }}

func (t *gatForward) prepare(k *GAT, out *tensor.Dense, rec *Records) {
	t.headBlocks, t.k, t.out, t.rec = k.heads(), k, out.Data, rec
	t.el, t.bufs[0] = t.pad(k.El)
	t.er, t.bufs[1] = t.pad(k.Er)
}

// run computes all parts.
func (t *gatForward) run(parts int) {
	t.kind = Tiles
	t.mixed.Store(false)
	if t.k.hasNodeExps() {
		t.kind = Exponentials
		t.sourceExps()
	}
	t.layout = t.headBlocks.layout(t.kind)
	if t.rec == nil {
		t.layout.stride = attend.Record * t.lanes // one tile's, in its space
	}
	par.Run(parts, t)
	if t.rec != nil {
		t.rec.Kind, t.rec.Mixed = t.kind, t.mixed.Load()
	}
}

func (t *gatForward) release() {
	for i, b := range t.bufs {
		if b != nil {
			scratch.Repay(b)
		}
		t.bufs[i] = nil
	}
	if t.exps != nil {
		scratch.Repay(t.exps)
		t.exps = nil
	}
	t.k, t.out, t.rec, t.el, t.er = nil, nil, nil, nil, nil
}

// Chunk computes one part.
func (t *gatForward) Chunk(i int) {
	a := t.k.In
	s := newSpace(t.headBlocks, a.Cols, t.k.Slope)
	s.tile.Ahead, s.tile.RecStride = ahead(len(t.el)), t.layout.stride
	f := t.k.Ft.RowLen()
	s.mul.XStride, s.mul.YStride, s.mul.Width = f, f, f/t.heads
	s.mul.Ahead, s.mul.SStride, s.mul.Set = ahead(len(t.k.Ft.Data)), s.tile.RecStride, 1
	s.ask(t.k.Ft, s.mul.Ahead, 1)
	lo, hi := t.cuts[i], t.cuts[i+1]
	if t.k.Bias != nil && !(t.kind == Exponentials && t.addsBias()) {
		defer vec.Add.ForwardRows(t.out[lo*f:hi*f], t.out[lo*f:hi*f], t.k.Bias.Data)
	}
	if t.kind == Exponentials {
		t.byExps(s, lo, hi)
		lo = hi
	}
	for lo < hi {
		next := lo
		for lane := 0; lane < t.padded; lane += t.lanes {
			next = t.tile(s, lo, hi, lane, t.records(s, lo, lane))
		}
		lo = next
	}
	s.put()
}

// tile computes a block of heads of the next rows before hi, sets rec to their records,
// and returns where it ends.
func (t *gatForward) tile(s *space, lo, hi, lane int, rec []tensor.Float) (next int) {
	offsets := t.k.In.Offsets
	if offsets[lo+1]-offsets[lo] > pieceMost {
		t.long(s, lo, lane, rec)
		return lo + 1
	}
	next = s.begin(offsets, lo, hi)
	t.soften(s, lo, lane, rec)
	t.carry(s, lo, lane, rec[2*t.lanes:])
	return next
}

// records returns where the records of destinations from v on go, for one block of heads:
// to their place among those of all, or to where the next tile's go too.
func (t *gatForward) records(s *space, v, lane int) []tensor.Float {
	if t.rec == nil {
		return s.records()
	}
	return t.rec.Data[t.layout.at(v, lane):]
}

// soften sets Z to the weights of the tile's edges before they are divided by
// their sums. The tile's rows start at row lo.
func (t *gatForward) soften(s *space, lo, lane int, rec []tensor.Float) {
	s.tile.Far, s.tile.Near, s.tile.Rec = t.el[lane:], t.er[lo*t.padded+lane:], rec
	s.tile.Gather()
	s.addEdges(t.k.Ee, lane)
	s.tile.Soften()
}

// carry adds the tile's edges, each times its weight, to the rows of out. What
// is divided by stands in scale.
func (t *gatForward) carry(s *space, lo, lane int, scale []tensor.Float) {
	if mask := t.k.mask(); mask != nil {
		s.tile.Column = uint32(lane)
		s.tile.Mask(mask)
		s.multiply(s.tile.Z, s.tile.M)
	}
	s.weighEdges(s.tile.Z, t.k, lane)
	f, d := s.mul.XStride, s.mul.Width
	s.mul.X, s.mul.Y, s.mul.W, s.mul.S = t.k.Ft.Data[lane*d:], t.out[lo*f+lane*d:], s.tile.Z, scale
	s.mul.H = t.in(lane)
	s.mul.Sum()
}

// long is the pass of a row that is taken in pieces, twice: the first time for
// the largest logit and the sum of all. It sets rec to the record.
func (t *gatForward) long(s *space, v, lane int, rec []tensor.Float) {
	f, d, n := s.mul.XStride, s.mul.Width, t.lanes
	s.mul.Set = 0
	clear(t.out[v*f+lane*d:][:t.in(lane)*d])
	part := s.sum[:attend.Record*n]
	row := &s.long
	for s.begin(t.k.In.Offsets, v, v+1); s.next(); {
		t.soften(s, v, lane, part)
		row.AddTop(part[n:2*n], part[3*n:])
	}
	copy(rec[:n], part)
	copy(rec[n:2*n], row.Top[:])
	for h, sum := range row.Sum[:n] {
		rec[2*n+h], rec[3*n+h] = attend.Inverse(sum), sum
	}
	for row.Again(); s.next(); {
		t.soften(s, v, lane, part)
		for h := range n {
			part[2*n+h] = row.Factor(h, part[n+h])
		}
		t.carry(s, v, lane, part[2*n:])
	}
	s.mul.Set = 1
}
