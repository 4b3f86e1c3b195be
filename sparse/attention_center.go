package sparse

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// center sets Σ α·dα in the records. That is ⟨dOut, out⟩, which needs no edges, by the
// kernel that computes dα, so that the two round alike.
func (t *pullTask) center(out *tensor.Dense) {
	t.out, t.bias = out.Data, nil
	if b := t.k.Bias; b != nil {
		if t.k.drowns(out) {
			y := borrow(len(out.Data))
			defer repay(y)
			t.k.again(*y)
			t.out = *y
		} else {
			t.bias = b.Data
		}
	}
	par.Run(t.parts(), (*pullCenter)(t))
}

// drowned is how many times larger a bias may be than what it was added to, on the
// average: what is left of that has lost so many bits, fewer than a sum over edges does.
const drowned = 16

// drownSamples is how many edges' destinations tell how large results are.
const drownSamples = 32

// drowns reports whether the bias of a head is so much larger than results without it that
// these are not to be had from their sums. It asks few destinations: an error as large as
// the rounding of most rows does no harm in a row whose own is less.
func (k *Attention) drowns(out *tensor.Dense) bool {
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
func (k *Attention) again(y []tensor.Float) {
	plain := *k
	plain.Bias = nil
	stats := borrow(k.StatsLen())
	plain.Forward(tensor.Of(y, k.In.NumRows, k.Ft.RowLen()), *stats)
	repay(stats)
}

// pullCenter is the loop that sets Σ α·dα in the records.
type pullCenter pullTask

// Chunk does one part.
func (t *pullCenter) Chunk(i int) {
	lo, hi := (*pullTask)(t).part(i)
	out, room := t.plain(lo, hi)
	if room != nil {
		defer repay(room)
	}
	if (*pullTask)(t).narrow() {
		t.narrowPart(out, lo, hi)
		return
	}
	s := newSpace(t.headBlocks, t.k.In.Cols, t.k.Slope)
	stride, parts := t.record(), simd.Record
	if t.direct {
		stride, parts = simd.SpokeRecord*t.heads, simd.SpokeRecord
	}
	f := t.k.Ft.RowLen()
	s.mul.XStride, s.mul.YStride, s.mul.WStride, s.mul.Width, s.mul.Filler = f, f, stride, f/t.heads, 0
	for lane := 0; lane < t.padded; lane += t.lanes {
		at, c := lane*s.mul.Width, t.stats[parts*lane+(parts-1)*t.lanes:]
		for v := lo; v < hi; v++ {
			clear(c[v*stride:][:t.lanes])
		}
		s.mul.H = t.in(lane)
		s.mul.Offsets, s.mul.Cols, s.mul.Last = ownEdges.offsets[:hi-lo+1], ownEdges.cols[:], pairRows-1
		s.mul.X, s.mul.V, s.mul.G = out[at:], t.dOut.Data[lo*f+at:], c[lo*stride:]
		s.mul.Dots()
		t.loneRuns(s, lane, lo, hi, c)
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

// loneRuns sets Σ α·dα of the destinations that hear one source to its dα, whatever α and
// the result were rounded to.
func (t *pullCenter) loneRuns(s *attendSpace, lane, lo, hi int, c []tensor.Float) {
	f, stride := s.mul.XStride, s.mul.WStride
	offsets := t.k.In.Offsets
	at := lane * s.mul.Width
	s.mul.Cols, s.mul.Last, s.mul.X = t.k.In.Cols, len(t.k.In.Cols)-1, t.k.Ft.Data[at:]
	for v := lo; v < hi; {
		end := v
		for end < hi && offsets[end+1]-offsets[end] == 1 {
			end++
		}
		switch {
		case end > v:
			s.mul.Offsets = offsets[v : end+1]
		case t.alike(v):
			end = v + 1
			s.piece = [2]int64{offsets[v], offsets[v] + 1}
			s.mul.Offsets = s.piece[:]
		default:
			v++
			continue
		}
		for r := v; r < end; r++ {
			clear(c[r*stride:][:t.lanes])
		}
		s.mul.V, s.mul.G = t.dOut.Data[v*f+at:], c[v*stride:]
		s.mul.Dots()
		for r := v; r < end; r++ {
			t.factors(int(offsets[r]), lane, c[r*stride:][:s.mul.H])
		}
		v = end
	}
}

// narrowPart is Chunk of one head of spokes.
func (t *pullCenter) narrowPart(out []tensor.Float, lo, hi int) {
	f := t.k.Ft.RowLen()
	stride, at := t.spokeRecord()
	one := simd.Spokes{X: t.dOut.Data[lo*f:], V: out, Rec: t.stats[lo*stride+at:], XStride: f, VStride: f, RecStride: stride, Heads: 1, Width: f}
	one.Pair(hi - lo)
	for v := lo; v < hi; v++ {
		first := int(t.k.In.Offsets[v])
		if int(t.k.In.Offsets[v+1])-first != 1 && !t.alike(v) {
			continue
		}
		one.X, one.V, one.Rec = t.dOut.Data[v*f:], t.k.Ft.Data[int(t.k.In.Cols[first])*f:], t.stats[v*stride+at:]
		one.Pair(1)
		t.factors(first, 0, one.Rec[simd.SpokeRecord-1:simd.SpokeRecord])
	}
}

// alike reports whether all edges of a destination are copies of one, with nothing that
// tells their dα apart.
func (t *pullCenter) alike(v int) bool {
	cols := t.k.In.Cols[t.k.In.Offsets[v]:t.k.In.Offsets[v+1]]
	if len(cols) == 0 || cols[0] != cols[len(cols)-1] || t.k.drops() || t.k.Weight != nil {
		return false
	}
	for _, u := range cols {
		if u != cols[0] {
			return false
		}
	}
	return true
}

// factors multiplies the numbers of the heads from lane on with the mask and the weight of
// an edge, one after the other as the loop over the sources does.
func (t *pullCenter) factors(edge, lane int, c []tensor.Float) {
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
func (t *pullCenter) plain(lo, hi int) (out []tensor.Float, room *[]tensor.Float) {
	f := t.k.Ft.RowLen()
	out = t.out[lo*f : hi*f]
	if t.bias == nil {
		return out, nil
	}
	room = borrow(len(out))
	simd.Sub.ForwardRows(*room, out, t.bias)
	return *room, room
}
