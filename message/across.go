package message

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// passes is how many times a step across the in-edges must see all of them
// before it knows its statistics.
func (s *step) passes() int {
	if s.kind == softmax || s.kind == logSoftmax {
		return 2
	}
	return 1
}

// begin empties the statistics of a step at destination v.
func (w *worker) begin(s *step, v int) {
	clear(w.of(w.sum, s, v))
	simd.NoTop(w.of(w.top, s, v))
	if s.kind == topK {
		w.best, w.edge = w.best[:0], w.edge[:0]
	}
}

// observe takes the operand x on edges from e0 on into the statistics at v.
func (w *worker) observe(s *step, pass, v, e0 int, x []tensor.Float) {
	top, sum := w.of(w.top, s, v), w.of(w.sum, s, v)
	switch {
	case s.kind == normalise:
		simd.AddRows(sum, x)
	case s.kind == topK:
		w.choose(s, e0, x)
	case pass == 0:
		simd.TopRows(top, x)
	default:
		simd.WeighRows(w.tmp[:len(x)], x, top, sum)
	}
}

// settle completes the statistics at v.
func (w *worker) settle(s *step, v int) {
	if s.kind != topK {
		return
	}
	top, edge := w.of(w.top, s, v), w.edges(s, v)
	kept := len(w.best) / max(s.width, 1)
	for j := range top {
		switch {
		case s.k == 0:
			top[j], edge[j] = tensor.Float(math.NaN()), -1
		case kept < s.k: // all
			top[j], edge[j] = tensor.Float(math.Inf(-1)), math.MaxInt32
		default:
			top[j], edge[j] = w.best[(kept-1)*s.width+j], w.edge[(kept-1)*s.width+j]
		}
	}
}

// edges returns the edges among the statistics of a step at destination v.
func (w *worker) edges(s *step, v int) []int32 {
	at := v*w.n + s.stat
	return w.run.edge[at : at+s.width]
}

// choose keeps the k best of each column, the best first.
func (w *worker) choose(s *step, e0 int, x []tensor.Float) {
	n := s.width
	for at := 0; at < len(x); at += n {
		if len(w.best) < s.k*n {
			for range n {
				w.best, w.edge = append(w.best, tensor.Float(math.Inf(-1))), append(w.edge, math.MaxInt32)
			}
		}
		for j, v := range x[at : at+n] {
			e := int32(e0 + at/n)
			for k := j; k < len(w.best); k += n {
				if before(v, e, w.best[k], w.edge[k]) {
					v, e, w.best[k], w.edge[k] = w.best[k], w.edge[k], v, e
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
	s := &w.steps[i]
	n := s.width
	if s.kind == softmax {
		w.softmax(i, t)
		return
	}
	w.eachRow(t, func(v, lo, hi int) {
		x, y := w.vals[s.a][lo*n:hi*n], w.vals[i][lo*n:hi*n]
		if !t.part && !w.back {
			w.begin(s, v)
			for pass := range s.passes() {
				w.observe(s, pass, v, t.lo+lo, x)
			}
			w.settle(s, v)
		}
		w.apply(s, v, t.lo+lo, y, x)
	})
}

// softmax is combine of a softmax.
func (w *worker) softmax(i int, t tile) {
	s := &w.steps[i]
	n := (t.hi - t.lo) * s.width
	if n == 0 {
		return
	}
	x, y := w.vals[s.a][:n], w.vals[i][:n]
	from := t.r0*w.n + s.stat
	seg := simd.Ranges{Off: w.g.In().Offsets[t.r0 : t.r1+1], W: s.width, Top: w.top[from:], Sum: w.sum[from:], Apart: w.n}
	if t.part {
		part := [2]int64{int64(t.lo), int64(t.hi)}
		seg.Off = part[:]
	}
	if t.part || w.back {
		seg.Weights(y, x)
		return
	}
	seg.Softmax(y, x)
}

// apply computes a step on edges from e0 on into v, whose statistics stand.
func (w *worker) apply(s *step, v, e0 int, y, x []tensor.Float) {
	top, sum := w.of(w.top, s, v), w.of(w.sum, s, v)
	switch s.kind {
	case logSoftmax:
		w.logWeights(y, x, top, sum)
	case normalise:
		copy(y, x)
		for j, d := range sum {
			if d == 0 {
				for k := j; k < len(y); k += len(sum) {
					y[k] = 0
				}
			}
		}
		simd.DivideRows(y, sum)
	case topK:
		w.keep(s, v, e0, y, x)
	}
}

// logWeights is log(exp(x − top)/sum). Where nothing weighs anything it is −∞.
func (w *worker) logWeights(y, x, top, sum []tensor.Float) {
	less := w.mix[:len(sum)]
	simd.Log.Forward(less, sum, 0)
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

// keep sets y to what is chosen of x and −∞ elsewhere, or to its marks.
func (w *worker) keep(s *step, v, e0 int, y, x []tensor.Float) {
	last, edge := w.of(w.top, s, v), w.edges(s, v)
	n := s.width
	for k, a := range x {
		j, e := k%n, int32(e0+k/n)
		kept := edge[j] >= 0 && !before(last[j], edge[j], a, e)
		switch {
		case s.mark && kept && !(math.IsInf(float64(a), -1)):
			y[k] = 1
		case s.mark:
			y[k] = 0
		case kept:
			y[k] = a
		default:
			y[k] = tensor.Float(math.Inf(-1))
		}
	}
}

// pullAcross adds the gradient of a step across the in-edges to its operand's.
func (w *worker) pullAcross(i int, t tile) {
	s := &w.steps[i]
	n := (t.hi - t.lo) * s.width
	dy := w.adj[i]
	dx, fresh := w.into(s.a)
	w.clear(dx, fresh)
	if s.kind == topK {
		w.pullKept(s, t, dx, dy)
		return
	}
	y := w.vals[i][:n]
	if s.kind == softmax && !t.part {
		(&simd.Ranges{Off: w.g.In().Offsets[t.r0 : t.r1+1], W: s.width}).Grad(dx, y, dy)
		return
	}
	g := w.tmp[:n]
	w.weighPull(s, g, y, dy)
	w.eachRow(t, func(v, lo, hi int) {
		lo, hi = lo*s.width, hi*s.width
		c := w.pull[s.stat : s.stat+s.width]
		if !t.part {
			clear(c)
			simd.AddRows(c, g[lo:hi])
		}
		w.pullRow(s, v, c, rowPull{y: y[lo:hi], dy: dy[lo:hi], dx: dx[lo:hi]})
	})
}

// rowPull is what the gradient of a step across the in-edges works on at one
// destination.
type rowPull struct{ y, dy, dx []tensor.Float }

// weighPull sets g to what the gradient of a step sums over a destination's
// edges: y·dy, or dy of the logarithm.
func (w *worker) weighPull(s *step, g, y, dy []tensor.Float) {
	if s.kind == logSoftmax {
		copy(g, dy)
		return
	}
	simd.Mul.Forward(g, y, dy, 1, 1)
}

func (w *worker) pullRow(s *step, v int, c []tensor.Float, r rowPull) {
	n := len(c)
	sum := w.of(w.sum, s, v)
	switch s.kind {
	case softmax: // dx += y·(dy − c)
		for at := 0; at < len(r.y); at += n {
			pullWeights(r.dx[at:at+n], r.y[at:at+n], r.dy[at:at+n], c)
		}
	case logSoftmax: // dx += dy − exp(y)·c
		p := w.mix[:n]
		for at := 0; at < len(r.y); at += n {
			simd.Exp.Forward(p, r.y[at:at+n], 0)
			for j, g := range r.dy[at : at+n] {
				if sum[j] != 0 {
					r.dx[at+j] += g - p[j]*c[j]
				}
			}
		}
	case normalise: // dx += (dy − c)/sum
		for at := 0; at < len(r.y); at += n {
			for j, g := range r.dy[at : at+n] {
				if sum[j] != 0 {
					r.dx[at+j] += (g - c[j]) / sum[j]
				}
			}
		}
	}
}

// pullWeights is dx += y·(dy − c), to the bits of [simd.Ranges.Grad].
func pullWeights(dx, y, dy, c []tensor.Float) {
	y, dy, c = y[:len(dx)], dy[:len(dx)], c[:len(dx)]
	for j := range dx {
		dx[j] += tensor.Float(y[j] * (dy[j] - c[j]))
	}
}

// pullKept is the gradient of TopK: that of what was kept.
func (w *worker) pullKept(s *step, t tile, dx, dy []tensor.Float) {
	n := s.width
	w.eachRow(t, func(v, lo, hi int) {
		last, edge := w.of(w.top, s, v), w.edges(s, v)
		for k := lo * n; k < hi*n; k++ {
			j, e := k%n, int32(t.lo+k/n)
			if edge[j] >= 0 && !before(last[j], edge[j], w.vals[s.a][k], e) {
				dx[k] += dy[k]
			}
		}
	})
}
