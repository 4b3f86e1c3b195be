package message

import (
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// backward recomputes the plan tile by tile, has seed set the gradient of each
// tile's message, and adds to the gradient of every leaf. A source's gradient is
// the sum over its out-edges in the order of the edges.
func (r *run) backward(seed func(t tile, dm []tensor.Float)) {
	var leaves []pulled
	for i := range r.steps {
		if s := &r.steps[i]; s.kind <= leafW && s.needs {
			leaves = append(leaves, pulled{s, r.adj[i], s.x.Grad().Data})
		}
	}
	r.again(func(v int) { r.measurePull(v, seed) }, func(t tile) {
		r.pullBack(t, 0, seed)
		r.scatter(t, leaves)
	})
}

// pulled is a leaf with the gradients of a tile's edges and of its whole array.
type pulled struct {
	*step
	dy, dx []tensor.Float
}

// measurePull computes, for a destination in parts, the sum that the gradient of
// each softmax takes over all its edges, from the last softmax to the first.
func (r *run) measurePull(v int, seed func(t tile, dm []tensor.Float)) {
	for i := len(r.steps) - 1; i >= 0; i-- {
		s := &r.steps[i]
		if !s.normalises() || !s.needs {
			continue
		}
		c := r.of(r.pull, s, v)
		clear(c)
		r.parts(r.limit, v, func(t tile) {
			r.evaluate(t, len(r.steps))
			r.pullBack(t, i+1, seed)
			n := (t.hi - t.lo) * s.width
			s.addPull(c, r.vals[i][:n], r.adj[i][:n])
		})
	}
}

// addPull adds to c what the gradient of a softmax sums over a destination's
// edges: y·dy, or dy for the logarithm.
func (s *step) addPull(c, y, dy []tensor.Float) {
	w := len(c)
	for k, g := range dy {
		if s.kind == softmax {
			g *= y[k]
		}
		c[k%w] += g
	}
}

// pullBack computes the gradients of the values of all steps, from the last
// down to the operands of step stop.
func (r *run) pullBack(t tile, stop int, seed func(t tile, dm []tensor.Float)) {
	n := t.hi - t.lo
	for i := range r.steps {
		clear(r.adj[i][:n*r.steps[i].width])
	}
	last := len(r.steps) - 1
	seed(t, r.adj[last][:n*r.steps[last].width])
	for i := last; i >= stop; i-- {
		s := &r.steps[i]
		if !s.needs || s.kind <= leafW {
			continue
		}
		y, dy := r.vals[i][:n*s.width], r.adj[i][:n*s.width]
		switch s.kind {
		case unary:
			s.un.Backward(r.adj[s.a], dy, r.vals[s.a], y, s.c)
		case binary:
			r.pullBinary(s, dy)
		case softmax, logSoftmax:
			r.pullNormalise(i, t)
		default:
			r.pullPerEdge(s, t, y, dy)
		}
	}
}

func (r *run) pullBinary(s *step, dz []tensor.Float) {
	x, y := r.vals[s.a], r.vals[s.b]
	if r.steps[s.a].needs {
		s.bin.BackwardX(r.adj[s.a], dz, x, y, 1, 1)
	}
	if r.steps[s.b].needs {
		s.bin.BackwardY(r.adj[s.b], dz, x, y, 1, 1)
	}
}

func (r *run) pullNormalise(i int, t tile) {
	s := &r.steps[i]
	w := s.width
	r.eachRow(t, func(v, lo, hi int) {
		y, dy, dx := r.vals[i][lo*w:hi*w], r.adj[i][lo*w:hi*w], r.adj[s.a][lo*w:hi*w]
		c := r.of(r.pull, s, v)
		if !t.part {
			clear(c)
			s.addPull(c, y, dy)
		}
		if s.kind == softmax {
			for k, g := range dy {
				dx[k] += y[k] * (g - c[k%w])
			}
			return
		}
		sum := r.of(r.sum, s, v)
		for k, g := range dy {
			if sum[k%w] != 0 {
				var p [1]tensor.Float
				simd.Exp.Forward(p[:], y[k:k+1], 0)
				dx[k] += g - p[0]*c[k%w]
			}
		}
	})
}

// pullPerEdge is the gradient of perEdge.
func (r *run) pullPerEdge(s *step, t tile, y, dy []tensor.Float) {
	x, dx := r.vals[s.a], r.adj[s.a]
	d := r.steps[s.a].width / max(s.width, 1)
	switch s.kind {
	case expand:
		n := r.steps[s.a].width
		for e := range t.hi - t.lo {
			to, from := dx[e*n:e*n+n], dy[e*s.width:(e+1)*s.width]
			for k, i := range s.idx {
				to[i] += from[k]
			}
		}
	case dotLast:
		z, dz := r.vals[s.b], r.adj[s.b]
		for k, g := range dy {
			for j := k * d; j < k*d+d; j++ {
				dx[j] += g * z[j]
				dz[j] += g * x[j]
			}
		}
	case sumLast:
		for k, g := range dy {
			for j := k * d; j < k*d+d; j++ {
				dx[j] += g
			}
		}
	case maxLast:
		for k, g := range dy {
			for j := k * d; j < k*d+d; j++ {
				if x[j] == y[k] {
					dx[j] += g
					break
				}
			}
		}
	case logSumExpLast:
		for k, g := range dy {
			simd.LogSumExpBackward(dx[k*d:k*d+d], x[k*d:k*d+d], y[k], g)
		}
	case pick:
		for e, k := range s.rows[t.lo:t.hi] {
			at := (e*d + int(k)) * s.width
			add(dx[at:at+s.width], dy[e*s.width:(e+1)*s.width])
		}
	case dropout:
		r.mask(s, t, func(k int, scale tensor.Float) { dx[k] += dy[k] * scale })
	}
}

// scatter adds the gradients of a tile to the rows that its leaves have read.
// It goes edge by edge and only then leaf by leaf: two leaves may read one
// array, and the order in which they add to it must not depend on the tiles.
func (r *run) scatter(t tile, leaves []pulled) {
	r.eachRow(t, func(v, lo, hi int) {
		for e := lo; e < hi; e++ {
			for i := range leaves {
				l := &leaves[i]
				at := r.leafAt(l.step, t.lo+e, v)
				add(l.dx[at:at+l.width], l.dy[e*l.width:(e+1)*l.width])
			}
		}
	})
}

// add is dst += src.
func add(dst, src []tensor.Float) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] += v
	}
}
