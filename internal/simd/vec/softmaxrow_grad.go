package vec

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// SoftmaxBackward adds to dx the gradient of one row y of a softmax whose result
// has the gradient dy:
//
//	dx[i] += y[i]·(dy[i] − Σ y·dy)
func SoftmaxBackward(dx, dy, y []Float) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	mulAddLess(dx, y, dy, Dot(y, dy))
}

// mulAddLess is z[i] += x[i]·(y[i] − c).
func mulAddLess(z, x, y []Float, c Float) {
	if cpu.Fast && mulAddLessFast(z, x, y, c) {
		return
	}
	for i, v := range x {
		z[i] += v * (y[i] - c)
	}
}

// LogSoftmaxBackward adds to dx the gradient of one row y of a log-softmax whose
// result has the gradient dy:
//
//	dx[i] += dy[i] − e^y[i]·Σ dy
func LogSoftmaxBackward(dx, dy, y []Float) {
	dx, dy = dx[:len(y)], dy[:len(y)]
	var scratch [256]Float
	for s := -Sum(dy); len(y) > 0; {
		n := min(len(scratch), len(y))
		p := scratch[:n]
		Exp.Forward(p, y[:n], 0)
		Axpy(dx[:n], s, p)
		Axpy(dx[:n], 1, dy[:n])
		dx, dy, y = dx[n:], dy[n:], y[n:]
	}
}

// LogSumExpBackward adds to dx the gradient of y = log Σe^x over one row, where
// g is that of y. It is zero of a row of −Inf alone; of several +Inf, each gets
// an equal share.
//
//	dx[i] += g·e^(x[i] − y)
func LogSumExpBackward(dx, x []Float, y, g Float) {
	dx = dx[:len(x)]
	if math.IsInf(float64(y), -1) {
		return
	}
	if math.IsInf(float64(y), 1) {
		n := 0
		for _, v := range x {
			if v == y {
				n++
			}
		}
		for i, v := range x {
			if v == y {
				dx[i] += g / Float(n)
			}
		}
		return
	}
	var scratch [256]Float
	top := [1]Float{y}
	for len(x) > 0 {
		n := min(len(scratch), len(x))
		p := scratch[:n]
		ExpRows(p, x[:n], top[:])
		Axpy(dx[:n], g, p)
		dx, x = dx[n:], x[n:]
	}
}
