package rounding

import "math"

// over is how far f of a number in Float may be from f of the number.
func over(x Result, f func(x float64) float64) float64 {
	y := f(x.Value)
	if x.Bound == 0 {
		return 0
	}
	return max(math.Abs(f(x.Value-x.Bound)-y), math.Abs(f(x.Value+x.Bound)-y))
}

// of returns y(x). The derivative is computed from numbers of the size of offset and of its own, so that
// it is off by roundings of these.
func (f *Formula) of(x Number, y, slope func(x float64) float64, offset float64) Number {
	r := f.all[x]
	v, d := y(r.Value), slope(r.Value)
	return f.add(Result{v, over(r, y) + function*Unit*math.Abs(v) + tiny}, argument{x, Result{d, over(r, slope) + function*Unit*(math.Abs(d)+offset)}})
}

// Exp returns eˣ.
func (f *Formula) Exp(x Number) Number { return f.ExpLess(x, 0) }

// ExpLess returns e to the power of x − c, where c may be rounded to Float.
func (f *Formula) ExpLess(x Number, c float64) Number {
	r := f.all[x]
	v := math.Exp(r.Value - c)
	if math.IsInf(r.Value, -1) {
		return f.Constant(0)
	}
	off := r.Bound
	if c != 0 {
		off += Unit * (math.Abs(r.Value) + math.Abs(c))
	}
	y := Result{v, v*(math.Expm1(off)+function*Unit) + cut}
	return f.add(y, argument{x, y})
}

// Softmax returns the softmax of some numbers.
func (f *Formula) Softmax(x []Number) []Number {
	out, _ := f.weights(x)
	sum := f.Sum(out...)
	for i, e := range out {
		out[i] = f.Div(e, sum)
	}
	return out
}

// weights returns e to the powers of x less the largest of them.
func (f *Formula) weights(x []Number) (out []Number, top float64) {
	top = math.Inf(-1)
	for _, x := range x {
		top = max(top, f.all[x].Value)
	}
	for _, x := range x {
		out = append(out, f.ExpLess(x, top))
	}
	return out, top
}

// LogSumExp returns log Σeˣ.
func (f *Formula) LogSumExp(x []Number) Number {
	all, top := f.weights(x)
	return f.Sum(f.Constant(top), f.Log(f.Sum(all...)))
}

// Std returns the standard deviation √(Σ(x − mean)²/n). It is off by no more than one x less the mean is; each of its
// derivatives, (x − mean)/(n·std), is at most 1/√n, and anything up to that where all x are equal but for rounding.
func (f *Formula) Std(x []Number) Number {
	if len(x) < 2 {
		return f.Constant(0)
	}
	n := float64(len(x))
	mean := f.all[f.Div(f.Sum(x...), f.Constant(n))]
	square, most, off := 0.0, 0.0, make([]Result, len(x))
	for i, x := range x {
		r := f.all[x]
		off[i] = Result{r.Value - mean.Value, r.Bound + mean.Bound + Unit*(math.Abs(r.Value)+math.Abs(mean.Value))}
		square += off[i].Value * off[i].Value
		most = max(most, off[i].Bound)
	}
	std := Result{Value: math.Sqrt(square / n)}
	std.Bound = most + (function+math.Sqrt(n))*Unit*std.Value
	args, least := make([]argument, len(x)), std.Value-std.Bound
	for i, off := range off {
		slope := Result{Bound: 1 / math.Sqrt(n)}
		if least > 0 {
			slope.Value = off.Value / (n * std.Value)
			slope.Bound = min(2*slope.Bound, off.Bound/(n*least)+math.Abs(slope.Value)*(std.Bound/least+function*Unit))
		}
		args[i] = argument{x[i], slope}
	}
	return f.add(std, args...)
}

// Log returns the logarithm of x.
func (f *Formula) Log(x Number) Number {
	y := f.of(x, math.Log, func(x float64) float64 { return 1 / x }, 0)
	f.all[y].Bound += Unit // beside 1, where what is lost is lost before
	return y
}

// Sqrt returns √x. Where x may be 0 its derivative may be anything.
func (f *Formula) Sqrt(x Number) Number {
	if r := f.all[x]; r.Value <= r.Bound {
		y := math.Sqrt(max(r.Value, 0))
		return f.add(Result{y, math.Sqrt(r.Value+r.Bound) - y + function*Unit*y}, argument{x, Result{Bound: math.Inf(1)}})
	}
	return f.of(x, math.Sqrt, func(x float64) float64 { return 0.5 / math.Sqrt(x) }, 0)
}

// Pow returns xᶜ.
func (f *Formula) Pow(x Number, c float64) Number {
	return f.of(x, func(x float64) float64 { return math.Pow(x, c) }, func(x float64) float64 { return c * math.Pow(x, c-1) }, 0)
}

// Abs returns |x|.
func (f *Formula) Abs(x Number) Number { return f.Max(x, f.Scale(x, -1)) }

// LeakyReLU returns x where that is positive, else c·x.
func (f *Formula) LeakyReLU(x Number, c float64) Number {
	r, slope := f.all[x], Result{Value: c}
	if r.Value > 0 {
		slope.Value = 1
	}
	y := Result{}
	if slope.Value != 0 {
		y = times(r, slope)
	}
	if math.Abs(r.Value) < r.Bound { // its sign may be another
		slope.Bound = math.Abs(1 - c)
		y.Bound = max(y.Bound, r.Bound)
	}
	return f.add(y, argument{x, slope})
}

// ELU returns x where that is positive, else c·(eˣ − 1).
func (f *Formula) ELU(x Number, c float64) Number {
	y := f.of(x, func(x float64) float64 { return max(x, 0) + c*math.Expm1(min(x, 0)) }, func(x float64) float64 {
		if x > 0 {
			return 1
		}
		return c * math.Exp(x)
	}, math.Abs(c))
	if f.all[x].Value < f.all[x].Bound {
		f.all[y].Bound += function * Unit * math.Abs(c) // eˣ − 1 by exponentials
	}
	return y
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Sigmoid returns 1/(1 + e⁻ˣ).
func (f *Formula) Sigmoid(x Number) Number {
	return f.of(x, sigmoid, func(x float64) float64 { return sigmoid(x) * sigmoid(-x) }, sigmoid(f.all[x].Value))
}

// Tanh returns the hyperbolic tangent, whose derivative is what 1 − y² leaves.
func (f *Formula) Tanh(x Number) Number {
	return f.of(x, math.Tanh, func(x float64) float64 { c := math.Cosh(x); return 1 / (c * c) }, 2*math.Abs(math.Tanh(f.all[x].Value)))
}

// Softplus returns log(1 + eˣ).
func (f *Formula) Softplus(x Number) Number {
	return f.of(x, func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, sigmoid, 0)
}

// SiLU returns x/(1 + e⁻ˣ).
func (f *Formula) SiLU(x Number) Number {
	return f.of(x, func(x float64) float64 { return x * sigmoid(x) }, func(x float64) float64 {
		return sigmoid(x) * (1 + x*sigmoid(-x))
	}, 1)
}

// GELU returns x·Φ(x).
func (f *Formula) GELU(x Number) Number {
	half := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	y := f.of(x, func(x float64) float64 { return x * half(x) }, func(x float64) float64 {
		return half(x) + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
	}, 1)
	f.all[y].Bound += function * Unit * math.Abs(f.all[x].Value) // Φ is a sum with 1
	return y
}

// Sin returns the sine of x.
func (f *Formula) Sin(x Number) Number { return f.of(x, math.Sin, math.Cos, 0) }

// Cos returns the cosine of x.
func (f *Formula) Cos(x Number) Number {
	return f.of(x, math.Cos, func(x float64) float64 { return -math.Sin(x) }, 0)
}
