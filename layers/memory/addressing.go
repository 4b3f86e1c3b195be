package memory

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Sizes below which a norm and a weight count as this: a key or a slot of zeros has a cosine
// of nought with all, and a gradient; weights of zeros are sharpened to equal ones.
const (
	leastNorm   = 1e-12 // squared
	leastWeight = 1e-12
)

// stages are the weights of a head over the slots, from one step of its addressing to the
// next. Forwards they are values; the last is the weights themselves, elsewhere.
type stages struct {
	cosine  []tensor.Float // cos(key, M_i)
	content []tensor.Float // softmax_i(strength·cosine_i)
	gated   []tensor.Float // gate·content + (1 − gate)·last
	shifted []tensor.Float // Σ_o shift_o·gated_{i−o}
	log     []tensor.Float // log(shifted + 1e-12)
}

// norms sets inv to the reciprocals of the norms of the slots of m, width×slots.
func (l *tapeLayout) norms(inv, m []tensor.Float) {
	n := l.slots
	for i := range inv {
		inv[i] = leastNorm
	}
	for d := range l.width {
		row := m[d*n : (d+1)*n]
		vec.MulAdd(inv, row, row)
	}
	for i, v := range inv {
		inv[i] = 1 / tensor.Float(math.Sqrt(float64(v)))
	}
}

// inverseNorm is the reciprocal of a key's norm.
func inverseNorm(key []tensor.Float) tensor.Float {
	return tensor.Float(1 / math.Sqrt(float64(vec.Dot(key, key))+leastNorm))
}

// address sets w to where a head turns in m, whose slots have the reciprocal norms inv, from
// last:
//
//	content = softmax_i(strength·cos(key, m_i))
//	gated   = gate·content + (1 − gate)·last
//	shifted_i = Σ_o shift_o·gated_{i−o}, around the end
//	w = shifted^sharpen / Σ shifted^sharpen
func (l *tapeLayout) address(w []tensor.Float, s stages, said spoken, m, inv, last []tensor.Float) {
	n := l.slots
	clear(s.cosine)
	for d, k := range said.key {
		vec.Axpy(s.cosine, k, m[d*n:(d+1)*n])
	}
	vec.Mul.Forward(s.cosine, s.cosine, inv, 1, 1)
	vec.Scale.Forward(s.cosine, s.cosine, inverseNorm(said.key))
	vec.Scale.Forward(s.content, s.cosine, *said.strength)
	vec.Softmax(s.content, s.content)
	vec.Scale.Forward(s.gated, s.content, *said.gate)
	vec.Axpy(s.gated, 1-*said.gate, last)
	clear(s.shifted)
	for o, c := range said.shift {
		axpyRolled(s.shifted, c, s.gated, o-l.shifts)
	}
	for i, v := range s.shifted {
		s.log[i] = v + leastWeight
	}
	vec.Log.Forward(s.log, s.log, 0)
	vec.Scale.Forward(w, s.log, *said.sharpen)
	vec.Softmax(w, w)
}

// axpyRolled adds c·x to y, moved by so many places around the end: y[i] += c·x[i−by].
func axpyRolled(y []tensor.Float, c tensor.Float, x []tensor.Float, by int) {
	n := len(y)
	by = ((by % n) + n) % n
	vec.Axpy(y[by:], c, x[:n-by])
	vec.Axpy(y[:by], c, x[n-by:])
}

// dotRolled returns Σ_i y[i]·x[i−by].
func dotRolled(y, x []tensor.Float, by int) tensor.Float {
	n := len(y)
	by = ((by % n) + n) % n
	return vec.Dot(y[by:], x[:n-by]) + vec.Dot(y[:by], x[n-by:])
}

// addressBack takes the gradient dw of where a head turned, w, back: to what it was told, to
// where it was before (dlast may be nil), and to the memory, of which each slot's own share is
// left in own for [tapeLayout.ownBack]. a and b are rows of scratch.
func (l *tapeLayout) addressBack(dw, w []tensor.Float, s stages, said, dsaid spoken, m, inv, last, dlast, dm, own, a, b []tensor.Float) {
	n := l.slots
	clear(a) // of sharpen·log
	vec.SoftmaxBackward(a, dw, w)
	*dsaid.sharpen += vec.Dot(a, s.log)
	gamma := *said.sharpen
	for i, v := range s.shifted { // of shifted
		a[i] *= gamma / (v + leastWeight)
	}
	clear(b) // of gated
	for o, c := range said.shift {
		dsaid.shift[o] += dotRolled(a, s.gated, o-l.shifts)
		axpyRolled(b, c, a, l.shifts-o)
	}
	*dsaid.gate += vec.Dot(b, s.content) - vec.Dot(b, last)
	if dlast != nil {
		vec.Axpy(dlast, 1-*said.gate, b)
	}
	vec.Scale.Forward(b, b, *said.gate) // of content
	clear(a)                            // of strength·cosine
	vec.SoftmaxBackward(a, b, s.content)
	*dsaid.strength += vec.Dot(a, s.cosine)
	vec.Scale.Forward(a, a, *said.strength) // of cosine
	vec.Mul.Forward(b, a, s.cosine, 1, 1)
	rk, radial := inverseNorm(said.key), vec.Sum(b)
	vec.Mul.Forward(b, b, inv, 1, 1)
	vec.MulAdd(own, b, inv)
	vec.Mul.Forward(a, a, inv, 1, 1)
	vec.Scale.Forward(a, a, rk) // of key·m_i
	for d, k := range said.key {
		dsaid.key[d] += vec.Dot(a, m[d*n:(d+1)*n]) - k*rk*rk*radial
		vec.Axpy(dm[d*n:(d+1)*n], k, a)
	}
}

// ownBack takes own·m from dm: what a longer slot takes off its cosines.
func (l *tapeLayout) ownBack(dm, m, own []tensor.Float) {
	n := l.slots
	vec.Scale.Forward(own, own, -1)
	for d := range l.width {
		vec.MulAdd(dm[d*n:(d+1)*n], own, m[d*n:(d+1)*n])
	}
}
