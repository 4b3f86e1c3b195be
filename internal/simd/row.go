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
		top := [1]Float{m}
		ExpRows(y, x, top[:])
	}
	total := [1]Float{Sum(y[:len(x)])}
	Div.Forward(y, y, total[:], 1, 0)
	return m, total[0]
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
	top := [1]Float{m}
	for len(x) > 0 {
		part := scratch[:min(len(scratch), len(x))]
		ExpRows(part, x[:len(part)], top[:])
		sum += Sum(part)
		x = x[len(part):]
	}
	return sum
}
