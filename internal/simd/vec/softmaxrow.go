package vec

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Softmax sets y = e^(x−m)/Σe^(x−m) over one row, where m is the row's
// maximum, and returns m and the sum. A row of −Inf alone becomes zeros; of
// several +Inf, each gets an equal share. y may be x.
func Softmax(y, x []Float) (m, sum Float) {
	m = MaxOf(x)
	switch {
	case math.IsInf(float64(m), -1):
		clear(y)
		return m, 0
	case math.IsInf(float64(m), 1):
		for i, v := range x {
			y[i] = 0
			if v == m {
				y[i] = 1
			}
		}
	default:
		sum = expInto(y[:len(x)], x, m)
	}
	if math.IsInf(float64(m), 1) {
		sum = Sum(y[:len(x)])
	}
	total := [1]Float{sum}
	Div.Forward(y[:len(x)], y, total[:], 1, 0)
	return m, sum
}

// expInto sets y = e^(x−m) and returns its sum, where m is the maximum of x and
// no infinity.
func expInto(y, x []Float, m Float) (sum Float) {
	done := 0
	if cpu.Fast {
		sum, done = expSumFast(y, x, m)
	}
	for i := done; i < len(x); i++ {
		y[i] = Float(math.Exp(float64(x[i] - m)))
		sum += y[i]
	}
	return sum
}

// LogSoftmax sets y to the logarithm of Softmax over one row. y may be x.
func LogSoftmax(y, x []Float) {
	m := MaxOf(x)
	if math.IsInf(float64(m), 0) { // an infinity less itself has no value
		Softmax(y, x)
		Log.Forward(y, y, 0)
		return
	}
	Shift.Forward(y, x, -m) // first, as m + log Σe^(x−m) is rounded coarsely where m is large
	Shift.Forward(y, y, -LogSumExp(y))
}

// LogSoftmaxRows sets the rows of y, of a width each, to the LogSoftmax of those
// of x. It takes the exponentials of several narrow rows together. y may be x.
func LogSoftmaxRows(y, x []Float, width int) {
	var few [16]Float
	if width > 0 && len(x) <= len(few) { // more scratch would cost more than they do
		logSoftmaxBlock(y, x, few[:len(x)], width)
		return
	}
	var scratch [512]Float
	step := len(scratch) / max(1, width) * width
	for step > 0 && len(x) > 0 {
		n := min(step, len(x))
		logSoftmaxBlock(y[:n], x[:n], scratch[:n], width)
		x, y = x[n:], y[n:]
	}
	for ; width > 0 && len(x) > 0; x, y = x[width:], y[width:] { // of wide ones each
		LogSoftmax(y[:width], x[:width])
	}
}

// logSoftmaxBlock is LogSoftmaxRows of a few rows, with scratch as long.
func logSoftmaxBlock(y, x, scratch []Float, width int) {
	for i := 0; i < len(x); i += width {
		m := x[i]
		for _, v := range x[i+1 : i+width] {
			m = max(m, v) // NaN if there is one
		}
		for j, v := range x[i : i+width] {
			scratch[i+j] = v - m // NaN of an infinite maximum
		}
	}
	Exp.Forward(scratch, scratch, 0)
	for i := 0; i < len(x); i += width {
		sum := 0.0
		for _, e := range scratch[i : i+width] {
			sum += float64(e)
		}
		if sum != sum {
			LogSoftmax(y[i:i+width], x[i:i+width])
			continue
		}
		m := x[i]
		for _, v := range x[i+1 : i+width] {
			m = max(m, v)
		}
		s := Float(math.Log(sum))
		for j, v := range x[i : i+width] {
			y[i+j] = v - m - s
		}
	}
}

// LogSumExp returns log Σe^x over one row; of an empty row −Inf.
func LogSumExp(x []Float) Float {
	m := MaxOf(x)
	if math.IsInf(float64(m), 0) || m != m {
		return m
	}
	if cpu.Fast {
		return m + Float(math.Log(float64(expSum(x, m))))
	}
	s := 0.0
	for _, v := range x {
		s += math.Exp(float64(v - m))
	}
	return m + Float(math.Log(s))
}

// expSum is Σe^(x−m), through a little scratch.
func expSum(x []Float, m Float) (sum Float) {
	var scratch [expPart]Float
	for len(x) > 0 {
		part := scratch[:min(len(scratch), len(x))]
		sum += expInto(part, x[:len(part)], m)
		x = x[len(part):]
	}
	return sum
}

// expPart is how many exponentials are added at a time.
const expPart = 256

// ExpSum64 returns Σe^(x−m), where m is the maximum of x and no infinity: sums of a few
// hundred elements, added in float64. The exponentials are not kept.
func ExpSum64(x []Float, m Float) (sum float64) {
	var scratch [expPart]Float
	for len(x) > 0 {
		part := scratch[:min(len(scratch), len(x))]
		sum += float64(expInto(part, x[:len(part)], m))
		x = x[len(part):]
	}
	return sum
}
