package fused

import (
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/tensor"
)

// byExps does a part of the sources.
func (t *gatBackward) byExps(s *space, from, to int, der []tensor.Float) {
	k, f := &s.nodeExp, t.k.Ft.RowLen()
	k.Cols, k.Perm, k.Last, k.Ahead = t.turned.Cols, t.perm, len(t.perm)-1, ahead(len(t.dOut.Data))
	k.XStride, k.VStride, k.DerStride = f, f, t.heads
	k.OwnStride, _ = headBlocks{heads: t.lanes}.expRow()
	k.Heads, k.Width, k.Factors = t.lanes, f/t.heads, s.tile.M
	k.Stream = t.into.Ft != nil && len(t.into.Ft.Data) >= cpu.StreamFrom
	k.FarStride = t.layout.stride
	for lane := 0; lane < t.heads; lane += t.lanes {
		k.Prepare(t.k.Slope, t.k.mask(), lane)
		k.Far, k.X, k.Der = t.rec.Data[t.layout.at(0, lane)+t.layout.first:], t.dOut.Data[lane*k.Width:], der[lane:]
		for u := from; u < to; u += tileRows {
			t.byExpsTo(s, u, min(to, u+tileRows), lane)
		}
	}
}

// byExpsTo does the sources from one to another, whose exponentials it sets first.
func (t *gatBackward) byExpsTo(s *space, from, to, lane int) {
	k := &s.nodeExp
	_, first := t.expRow()
	own := s.tile.A
	p := attend.NodeExps{X: t.k.El.Data[from*t.heads+lane:], Y: own, XStride: t.heads, YStride: k.OwnStride}
	nodeExps(&p, to-from, t.k.Slope)
	for u := from; u < to; {
		t.setNodes(s, u, lane)
		k.Own = own[(u-from)*k.OwnStride+first:]
		k.Offsets = t.turned.Offsets[u : to+1]
		n := k.Retrace()
		if n == 0 {
			t.byExpsLong(s, u)
			n = 1
		}
		u += n
	}
}

// setNodes tells the kernel where the rows of sources from u on are. What is not wanted goes
// to one row that nobody reads, so that the rest has the same bits.
func (t *gatBackward) setNodes(s *space, u, lane int) {
	k, f := &s.nodeExp, t.k.Ft.RowLen()
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

// byExpsLong does a source with more edges than a call takes: the pieces add up.
func (t *gatBackward) byExpsLong(s *space, u int) {
	k := &s.nodeExp
	k.Offsets = s.long.Edges[:]
	for s.long.Begin(t.turned.Offsets[u], t.turned.Offsets[u+1], attend.NodeExpMost); s.long.Next(); {
		k.Retrace()
		k.AddY, k.AddRec = 1, 1
	}
}
