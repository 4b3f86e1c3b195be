package vec

import "math"

// seluGain and seluBend are λ and α of SELU (Klambauer and others, 2017): by
// them activations tend to mean 0 and variance 1.
const (
	seluGain = 1.0507009873554805
	seluBend = 1.6732632423543772
)

// weighed is x·sigmoid(z); at −Inf its limit.
func weighed(x, z float64) Float {
	if math.IsInf(x, -1) {
		return 0
	}
	return Float(x / (1 + math.Exp(-z)))
}

// gelu is x·Φ(x).
func gelu(x float64) Float {
	if math.IsInf(x, -1) {
		return 0
	}
	return Float(x * normal(x))
}

// normal is Φ, the distribution function of the normal distribution.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

func geluSlope(x float64) Float {
	if math.IsInf(x, 0) {
		return Float(normal(x))
	}
	return Float(normal(x) + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi))
}

// The tanh form of GELU is x·sigmoid(inner(x)).
const (
	gain1 = 2 * 0.7978845608028654 // 2·√(2/π)
	gain3 = 0.044715 * gain1
)

func inner(x float64) float64 { return x * (gain1 + gain3*x*x) }

// geluTanhSlope is the slope of the tanh form. Beyond 15 it is constant.
func geluTanhSlope(x float64) Float {
	x = min(max(x, -15), 15)
	z := inner(x)
	s, lacks := 1/(1+math.Exp(-z)), 1/(1+math.Exp(z))
	return Float(s + x*(gain1+3*gain3*x*x)*s*lacks)
}
