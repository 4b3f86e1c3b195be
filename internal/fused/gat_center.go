package fused

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// center sets Σ α·dα in the records. That is ⟨dOut, out⟩, which needs no edges, by the
// kernel that computes dα, so that the two round alike.
func (t *gatBackward) center(out *tensor.Dense) {
	t.out, t.bias = out.Data, nil
	if b := t.k.Bias; b != nil {
		if t.k.drowns(out) {
			y := scratch.Borrow(len(out.Data))
			defer scratch.Repay(y)
			t.k.again(*y)
			t.out = *y
		} else {
			t.bias = b.Data
		}
	}
	par.Run(t.parts(), (*gatCenter)(t))
}

// drowned is how many times larger a bias may be than what it was added to, on the
// average: what is left of that has lost so many bits, fewer than a sum over edges does.
const drowned = 16

// drownSamples is how many edges' destinations tell how large results are.
const drownSamples = 32

// drowns reports whether the bias of a head is so much larger than results without it that
// these are not to be had from their sums. It asks few destinations: an error as large as
// the rounding of most rows does no harm in a row whose own is less.
func (k *GAT) drowns(out *tensor.Dense) bool {
	var rows [drownSamples]int
	n, nnz := min(drownSamples, k.In.NNZ()), k.In.NNZ()
	for i := range n {
		e := int64(i * nnz / n)
		after, _ := slices.BinarySearch(k.In.Offsets, e+1) // the first row that begins behind e
		rows[i] = after - 1
	}
	d := out.RowLen() / k.El.RowLen()
	for at := 0; at < out.RowLen(); at += d {
		var bias, rest tensor.Float
		for j, b := range k.Bias.Data[at : at+d] {
			bias += max(b, -b) * tensor.Float(n)
			for _, v := range rows[:n] {
				y := out.Data[v*out.RowLen()+at+j] - b
				rest += max(y, -y)
			}
		}
		if bias > drowned*rest {
			return true
		}
	}
	return false
}

// again sets y to the result without the bias.
func (k *GAT) again(y []tensor.Float) {
	plain := *k
	plain.Bias = nil
	plain.Forward(tensor.Of(y, k.In.NumRows, k.Ft.RowLen()), nil)
}

// gatCenter is the loop that sets Σ α·dα in the records.
type gatCenter gatBackward

// Chunk does one part.
func (t *gatCenter) Chunk(i int) {
	lo, hi := (*gatBackward)(t).part(i)
	out, room := t.plain(lo, hi)
	if room != nil {
		defer scratch.Repay(room)
	}
	if (*gatBackward)(t).narrow() {
		t.narrowPart(out, lo, hi)
		return
	}
	s := newSpace(t.headBlocks, t.k.In.Cols, t.k.Slope)
	stride := t.layout.stride
	f := t.k.Ft.RowLen()
	s.mul.XStride, s.mul.YStride, s.mul.Width, s.mul.Filler = f, f, f/t.heads, 0
	lone := t.loneRows(s, lo, hi)
	if lone.room != nil {
		defer scratch.Repay(lone.room)
	}
	for lane := 0; lane < t.padded; lane += t.lanes {
		at, c := lane*s.mul.Width, t.rec.Data[t.layout.center(lane, t.lanes):]
		for v := lo; v < hi; v++ {
			clear(c[v*stride:][:t.lanes])
		}
		s.mul.H, s.mul.WStride = t.in(lane), stride
		s.mul.Offsets, s.mul.Cols, s.mul.Last = ownEdges.offsets[:hi-lo+1], ownEdges.cols[:], pairRows-1
		s.mul.X, s.mul.V, s.mul.G = out[at:], t.dOut.Data[lo*f+at:], c[lo*stride:]
		s.mul.Dots()
		lone.center(t, s, lane, c)
	}
	s.put()
}

// ownEdges gives each destination of a part an edge from the source of its own number.
var ownEdges = func() (e struct {
	offsets [pairRows + 1]int64
	cols    [pairRows]int32
}) {
	for i := range e.offsets {
		e.offsets[i] = int64(i)
	}
	for i := range e.cols {
		e.cols[i] = int32(i)
	}
	return e
}()

// narrowPart is Chunk of one head of node exponentials.
func (t *gatCenter) narrowPart(out []tensor.Float, lo, hi int) {
	f := t.k.Ft.RowLen()
	stride, first := t.layout.stride, t.layout.first
	one := attend.NodeExpAttention{X: t.dOut.Data[lo*f:], V: out, Rec: t.rec.Data[lo*stride+first:], XStride: f, VStride: f, RecStride: stride, Heads: 1, Width: f}
	one.Pair(hi - lo)
	for v := lo; v < hi; v++ {
		edge := t.lone(v)
		if edge < 0 {
			continue
		}
		one.X, one.V, one.Rec = t.dOut.Data[v*f:], t.k.Ft.Data[int(t.k.In.Cols[edge])*f:], t.rec.Data[v*stride+first:]
		one.Pair(1)
		t.factors(edge, 0, one.Rec[attend.NodeExpRecord-1:attend.NodeExpRecord])
	}
}

// loneRows are the destinations of a part that hear one source, and the rows of these
// sources. Their Σ α·dα is that dα, whatever α and the result were rounded to.
type loneRows struct {
	rows []int32
	room *[]tensor.Float // nil: there are none
}

// loneRows finds those from lo up to hi.
func (t *gatCenter) loneRows(s *space, lo, hi int) loneRows {
	l := loneRows{rows: s.edges[:0]}
	for v := lo; v < hi; v++ {
		if t.lone(v) >= 0 {
			l.rows = append(l.rows, int32(v))
		}
	}
	if len(l.rows) == 0 {
		return l
	}
	f := t.k.Ft.RowLen()
	l.room = scratch.Borrow(len(l.rows) * f)
	for i, v := range l.rows {
		u := int(t.k.In.Cols[t.k.In.Offsets[v]])
		copy((*l.room)[i*f:(i+1)*f], t.k.Ft.Data[u*f:(u+1)*f])
	}
	return l
}

// center sets Σ α·dα of the heads from lane on.
func (l loneRows) center(t *gatCenter, s *space, lane int, c []tensor.Float) {
	n, stride, at := len(l.rows), s.mul.WStride, lane*s.mul.Width
	if n == 0 {
		return
	}
	sums := s.sum[:n*t.lanes]
	clear(sums)
	s.mul.Offsets, s.mul.Cols, s.mul.Last, s.mul.WStride = ownEdges.offsets[:n+1], l.rows, n-1, t.lanes
	s.mul.X, s.mul.V, s.mul.G = t.dOut.Data[at:], (*l.room)[at:], s.sum
	s.mul.Dots()
	for i, v := range l.rows {
		to := c[int(v)*stride:][:s.mul.H]
		copy(to, sums[i*t.lanes:])
		t.factors(int(t.k.In.Offsets[v]), lane, to)
	}
}

// lone returns the first edge of a destination that hears one source: by one edge or by
// copies of it, with nothing that tells their dα apart. It returns −1 for any other.
func (t *gatCenter) lone(v int) int {
	lo, hi := int(t.k.In.Offsets[v]), int(t.k.In.Offsets[v+1])
	cols := t.k.In.Cols[lo:hi]
	switch {
	case len(cols) == 1:
		return lo
	case len(cols) == 0 || cols[0] != cols[len(cols)-1] || t.k.drops() || t.k.Weight != nil:
		return -1
	}
	for _, u := range cols {
		if u != cols[0] {
			return -1
		}
	}
	return lo
}

// factors multiplies the numbers of the heads from lane on with the mask and the weight of
// an edge, one after the other as the loop over the sources does.
func (t *gatCenter) factors(edge, lane int, c []tensor.Float) {
	if mask := t.k.mask(); mask != nil {
		row := mask.Row(edge)
		for h := range c {
			kept := tensor.Float(0)
			if mask.Keep(row, lane+h) {
				kept = tensor.Float(mask.Scale)
			}
			c[h] *= kept
		}
	}
	for h := range c {
		c[h] *= t.k.weight(edge, lane+h)
	}
}

// plain returns rows lo to hi of the result without the bias, and a buffer to hand
// back if there is one.
func (t *gatCenter) plain(lo, hi int) (out []tensor.Float, room *[]tensor.Float) {
	f := t.k.Ft.RowLen()
	out = t.out[lo*f : hi*f]
	if t.bias == nil {
		return out, nil
	}
	room = scratch.Borrow(len(out))
	vec.Sub.ForwardRows(*room, out, t.bias)
	return *room, room
}
