package message

import (
	"github.com/edgewise-ml/edgewise/internal/attend"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Attention by GATv2, whose scores come from the rows that are summed, needs no tiles:
// [simd.Scored] walks the edges of a destination once forward, and twice while their
// rows are near backward. What that does not take goes in tiles as everything else:
// destinations with scores that are not tame and, backward, with very many edges, of
// which it is not possible to tell the gradient of the softmax before all are seen.

// findScored says whether a plan is that and nothing else. Where U needs no gradient and
// others do, backward would take weights in tiles from sums of the walk, whose
// exponentials are not quite theirs: then all is in tiles.
func (p *plan) findScored() {
	out := p.out()
	if !p.lazy || len(p.steps) != len(scoredSteps) {
		return
	}
	weights := &p.steps[out.b]
	if weights.kind != softmax || p.steps[weights.a].kind != score {
		return
	}
	s := &p.steps[weights.a]
	p.scored = (p.both >= 0 || !out.needs) && s.ends.u == out.a && s.run == out.run && s.run == simd.ScoredHeads && s.width == simd.ScoredHeads &&
		s.c >= 0 && s.c <= 1
}

// scoredSteps are those of such a plan.
var scoredSteps = [...]kind{leafU, leafV, leafW, score, softmax, scaleBy}

// scores returns the kernel's view of the destinations from r0 to r1.
func (w *worker) scores(r0, r1 int) simd.Scored {
	g, s := w.g.In(), &w.steps[w.steps[w.out().b].a]
	return simd.Scored{
		Offsets: g.Offsets[r0 : r1+1], Cols: g.Cols, U: w.array(s.ends.u), V: w.rowsOf(s.ends.v, tile{r0: r0, r1: r1}), A: w.array(s.ends.w),
		Top: w.top[r0*w.n:], Sum: w.sum[r0*w.n:], Apart: w.n, Slope: s.c,
	}
}

// attend computes the results of a chunk's destinations.
func (w *worker) attend(c chunk) {
	n, y := w.out().width, w.y.Value().Data
	for v := c.r0; v < c.r1; {
		k := w.scores(v, c.r1)
		k.Y, k.Stream = y[v*n:c.r1*n], len(y) >= simd.PastFrom
		if w.bias != nil {
			k.Bias = w.bias.Value().Data
		}
		done := k.Attend()
		if v += done; done == 0 {
			if !w.attendLong(v) {
				w.inTiles(w.alone(v))
			}
			v++
		}
	}
}

// attendLong is attend of a destination with very many edges, which come in pieces of
// as many as the kernel takes. It reports whether all scores were tame.
func (w *worker) attendLong(v int) bool {
	off := w.g.In().Offsets
	if off[v+1]-off[v] <= simd.ScoredMost {
		return false
	}
	var part [simd.ScoredHeads * simd.ScoredHeads]tensor.Float
	var top, sum [simd.ScoredHeads]tensor.Float
	var row attend.LongRow
	k := w.scores(v, v+1)
	k.Offsets, k.Y, k.Top, k.Sum = row.Edges[:], part[:], top[:], sum[:]
	for row.Begin(off[v], off[v+1], simd.ScoredMost); row.Next(); {
		if k.Attend() == 0 {
			return false
		}
		row.AddMean(part[:], sum[:])
	}
	var bias []tensor.Float
	if w.bias != nil {
		bias = w.bias.Value().Data
	}
	copy(w.y.Value().Data[v*len(part):], row.Mean(simd.ScoredHeads, simd.ScoredHeads, bias))
	copy(w.top[v*w.n:], top[:])
	copy(w.sum[v*w.n:], row.Sum[:])
	return true
}

// alone is the chunk of one destination.
func (w *worker) alone(v int) chunk {
	off := w.g.In().Offsets
	return chunk{lo: int(off[v]), hi: int(off[v+1]), r0: v, r1: v + 1, hub: -1}
}

// retrace computes the gradients of a chunk's destinations.
func (w *worker) retrace(c chunk) {
	out, b := w.out(), w.pass
	s := &w.steps[w.both]
	w.pairs = resize(w.pairs, simd.ScoredWork)
	for v := c.r0; v < c.r1; {
		rows, first := tile{r0: v, r1: c.r1}, int(w.g.In().Offsets[v])
		k := w.scores(v, c.r1)
		k.R = w.dOut[v*out.width : c.r1*out.width]
		k.DV, k.DA = w.toRows(s.ends.v, rows), w.toSum(s.ends.w)
		k.Z, k.Signs, k.Places = b.sinkOf[s.ends.u].win, b.signs, b.places[first-b.base:c.hi-b.base]
		k.Work = w.pairs
		k.Set = b.sinkOf[s.ends.v] != nil && b.sinkOf[s.ends.v].new
		done := k.Retrace()
		if v += done; done == 0 {
			w.tilesBack(w.alone(v))
			v++
		}
	}
}
