package exec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// gather copies the rows that a leaf reads.
func (w *worker) gather(i int, t tile) {
	s := &w.plan.Steps[i]
	x, y := w.pass.data[s.Var], w.values[i]
	n := t.hi - t.lo
	if s.Picked {
		w.gatherPicked(s, t, y)
		return
	}
	switch s.Kind {
	case ir.LeafU:
		spmm.Rows(s.Width).Gather(y[:n*s.Width], x, w.graph.In().Cols[t.lo:])
	case ir.LeafV:
		spmm.Rows(s.Width).Gather(y[:n*s.Width], x, w.destinations(t))
	case ir.LeafE:
		w.values[i] = x[t.lo*s.Width : t.hi*s.Width]
	case ir.LeafW:
		for e := range n {
			copy(y[e*s.Width:], x)
		}
	}
}

func (w *worker) gatherPicked(s *plan.Step, t tile, y []tensor.Float) {
	x, n, kinds := w.pass.data[s.Var], s.Width, w.kindsOf(s, t)
	for e, k := range kinds {
		at := w.leafAt(s, t, e) + int(k)*n
		copy(y[e*n:e*n+n], x[at:at+n])
	}
}

// leafAt returns where in its array the row of a leaf begins that edge e of a tile reads,
// or picks from.
func (w *worker) leafAt(s *plan.Step, t tile, e int) int {
	row := 0
	switch s.Kind {
	case ir.LeafU:
		row = int(w.graph.In().Cols[t.lo+e])
	case ir.LeafE:
		row = t.lo + e
	case ir.LeafV:
		row = int(w.destinations(t)[e])
	}
	if !s.Picked {
		return row * s.Width
	}
	return row * s.PickFrom * s.Width
}
