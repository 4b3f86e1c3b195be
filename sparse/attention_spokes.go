package sparse

import (
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// spokeWidth is the width of a head that [simd.Spokes] takes, eight at once.
const spokeWidth = 8

// spoked reports whether one loop over the edges of a node can do all: it can
// where there is nothing at the edges but the mask, except for rows with logits
// that have to be shifted before their exponentials are taken.
func (k *Attention) spoked() bool {
	heads := k.El.RowLen()
	return heads > 0 && heads%8 == 0 && k.Ft.RowLen() == heads*spokeWidth &&
		k.Ee == nil && k.Weight == nil && k.Slope >= 0 && k.Slope <= 1
}

// mask returns the dropout of the softmax, or nil.
func (k *Attention) mask() *simd.Dropout {
	if k.drops() {
		return k.Drop
	}
	return nil
}

// spokes computes a part of the destinations. Those with logits that have to be
// shifted, or too many edges, are left to the tiles.
func (t *attendTask) spokes(s *attendSpace, from, to int) {
	k, f := &s.spokes, t.k.Ft.RowLen()
	k.Cols, k.Last, k.Ahead = t.k.In.Cols, len(t.k.In.Cols)-1, ahead(len(t.k.Ft.Data))
	k.FarStride, k.NearStride, k.XStride, k.YStride, k.RecStride = t.heads, t.heads, f, f, t.record()
	for lane := 0; lane < t.heads; lane += 8 {
		k.Prepare(t.k.Slope, t.k.mask(), lane)
		k.Far, k.X = t.el[lane:], t.k.Ft.Data[lane*spokeWidth:]
		for v := from; v < to; {
			k.Offsets = t.k.In.Offsets[v : min(to, v+tileRows)+1]
			k.Near, k.Y, k.Rec = t.er[v*t.heads+lane:], t.out[v*f+lane*spokeWidth:], t.stats[v*t.record()+simd.Record*lane:]
			n := k.Attend()
			if n == 0 {
				t.shifted.Store(true)
				t.tile(s, v, v+1, lane)
				n = 1
			}
			v += n
		}
	}
}

// spokes does a part of the sources.
func (t *pullTask) spokes(s *attendSpace, from, to int, der []tensor.Float) {
	k, f := &s.spokes, t.k.Ft.RowLen()
	k.Cols, k.Perm, k.Last, k.Ahead = t.turned.Cols, t.perm, len(t.perm)-1, ahead(len(t.dOut.Data))
	k.FarStride, k.NearStride, k.XStride, k.VStride, k.DerStride = t.record(), t.heads, f, f, t.heads
	for lane := 0; lane < t.heads; lane += 8 {
		k.Prepare(t.k.Slope, t.k.mask(), lane)
		k.Far, k.X, k.Der = t.stats[simd.Record*lane:], t.dOut.Data[lane*spokeWidth:], der[lane:]
		for u := from; u < to; {
			t.spokesFrom(s, u, lane)
			k.Offsets = t.turned.Offsets[u : min(to, u+tileRows)+1]
			n := k.Retrace()
			if n == 0 {
				t.spokesInPieces(s, u)
				n = 1
			}
			u += n
		}
	}
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
