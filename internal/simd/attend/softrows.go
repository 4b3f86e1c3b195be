package attend

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// SoftPiece is what the width of SoftRows is a multiple of.
const SoftPiece = 64

// SoftRows are rows of logits, of Width elements each and Stride apart, on their way
// through a softmax over each row and back. Row i has the statistics Top[i·Each],
// Sum[i·Each] and Center[i·Each].
type SoftRows struct {
	X    []Float // the logits, then the weights
	G    []Float // the gradients of the weights, then of what was multiplied with Scale
	Kept []Float // what dropout multiplies weights with; nil: nothing

	Top    []Float // the largest logits
	Sum    []Float // of the weights
	Center []Float // Σ x·g
	Most   []Float // what Largest sets, one after the other

	Rows, Stride, Width, Each int

	Scale Float
}

// leastWeight is the difference below which a logit weighs nothing: e to it is 2⁻¹⁰⁰. What
// weighs less is lost in the rounding of any sum that the largest, 1, is in, and its products
// would be subnormal numbers, which take a processor a hundred times as long.
const leastWeight = -69.31472

// weigh sets x to the weights of logits under top: those of vec.Weigh, or 0 where they are less
// than 2⁻¹⁰⁰.
func weigh(x []Float, top Float) {
	for j, v := range x {
		if x[j] = 0; !(v-top < leastWeight) {
			x[j] = vec.Weigh(v, top)
		}
	}
}

// check panics if an array is too short.
func (s *SoftRows) check(arrays, stats []Float) bool {
	if s.Rows <= 0 || s.Width <= 0 {
		return false
	}
	if s.Width%SoftPiece != 0 || s.Stride < s.Width || s.Each < 0 {
		panic("attend: the width of SoftRows is a multiple of SoftPiece, and at most the stride")
	}
	inside(arrays, s.Rows, s.Stride, s.Width)
	inside(stats, s.Rows, s.Each, 1)
	return true
}

// row is row i of an array.
func (s *SoftRows) row(x []Float, i int) []Float { return x[i*s.Stride : i*s.Stride+s.Width] }

// Largest sets Most to the largest X·Scale of each row, with a Scale above 0; a NaN, where there
// is one.
func (s *SoftRows) Largest() {
	if !s.check(s.X, s.Top) {
		return
	}
	_ = s.Most[s.Rows-1]
	if cpu.Fast && s.largestFast() {
		return
	}
	for i := range s.Rows {
		s.Most[i] = vec.MaxOf(s.row(s.X, i)) * s.Scale
	}
}

// Add sets X to the weights, and adds them to Sum:
//
//	X = exp(X·Scale − Top), 0 below 2⁻¹⁰⁰    Sum += Σ X
func (s *SoftRows) Add() {
	if !s.check(s.X, s.Top) || !s.check(s.X, s.Sum) {
		return
	}
	if cpu.Fast && s.addFast() {
		return
	}
	for i := range s.Rows {
		x, k := s.row(s.X, i), i*s.Each
		vec.Scale.Forward(x, x, s.Scale)
		weigh(x, s.Top[k])
		s.Sum[k] += vec.Sum(x)
	}
}

// Weigh sets X to the weights over their sum:
//
//	X = exp(X·Scale − Top)/Sum, 0 below 2⁻¹⁰⁰/Sum    by 1 where Sum is 0
func (s *SoftRows) Weigh() {
	if !s.check(s.X, s.Top) || !s.check(s.X, s.Sum) {
		return
	}
	if cpu.Fast && s.weighFast() {
		return
	}
	for i := range s.Rows {
		x, k := s.row(s.X, i), i*s.Each
		vec.Scale.Forward(x, x, s.Scale)
		weigh(x, s.Top[k])
		vec.DivideRows(x, s.Sum[k:k+1])
	}
}

// Dots drops of G what Kept says, and adds the inner products to Center, of pieces in
// order:
//
//	G = G·Kept    Center += Σ X·G
func (s *SoftRows) Dots() {
	if !s.check(s.X, s.Center) || !s.check(s.G, s.Center) || s.Kept != nil && !s.check(s.Kept, s.Center) {
		return
	}
	if cpu.Fast && s.dotsFast() {
		return
	}
	for i := range s.Rows {
		x, g := s.row(s.X, i), s.row(s.G, i)
		if s.Kept != nil {
			vec.Mul.Forward(g, g, s.row(s.Kept, i), 1, 1)
		}
		for at := 0; at < s.Width; at += SoftPiece {
			vec.Runs(SoftPiece).Dot(s.Center[i*s.Each:][:1], x[at:at+SoftPiece], g[at:at+SoftPiece])
		}
	}
}

// Slopes sets G to the gradients of what the softmax was taken of before it was scaled,
// and drops of X what Kept says:
//
//	G = (G − Center)·X·Scale    X = X·Kept
func (s *SoftRows) Slopes() {
	if !s.check(s.X, s.Center) || !s.check(s.G, s.Center) || s.Kept != nil && !s.check(s.Kept, s.Center) {
		return
	}
	if cpu.Fast && s.slopesFast() {
		return
	}
	for i := range s.Rows {
		x, g := s.row(s.X, i), s.row(s.G, i)
		vec.Shift.Forward(g, g, -s.Center[i*s.Each])
		vec.Mul.Forward(g, g, x, 1, 1)
		vec.Scale.Forward(g, g, s.Scale)
		if s.Kept != nil {
			vec.Mul.Forward(x, x, s.row(s.Kept, i), 1, 1)
		}
	}
}
