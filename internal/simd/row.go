package simd

import "math"

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
	if fast {
		return expSumFast(y, x, m)
	}
	for i, v := range x {
		y[i] = Float(math.Exp(float64(v - m)))
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

// LogSumExp returns log Σe^x over one row; of an empty row −Inf.
func LogSumExp(x []Float) Float {
	m := MaxOf(x)
	if math.IsInf(float64(m), 0) || m != m {
		return m
	}
	if fast {
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
	var scratch [256]Float
	for len(x) > 0 {
		part := scratch[:min(len(scratch), len(x))]
		sum += expInto(part, x[:len(part)], m)
		x = x[len(part):]
	}
	return sum
}
