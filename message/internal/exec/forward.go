package exec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// forwardTiles does a chunk tile by tile.
func (w *worker) forwardTiles(c chunk) {
	w.pass.tiles(c, w.measureStats, w.forwardTile)
	w.pass.reduction.finish(c.r0, c.r1)
	w.multiplySums(c.r0, c.r1)
	w.pass.addBias(c.r0, c.r1)
}

// forwardTile evaluates a tile and takes its messages.
func (w *worker) forwardTile(t tile) {
	rows := w.pass.resultRows(t.r0, t.r1)
	spmm.Fetch(rows)
	w.evaluate(t, w.plan.Computed())
	if w.pass.begins(t) {
		clear(rows)
	}
	n, y := w.plan.Out().Width, w.pass.eval.y.Value().Data
	last := len(w.plan.Steps) - 1
	if w.plan.Result == plan.CommonFactor {
		last, _ = w.plan.Factors()
	}
	m := w.values[last]
	switch {
	case w.plan.Result == plan.Stored:
		copy(y[t.lo*n:t.hi*n], m)
	case w.plan.Result == plan.SumWithoutMessage:
		w.sumNear(y, t)
	case w.plan.Plain():
		w.sumRows(y, m, t, n)
	default:
		w.pass.eachRow(t, func(v, lo, hi int) {
			w.pass.reduction.take(v, t.lo+lo, m[lo*n:hi*n], w.mix)
			if w.pass.reduction.std && n > 0 {
				w.takeWide(v, t.lo+lo, m[lo*n:hi*n])
			}
		})
	}
}

// measureStats computes the statistics of a destination whose edges do not fit one
// tile: for each step across its edges a pass or two.
func (w *worker) measureStats(v int) {
	lo, hi := int(w.graph.In().Offsets[v]), int(w.graph.In().Offsets[v+1])
	for i := range w.plan.Steps {
		s := &w.plan.Steps[i]
		if !s.Kind.AcrossInEdges() {
			continue
		}
		w.clearStats(s, v)
		for pass := range sightings(s) {
			parts(w.pass.fit, lo, hi, v, func(t tile) {
				w.evaluate(t, i)
				n := (t.hi - t.lo) * s.Width
				w.observe(s, pass, v, t.lo, w.values[s.A][:n])
			})
		}
		w.settleStats(s, v)
	}
}

// evaluate computes the values of the first n steps on a tile.
func (w *worker) evaluate(t tile, n int) {
	for i := range w.plan.Steps[:n] {
		if s := &w.plan.Steps[i]; !s.Fixed && !s.InPlace && !(w.pass.backward && s.Skipped) {
			w.compute(i, t)
		}
	}
}

// compute computes the values of step i on a tile.
func (w *worker) compute(i int, t tile) {
	s := &w.plan.Steps[i]
	if s.Kind.IsLeaf() {
		w.gather(i, t)
		return
	}
	y := w.values[i][:(t.hi-t.lo)*s.Width]
	switch s.Kind {
	case ir.Unary:
		s.Unary.Forward(y, w.values[s.A][:len(y)], s.C)
	case ir.Binary:
		s.Binary.Forward(y, w.values[s.A], w.values[s.B], 1, 1)
	case ir.ScaleBy:
		vec.Runs(s.Run).Scale(y, w.values[s.B][:len(y)/s.Run], w.values[s.A])
	case ir.Score:
		w.score(i, t)
	case ir.Affine:
		w.affine(i, t)
	case ir.MatMul:
		w.multiply(s, y)
	case ir.Softmax, ir.LogSoftmax, ir.Normalise, ir.TopK, ir.Sparsemax:
		w.combine(i, t)
	default:
		w.perEdge(s, t, y)
	}
}

// readyWorker returns a worker for edges that are no more than most, for whom the steps
// whose values are the same on every edge are computed.
func (p *pass) readyWorker(most int) *worker {
	w := p.newWorker(most)
	if now := [2]int{p.number, w.limit}; w.fixedFor != now {
		w.fixedFor = now
		w.spoil()
		w.computeFixed()
	}
	return w
}

// computeFixed computes the steps whose values are the same on every edge, for
// all edges that a tile may have.
func (w *worker) computeFixed() {
	for i := range w.plan.Steps {
		if s := &w.plan.Steps[i]; s.Fixed && !s.InPlace && !(w.pass.backward && s.Skipped) {
			w.compute(i, tile{hi: w.limit})
		}
	}
}
