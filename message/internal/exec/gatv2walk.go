package exec

import (
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Attention by GATv2, whose scores come from the rows that are summed, needs no tiles:
// [fused.GATv2Walk] walks the edges of a destination once forward, and twice while their
// rows are near backward. What that does not take goes in tiles as everything else:
// destinations with scores out of range and, backward, with very many edges, of
// which it is not possible to tell the gradient of the softmax before all are seen.

// walkOf returns the kernel's view of the destinations from r0 to r1.
func (w *worker) walkOf(r0, r1 int) attend.GATv2Walk {
	g, s := w.graph.In(), &w.plan.Steps[w.plan.Steps[w.plan.Out().B].A]
	return attend.GATv2Walk{
		Offsets: g.Offsets[r0 : r1+1], Cols: g.Cols, U: w.array(s.Near.U), V: w.rowsOf(s.Near.V, tile{r0: r0, r1: r1}), A: w.array(s.Near.W),
		Top: w.pass.stats.top[r0*w.pass.stats.columns:], Sum: w.pass.stats.sum[r0*w.pass.stats.columns:], Apart: w.pass.stats.columns, Slope: s.C,
	}
}

// walk computes the results of a chunk's destinations.
func (w *worker) walk(c chunk) {
	n, y := w.plan.Out().Width, w.pass.eval.y.Value().Data
	for v := c.r0; v < c.r1; {
		k := w.walkOf(v, c.r1)
		k.Y, k.Stream = y[v*n:c.r1*n], len(y) >= cpu.StreamFrom
		if w.pass.eval.bias != nil {
			k.Bias = w.pass.eval.bias.Value().Data
		}
		done := k.Attend()
		if v += done; done == 0 {
			if !w.walkLong(v) {
				w.forwardTiles(w.alone(v))
			}
			v++
		}
	}
}

// walkLong is walk of a destination with very many edges, which come in pieces of
// as many as the kernel takes. It reports whether all scores are in range.
func (w *worker) walkLong(v int) bool {
	off := w.graph.In().Offsets
	if off[v+1]-off[v] <= attend.GATv2Most {
		return false
	}
	var part [attend.GATv2Heads * attend.GATv2Heads]tensor.Float
	var top, sum [attend.GATv2Heads]tensor.Float
	var row fused.LongRow
	k := w.walkOf(v, v+1)
	k.Offsets, k.Y, k.Top, k.Sum = row.Edges[:], part[:], top[:], sum[:]
	for row.Begin(off[v], off[v+1], attend.GATv2Most); row.Next(); {
		if k.Attend() == 0 {
			return false
		}
		row.AddMean(part[:], sum[:])
	}
	var bias []tensor.Float
	if w.pass.eval.bias != nil {
		bias = w.pass.eval.bias.Value().Data
	}
	n := w.pass.stats.columns
	copy(w.pass.eval.y.Value().Data[v*len(part):], row.Mean(attend.GATv2Heads, attend.GATv2Heads, bias))
	copy(w.pass.stats.top[v*n:], top[:])
	copy(w.pass.stats.sum[v*n:], row.Sum[:])
	return true
}

// alone is the chunk of one destination.
func (w *worker) alone(v int) chunk {
	off := w.graph.In().Offsets
	return chunk{lo: int(off[v]), hi: int(off[v+1]), r0: v, r1: v + 1, hub: -1}
}

// walkBack computes the gradients of a chunk's destinations.
func (w *worker) walkBack(c chunk) {
	out, b := w.plan.Out(), w.window
	s := &w.plan.Steps[w.plan.ScoreIsValue]
	w.walkScratch = resize(w.walkScratch, attend.GATv2Work)
	for v := c.r0; v < c.r1; {
		rows, first := tile{r0: v, r1: c.r1}, int(w.graph.In().Offsets[v])
		k := w.walkOf(v, c.r1)
		k.R = w.pass.dOut[v*out.Width : c.r1*out.Width]
		k.DV, k.DA = w.toRows(s.Near.V, rows), w.toSum(s.Near.W)
		k.Z, k.Signs, k.Places = b.leafOf[s.Near.U].window, b.compact.signs, b.placesOf(first, c.hi)
		k.Work = w.walkScratch
		k.Set = b.leafOf[s.Near.V] != nil && b.leafOf[s.Near.V].fresh
		done := k.Retrace()
		if v += done; done == 0 {
			w.backwardTiles(w.alone(v))
			v++
		}
	}
}
