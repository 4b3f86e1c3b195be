package fused

import (
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Projection makes what a [GAT] carries, some heads at a time.
type Projection interface {
	// Heads sets the rows of to, of NumCols rows, to those of the heads from number head on.
	Heads(to *tensor.Dense, head int)
}

// twoHeads are those whose rows are there at a time: 64 bytes, a line of the cache.
const twoHeads = 2

// ByHeads reports whether [GAT.ForwardByHeads] can be tried.
func (k *GAT) ByHeads() bool {
	heads, f := k.El.RowLen(), k.Ft.RowLen()
	return heads%8 == 0 && f == heads*expWidth && k.hasNodeExps() && !k.drops() && !k.carriesNothing()
}

// ForwardByHeads is [GAT.Forward] of an Ft that has a shape but no elements, to the same
// bits: p makes these for two heads at a time. It keeps no records, and reports whether
// all logits were in range: else out holds anything.
func (k *GAT) ForwardByHeads(out *tensor.Dense, p Projection) (ok bool) {
	k.check("attend.GAT.ForwardByHeads", out)
	n := k.In.NumCols
	ft, exps := scratch.Borrow(n*twoHeads*expWidth), scratch.Borrow(n*2*twoHeads)
	defer scratch.Repay(ft)
	defer scratch.Repay(exps)
	t := &headsForward{k: k, out: out.Data, ft: *ft, exps: *exps}
	work := k.In.NNZ() * (twoHeads*expWidth + edgeWork)
	t.cuts = par.Split(k.In.Offsets, max(1, min(work/partWork, partsMost)), nil)
	var to tensor.Dense
	to.Set(*ft, n, twoHeads*expWidth)
	for t.head = 0; t.head < k.El.RowLen() && !t.overflow.Load(); t.head += twoHeads {
		t.walks = false
		par.Run(partsOfRows(n, false), t)
		if t.overflow.Load() {
			break
		}
		p.Heads(&to, t.head)
		t.walks = true
		par.Run(len(t.cuts)-1, t)
	}
	return !t.overflow.Load()
}

// headsForward is a forward pass that has the rows of two heads at a time.
type headsForward struct {
	k        *GAT
	out      []tensor.Float
	ft, exps []tensor.Float // of these heads: rows of the sources, and their exponentials
	head     int            // the first
	cuts     []int
	walks    bool        // the edges are walked, else exponentials set
	overflow atomic.Bool // a logit is out of range
}

// Chunk does one part.
func (t *headsForward) Chunk(i int) {
	if t.walks {
		t.walk(t.cuts[i], t.cuts[i+1])
		return
	}
	per := rowsOfPart(false)
	lo, hi := i*per, min((i+1)*per, t.k.In.NumCols)
	for ; lo < hi; lo += expRows {
		if !t.setExps(t.exps[lo*2*twoHeads:], t.k.El, lo, min(hi, lo+expRows)) {
			t.overflow.Store(true)
			return
		}
	}
}

// expRows is how many rows of exponentials are made at a time.
const expRows = 64

// setExps sets to to the exponentials of the two heads of rows of x: for each row e^x of both, and
// then e^(slope·x). It reports whether all are in range, those of the heads beside them too.
func (t *headsForward) setExps(to []tensor.Float, x *tensor.Dense, lo, hi int) bool {
	var eight [expRows * 16]tensor.Float
	heads, lane := t.k.El.RowLen(), t.head&^7
	p := attend.NodeExps{X: x.Data[lo*heads+lane:], Y: eight[:], XStride: heads, YStride: 16}
	if !p.Rows(hi-lo, t.k.Slope) {
		return false
	}
	for r := range hi - lo {
		from, of := eight[16*r+t.head-lane:], to[4*r:4*r+4]
		of[0], of[1], of[2], of[3] = from[0], from[1], from[8], from[9]
	}
	return true
}

// walk computes the two heads of the destinations from one to another.
func (t *headsForward) walk(from, to int) {
	s := newSpace(t.k.heads(), t.k.In.Cols, t.k.Slope)
	defer s.put()
	k, f, at := &s.nodeExp, t.k.Ft.RowLen(), t.head*expWidth
	k.Heads, k.Width = twoHeads, expWidth
	k.Cols, k.Last, k.Ahead = t.k.In.Cols, len(t.k.In.Cols)-1, ahead(len(t.ft))
	k.Far, k.X, k.FarStride, k.XStride = t.exps, t.ft, 2*twoHeads, twoHeads*expWidth
	k.YStride, k.RecStride = f, 2*twoHeads
	k.Stream = len(t.out) >= cpu.StreamFrom
	if t.k.Bias != nil {
		k.Bias = t.k.Bias.Data[at:][:twoHeads*expWidth]
	}
	k.Prepare(t.k.Slope, nil, t.head)
	var rec [expRows * 2 * twoHeads]tensor.Float
	for v := from; v < to; {
		end := min(v+expRows, to)
		if !t.setExps(rec[:], t.k.Er, v, end) {
			t.overflow.Store(true)
			return
		}
		for first := v; v < end; {
			k.Offsets = t.k.In.Offsets[v : end+1]
			k.Y, k.Rec = t.out[v*f+at:], rec[(v-first)*k.RecStride:]
			n := k.Attend()
			if n == 0 {
				s.expsLong(t.k.In.Offsets, v)
				n = 1
			}
			v += n
		}
	}
}
