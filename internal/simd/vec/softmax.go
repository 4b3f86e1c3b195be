package vec

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// The functions here take a softmax over the rows of a matrix x of len(top)
// columns apart, each column on its own: the largest entry, the weights, the
// quotient. They work on parts of a matrix too, in order.

// NoTop sets the maximum of nothing.
func NoTop(top []Float) {
	for j := range top {
		top[j] = Float(math.Inf(-1))
	}
}

// whole reports whether x is rows of the columns, at least one.
func whole(x, columns []Float) bool { return len(columns) > 0 && len(x)%len(columns) == 0 }

// TopRows raises top to the maximum of each column of x. It may pass over a NaN,
// which the sum of WeighRows catches.
func TopRows(top, x []Float) {
	if cpu.Fast && whole(x, top) && topRowsFast(top, x) {
		return
	}
	for n := len(top); len(x) > 0; x = x[n:] {
		for j, v := range x[:n] {
			if v > top[j] {
				top[j] = v
			}
		}
	}
}

// WeighRows sets y to exp(x − top) and adds each column of it to sum. y may be
// x.
func WeighRows(y, x, top, sum []Float) {
	if cpu.Fast && whole(x, top) && weighRowsFast(y[:len(x)], x, top, sum[:len(top)]) {
		return
	}
	n := len(top)
	for k := 0; k < len(x); k += n {
		to := y[k : k+n]
		for j, v := range x[k : k+n] {
			e := Weigh(v, top[j])
			to[j] = e
			sum[j] += e
		}
	}
}

// ExpRows sets y to exp(x − top). y may be x.
func ExpRows(y, x, top []Float) {
	if cpu.Fast && whole(x, top) && expRowsFast(y[:len(x)], x, top) {
		return
	}
	n := len(top)
	for k := 0; k < len(x); k += n {
		to := y[k : k+n]
		for j, v := range x[k : k+n] {
			to[j] = Weigh(v, top[j])
		}
	}
}

// DivideRows divides each column of y by its sum, unless that is zero.
func DivideRows(y, sum []Float) {
	if cpu.Fast && whole(y, sum) && divideRowsFast(y, sum) {
		return
	}
	n := len(sum)
	for k := 0; k < len(y); k += n {
		for j, s := range sum {
			if s != 0 {
				y[k+j] /= s
			}
		}
	}
}

// Weigh is exp(x − top) for x ≤ top. Two infinities of one sign have no
// difference: +∞ weighs 1, and −∞ under −∞ nothing.
func Weigh(x, top Float) Float {
	switch {
	case x != top:
		return Float(math.Exp(float64(x - top)))
	case math.IsInf(float64(x), -1):
		return 0
	}
	return 1
}
