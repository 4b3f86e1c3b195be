//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// The functions here are those of softmax.go without the rest. Of n columns, 1, 2
// and 4 are taken as 8: the pattern repeats.

// stripes are the pieces of an array of rows that are treated by one call each:
// some rows from the element at on, and up to eight of their columns.
type stripes struct{ at, column, rows, stride, w int }

// next goes on to the next piece of size elements in rows of n, if there is one.
func (s *stripes) next(size, n int) bool {
	if 8%n == 0 {
		return s.folded(size)
	}
	if s.w > 0 {
		s.column += 8
	}
	if s.column >= n {
		s.at, s.column = s.at+s.rows*n, 0
	}
	if s.column == 0 {
		s.rows = min(max(1, cpu.AtOnce/n), size/n-s.at/n)
	}
	s.stride, s.w = n, min(8, n-s.column)
	return s.rows > 0
}

// folded is next of rows that are taken as rows of eight.
func (s *stripes) folded(size int) bool {
	s.at += s.rows * s.w
	s.stride, s.w = 8, 8
	s.rows = min(cpu.AtOnce/8, (size-s.at)/8)
	if s.rows == 0 && s.at < size {
		s.rows, s.w = 1, size-s.at
	}
	return s.rows > 0
}

// fold repeats the pattern of x, of 1, 2, 4 or 8 numbers.
func fold(x []Float) (all [8]Float) {
	for j := range all {
		all[j] = x[j%len(x)]
	}
	return all
}

func topRowsFast(top, x []Float) bool {
	n := len(top)
	all := top
	var eight [8]Float
	if 8%n == 0 {
		eight = fold(top)
		all = eight[:]
	}
	for s := (stripes{}); s.next(len(x), n); {
		topRowsAVX2(&x[s.at+s.column], &all[s.column], s.rows, s.stride, s.w)
	}
	if 8%n == 0 {
		for j, v := range all {
			if v > top[j%n] {
				top[j%n] = v
			}
		}
	}
	return true
}

// weighRowsFast adds to each sum in the order of the rows, so that these can be
// taken in parts; of folded rows the assembly would add in another order.
func weighRowsFast(y, x, top, sum []Float) bool {
	n := len(top)
	if n < 8 && 8%n == 0 {
		expRowsFast(y, x, top)
		if n == 1 {
			s := sum[0]
			for _, v := range y[:len(x)] {
				s += v
			}
			sum[0] = s
			return true
		}
		for k := 0; k < len(x); k += n {
			for j, v := range y[k : k+n] {
				sum[j] += v
			}
		}
		return true
	}
	for s := (stripes{}); s.next(len(x), n); {
		i := s.at + s.column
		weighRowsAVX2(&y[i], &x[i], &top[s.column], &sum[s.column], s.rows, s.stride, s.w)
	}
	return true
}

func expRowsFast(y, x, top []Float) bool {
	n := len(top)
	var tops, lost [8]Float
	all := top
	if 8%n == 0 {
		tops = fold(top)
		all = tops[:]
	}
	for s := (stripes{}); s.next(len(x), n); {
		i := s.at + s.column
		weighRowsAVX2(&y[i], &x[i], &all[s.column], &lost[0], s.rows, s.stride, s.w)
	}
	return true
}

func divideRowsFast(y, sum []Float) bool {
	n := len(sum)
	var sums [8]Float
	all := sum
	if 8%n == 0 {
		sums = fold(sum)
		all = sums[:]
	}
	for s := (stripes{}); s.next(len(y), n); {
		divideRowsAVX2(&y[s.at+s.column], &all[s.column], s.rows, s.stride, s.w)
	}
	return true
}

// expSumFast is expInto.
func expSumFast(y, x []Float, m Float) (sum Float, done int) {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		sum += expSumAVX2(&y[lo], &x[lo], min(cpu.AtOnce, len(x)-lo), m)
	}
	return sum, len(x)
}
