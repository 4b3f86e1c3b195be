package rounding_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

type float = cpu.Float

// functions are those of one argument, in float64 and as numbers.
var functions = map[string]struct {
	of     func(x float64) float64
	number func(f *rounding.Formula, x rounding.Number) rounding.Number
}{
	"exp":      {math.Exp, (*rounding.Formula).Exp},
	"tanh":     {math.Tanh, (*rounding.Formula).Tanh},
	"log":      {math.Log, (*rounding.Formula).Log},
	"sqrt":     {math.Sqrt, (*rounding.Formula).Sqrt},
	"sin":      {math.Sin, (*rounding.Formula).Sin},
	"cos":      {math.Cos, (*rounding.Formula).Cos},
	"abs":      {math.Abs, (*rounding.Formula).Abs},
	"leaky":    {func(x float64) float64 { return max(x, 0) + 0.25*min(x, 0) }, func(f *rounding.Formula, x rounding.Number) rounding.Number { return f.LeakyReLU(x, 0.25) }},
	"elu":      {func(x float64) float64 { return max(x, 0) + 0.5*math.Expm1(min(x, 0)) }, func(f *rounding.Formula, x rounding.Number) rounding.Number { return f.ELU(x, 0.5) }},
	"pow":      {func(x float64) float64 { return math.Pow(x, 3) }, func(f *rounding.Formula, x rounding.Number) rounding.Number { return f.Pow(x, 3) }},
	"sigmoid":  {func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, (*rounding.Formula).Sigmoid},
	"softplus": {func(x float64) float64 { return math.Log1p(math.Exp(x)) }, (*rounding.Formula).Softplus},
	"silu":     {func(x float64) float64 { return x / (1 + math.Exp(-x)) }, (*rounding.Formula).SiLU},
	"gelu":     {func(x float64) float64 { return x * (1 + math.Erf(x/math.Sqrt2)) / 2 }, (*rounding.Formula).GELU},
}

// The value of each function, and its derivative, are those of differences.
func TestFunctions(t *testing.T) {
	for name, c := range functions {
		for _, v := range []float64{0.1, 0.7, 2.5, -0.3, -1.9} {
			if v < 0 && (name == "log" || name == "sqrt") {
				continue
			}
			f := rounding.NewFormula()
			x := f.Constant(v)
			y := c.number(f, x)
			d := f.Gradients([]rounding.Number{y}, []rounding.Result{{Value: 1}})([]rounding.Number{x})[0]
			const step = 1e-6
			slope := (c.of(v+step) - c.of(v-step)) / (2 * step)
			if r := f.Result(y); math.Abs(r.Value-c.of(v)) > 1e-14*(1+math.Abs(r.Value)) || math.Abs(d.Value-slope) > 1e-8 {
				t.Errorf("%s of %v is %v with the slope %v, want %v and %v", name, v, r.Value, d.Value, c.of(v), slope)
			}
			if r := f.Result(y); r.Bound > 100*rounding.Unit*(1+math.Abs(v)) || d.Bound > 100*rounding.Unit*(1+math.Abs(slope)) {
				t.Errorf("%s of %v has the bounds %v and %v", name, v, r.Bound, d.Bound)
			}
		}
	}
}

// A softmax of sums, its mean of rows and all gradients, computed in Float one operation after the other, are as near as
// the bounds say, and not nearer by much.
func TestBounds(t *testing.T) {
	most := 0.0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n, size := 1+rng.IntN(100), math.Exp(3*rng.Float64())
		x, v := make([]float, n), make([]float, n)
		for i := range x {
			x[i], v[i] = float(size*rng.NormFloat64()), float(rng.NormFloat64())
		}
		f := rounding.NewFormula()
		xs, vs := rounding.Given(f, x), rounding.Given(f, v)
		y := f.Dot(f.Softmax(xs), vs)
		gradients := f.Gradients([]rounding.Number{y}, []rounding.Result{{Value: 1}})
		got, dx, alpha := softened(x, v)
		for i, c := range []struct {
			got  []float
			want []rounding.Result
		}{{[]float{got}, f.Results([]rounding.Number{y})}, {dx, gradients(xs)}, {alpha, gradients(vs)}} {
			_, part, err := rounding.Largest(c.got, c.want)
			if err != nil {
				t.Errorf("seed %d, array %d: %v", seed, i, err)
			}
			most = max(most, part)
		}
	}
	if most < 0.01 {
		t.Errorf("the largest error is %v of what is allowed", most)
	}
}

// softened is Σ α·v, α = softmax(x), and its gradients by x and v.
func softened(x, v []float) (y float, dx, alpha []float) {
	top, sum := slices.Max(x), float(0)
	for _, x := range x {
		alpha = append(alpha, float(math.Exp(float64(x-top))))
		sum += alpha[len(alpha)-1]
	}
	for i := range alpha {
		alpha[i] /= sum
		y += alpha[i] * v[i]
	}
	for i, a := range alpha {
		dx = append(dx, a*(v[i]-y))
	}
	return y, dx, alpha
}

// What is off by a few bounds is found, wherever it is, and so are NaN and Inf.
func TestLargest(t *testing.T) {
	f := rounding.NewFormula()
	var terms []rounding.Number
	for i := range 10 {
		terms = append(terms, f.Mul(f.Constant(1.5), f.Constant(float64(i)-4.25)))
	}
	want := f.Results([]rounding.Number{f.Sum(terms...), terms[3]})
	right := []float64{want[0].Value, want[1].Value}
	for name, c := range map[string]struct {
		got []float64
		ok  bool
	}{
		"right": {right, true}, "rounded": {[]float64{right[0] + want[0].Bound, right[1]}, true},
		"off": {[]float64{right[0], right[1] + 6*want[1].Bound}, false}, "NaN": {[]float64{math.NaN(), right[1]}, false},
		"Inf": {[]float64{right[0], math.Inf(1)}, false}, "one": {right[:1], false},
	} {
		if _, _, err := rounding.Largest(c.got, want); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	nan := []rounding.Result{{Value: math.NaN()}, {Value: math.Inf(1)}}
	for _, got := range [][]float64{{0, math.Inf(1)}, {math.NaN(), 0}, {math.NaN(), math.NaN()}} {
		if _, _, err := rounding.Largest(got, nan); err == nil {
			t.Errorf("%v is taken for NaN and +Inf", got)
		}
	}
	if _, _, err := rounding.Largest([]float64{math.NaN(), math.Inf(1)}, nan); err != nil {
		t.Error(err)
	}
}

// A standard deviation and its gradient, beside differences of two passes in float64. Where all is equal a bound is left.
func TestStd(t *testing.T) {
	x := []float64{1.5, -2, 0.25, 7, 7}
	std := func() float64 {
		mean, square := 0.0, 0.0
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			square += (v - mean) * (v - mean) / float64(len(x))
		}
		return math.Sqrt(square)
	}
	f := rounding.NewFormula()
	xs := rounding.Given(f, x)
	y := f.Std(xs)
	d := f.Gradients([]rounding.Number{y}, []rounding.Result{{Value: 1}})(xs)
	if got := f.Result(y).Value; math.Abs(got-std()) > 1e-14 {
		t.Errorf("the standard deviation is %v, want %v", got, std())
	}
	for i, v := range x {
		const step = 1e-6
		x[i] = v + step
		up := std()
		x[i] = v - step
		slope := (up - std()) / (2 * step)
		if x[i] = v; math.Abs(d[i].Value-slope) > 1e-8 || d[i].Bound > 100*rounding.Unit {
			t.Errorf("gradient %d is %v, want %v", i, d[i], slope)
		}
	}
	same := []rounding.Number{f.Constant(0.1), f.Constant(0.1), f.Constant(0.1)}
	flat := f.Std(same)
	d = f.Gradients([]rounding.Number{flat}, []rounding.Result{{Value: 1}})(same)
	if r := f.Result(flat); r.Bound < rounding.Unit/10 || r.Bound > 10*rounding.Unit || d[0].Bound < 0.5 || d[0].Bound > 1 {
		t.Errorf("of equal numbers it is %v with the gradient %v", r, d[0])
	}
}

// A product that is smaller than what has all its places loses some.
func TestTiny(t *testing.T) {
	f := rounding.NewFormula()
	x, small := f.Constant(0x1.2345p-70), float(0x1.2345p-70)
	y := f.Mul(x, x)
	if _, _, err := rounding.Largest([]float{small * small}, []rounding.Result{f.Result(y)}); err != nil {
		t.Error(err)
	}
}

// Equal terms may be rounded alike, others are not.
func TestEqualTerms(t *testing.T) {
	bound := func(step float64) float64 {
		f := rounding.NewFormula()
		var terms []rounding.Number
		for i := range 100 {
			terms = append(terms, f.Constant(1+step*float64(i)))
		}
		r := f.Result(f.Sum(terms...))
		return r.Bound / (rounding.Unit * r.Value)
	}
	if got := fmt.Sprintf("%.0f %.0f", bound(0), bound(1)); got != "100 10" {
		t.Errorf("a hundred terms have %s times the bound of one, want 100 where they are equal and else 10", got)
	}
}

// The larger of two is taken, and where either may be, both are.
func TestMax(t *testing.T) {
	if rounding.Unit < 1e-12 {
		t.Skip("in float64 a formula does not tell such numbers apart")
	}
	for _, c := range []struct{ apart, first, second float64 }{{1, 0, 0}, {1e-12, 1, 1}, {0, 0, 0}} {
		f := rounding.NewFormula()
		x := f.Constant(2)
		y := f.Mul(f.Constant(1+c.apart/2), f.Constant(2))
		d := f.Gradients([]rounding.Number{f.Max(x, y)}, []rounding.Result{{Value: 1}})([]rounding.Number{x, y})
		if d[0].Bound != c.first || d[1].Bound != c.second || d[0].Value+d[1].Value != 1 {
			t.Errorf("%v apart: the gradients are %v", c.apart, d)
		}
	}
}
