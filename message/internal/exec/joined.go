package exec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Steps that read the rows of their leaves where they stand: see plan.Plan.

// nearRows sets the worker's edgeRows to the edges of a tile under rows of n elements in
// runs of d, and returns it.
func (w *worker) nearRows(t tile, n, d int) *attend.EdgeRows {
	g := w.graph.In()
	w.edgeRows = attend.EdgeRows{Offsets: g.Offsets[t.r0 : t.r1+1], Cols: g.Cols, Width: d, H: n / d}
	if t.part {
		w.span = [2]int64{int64(t.lo), int64(t.hi)}
		w.edgeRows.Offsets = w.span[:]
	}
	return &w.edgeRows
}

// nearRowsAgain is nearRows for rows of sources that the tile has read before: they are in
// cache, so that meanwhile those of the tile that follows can be asked for.
func (w *worker) nearRowsAgain(t tile, n, d int) *attend.EdgeRows {
	f := w.nearRows(t, n, d)
	f.Ahead = t.hi - t.lo
	return f
}

// rowsOf returns the rows that V reads on a tile.
func (w *worker) rowsOf(i int, t tile) []tensor.Float {
	s := &w.plan.Steps[i]
	return w.pass.data[s.Var][t.r0*s.Width : t.r1*s.Width]
}

// score computes a joined score on a tile.
func (w *worker) score(i int, t tile) {
	s := &w.plan.Steps[i]
	f := w.nearRows(t, w.plan.Steps[s.Near.U].Width, s.Run)
	f.U, f.V, f.A, f.C, f.Slope = w.array(s.Near.U), w.rowsOf(s.Near.V, t), w.array(s.Near.W), w.values[i], s.C
	if w.pass.backward && i == w.plan.ScoreIsValue {
		out := w.plan.Out()
		f.R, f.G = w.pass.dOut[t.r0*out.Width:t.r1*out.Width], w.gradRoom[out.B]
		f.ScoreDots()
		return
	}
	f.Score()
}

// affine computes a joined multiple of U plus V on a tile.
func (w *worker) affine(i int, t tile) {
	s := &w.plan.Steps[i]
	f := w.nearRows(t, s.Width, s.Run)
	f.U, f.V, f.C, f.Z = w.array(s.Near.U), w.rowsOf(s.Near.V, t), w.values[s.B], w.values[i]
	f.Affine()
}

// sumNear adds messages that are not made to their destinations.
func (w *worker) sumNear(y []tensor.Float, t tile) {
	s := w.plan.Out()
	f := w.nearRowsAgain(t, s.Width, s.Run)
	f.U, f.C, f.DV = w.array(s.A), w.values[s.B], y[t.r0*s.Width:t.r1*s.Width]
	f.Sum()
}

// pullNear is the gradient of sumNear.
func (w *worker) pullNear(s *plan.Step, t tile) {
	if w.plan.ScoreIsValue >= 0 { // score has computed it, and pullScore does the rest
		w.hasGrad[s.B] = true
		return
	}
	f := w.nearRows(t, s.Width, s.Run)
	f.U, f.V = w.array(s.A), w.pass.dOut[t.r0*s.Width:t.r1*s.Width]
	if w.plan.Steps[s.B].Needs {
		f.G, _ = w.gradOf(s.B)
		f.Dots()
	}
	if w.plan.Steps[s.A].Needs && w.window != nil {
		f.C = w.values[s.B]
		f.Z, f.Add = w.toWindow(s.A, t)
		f.Spread()
	}
}

// pullScore is the gradient of a joined score.
func (w *worker) pullScore(i int, t tile, dy []tensor.Float) {
	s := &w.plan.Steps[i]
	if w.window == nil {
		return // only leaves are wanted of it
	}
	n := w.plan.Steps[s.Near.U].Width
	f := w.nearRowsAgain(t, n, s.Run)
	f.U, f.V, f.A, f.C, f.Slope = w.array(s.Near.U), w.rowsOf(s.Near.V, t), w.array(s.Near.W), dy, s.C
	f.DV, f.DA = w.toRows(s.Near.V, t), w.toSum(s.Near.W)
	if i == w.plan.ScoreIsValue {
		b, k := w.window, w.window.leafOf[s.Near.U]
		f.G, f.Z, f.Signs, f.Places = w.values[w.plan.Out().B], k.window, b.compact.signs, b.placesOf(t.lo, t.hi)
		f.ScoreBrief()
		return
	}
	f.Z, f.Add = w.toWindow(s.Near.U, t)
	f.ScoreGrad()
}

// pullAffine is the gradient of a joined multiple of U plus V.
func (w *worker) pullAffine(s *plan.Step, t tile, dy []tensor.Float) {
	n := (t.hi - t.lo) * s.Width / s.Run
	f := w.nearRowsAgain(t, s.Width, s.Run)
	f.U, f.C, f.D = w.array(s.Near.U), w.values[s.B], dy
	f.Z, f.Add = w.toWindow(s.Near.U, t)
	if !w.plan.Steps[s.Near.U].Needs { // then the numbers need not be there
		f.C = dy
	}
	f.DV = w.toRows(s.Near.V, t)
	dc, fresh := w.tmp[:n], false
	if w.plan.Steps[s.B].Needs {
		if dc, fresh = w.gradOf(s.B); !fresh {
			dc = w.tmp[:n]
		}
	}
	f.G = dc
	f.AffineGrad()
	if w.plan.Steps[s.B].Needs && !fresh {
		add(w.grads[s.B][:n], dc)
	}
}

// toWindow returns where gradients of a gathered leaf go, and whether they are
// added there.
func (w *worker) toWindow(i int, t tile) (z []tensor.Float, more bool) {
	s := &w.plan.Steps[i]
	if !s.Needs || w.grads[i] == nil {
		w.unwantedEdges = resize(w.unwantedEdges, max((t.hi-t.lo)*s.Width, cap(w.unwantedEdges)))
		return w.unwantedEdges, false
	}
	more, w.hasGrad[i] = w.hasGrad[i], true
	return w.grads[i], more
}

// toRows returns where gradients of V are added.
func (w *worker) toRows(i int, t tile) []tensor.Float {
	n := w.plan.Steps[i].Width
	if w.window == nil || w.window.leafOf[i] == nil {
		w.unwantedRows = resize(w.unwantedRows, max((t.r1-t.r0)*n, cap(w.unwantedRows)))
		return w.unwantedRows
	}
	k := w.window.leafOf[i]
	if w.chunk.hub >= 0 {
		return w.partial[k.at : k.at+n]
	}
	return k.dx[t.r0*n : t.r1*n]
}
