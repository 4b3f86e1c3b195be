package spmm

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// The functions here take consecutive ranges of rows, such as those of the edges
// into each of several nodes: range i has the rows off[i] to off[i+1], counted
// from off[0], of each array that has a row for each of them.

// SumRanges adds the rows of each range, of w elements, to a row of y:
//
//	y[i·w+j] += Σ_r x[r·w+j]    for the rows r of range i, in order
func (r Rows) SumRanges(y, x []Float, off []int64) {
	w := int(r)
	if cpu.Fast && w > 0 && len(x) <= cpu.AtOnce && sumSegmentsFast(y, x, off, w) {
		return
	}
	for i := range len(off) - 1 {
		n := int(off[i+1]-off[i]) * w
		if n > 0 {
			vec.AddRows(y[i*w:i*w+w], x[:n])
		}
		x = x[n:]
	}
}

// SpreadRanges sets the rows of each range to that range's row of x:
//
//	y[r·w+j] = x[i·w+j]    for the rows r of range i
func (r Rows) SpreadRanges(y, x []Float, off []int64) {
	w := int(r)
	if cpu.Fast && w > 0 && len(y) <= cpu.AtOnce && spreadSegmentsFast(y, x, off, w) {
		return
	}
	for i := range len(off) - 1 {
		for range off[i+1] - off[i] {
			copy(y[:w], x[i*w:i*w+w])
			y = y[w:]
		}
	}
}

// DivideRanges divides a row of x, of w elements, by the number of the rows of its
// range, by 1 if there are none:
//
//	y[i·w+j] = 0 + x[i·w+j] / max(off[i+1] − off[i], 1)
//
// y may be x.
func (r Rows) DivideRanges(y, x []Float, off []int64) {
	n, w := len(off)-1, int(r)
	if n < 1 || w < 1 {
		return
	}
	y, x = y[:n*w], x[:n*w]
	if cpu.Fast && divideRangesFast(y, x, off, w) {
		return
	}
	for i := range n {
		count := Float(max(off[i+1]-off[i], 1))
		for j := i * w; j < i*w+w; j++ {
			y[j] = 0 + x[j]/count // a −0 becomes 0, as where AddMeans adds to zeros
		}
	}
}

// DotRanges adds to s the products of the rows of y with the row of x that belongs
// to their range, one row after another:
//
//	s[j] += x[i·w+j]·y[r·w+j]    for the rows r of range i
func (r Rows) DotRanges(s, x, y []Float, off []int64) {
	w := int(r)
	if cpu.Fast && w > 0 && len(y) <= cpu.AtOnce && dotSegmentsFast(s, x, y, off, w) {
		return
	}
	for i := range len(off) - 1 {
		row := x[i*w : i*w+w]
		for range off[i+1] - off[i] {
			for j, v := range y[:w] {
				s[j] += row[j] * v
			}
			y = y[w:]
		}
	}
}

// Ranges are ranges of rows of w columns whose softmax is taken, each column
// on its own. Of range i the statistics begin at i·Apart.
type Ranges struct {
	Off      []int64
	W        int
	Top, Sum []Float // the largest entry, and the sum of exp(entry − top)
	Apart    int
}

// Softmax sets y to the softmax of x, and the statistics of ranges that are not
// empty. y may be x.
func (s *Ranges) Softmax(y, x []Float) {
	if cpu.Fast && s.W > 0 && len(x) <= cpu.AtOnce && s.softmaxFast(y, x) {
		return
	}
	s.each(func(i, lo, hi int) {
		top, sum := s.of(s.Top, i), s.of(s.Sum, i)
		vec.NoTop(top)
		vec.TopRows(top, x[lo:hi])
		clear(sum)
		vec.WeighRows(y[lo:hi], x[lo:hi], top, sum)
		vec.DivideRows(y[lo:hi], sum)
	})
}

// Weights sets y to the softmax of x, from statistics that stand.
func (s *Ranges) Weights(y, x []Float) {
	if cpu.Fast && s.W > 0 && len(x) <= cpu.AtOnce && s.weightsFast(y, x) {
		return
	}
	s.each(func(i, lo, hi int) {
		vec.ExpRows(y[lo:hi], x[lo:hi], s.of(s.Top, i))
		vec.DivideRows(y[lo:hi], s.of(s.Sum, i))
	})
}

// Grad adds the gradient of the softmax y to dx. It reads no statistics. Products
// are rounded, as where a row comes in pieces.
//
//	dx[r,j] += y[r,j]·(dy[r,j] − Σ_r y[r,j]·dy[r,j])
func (s *Ranges) Grad(dx, y, dy []Float) {
	if cpu.Fast && s.W > 0 && len(y) <= cpu.AtOnce && s.gradFast(dx, y, dy) {
		return
	}
	s.each(func(i, lo, hi int) {
		for j := range s.W {
			c := Float(0)
			for k := lo + j; k < hi; k += s.W {
				c += Float(y[k] * dy[k])
			}
			for k := lo + j; k < hi; k += s.W {
				dx[k] += Float(y[k] * (dy[k] - c))
			}
		}
	})
}

func (s *Ranges) of(x []Float, i int) []Float { return x[i*s.Apart : i*s.Apart+s.W] }

// each calls f with every range that is not empty, and its elements.
func (s *Ranges) each(f func(i, lo, hi int)) {
	for i := range len(s.Off) - 1 {
		lo, hi := int(s.Off[i]-s.Off[0])*s.W, int(s.Off[i+1]-s.Off[0])*s.W
		if lo < hi {
			f(i, lo, hi)
		}
	}
}
