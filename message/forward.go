package message

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// forward evaluates the plan over all edges and calls done with each tile.
func (r *run) forward(done func(t tile)) {
	r.tiles(r.limit, r.measureHub, func(t tile) {
		r.evaluate(t, len(r.steps))
		done(t)
	})
}

// again is forward after a first one: the statistics stand.
func (r *run) again(hub func(v int), done func(t tile)) {
	r.tiles(r.limit, hub, func(t tile) {
		r.evaluate(t, len(r.steps))
		done(t)
	})
}

// measureHub computes the statistics of a destination whose edges do not fit
// one tile: for each softmax a pass for the maximum and one for the sum.
func (r *run) measureHub(v int) {
	for i := range r.steps {
		s := &r.steps[i]
		if !s.normalises() {
			continue
		}
		top, sum := r.of(r.top, s, v), r.of(r.sum, s, v)
		simd.NoTop(top)
		clear(sum)
		r.parts(r.limit, v, func(t tile) {
			r.evaluate(t, i)
			simd.TopRows(top, r.vals[s.a][:(t.hi-t.lo)*s.width])
		})
		r.parts(r.limit, v, func(t tile) {
			r.evaluate(t, i)
			n := (t.hi - t.lo) * s.width
			simd.WeighRows(r.vals[i][:n], r.vals[s.a][:n], top, sum)
		})
	}
}

// of returns the statistics of a softmax at destination v.
func (r *run) of(x []tensor.Float, s *step, v int) []tensor.Float {
	at := v*r.n + s.stat
	return x[at : at+s.width]
}

// evaluate computes the values of the first n steps on a tile.
func (r *run) evaluate(t tile, n int) {
	for i := range r.steps[:n] {
		s := &r.steps[i]
		y := r.vals[i][:(t.hi-t.lo)*s.width]
		switch s.kind {
		case leafU, leafV, leafE, leafW:
			r.gather(s, t, y)
		case unary:
			s.un.Forward(y, r.vals[s.a][:len(y)], s.c)
		case binary:
			s.bin.Forward(y, r.vals[s.a], r.vals[s.b], 1, 1)
		case softmax, logSoftmax:
			r.normalise(i, t)
		default:
			r.perEdge(s, t, y)
		}
	}
}

// gather copies the rows that a leaf reads.
func (r *run) gather(s *step, t tile, y []tensor.Float) {
	x, w := s.x.Value().Data, s.width
	r.eachRow(t, func(v, lo, hi int) {
		for e := lo; e < hi; e++ {
			at := r.leafAt(s, t.lo+e, v)
			copy(y[e*w:e*w+w], x[at:at+w])
		}
	})
}

// leafAt returns where in its array a leaf reads for edge e into v.
func (r *run) leafAt(s *step, e, v int) int {
	row := 0
	switch s.kind {
	case leafU:
		row = int(r.g.In().Cols[e])
	case leafE:
		row = e
	case leafV:
		if row = v; s.drow != nil {
			row = int(s.drow[v])
		}
	}
	if s.rows == nil {
		return row * s.width
	}
	return row*s.x.Value().RowLen() + int(s.rows[e])*s.width
}

// perEdge computes the operations that work within each edge's message.
func (r *run) perEdge(s *step, t tile, y []tensor.Float) {
	x := r.vals[s.a]
	d := r.steps[s.a].width / max(s.width, 1) // what is reduced to one element
	switch s.kind {
	case expand:
		n := r.steps[s.a].width
		for e := range t.hi - t.lo {
			from, to := x[e*n:e*n+n], y[e*s.width:(e+1)*s.width]
			for k, i := range s.idx {
				to[k] = from[i]
			}
		}
	case dotLast:
		z := r.vals[s.b]
		for k := range y {
			y[k] = simd.Dot(x[k*d:k*d+d], z[k*d:k*d+d])
		}
	case sumLast:
		for k := range y {
			y[k] = 0
			for _, v := range x[k*d : k*d+d] {
				y[k] += v
			}
		}
	case maxLast:
		for k := range y {
			y[k] = simd.MaxOf(x[k*d : k*d+d])
		}
	case logSumExpLast:
		for k := range y {
			y[k] = simd.LogSumExp(x[k*d : k*d+d])
		}
	case pick:
		for e, k := range s.rows[t.lo:t.hi] {
			at := (e*d + int(k)) * s.width
			copy(y[e*s.width:(e+1)*s.width], x[at:at+s.width])
		}
	case dropout:
		r.mask(s, t, func(k int, scale tensor.Float) { y[k] = x[k] * scale })
	}
}

// mask calls f with every element of the tile and the dropout's factor on it.
func (r *run) mask(s *step, t tile, f func(k int, scale tensor.Float)) {
	scale := tensor.Float(s.drop.Scale)
	for e := range t.hi - t.lo {
		key := s.drop.Row(t.lo + e)
		for j := range s.width {
			if s.drop.Keep(key, j) {
				f(e*s.width+j, scale)
			} else {
				f(e*s.width+j, 0)
			}
		}
	}
}

// normalise computes a softmax: where the tile has all edges of its
// destinations, their statistics too.
func (r *run) normalise(i int, t tile) {
	s := &r.steps[i]
	w := s.width
	r.eachRow(t, func(v, lo, hi int) {
		x, y := r.vals[s.a][lo*w:hi*w], r.vals[i][lo*w:hi*w]
		top, sum := r.of(r.top, s, v), r.of(r.sum, s, v)
		if !t.part {
			simd.NoTop(top)
			simd.TopRows(top, x)
			clear(sum)
			simd.WeighRows(y, x, top, sum)
		} else if s.kind == softmax {
			simd.ExpRows(y, x, top)
		}
		if s.kind == softmax {
			simd.DivideRows(y, sum)
			return
		}
		for k, a := range x {
			y[k] = logWeight(a, top[k%w], sum[k%w])
		}
	})
}

// logWeight is log(exp(x − top)/sum). Where nothing weighs anything it is −∞.
func logWeight(x, top, sum tensor.Float) tensor.Float {
	if sum == 0 {
		return tensor.Float(math.Inf(-1))
	}
	if x == top { // also where both are +∞
		return tensor.Float(-math.Log(float64(sum)))
	}
	return x - top - tensor.Float(math.Log(float64(sum)))
}
