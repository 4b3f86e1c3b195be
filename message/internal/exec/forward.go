package exec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// forwardTiles does a chunk tile by tile.
func (w *worker) forwardTiles(c chunk) {
	w.pass.tiles(c, w.measureStats, w.forwardTile)
	w.finish(c.r0, c.r1)
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
		if w.again == nil {
			w.again = w.seeAgain
		}
		w.reduce(taking, t, m, nil)
	}
}

// measureStats computes the statistics of a destination whose edges do not fit one
// tile: for each step across its edges a pass or two.
func (w *worker) measureStats(v int) {
	lo, hi := int(w.graph.In().Offsets[v]), int(w.graph.In().Offsets[v+1])
	for i := range w.plan.Steps {
		s := &w.plan.Steps[i]
		a := s.Kind.Op().Across
		if a == nil {
			continue
		}
		see := func(t tile, f func(d *ops.Into)) {
			d, _ := w.operation(i, t).Into(0)
			f(d)
		}
		none := tile{lo: lo, hi: lo, r0: v, r1: v + 1, part: true}
		see(none, a.Begin)
		for sighting := range a.Sightings {
			parts(w.pass.fit, lo, hi, v, func(t tile) {
				w.evaluate(t, i)
				see(t, func(d *ops.Into) { a.Observe(d, sighting) })
			})
		}
		see(none, a.Complete)
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
	switch s.Kind {
	case ops.Score:
		w.score(i, t)
	case ops.Affine:
		w.affine(i, t)
	default:
		s.Kind.Op().Forward(w.operation(i, t))
	}
}

// seeAgain is Arrivals.Again. The last of the parts is the tile that is being reduced, so its
// messages are there as before.
func (w *worker) seeAgain(f func(d *ops.Arrivals)) {
	d := w.arrivals
	if d.Messages == d.Count {
		f(&d)
		return
	}
	lo := d.Lo - d.Before
	parts(w.pass.fit, lo, lo+d.Count, w.arriving.v, func(t tile) {
		w.evaluate(t, w.plan.Computed())
		d.Messages, d.Before, d.Lo = t.hi-t.lo, t.lo-lo, t.lo
		w.showMessages(&d, t, w.values[len(w.plan.Steps)-1], nil)
		f(&d)
	})
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
