package exec

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// sightings is how many times a step across the in-edges must see all of them
// before it knows its statistics.
func sightings(s *plan.Step) int {
	if s.Kind == ir.Softmax || s.Kind == ir.LogSoftmax || s.Kind == ir.Sparsemax {
		return 2
	}
	return 1
}

// clearStats empties the statistics of a step at destination v.
func (w *worker) clearStats(s *plan.Step, v int) {
	clear(w.pass.stats.of(w.pass.stats.sum, s, v))
	vec.NoTop(w.pass.stats.of(w.pass.stats.top, s, v))
	if s.Kind == ir.TopK || s.Kind == ir.Sparsemax {
		w.best, w.bestEdges = w.best[:0], w.bestEdges[:0]
	}
}

// observe takes the operand x on edges from e0 on into the statistics at v.
func (w *worker) observe(s *plan.Step, pass, v, e0 int, x []tensor.Float) {
	top, sum := w.pass.stats.of(w.pass.stats.top, s, v), w.pass.stats.of(w.pass.stats.sum, s, v)
	switch {
	case s.Kind == ir.Normalise:
		vec.AddRows(sum, x)
	case s.Kind == ir.TopK:
		w.choose(s, e0, x)
	case pass == 0:
		vec.TopRows(top, x)
	case s.Kind == ir.Sparsemax:
		w.findNear(top, x)
	default:
		vec.WeighRows(w.tmp[:len(x)], x, top, sum)
	}
}

// settleStats completes the statistics at v.
func (w *worker) settleStats(s *plan.Step, v int) {
	if s.Kind == ir.Sparsemax {
		w.settleSparse(s, v)
	}
	if s.Kind != ir.TopK {
		return
	}
	top, edge := w.pass.stats.of(w.pass.stats.top, s, v), w.statEdges(s, v)
	kept := len(w.best) / max(s.Width, 1)
	for j := range top {
		switch {
		case s.K == 0:
			top[j], edge[j] = tensor.Float(math.NaN()), -1
		case kept < s.K: // all
			top[j], edge[j] = tensor.Float(math.Inf(-1)), math.MaxInt32
		default:
			top[j], edge[j] = w.best[(kept-1)*s.Width+j], w.bestEdges[(kept-1)*s.Width+j]
		}
	}
}

// statEdges returns the edges among the statistics of a step at destination v.
func (w *worker) statEdges(s *plan.Step, v int) []int32 {
	at := v*w.pass.stats.columns + s.Stat
	return w.pass.stats.edges[at : at+s.Width]
}

// choose keeps the k best of each column, the best first.
func (w *worker) choose(s *plan.Step, e0 int, x []tensor.Float) {
	n := s.Width
	for at := 0; at < len(x); at += n {
		if len(w.best) < s.K*n {
			for range n {
				w.best, w.bestEdges = append(w.best, tensor.Float(math.Inf(-1))), append(w.bestEdges, math.MaxInt32)
			}
		}
		for j, v := range x[at : at+n] {
			e := int32(e0 + at/n)
			for k := j; k < len(w.best); k += n {
				if before(v, e, w.best[k], w.bestEdges[k]) {
					v, e, w.best[k], w.bestEdges[k] = w.best[k], w.bestEdges[k], v, e
				}
			}
		}
	}
}

// before reports whether entry x of edge e is chosen before y of edge f.
func before(x tensor.Float, e int32, y tensor.Float, f int32) bool {
	switch xNaN, yNaN := x != x, y != y; {
	case xNaN || yNaN:
		return xNaN && (!yNaN || e < f)
	case x != y:
		return x > y
	}
	return e < f
}

// combine computes a step across the in-edges: where the tile has all edges of
// its destinations and no statistics stand, these too.
func (w *worker) combine(i int, t tile) {
	s := &w.plan.Steps[i]
	n := s.Width
	if s.Kind == ir.Softmax {
		w.softmax(i, t)
		return
	}
	w.pass.eachRow(t, func(v, lo, hi int) {
		x, y := w.values[s.A][lo*n:hi*n], w.values[i][lo*n:hi*n]
		if !t.part && !w.pass.backward {
			w.clearStats(s, v)
			for pass := range sightings(s) {
				w.observe(s, pass, v, t.lo+lo, x)
			}
			w.settleStats(s, v)
		}
		w.apply(s, v, t.lo+lo, y, x)
	})
}

// softmax is combine of a softmax.
func (w *worker) softmax(i int, t tile) {
	s := &w.plan.Steps[i]
	n := (t.hi - t.lo) * s.Width
	if n == 0 {
		return
	}
	x, y := w.values[s.A][:n], w.values[i][:n]
	from := t.r0*w.pass.stats.columns + s.Stat
	seg := spmm.Ranges{Off: w.graph.In().Offsets[t.r0 : t.r1+1], W: s.Width, Top: w.pass.stats.top[from:], Sum: w.pass.stats.sum[from:], Apart: w.pass.stats.columns}
	if t.part {
		part := [2]int64{int64(t.lo), int64(t.hi)}
		seg.Off = part[:]
	}
	if t.part || w.pass.backward {
		seg.Weights(y, x)
		return
	}
	seg.Softmax(y, x)
}

// apply computes a step on edges from e0 on into v, whose statistics stand.
func (w *worker) apply(s *plan.Step, v, e0 int, y, x []tensor.Float) {
	top, sum := w.pass.stats.of(w.pass.stats.top, s, v), w.pass.stats.of(w.pass.stats.sum, s, v)
	switch s.Kind {
	case ir.LogSoftmax:
		w.logWeights(y, x, top, sum)
	case ir.Normalise:
		copy(y, x)
		for j, d := range sum {
			if d == 0 {
				for k := j; k < len(y); k += len(sum) {
					y[k] = 0
				}
			}
		}
		vec.DivideRows(y, sum)
	case ir.TopK:
		w.keepChosen(s, v, e0, y, x)
	case ir.Sparsemax:
		sparseWeights(y, x, top, sum)
	}
}

// logWeights is log(exp(x − top)/sum). Where nothing weighs anything it is −∞.
func (w *worker) logWeights(y, x, top, sum []tensor.Float) {
	less := w.mix[:len(sum)]
	vec.Log.Forward(less, sum, 0)
	n := len(sum)
	for k, v := range x {
		switch j := k % n; {
		case sum[j] == 0:
			y[k] = tensor.Float(math.Inf(-1))
		case v == top[j]: // also where both are +∞
			y[k] = -less[j]
		default:
			y[k] = v - top[j] - less[j]
		}
	}
}

// keepChosen sets y to what is chosen of x and −∞ elsewhere, or to its marks.
func (w *worker) keepChosen(s *plan.Step, v, e0 int, y, x []tensor.Float) {
	last, edge := w.pass.stats.of(w.pass.stats.top, s, v), w.statEdges(s, v)
	n := s.Width
	for k, a := range x {
		j, e := k%n, int32(e0+k/n)
		kept := edge[j] >= 0 && !before(last[j], edge[j], a, e)
		switch {
		case s.Mark && kept && !(math.IsInf(float64(a), -1)):
			y[k] = 1
		case s.Mark:
			y[k] = 0
		case kept:
			y[k] = a
		default:
			y[k] = tensor.Float(math.Inf(-1))
		}
	}
}

// pullInEdges adds the gradient of a step across the in-edges to its operand's.
func (w *worker) pullInEdges(i int, t tile) {
	s := &w.plan.Steps[i]
	n := (t.hi - t.lo) * s.Width
	dy := w.grads[i]
	dx, fresh := w.gradOf(s.A)
	clearFresh(dx, fresh)
	if s.Kind == ir.TopK {
		w.pullKept(s, t, dx, dy)
		return
	}
	y := w.values[i][:n]
	if s.Kind == ir.Softmax && !t.part {
		(&spmm.Ranges{Off: w.graph.In().Offsets[t.r0 : t.r1+1], W: s.Width}).Grad(dx, y, dy)
		return
	}
	g := w.tmp[:n]
	w.inEdgeTerms(s, g, y, dy)
	w.pass.eachRow(t, func(v, lo, hi int) {
		lo, hi = lo*s.Width, hi*s.Width
		c := w.inEdgeSums[s.Stat : s.Stat+s.Width]
		if !t.part {
			clear(c)
			vec.AddRows(c, g[lo:hi])
		}
		w.pullRow(s, v, c, inEdgeGrads{y: y[lo:hi], dy: dy[lo:hi], dx: dx[lo:hi]})
	})
}

// inEdgeGrads is what the gradient of a step across the in-edges works on at one
// destination.
type inEdgeGrads struct{ y, dy, dx []tensor.Float }

// inEdgeTerms sets g to what the gradient of a step sums over a destination's
// edges: y·dy, dy of the logarithm, or dy of what has a weight.
func (w *worker) inEdgeTerms(s *plan.Step, g, y, dy []tensor.Float) {
	switch s.Kind {
	case ir.LogSoftmax:
		copy(g, dy)
		return
	case ir.Sparsemax:
		ofSupport(g, y, dy)
		return
	}
	vec.Mul.Forward(g, y, dy, 1, 1)
}

func (w *worker) pullRow(s *plan.Step, v int, c []tensor.Float, r inEdgeGrads) {
	n := len(c)
	sum := w.pass.stats.of(w.pass.stats.sum, s, v)
	switch s.Kind {
	case ir.Softmax: // dx += y·(dy − c)
		for at := 0; at < len(r.y); at += n {
			pullWeights(r.dx[at:at+n], r.y[at:at+n], r.dy[at:at+n], c)
		}
	case ir.LogSoftmax: // dx += dy − exp(y)·c
		p := w.mix[:n]
		for at := 0; at < len(r.y); at += n {
			vec.Exp.Forward(p, r.y[at:at+n], 0)
			for j, g := range r.dy[at : at+n] {
				if sum[j] != 0 {
					r.dx[at+j] += g - p[j]*c[j]
				}
			}
		}
	case ir.Sparsemax:
		pullSparse(r, c, w.statEdges(s, v))
	case ir.Normalise: // dx += (dy − c)/sum
		for at := 0; at < len(r.y); at += n {
			for j, g := range r.dy[at : at+n] {
				if sum[j] != 0 {
					r.dx[at+j] += (g - c[j]) / sum[j]
				}
			}
		}
	}
}

// pullWeights is dx += y·(dy − c), to the bits of [spmm.Ranges.Grad].
func pullWeights(dx, y, dy, c []tensor.Float) {
	y, dy, c = y[:len(dx)], dy[:len(dx)], c[:len(dx)]
	for j := range dx {
		dx[j] += tensor.Float(y[j] * (dy[j] - c[j]))
	}
}

// pullKept is the gradient of TopK: that of what was kept.
func (w *worker) pullKept(s *plan.Step, t tile, dx, dy []tensor.Float) {
	n := s.Width
	w.pass.eachRow(t, func(v, lo, hi int) {
		last, edge := w.pass.stats.of(w.pass.stats.top, s, v), w.statEdges(s, v)
		for k := lo * n; k < hi*n; k++ {
			j, e := k%n, int32(t.lo+k/n)
			if edge[j] >= 0 && !before(last[j], edge[j], w.values[s.A][k], e) {
				dx[k] += dy[k]
			}
		}
	})
}
