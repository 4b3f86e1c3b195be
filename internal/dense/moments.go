package dense

import "github.com/edgewise-ml/edgewise/tensor"

// Dot64 is Σ x_i·y_i in float64, in four sums so that additions need not wait for
// each other.
func Dot64(x, y []tensor.Float) float64 {
	var a, b, c, d float64
	for len(x) >= 4 && len(y) >= 4 {
		a += float64(x[0]) * float64(y[0])
		b += float64(x[1]) * float64(y[1])
		c += float64(x[2]) * float64(y[2])
		d += float64(x[3]) * float64(y[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		a += float64(v) * float64(y[i])
	}
	return (a + b) + (c + d)
}

// distance64 is Σ (x_i − y_i)² in float64.
func distance64(x, y []tensor.Float) float64 {
	var a, b, c, d float64
	for len(x) >= 4 && len(y) >= 4 {
		e, f := float64(x[0])-float64(y[0]), float64(x[1])-float64(y[1])
		g, h := float64(x[2])-float64(y[2]), float64(x[3])-float64(y[3])
		a += e * e
		b += f * f
		c += g * g
		d += h * h
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		e := float64(v) - float64(y[i])
		a += e * e
	}
	return (a + b) + (c + d)
}
