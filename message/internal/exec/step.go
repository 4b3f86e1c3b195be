package exec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A step is an operation of package ops, which is handed a tile of arrays, or a leaf. What is joined is in
// joined.go.

// operation makes the worker's ops.Tile of step i on a tile of edges, and returns it. What the step does not
// ask for may be that of another one.
func (w *worker) operation(i int, t tile) *ops.Tile {
	s := &w.plan.Steps[i]
	n := t.hi - t.lo
	o, c := s.Kind.Op(), &w.operand
	c.Step, c.Edges, c.Lo, c.DY, c.DX = &s.Step, n, t.lo, nil, nil
	c.A, c.Y = rows(w.values[s.A], n*s.From), rows(w.values[i], n*s.Width)
	switch {
	case o.Whole:
		c.B = w.array(s.Near.W)
	case s.B >= 0:
		c.B = rows(w.values[s.B], n*w.plan.Steps[s.B].Width)
	}
	switch o.Extra {
	case ops.Mask:
		c.Drop = w.pass.eval.attribute(s).Drop
	case ops.Choice:
		c.Rows = w.kindsOf(s, t)
	}
	if o.Turn != nil && w.pass.backward {
		c.Turned = w.pass.turned[s.Turned:]
	}
	if o.Across != nil {
		w.across(s, t)
	}
	return c
}

// rows returns n elements of x, or nil where x is not there.
func rows(x []tensor.Float, n int) []tensor.Float {
	if len(x) < n {
		return nil
	}
	return x[:n]
}

// across says what stays of the destinations of a tile under a step across their in-edges.
func (w *worker) across(s *plan.Step, t tile) {
	stats := &w.pass.stats
	from := t.r0*stats.columns + s.Stat
	w.operand.Stats = ops.Stats{
		Off: w.spans(t), Part: t.part, Known: t.part || w.pass.backward, Apart: stats.columns,
		Top: stats.top[from:], Sum: stats.sum[from:], Sums: w.inEdgeSums[s.Stat : s.Stat+s.Width],
	}
	if s.Kind.Op().Across.Edges {
		w.operand.Edge = stats.edges[from:]
	}
}

// pullOperation adds the gradient of step i to those of its operands.
func (w *worker) pullOperation(i int, t tile, dy []tensor.Float) {
	s := &w.plan.Steps[i]
	o, c := s.Kind.Op(), w.operation(i, t)
	c.DY = dy
	for k := range o.Operands {
		x := w.plan.Operand(s, k)
		if !w.plan.Steps[x].Needs {
			continue
		}
		switch {
		case k == 1 && o.Whole:
			if w.window == nil {
				continue
			}
			c.DX, c.Fresh = w.toSum(x), false
		case s.Reads(k)&ops.Same != 0:
			w.handOn(x, dy)
			continue
		default:
			c.DX, c.Fresh = w.gradOf(x)
			if c.Fresh && !o.Sets {
				clear(c.DX)
			}
		}
		o.Backward(c, k)
	}
}

// turnMatrices makes what backward reads instead of whole operands.
func (p *pass) turnMatrices() {
	if p.plan.TurnWidth == 0 {
		return
	}
	p.turned = resize(p.turned, p.plan.TurnWidth)
	for i := range p.plan.Steps {
		s := &p.plan.Steps[i]
		if o := s.Kind.Op(); o.Turn != nil && p.plan.Steps[s.A].Needs {
			from := p.data[p.plan.Steps[s.Near.W].Var]
			o.Turn(&s.Step, p.turned[s.Turned:s.Turned+len(from)], from)
		}
	}
}

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
	case ops.LeafU:
		spmm.Rows(s.Width).Gather(y[:n*s.Width], x, w.graph.In().Cols[t.lo:])
	case ops.LeafV:
		spmm.Rows(s.Width).Gather(y[:n*s.Width], x, w.destinations(t))
	case ops.LeafE:
		w.values[i] = x[t.lo*s.Width : t.hi*s.Width]
	case ops.LeafW:
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
	case ops.LeafU:
		row = int(w.graph.In().Cols[t.lo+e])
	case ops.LeafE:
		row = t.lo + e
	case ops.LeafV:
		row = int(w.destinations(t)[e])
	}
	if !s.Picked {
		return row * s.Width
	}
	return row * s.PickFrom * s.Width
}
