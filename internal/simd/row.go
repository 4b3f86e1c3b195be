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
		for i, v := range x {
			y[i] = Float(math.Exp(float64(v - m)))
		}
	}
	for _, v := range y {
		sum += v
	}
	for i := range y {
		y[i] /= sum
	}
	return m, sum
}

// LogSumExp returns log Σe^x over one row; of an empty row −Inf.
func LogSumExp(x []Float) Float {
	m := MaxOf(x)
	if math.IsInf(float64(m), 0) || m != m {
		return m
	}
	s := 0.0
	for _, v := range x {
		s += math.Exp(float64(v - m))
	}
	return m + Float(math.Log(s))
}

// MaxOf returns the largest element, NaN where there is one, and −Inf of none.
func MaxOf(x []Float) Float {
	m := Float(math.Inf(-1))
	for _, v := range x {
		m = max(m, v)
	}
	return m
}

// Dot returns Σ x·y.
func Dot(x, y []Float) (s Float) {
	y = y[:len(x)]
	for i, v := range x {
		s += v * y[i]
	}
	return s
}
