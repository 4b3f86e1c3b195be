package vec

import "math"

// plainly reports whether u has no assembly: its loops are those of Go everywhere.
func (u Unary) plainly() bool { return u >= Sin }

// wavesAndPowers is forwardGo of Sin, Cos and Pow.
func (u Unary) wavesAndPowers(y, x []Float, c Float) {
	switch u {
	case Sin:
		for i, v := range x {
			y[i] = Float(math.Sin(float64(v)))
		}
	case Cos:
		for i, v := range x {
			y[i] = Float(math.Cos(float64(v)))
		}
	case Pow:
		for i, v := range x {
			y[i] = Float(math.Pow(float64(v), float64(c)))
		}
	}
}

// backwardWaves is backwardGo of Sin, Cos and Pow. That of x⁰ is zero everywhere.
func (u Unary) backwardWaves(dx, dy, x []Float, c Float) {
	switch {
	case u == Sin:
		for i, g := range dy {
			dx[i] += Float(g * Float(math.Cos(float64(x[i]))))
		}
	case u == Cos:
		for i, g := range dy {
			dx[i] -= Float(g * Float(math.Sin(float64(x[i]))))
		}
	case c != 0:
		p := float64(c)
		for i, g := range dy {
			dx[i] += Float(g * Float(p*math.Pow(float64(x[i]), p-1)))
		}
	}
}
