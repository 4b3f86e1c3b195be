package spmm

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// Segments are rows of N numbers for each nonzero of some rows of a CSR matrix:
// a segment for each row of it. Where N is 8 the assembly takes many segments in
// a call.
type Segments struct {
	Offsets []int64 // of the segments and the end, in rows
	X, Y, D []Float // from the row 0 on
	Work    []Float // to work in: SegmentWork(N) numbers
	N       int
	Set     int // 1: D is zero before, whatever is in it
	stream  int // segments up to so many bytes are stored past the caches
}

// SegmentWork is how many numbers Segments of so many columns work in.
func SegmentWork(n int) int { return max(2*n, waiting) }

// waiting is the numbers of a segment that may wait to be stored past the caches.
const waiting = 1 << 11

// StreamResult has the result, which is taken to be larger than the caches, stored
// past them where that can be done: Y or, if there is a D, one that is set.
func (s *Segments) StreamResult() {
	to := s.Y
	if s.D != nil {
		to = s.D
	}
	if s.N == 8 && (s.D == nil || s.Set != 0) && cpu.Aligned(to, s.N, 8) {
		s.stream = waiting * int(unsafe.Sizeof(Float(0)))
	}
}

// Softmax sets Y to the softmax of X over each segment, each column on its own.
// Y may be X.
//
//	Y[k,j] = Weigh(X[k,j], top) / Σ_k Weigh(X[k,j], top)    top = max_k X[k,j]
func (s *Segments) Softmax() {
	if s.empty() {
		return
	}
	end := int(s.Offsets[len(s.Offsets)-1]) * s.N
	_, _, _ = s.X[:end], s.Y[:end], s.Work[:SegmentWork(s.N)]
	if cpu.Fast && s.N == 8 && !s.long() && s.softmaxFast() {
		return
	}
	top, sum := s.Work[:s.N], s.Work[s.N:2*s.N]
	for r := range len(s.Offsets) - 1 {
		lo, hi := int(s.Offsets[r])*s.N, int(s.Offsets[r+1])*s.N
		if lo == hi {
			continue
		}
		vec.NoTop(top)
		vec.TopRows(top, s.X[lo:hi])
		clear(sum)
		vec.WeighRows(s.Y[lo:hi], s.X[lo:hi], top, sum)
		vec.DivideRows(s.Y[lo:hi], sum)
	}
}

// SoftmaxGrad adds the gradient of a softmax to D, or sets D to it, from its
// result Y and the gradient X of that:
//
//	D[k,j] += Y[k,j]·(X[k,j] − Σ_k Y[k,j]·X[k,j])
func (s *Segments) SoftmaxGrad() {
	if s.empty() {
		return
	}
	end := int(s.Offsets[len(s.Offsets)-1]) * s.N
	_, _, _ = s.X[:end], s.Y[:end], s.D[:end]
	if cpu.Fast && s.N == 8 && !s.long() && s.gradFast() {
		return
	}
	n, c := s.N, s.Work[:s.N]
	for r := range len(s.Offsets) - 1 {
		clear(c)
		lo, hi := int(s.Offsets[r])*n, int(s.Offsets[r+1])*n
		for k := lo; k < hi; k += n {
			y, dy := s.Y[k:k+n], s.X[k:k+n]
			for j := range c {
				c[j] += y[j] * dy[j]
			}
		}
		for k := lo; k < hi; k += n {
			y, dy, d := s.Y[k:k+n], s.X[k:k+n], s.D[k:k+n]
			for j := range c {
				if s.Set != 0 {
					d[j] = 0
				}
				d[j] += y[j] * (dy[j] - c[j])
			}
		}
	}
}

func (s *Segments) empty() bool {
	n := len(s.Offsets)
	return n < 2 || s.Offsets[0] == s.Offsets[n-1] || s.N == 0
}

// long reports whether there is too much for one call, which cannot be
// preempted.
func (s *Segments) long() bool {
	return s.Offsets[len(s.Offsets)-1]-s.Offsets[0] > longSegment
}

// longSegment is the rows of eight that take some tens of microseconds.
const longSegment = 1 << 12
