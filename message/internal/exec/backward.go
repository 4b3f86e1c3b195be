package exec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// backwardTiles does a chunk tile by tile.
func (w *worker) backwardTiles(c chunk) {
	w.pass.tiles(c, w.sumInEdges, w.backwardTile)
}

// backwardTile evaluates a tile and adds its gradients.
func (w *worker) backwardTile(t tile) {
	w.prefetch(t)
	w.evaluate(t, w.plan.Computed())
	if w.chunk.hub < 0 && w.pass.begins(t) {
		w.window.clear(t.r0, t.r1)
	}
	w.pullBack(t, 0)
	for i := range w.window.leaves {
		w.deliver(&w.window.leaves[i], t)
	}
}

// prefetch asks for what a tile's destinations have, and is read late.
func (w *worker) prefetch(t tile) {
	stats := &w.pass.stats
	spmm.Fetch(stats.top[t.r0*stats.columns : t.r1*stats.columns])
	spmm.Fetch(stats.sum[t.r0*stats.columns : t.r1*stats.columns])
	for i := range w.window.leaves {
		if k := &w.window.leaves[i]; k.step.Kind == ops.LeafV && !k.step.Picked {
			spmm.Fetch(k.dx[t.r0*k.row : t.r1*k.row])
		}
	}
}

// sumInEdges computes, for a destination in parts, the sum that the gradient of
// each step across its edges takes over all of them, from the last step to the
// first.
func (w *worker) sumInEdges(v int) {
	window := w.window
	w.window = nil // no leaf takes a gradient yet
	defer func() { w.window = window }()
	clear(w.inEdgeSums)
	lo, hi := int(w.graph.In().Offsets[v]), int(w.graph.In().Offsets[v+1])
	for i := len(w.plan.Steps) - 1; i >= 0; i-- {
		s := &w.plan.Steps[i]
		a := s.Kind.Op().Across
		if a == nil || !s.Needs || a.Terms == nil {
			continue
		}
		c := w.inEdgeSums[s.Stat : s.Stat+s.Width]
		parts(w.pass.fit, lo, hi, v, func(t tile) {
			w.evaluate(t, w.plan.Computed())
			w.pullBack(t, i+1)
			if w.hasGrad[i] {
				n := (t.hi - t.lo) * s.Width
				a.Terms(w.tmp[:n], w.values[i][:n], w.grads[i])
				vec.AddRows(c, w.tmp[:n])
			}
		})
	}
}

// aimAtWindow has the gradients of leaves that gather go to the window, or nowhere.
func (w *worker) aimAtWindow(t tile) {
	if w.window != nil {
		for i := range w.window.leaves {
			if k := &w.window.leaves[i]; k.step.Gathers() && k.compact == nil {
				w.grads[k.i] = k.window[(t.lo-w.window.base)*k.step.Width : (t.hi-w.window.base)*k.step.Width]
			}
		}
		return
	}
	for i := range w.plan.Steps {
		if s := &w.plan.Steps[i]; s.Gathers() && s.Needs {
			w.unwantedTile = resize(w.unwantedTile, max((t.hi-t.lo)*s.Width, cap(w.unwantedTile)))
			w.grads[i] = w.unwantedTile[:(t.hi-t.lo)*s.Width]
		}
	}
}

// pullBack computes the gradients of the values of all steps, from the last
// down to the operands of step stop.
func (w *worker) pullBack(t tile, stop int) {
	n := t.hi - t.lo
	for i := range w.plan.Steps {
		if w.hasGrad[i], w.grads[i] = false, nil; w.gradRoom[i] != nil {
			w.grads[i] = w.gradRoom[i][:n*w.plan.Steps[i].Width]
		}
	}
	w.aimAtWindow(t)
	last := len(w.plan.Steps) - 1
	switch w.hasGrad[last] = true; {
	case w.plan.Result == plan.CommonFactor:
		w.pullCommonFactor(t)
		last--
	case w.plan.Result != plan.SumWithoutMessage:
		w.pullMessages(t, w.grads[last])
	}
	for i := last; i >= stop; i-- {
		s := &w.plan.Steps[i]
		if !s.Needs || s.Kind.IsLeaf() || !w.hasGrad[i] {
			continue
		}
		dy := w.grads[i]
		switch {
		case s.Kind == ops.Score:
			w.pullScore(i, t, dy)
		case s.Kind == ops.Affine:
			w.pullAffine(s, t, dy)
		case w.plan.Result == plan.SumWithoutMessage && i == len(w.plan.Steps)-1:
			w.pullNear(s, t)
		default:
			w.pullOperation(i, t, dy)
		}
	}
}

// pullMessages sets dm to the gradient of a tile's messages.
func (w *worker) pullMessages(t tile, dm []tensor.Float) {
	n := w.plan.Out().Width
	switch {
	case w.plan.Result == plan.Stored:
		copy(dm, w.pass.dOut[t.lo*n:t.hi*n])
	case w.plan.Plain():
		w.pullSums(t, dm)
	default:
		clear(dm)
		w.reduce(pulling, t, w.values[len(w.plan.Steps)-1], dm)
	}
}

// deliver adds a leaf's gradients of a tile to its array, those of sums to the chunk's
// partial sums, or puts them into the window.
func (w *worker) deliver(k *leafGrad, t tile) {
	x, n := w.grads[k.i], k.step.Width
	switch {
	case k.compact != nil: // pullScore has
	case k.step.Gathers(): // it lies in the window, which was zero where none comes in
	case !w.hasGrad[k.i]:
	case k.step.Kind == ops.LeafW:
		vec.AddRows(w.partial[k.at:k.at+n], x)
	case k.step.Kind == ops.LeafV:
		w.deliverV(k, t)
	case !k.step.Picked:
		add(k.dx[t.lo*n:t.hi*n], x)
	default:
		for e, kind := range w.kindsOf(k.step, t) {
			at := w.leafAt(k.step, t, e) + int(kind)*n
			add(k.dx[at:at+n], x[e*n:(e+1)*n])
		}
	}
}

// deliverV is deliver of rows of destinations.
func (w *worker) deliverV(k *leafGrad, t tile) {
	x, n := w.grads[k.i], k.step.Width
	if w.chunk.hub < 0 && !k.step.Picked {
		w.sumRows(k.dx, x, t, n)
		return
	}
	var kinds []int32
	if k.step.Picked {
		kinds = w.kindsOf(k.step, t)
	}
	w.pass.eachRow(t, func(v, lo, hi int) {
		dx := k.rowOf(v)
		if w.chunk.hub >= 0 {
			dx = w.partial[k.at : k.at+k.row]
		}
		if !k.step.Picked {
			vec.AddRows(dx, x[lo*n:hi*n])
			return
		}
		for e := lo; e < hi; e++ {
			at := int(kinds[e]) * n
			add(dx[at:at+n], x[e*n:e*n+n])
		}
	})
}
