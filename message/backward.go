package message

import (
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// into returns where the gradient of step i is added to. If fresh is set,
// nothing is there yet, and the caller writes it.
func (w *worker) into(i int) (dx []tensor.Float, fresh bool) {
	fresh = !w.has[i]
	w.has[i] = true
	return w.adj[i], fresh
}

// pullBack computes the gradients of the values of all steps, from the last
// down to the operands of step stop.
func (w *worker) pullBack(t tile, stop int) {
	n := t.hi - t.lo
	for i := range w.steps {
		if w.has[i], w.adj[i] = false, nil; w.own[i] != nil {
			w.adj[i] = w.own[i][:n*w.steps[i].width]
		}
	}
	w.aim(t)
	last := len(w.steps) - 1
	switch w.has[last] = true; {
	case w.plan.even:
		w.pullEven(t)
		last--
	case !w.lazy:
		w.seed(t, w.adj[last])
	}
	for i := last; i >= stop; i-- {
		s := &w.steps[i]
		if !s.needs || s.kind <= leafW || !w.has[i] {
			continue
		}
		dy := w.adj[i]
		switch s.kind {
		case unary:
			w.pullUnary(i, dy)
		case binary:
			w.pullBinary(s, dy)
		case scaleBy:
			if w.lazy && i == len(w.steps)-1 {
				w.pullNear(s, t)
			} else {
				w.pullScale(s, dy)
			}
		case score:
			w.pullScore(i, t, dy)
		case affine:
			w.pullAffine(s, t, dy)
		case matMul:
			w.pullMultiply(s, dy)
		case softmax, logSoftmax, normalise, topK:
			w.pullAcross(i, t)
		default:
			w.pullPerEdge(i, t, dy)
		}
	}
}

// seed sets dm to the gradient of a tile's messages.
func (w *worker) seed(t tile, dm []tensor.Float) {
	n := w.out().width
	switch {
	case len(w.rs) == 0:
		copy(dm, w.dOut[t.lo*n:t.hi*n])
	case w.plain():
		w.pullPlain(t, dm)
	default:
		m := w.vals[len(w.steps)-1]
		w.eachRow(t, func(v, lo, hi int) { w.red.pull(v, t.lo+lo, m[lo*n:hi*n], dm[lo*n:hi*n], pullBuffers{w.dOut, w.mix}) })
	}
}

// hand makes dy the gradient of step i, or adds it. Where nothing else is added
// to that, it is the same array.
func (w *worker) hand(i int, dy []tensor.Float) {
	if !w.has[i] && w.steps[i].uses == 1 && !w.steps[i].gathers() { // as in plan.hands
		w.has[i], w.adj[i] = true, dy
		return
	}
	dx, fresh := w.into(i)
	if fresh {
		copy(dx, dy)
		return
	}
	simd.Add.Forward(dx, dx, dy, 1, 1)
}

func (w *worker) pullUnary(i int, dy []tensor.Float) {
	s := &w.steps[i]
	if s.un == simd.Shift {
		w.hand(s.a, dy)
		return
	}
	dx, fresh := w.into(s.a)
	x, y := w.vals[s.a], w.vals[i]
	switch { // what is not read may not be there
	case s.linear():
		x, y = dy, dy
	case s.byResult():
		x = y
	case s.un != simd.SiLU:
		y = x
	}
	if fresh {
		s.un.SetBackward(dx, dy, x[:len(dy)], y[:len(dy)], s.c)
		return
	}
	s.un.Backward(dx, dy, x[:len(dy)], y[:len(dy)], s.c)
}

func (w *worker) pullBinary(s *step, dz []tensor.Float) {
	x, y := w.vals[s.a], w.vals[s.b]
	if w.steps[s.a].needs {
		switch {
		case s.bin == simd.Add || s.bin == simd.Sub:
			w.hand(s.a, dz)
		default:
			if dx, fresh := w.into(s.a); fresh && s.bin == simd.Mul {
				simd.Mul.Forward(dx, dz, y, 1, 1)
			} else {
				w.clear(dx, fresh)
				s.bin.BackwardX(dx, dz, x, y, 1, 1)
			}
		}
	}
	if w.steps[s.b].needs {
		if s.bin == simd.Add {
			w.hand(s.b, dz)
			return
		}
		if dy, fresh := w.into(s.b); fresh && s.bin == simd.Mul {
			simd.Mul.Forward(dy, dz, x, 1, 1)
		} else {
			w.clear(dy, fresh)
			s.bin.BackwardY(dy, dz, x, y, 1, 1)
		}
	}
}

func (w *worker) clear(x []tensor.Float, fresh bool) {
	if fresh {
		clear(x)
	}
}

// pullScale is the gradient of a product with one number for each run.
func (w *worker) pullScale(s *step, dz []tensor.Float) {
	if w.steps[s.a].needs {
		c := w.vals[s.b][:len(dz)/s.run]
		if dx, fresh := w.into(s.a); fresh {
			simd.Runs(s.run).Scale(dx, c, dz)
		} else {
			simd.Runs(s.run).Axpy(dx, c, dz)
		}
	}
	if w.steps[s.b].needs {
		dc, fresh := w.into(s.b)
		w.clear(dc, fresh)
		simd.Runs(s.run).Dot(dc, w.vals[s.a], dz)
	}
}

// pullPerEdge is the gradient of perEdge.
func (w *worker) pullPerEdge(i int, t tile, dy []tensor.Float) {
	s := &w.steps[i]
	if s.kind == dotLast {
		w.pullDot(s, dy)
		return
	}
	if s.kind == gumbel {
		w.hand(s.a, dy)
		return
	}
	dx, fresh := w.into(s.a)
	d := w.steps[s.a].width / max(s.width, 1)
	if s.kind == sumLast && fresh {
		simd.Runs(d).Spread(dx, dy)
		return
	}
	w.clear(dx, fresh)
	switch s.kind {
	case expand:
		w.pullStretch(s, dx, dy)
	case sumLast:
		simd.Runs(d).SpreadAdd(dx, dy)
	case maxLast:
		pullMax(dx, dy, w.vals[s.a], w.vals[i])
	case logSumExpLast:
		x, y := w.vals[s.a], w.vals[i]
		for k, g := range dy {
			simd.LogSumExpBackward(dx[k*d:k*d+d], x[k*d:k*d+d], y[k], g)
		}
	case pick:
		for e, k := range w.kinds(s)[t.lo:t.hi] {
			at := (e*d + int(k)) * s.width
			add(dx[at:at+s.width], dy[e*s.width:(e+1)*s.width])
		}
	case dropout:
		w.aside(s).drop.Add(dx, dy, t.lo, s.width)
	}
}

// pullDot is the gradient of the inner products of runs.
func (w *worker) pullDot(s *step, dy []tensor.Float) {
	d := w.steps[s.a].width / max(s.width, 1)
	for _, side := range [2][2]int{{s.a, s.b}, {s.b, s.a}} {
		if !w.steps[side[0]].needs {
			continue
		}
		if dx, fresh := w.into(side[0]); fresh {
			simd.Runs(d).Scale(dx, dy, w.vals[side[1]])
		} else {
			simd.Runs(d).Axpy(dx, dy, w.vals[side[1]])
		}
	}
}

// pullStretch is the gradient of stretch.
func (w *worker) pullStretch(s *step, dx, dy []tensor.Float) {
	if s.run > 0 {
		simd.Runs(s.run).Sum(dx, dy)
		return
	}
	n := w.steps[s.a].width
	for ; len(dy) > 0; dx, dy = dx[n:], dy[s.width:] {
		for k, i := range s.idx {
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

// add is dst += src.
func add(dst, src []tensor.Float) { simd.Add.Forward(dst, dst, src, 1, 1) }
