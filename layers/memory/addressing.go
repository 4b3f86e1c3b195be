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

// head is a head at its turn.
type head struct {
	stages
	said    spoken
	w, last []tensor.Float // where it is and was
	m, inv  []tensor.Float // the memory that it addresses, width×slots, and 1/norm of each slot

	// Their gradients, on the way back. own is what each slot has by its own length, for
	// ownBack.
	dsaid              spoken
	dw, dlast, dm, own []tensor.Float
}

// norms sets inv to the reciprocals of the norms of the slots of m, width×slots.
func (l *tapeLayout) norms(inv, m []tensor.Float) {
	for i := range inv {
		inv[i] = leastNorm
	}
	for d := range l.width {
		row := l.slotsOf(m, d)
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

// address sets w to where a head turns:
//
//	content = softmax_i(strength·cos(key, m_i))
//	gated   = gate·content + (1 − gate)·last
//	shifted_i = Σ_o shift_o·gated_{i−o}, around the end
//	w = shifted^sharpen / Σ shifted^sharpen
func (l *tapeLayout) address(h *head) {
	clear(h.cosine)
	for d, k := range h.said.key {
		vec.Axpy(h.cosine, k, l.slotsOf(h.m, d))
	}
	vec.Mul.Forward(h.cosine, h.cosine, h.inv, 1, 1)
	vec.Scale.Forward(h.cosine, h.cosine, inverseNorm(h.said.key))
	vec.Scale.Forward(h.content, h.cosine, *h.said.strength)
	vec.Softmax(h.content, h.content)
	vec.Scale.Forward(h.gated, h.content, *h.said.gate)
	vec.Axpy(h.gated, 1-*h.said.gate, h.last)
	clear(h.shifted)
	for o, c := range h.said.shift {
		axpyRolled(h.shifted, c, h.gated, o-l.shifts)
	}
	for i, v := range h.shifted {
		h.log[i] = v + leastWeight
	}
	vec.Log.Forward(h.log, h.log, 0)
	vec.Scale.Forward(h.w, h.log, *h.said.sharpen)
	vec.Softmax(h.w, h.w)
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

// addressBack takes the gradient of where a head turned back: to what it was told, to where it
// was before, if that wants one, and to the memory. a and b are rows of scratch.
func (l *tapeLayout) addressBack(h *head, a, b []tensor.Float) {
	clear(a) // of sharpen·log
	vec.SoftmaxBackward(a, h.dw, h.w)
	*h.dsaid.sharpen += vec.Dot(a, h.log)
	gamma := *h.said.sharpen
	for i, v := range h.shifted { // of shifted
		a[i] *= gamma / (v + leastWeight)
	}
	clear(b) // of gated
	for o, c := range h.said.shift {
		h.dsaid.shift[o] += dotRolled(a, h.gated, o-l.shifts)
		axpyRolled(b, c, a, l.shifts-o)
	}
	*h.dsaid.gate += vec.Dot(b, h.content) - vec.Dot(b, h.last)
	if h.dlast != nil {
		vec.Axpy(h.dlast, 1-*h.said.gate, b)
	}
	vec.Scale.Forward(b, b, *h.said.gate) // of content
	clear(a)                              // of strength·cosine
	vec.SoftmaxBackward(a, b, h.content)
	*h.dsaid.strength += vec.Dot(a, h.cosine)
	vec.Scale.Forward(a, a, *h.said.strength) // of cosine
	l.cosineBack(h, a, b)
}

// cosineBack takes the gradient a of a head's cosines back to its key and to the memory.
func (l *tapeLayout) cosineBack(h *head, a, b []tensor.Float) {
	vec.Mul.Forward(b, a, h.cosine, 1, 1)
	rk, radial := inverseNorm(h.said.key), vec.Sum(b)
	vec.Mul.Forward(b, b, h.inv, 1, 1)
	vec.MulAdd(h.own, b, h.inv)
	vec.Mul.Forward(a, a, h.inv, 1, 1)
	vec.Scale.Forward(a, a, rk) // of key·m_i
	for d, k := range h.said.key {
		h.dsaid.key[d] += vec.Dot(a, l.slotsOf(h.m, d)) - k*rk*rk*radial
		vec.Axpy(l.slotsOf(h.dm, d), k, a)
	}
}

// ownBack takes own·m from dm: what a longer slot takes off its cosines.
func (l *tapeLayout) ownBack(dm, m, own []tensor.Float) {
	vec.Scale.Forward(own, own, -1)
	for d := range l.width {
		vec.MulAdd(l.slotsOf(dm, d), own, l.slotsOf(m, d))
	}
}
