package exec

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// perEdge computes the operations that work within each edge's message.
func (w *worker) perEdge(s *plan.Step, t tile, y []tensor.Float) {
	a := &w.plan.Steps[s.A]
	x := w.values[s.A][:(t.hi-t.lo)*a.Width]
	d := a.Width / max(s.Width, 1) // what is reduced to one element
	switch s.Kind {
	case ir.Expand:
		w.stretch(s, x, y)
	case ir.DotLast:
		clear(y)
		vec.Runs(d).Dot(y, x, w.values[s.B])
	case ir.SumLast:
		clear(y)
		vec.Runs(d).Sum(y, x)
	case ir.MaxLast:
		for k := range y {
			y[k] = vec.MaxOf(x[k*d : k*d+d])
		}
	case ir.LogSumExpLast:
		for k := range y {
			y[k] = vec.LogSumExp(x[k*d : k*d+d])
		}
	case ir.Pick:
		for e, k := range w.kindsOf(s, t) {
			at := (e*d + int(k)) * s.Width
			copy(y[e*s.Width:(e+1)*s.Width], x[at:at+s.Width])
		}
	case ir.Dropout:
		clear(y)
		w.pass.eval.attribute(s).Drop.Add(y, x, t.lo, s.Width)
	case ir.Gumbel:
		copy(y, x)
		w.perturb(s, t, y)
	}
}

// stretch copies each edge's elements to a larger shape.
func (w *worker) stretch(s *plan.Step, x, y []tensor.Float) {
	if s.Run > 0 {
		vec.Runs(s.Run).Spread(y, x)
		return
	}
	n := w.plan.Steps[s.A].Width
	for ; len(y) > 0; x, y = x[n:], y[s.Width:] {
		for k, i := range s.Index {
			y[k] = x[i]
		}
	}
}

// perturb adds to each logit a number whose distribution makes the largest sum a
// draw by the logits' softmax: −log(−log u), u even between 0 and 1.
func (w *worker) perturb(s *plan.Step, t tile, y []tensor.Float) {
	d := w.pass.eval.attribute(s).Drop
	for e := range t.hi - t.lo {
		key := d.Row(t.lo + e)
		for j := range s.Width {
			y[e*s.Width+j] -= tensor.Float(math.Log(-math.Log(d.Uniform(key, j))))
		}
	}
}

// pullPerEdge is the gradient of perEdge.
func (w *worker) pullPerEdge(i int, t tile, dy []tensor.Float) {
	s := &w.plan.Steps[i]
	if s.Kind == ir.DotLast {
		w.pullDot(s, dy)
		return
	}
	if s.Kind == ir.Gumbel {
		w.handOn(s.A, dy)
		return
	}
	dx, fresh := w.gradOf(s.A)
	d := w.plan.Steps[s.A].Width / max(s.Width, 1)
	if s.Kind == ir.SumLast && fresh {
		vec.Runs(d).Spread(dx, dy)
		return
	}
	clearFresh(dx, fresh)
	switch s.Kind {
	case ir.Expand:
		w.pullStretch(s, dx, dy)
	case ir.SumLast:
		vec.Runs(d).SpreadAdd(dx, dy)
	case ir.MaxLast:
		pullMax(dx, dy, w.values[s.A], w.values[i])
	case ir.LogSumExpLast:
		x, y := w.values[s.A], w.values[i]
		for k, g := range dy {
			vec.LogSumExpBackward(dx[k*d:k*d+d], x[k*d:k*d+d], y[k], g)
		}
	case ir.Pick:
		for e, k := range w.kindsOf(s, t) {
			at := (e*d + int(k)) * s.Width
			add(dx[at:at+s.Width], dy[e*s.Width:(e+1)*s.Width])
		}
	case ir.Dropout:
		w.pass.eval.attribute(s).Drop.Add(dx, dy, t.lo, s.Width)
	}
}

// pullDot is the gradient of the inner products of runs.
func (w *worker) pullDot(s *plan.Step, dy []tensor.Float) {
	d := w.plan.Steps[s.A].Width / max(s.Width, 1)
	for _, side := range [2][2]int{{s.A, s.B}, {s.B, s.A}} {
		if !w.plan.Steps[side[0]].Needs {
			continue
		}
		if dx, fresh := w.gradOf(side[0]); fresh {
			vec.Runs(d).Scale(dx, dy, w.values[side[1]])
		} else {
			vec.Runs(d).Axpy(dx, dy, w.values[side[1]])
		}
	}
}

// pullStretch is the gradient of stretch.
func (w *worker) pullStretch(s *plan.Step, dx, dy []tensor.Float) {
	if s.Run > 0 {
		vec.Runs(s.Run).Sum(dx, dy)
		return
	}
	n := w.plan.Steps[s.A].Width
	for ; len(dy) > 0; dx, dy = dx[n:], dy[s.Width:] {
		for k, i := range s.Index {
			dx[i] += dy[k]
		}
	}
}

// pullMax gives the gradient of each run's largest element to the first that is.
func pullMax(dx, dy, x, y []tensor.Float) {
	d := len(dx) / max(len(dy), 1)
	for k, g := range dy {
		for j := k * d; j < k*d+d; j++ {
			if x[j] == y[k] {
				dx[j] += g
				break
			}
		}
	}
}
