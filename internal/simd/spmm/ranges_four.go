//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package spmm

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/four"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// constants are those of exponentials.
func constants() unsafe.Pointer { return unsafe.Pointer(&four.Table) }

// softmaxFast and weightsFast are Softmax and Weights of one column, or of whole fours.
func (s *Ranges) softmaxFast(y, x []Float) bool { return s.soften(y, x, false) }
func (s *Ranges) weightsFast(y, x []Float) bool { return s.soften(y, x, true) }

func (s *Ranges) soften(y, x []Float, known bool) bool {
	switch {
	case s.W == 1:
		s.column(y, x, known)
	case s.W%4 != 0:
		return false
	case len(s.Off) > 1 && len(x) > 0:
		s.fours(y, x, known)
	}
	return true
}

// fours is soften of four columns at a time.
func (s *Ranges) fours(y, x []Float, known bool) {
	for j := 0; j < s.W; j += 4 {
		four.SoftmaxRanges(at(y, j), at(x, j), at(s.Top, j), at(s.Sum, j), at(s.Off, 0), constants(), len(s.Off)-1, s.W*floatSize, s.Apart*floatSize, one(known))
	}
}

// column is soften of one column, by kernels that take a range. Its sum is a chain in the order of rows, as where a range comes in parts.
func (s *Ranges) column(y, x []Float, known bool) {
	for i := range len(s.Off) - 1 {
		lo, hi := int(s.Off[i]-s.Off[0]), int(s.Off[i+1]-s.Off[0])
		if lo == hi {
			continue
		}
		y, x, top, sum := y[lo:hi], x[lo:hi], s.of(s.Top, i), s.of(s.Sum, i)
		if !known {
			top[0], sum[0] = four.Max(at(x, 0), len(x)), 0
		}
		finite := top[0]-top[0] == 0
		switch {
		case finite:
			four.ExpSum(at(y, 0), at(x, 0), constants(), len(x), top[0])
		case known:
			vec.ExpRows(y, x, top)
		default:
			vec.NoTop(top)
			vec.TopRows(top, x)
			vec.WeighRows(y, x, top, sum)
		}
		if finite && !known {
			for _, v := range y {
				sum[0] += v
			}
		}
		if sum[0] != 0 {
			four.DivideBy(at(y, 0), at(y, 0), len(y), sum[0])
		}
	}
}

// gradFast is Grad of whole fours of columns.
func (s *Ranges) gradFast(dx, y, dy []Float) bool {
	if s.W%4 != 0 {
		return false
	}
	for j := 0; j < s.W && len(s.Off) > 1 && len(y) > 0; j += 4 {
		four.SoftmaxRangesSlope(at(dx, j), at(y, j), at(dy, j), at(s.Off, 0), len(s.Off)-1, s.W*floatSize, 1)
	}
	return true
}

// softmaxFast is Softmax of eight columns. All segments have their statistics in one place.
func (s *Segments) softmaxFast() bool {
	from := int(s.Offsets[0]) * s.N
	r := Ranges{Off: s.Offsets, W: s.N, Top: s.Work, Sum: s.Work[s.N:]}
	r.fours(s.Y[from:], s.X[from:], false)
	return true
}

func (s *Segments) gradFast() bool {
	for j := int(s.Offsets[0]) * s.N; j < (int(s.Offsets[0])+1)*s.N; j += 4 {
		four.SoftmaxRangesSlope(at(s.D, j), at(s.Y, j), at(s.X, j), at(s.Offsets, 0), len(s.Offsets)-1, s.N*floatSize, 1-s.Set)
	}
	return true
}

// sumSegmentsFast is SumRanges of rows of 16 columns at least.
func sumSegmentsFast(y, x []Float, off []int64, w int) bool {
	if w < 16 || len(x) == 0 {
		return w >= 16
	}
	_ = x[:int(off[len(off)-1]-off[0])*w]
	for i, from := range off[:len(off)-1] {
		to := at(y[:i*w+w], i*w)
		for k := from - off[0]; k < off[i+1]-off[0]; k++ {
			four.Add(to, to, at(x, int(k)*w), w)
		}
	}
	return true
}

// dotSegmentsFast is DotRanges of rows of eight columns at least.
func dotSegmentsFast(s, x, y []Float, off []int64, w int) bool {
	if w < 8 || len(y) == 0 {
		return w >= 8
	}
	_, _ = x[:(len(off)-1)*w], y[:int(off[len(off)-1]-off[0])*w]
	for i, from := range off[:len(off)-1] {
		for k := from - off[0]; k < off[i+1]-off[0]; k++ {
			four.MulAdd(at(s[:w], 0), at(x, i*w), at(y, int(k)*w), w)
		}
	}
	return true
}

func addMeansFast(y, s []Float, offsets []int64, f int) bool {
	return quotients(y, s, offsets, f, true)
}
func divideRangesFast(y, x []Float, offsets []int64, f int) bool {
	return quotients(y, x, offsets, f, false)
}

// quotients sets rows of 16 columns at least to those of x divided by the lengths of ranges, or adds that.
func quotients(y, x []Float, offsets []int64, f int, plus bool) bool {
	if f < 16 {
		return false
	}
	var room [256]Float
	for i := range len(offsets) - 1 {
		n := offsets[i+1] - offsets[i]
		for j, end := i*f, i*f+f; j < end && (n > 0 || !plus); j += len(room) {
			to, from, size := at(y, j), at(x, j), min(len(room), end-j)
			four.DivideBy(unsafe.Pointer(&room), from, size, Float(max(n, 1)))
			if plus {
				four.Add(to, to, unsafe.Pointer(&room), size)
			} else {
				four.Shift(to, unsafe.Pointer(&room), size, 0) // a −0 becomes 0
			}
		}
	}
	return true
}
