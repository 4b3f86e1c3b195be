package fused

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/tensor"
)

// addsBias reports whether there is a bias, which the kernel of node exponentials adds before it
// stores a row.
func (t *gatForward) addsBias() bool {
	return t.k.Bias != nil && t.lanes == 8 && t.k.Ft.RowLen() == 8*t.heads
}

// byExps computes a part of the destinations. Those with too many edges are taken
// in pieces, and those that have a logit out of range in tiles.
func (t *gatForward) byExps(s *space, from, to int) {
	k, f := &s.nodeExp, t.k.Ft.RowLen()
	k.Cols, k.Last, k.Ahead = t.k.In.Cols, len(t.k.In.Cols)-1, ahead(len(t.k.Ft.Data))
	k.XStride, k.YStride, k.RecStride = f, f, t.layout.stride
	k.Heads, k.Width, k.Factors = t.lanes, f/t.heads, s.tile.M
	k.Stream = len(t.out) >= cpu.StreamFrom
	stride, first := t.expRow()
	k.FarStride = stride
	for lane := 0; lane < t.heads; lane += t.lanes {
		k.Prepare(t.k.Slope, t.k.mask(), lane)
		k.Far, k.X = (*t.exps)[2*lane+first:], t.k.Ft.Data[lane*k.Width:]
		if t.addsBias() {
			k.Bias = t.k.Bias.Data[lane*k.Width:][:t.lanes*k.Width]
		}
		for v := from; v < to; v += tileRows {
			t.byExpsTo(s, v, min(to, v+tileRows), lane)
		}
	}
}

// byExpsTo computes the destinations from one to another, whose exponentials it sets
// first, while they are near.
func (t *gatForward) byExpsTo(s *space, from, to, lane int) {
	k, f := &s.nodeExp, t.k.Ft.RowLen()
	rec := t.records(s, from, lane)
	p := attend.NodeExps{X: t.k.Er.Data[from*t.heads+lane:], Y: rec, XStride: t.heads, YStride: k.RecStride}
	if !nodeExps(&p, to-from, t.k.Slope) {
		t.mixed.Store(true)
	}
	for v := from; v < to; {
		k.Offsets = t.k.In.Offsets[v : to+1]
		k.Y, k.Rec = t.out[v*f+lane*k.Width:], rec[(v-from)*k.RecStride+t.layout.first:]
		n := k.Attend()
		if n == 0 {
			s.expsLong(t.k.In.Offsets, v)
			n = 1
		}
		v += n
	}
	if t.mixed.Load() {
		t.outOfRange(s, from, to, lane)
	}
}

// outOfRange computes again, in tiles, those of the destinations from one to another whose
// logits were not all in range. A destination's own operands decide that, so that its result
// does not depend on which others are computed with it. Its record becomes what
// [Records.inTiles] reads.
func (t *gatForward) outOfRange(s *space, from, to, lane int) {
	n, rec := t.lanes, t.records(s, from, lane)
	for v := from; v < to; v++ {
		exps := rec[(v-from)*t.layout.stride+t.layout.first:][:2*n]
		if !slices.ContainsFunc(exps[:n], func(x tensor.Float) bool { return x != x }) {
			continue
		}
		own := s.past[:attend.Record*n]
		t.tile(s, v, v+1, lane, own)
		if at, d := lane*s.mul.Width, n*s.mul.Width; t.addsBias() {
			add(t.out[v*s.mul.YStride+at:][:d], t.k.Bias.Data[at:at+d])
		}
		for h := range n {
			exps[h], exps[n+h] = -own[2*n+h], own[n+h]
		}
	}
}

// expsLong computes a destination with more edges than a call takes, whose row and
// record the kernel has: each piece by itself, and then their mean by their sums.
func (s *space) expsLong(offsets []int64, v int) {
	k, n := &s.nodeExp, s.nodeExp.Heads
	row := &s.long
	k.Offsets = row.Edges[:]
	piece := *k
	var part [8 * expWidth]tensor.Float
	var rec [attend.NodeExpRecord * 8]tensor.Float
	var sums [8]tensor.Float
	piece.Bias, piece.Y, piece.Rec, piece.Stream = nil, part[:], rec[:], false
	for row.Begin(offsets[v], offsets[v+1], attend.NodeExpMost); row.Next(); {
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
