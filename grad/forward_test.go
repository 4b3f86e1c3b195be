package grad_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// rounded is for what differs by rounding.
var rounded = compare.Part(2e-5)

// random returns an array of normal numbers.
func random(rng *rand.Rand, shape ...int) *tensor.Dense {
	x := tensor.New(shape...)
	x.Normal(rng, 0, 1)
	return x
}

// indices yields every index of an array of that shape, in order.
func indices(shape []int, f func(ix []int)) {
	ix := make([]int, len(shape))
	var walk func(axis int)
	walk = func(axis int) {
		if axis == len(shape) {
			f(ix)
			return
		}
		for ix[axis] = 0; ix[axis] < shape[axis]; ix[axis]++ {
			walk(axis + 1)
		}
	}
	walk(0)
}

// flat returns the number of the element of x that broadcasting puts at ix.
func flat(x *tensor.Dense, ix []int) int {
	ix = ix[len(ix)-x.Axes():]
	k := 0
	for i, s := range x.Shape() {
		k *= s
		if s != 1 {
			k += ix[i]
		}
	}
	return k
}

// pairs yields shapes that broadcast: some chosen, some random.
func pairs(f func(x, y, z []int)) {
	for _, p := range [][3][]int{
		{{4, 3}, {3}, {4, 3}}, {{3}, {4, 3}, {4, 3}}, {{4, 1}, {1, 3}, {4, 3}}, {{1}, {2, 3, 4, 5}, {2, 3, 4, 5}},
		{{2, 1, 4, 1}, {3, 1, 5}, {2, 3, 4, 5}}, {{0, 3}, {3}, {0, 3}}, {{3, 0}, {3, 1}, {3, 0}}, {{0}, {1}, {0}},
		{{1, 7}, {1, 7}, {1, 7}}, {{1, 1, 1, 1}, {1}, {1, 1, 1, 1}}, {{17, 1, 2}, {1, 3, 1}, {17, 3, 2}},
	} {
		f(p[0], p[1], p[2])
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 150 {
		z := make([]int, 1+rng.IntN(4))
		for i := range z {
			z[i] = rng.IntN(5)
		}
		thin := func() []int {
			s := slices.Clone(z[rng.IntN(len(z)):])
			for i := range s {
				if rng.IntN(3) == 0 {
					s[i] = 1
				}
			}
			return s
		}
		x, y := thin(), thin()
		both, ok := tensor.Broadcast(x, y)
		if !ok {
			panic(fmt.Sprint("made to broadcast: ", x, y))
		}
		f(x, y, both)
	}
}

// TestBinary compares values and gradients with a loop over indices.
func TestBinary(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct {
		f         func(x, y *grad.Var) *grad.Var
		z, dx, dy func(x, y float64) float64
	}{
		"Add": {(*grad.Var).Add, func(x, y float64) float64 { return x + y }, func(_, _ float64) float64 { return 1 }, func(_, _ float64) float64 { return 1 }},
		"Sub": {(*grad.Var).Sub, func(x, y float64) float64 { return x - y }, func(_, _ float64) float64 { return 1 }, func(_, _ float64) float64 { return -1 }},
		"Mul": {(*grad.Var).Mul, func(x, y float64) float64 { return x * y }, func(_, y float64) float64 { return y }, func(x, _ float64) float64 { return x }},
		"Div": {(*grad.Var).Div, func(x, y float64) float64 { return x / y }, func(_, y float64) float64 { return 1 / y }, func(x, y float64) float64 { return -x / (y * y) }},
		"Min": {(*grad.Var).Min, math.Min, func(x, y float64) float64 { return is(x <= y) }, func(x, y float64) float64 { return is(x > y) }},
		"Max": {(*grad.Var).Max, math.Max, func(x, y float64) float64 { return is(x >= y) }, func(x, y float64) float64 { return is(x < y) }},
	} {
		pairs(func(xs, ys, zs []int) {
			x, y, dz := random(rng, xs...), random(rng, ys...), random(rng, zs...)
			for i, v := range y.Data { // away from 0, for Div
				y.Data[i] = v + tensor.Float(math.Copysign(1, float64(v)))
			}
			tape := grad.NewTape(1)
			vx, vy := tape.Watch(x), tape.Watch(y)
			z := c.f(vx, vy)
			g := pull(tape, z, dz)
			want, dx, dy := make([]float64, len(dz.Data)), make([]float64, len(x.Data)), make([]float64, len(y.Data))
			k := 0
			indices(zs, func(ix []int) {
				i, j := flat(x, ix), flat(y, ix)
				a, b, d := float64(x.Data[i]), float64(y.Data[j]), float64(dz.Data[k])
				want[k] = c.z(a, b)
				dx[i] += d * c.dx(a, b)
				dy[j] += d * c.dy(a, b)
				k++
			})
			what := fmt.Sprint(name, xs, ys)
			compare.Shaped(t, what, z.Value(), zs, want, rounded)
			compare.Shaped(t, what+" dx", g.Of(vx), xs, dx, rounded)
			compare.Shaped(t, what+" dy", g.Of(vy), ys, dy, rounded)
		})
	}
}

func is(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestDot multiplies and sums with a loop over indices.
func TestDot(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	pairs(func(xs, ys, zs []int) {
		d := 1 + rng.IntN(4)
		if len(zs) == tensor.MaxAxes {
			return
		}
		xs, ys = append(slices.Clone(xs), d), append(slices.Clone(ys), d)
		x, y := random(rng, xs...), random(rng, ys...)
		out := append(slices.Clone(zs), 1)
		want := make([]float64, 0, 8)
		indices(zs, func(ix []int) {
			s := 0.0
			for k := range d {
				at := append(slices.Clone(ix), k)
				s += float64(x.Data[flat(x, at)]) * float64(y.Data[flat(y, at)])
			}
			want = append(want, s)
		})
		compare.Shaped(t, fmt.Sprint("Dot", xs, ys), grad.Const(x).Dot(grad.Const(y)).Value(), out, want, rounded)
	})
	if got := grad.Const(tensor.New(3, 0)).Dot(grad.Const(tensor.New(3, 0))).Value(); !slices.Equal(got.Data, []tensor.Float{0, 0, 0}) {
		t.Errorf("Dot over an empty axis is %v", got)
	}
}

// TestUnary compares every pointwise method with the function it names.
func TestUnary(t *testing.T) {
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for name, c := range map[string]struct {
		f        func(x *grad.Var) *grad.Var
		want     func(x float64) float64
		positive bool
	}{
		"Scale":      {func(x *grad.Var) *grad.Var { return x.Scale(-2.5) }, func(x float64) float64 { return -2.5 * x }, false},
		"Shift":      {func(x *grad.Var) *grad.Var { return x.Shift(0.5) }, func(x float64) float64 { return x + 0.5 }, false},
		"OneMinus":   {(*grad.Var).OneMinus, func(x float64) float64 { return 1 - x }, false},
		"Neg":        {(*grad.Var).Neg, func(x float64) float64 { return -x }, false},
		"ReLU":       {(*grad.Var).ReLU, func(x float64) float64 { return math.Max(x, 0) }, false},
		"LeakyReLU":  {func(x *grad.Var) *grad.Var { return x.LeakyReLU(0.3) }, func(x float64) float64 { return math.Max(x, 0.3*x) }, false},
		"ELU":        {(*grad.Var).ELU, func(x float64) float64 { return math.Max(x, 0) + math.Exp(math.Min(x, 0)) - 1 }, false},
		"Sigmoid":    {(*grad.Var).Sigmoid, sigmoid, false},
		"Tanh":       {(*grad.Var).Tanh, math.Tanh, false},
		"Softplus":   {(*grad.Var).Softplus, func(x float64) float64 { return math.Log(1 + math.Exp(x)) }, false},
		"SiLU":       {(*grad.Var).SiLU, func(x float64) float64 { return x * sigmoid(x) }, false},
		"Sin":        {(*grad.Var).Sin, math.Sin, false},
		"Cos":        {(*grad.Var).Cos, math.Cos, false},
		"Exp":        {(*grad.Var).Exp, math.Exp, false},
		"Log":        {(*grad.Var).Log, math.Log, true},
		"Sqrt":       {(*grad.Var).Sqrt, math.Sqrt, true},
		"Abs":        {(*grad.Var).Abs, math.Abs, false},
		"Square":     {(*grad.Var).Square, func(x float64) float64 { return x * x }, false},
		"Reciprocal": {(*grad.Var).Reciprocal, func(x float64) float64 { return 1 / x }, true},
		"identity":   {func(x *grad.Var) *grad.Var { return x.Activate(grad.Identity) }, func(x float64) float64 { return x }, false},
	} {
		rng := rand.New(rand.NewPCG(3, 1))
		for _, shape := range [][]int{{1}, {0, 3}, {7}, {33, 3}, {2, 3, 5}} {
			x := random(rng, shape...)
			want := make([]float64, len(x.Data))
			for i := range want {
				if c.positive {
					x.Data[i] = x.Data[i]*x.Data[i] + 0.1
				}
				want[i] = c.want(float64(x.Data[i]))
			}
			compare.Shaped(t, fmt.Sprint(name, shape), c.f(grad.Const(x)).Value(), shape, want, rounded)
		}
	}
	defer func() {
		if e, ok := recover().(*grad.TapeError); !ok || !strings.Contains(e.Error(), "gelu?") {
			t.Errorf("an unknown activation panics with %v", e)
		}
	}()
	grad.Const(tensor.New(1)).Activate("gelu?")
}

func TestReductions(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for _, shape := range [][]int{{5}, {1, 4}, {4, 1}, {3, 4, 5}, {2, 3, 2, 3}, {0, 3}, {3, 0}} {
		x := random(rng, shape...)
		all := 0.0
		for _, v := range x.Data {
			all += float64(v)
		}
		compare.Shaped(t, "Sum", grad.Const(x).Sum().Value(), []int{1}, []float64{all}, rounded)
		compare.Shaped(t, "Mean", grad.Const(x).Mean().Value(), []int{1}, []float64{all / float64(max(1, len(x.Data)))}, rounded)
		for axis := range shape {
			rest := slices.Delete(slices.Clone(shape), axis, axis+1)
			sum := make([]float64, tensor.Size(append([]int{1}, rest...)...))
			indices(shape, func(ix []int) {
				k := 0
				for i, s := range shape {
					if i != axis {
						k = k*s + ix[i]
					}
				}
				sum[k] += float64(x.Data[flat(x, ix)])
			})
			if len(rest) == 0 {
				rest = []int{1}
			}
			compare.Shaped(t, fmt.Sprint("SumAxis", shape, axis), grad.Const(x).SumAxis(axis).Value(), rest, sum, rounded)
			for i := range sum {
				sum[i] /= float64(max(1, shape[axis]))
			}
			compare.Shaped(t, fmt.Sprint("MeanAxis", shape, axis-len(shape)), grad.Const(x).MeanAxis(axis-len(shape)).Value(), rest, sum, rounded)
		}
	}
}

func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, shape := range [][]int{{1}, {5}, {1, 3}, {4, 3}, {3, 1}, {2, 3, 4}, {0, 3}} {
		x := random(rng, shape...)
		d := shape[len(shape)-1]
		p, l := make([]float64, len(x.Data)), make([]float64, len(x.Data))
		for i := range x.Data {
			s := 0.0
			for _, v := range x.Data[i/d*d : i/d*d+d] {
				s += math.Exp(float64(v))
			}
			p[i] = math.Exp(float64(x.Data[i])) / s
			l[i] = math.Log(p[i])
		}
		compare.Shaped(t, fmt.Sprint("Softmax", shape), grad.Const(x).Softmax().Value(), shape, p, rounded)
		compare.Shaped(t, fmt.Sprint("LogSoftmax", shape), grad.Const(x).LogSoftmax().Value(), shape, l, rounded)
	}
	inf := tensor.Float(math.Inf(-1))
	masked := grad.Const(tensor.Of([]tensor.Float{inf, inf, 0, inf}, 2, 2)).Softmax().Value()
	if !slices.Equal(masked.Data, []tensor.Float{0, 0, 1, 0}) {
		t.Errorf("Softmax of masked rows is %v", masked)
	}
}

func TestMatMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for _, c := range []struct {
		x []int
		n int
	}{{[]int{1, 1}, 1}, {[]int{5, 3}, 2}, {[]int{0, 3}, 2}, {[]int{3, 0}, 2}, {[]int{3, 2}, 0}, {[]int{2, 3, 5}, 7}, {[]int{17}, 3}} {
		k := c.x[len(c.x)-1]
		x, w := random(rng, c.x...), random(rng, k, c.n)
		shape := append(slices.Clone(c.x[:len(c.x)-1]), c.n)
		var want []float64
		for i := range tensor.Size(append([]int{1}, c.x[:len(c.x)-1]...)...) {
			for j := range c.n {
				s := 0.0
				for l := range k {
					s += float64(x.Data[i*k+l]) * float64(w.Data[l*c.n+j])
				}
				want = append(want, s)
			}
		}
		compare.Shaped(t, fmt.Sprint("MatMul", c), grad.Const(x).MatMul(grad.Const(w)).Value(), shape, want, rounded)
		if x.Axes() == 2 {
			compare.Shaped(t, fmt.Sprint("sparse MatMul", c), grad.Const(sparse.FromDense(x)).MatMul(grad.Const(w)).Value(), shape, want, rounded)
		}
	}
}

// TestShapes moves elements about: the result is spelt out.
func TestShapes(t *testing.T) {
	x := grad.Const(tensor.Of([]tensor.Float{0, 1, 2, 3, 4, 5}, 3, 2))
	parts := x.Split(1, 1, 0)
	for what, c := range map[string]struct {
		got   *grad.Var
		shape []int
		want  []float64
	}{
		"Reshape":          {x.Reshape(-1, 3), []int{2, 3}, []float64{0, 1, 2, 3, 4, 5}},
		"RowRange":         {x.RowRange(1, 3), []int{2, 2}, []float64{2, 3, 4, 5}},
		"RowRange of none": {x.RowRange(3, 3), []int{0, 2}, nil},
		"Rows":             {x.Rows([]int32{2, 0, 2}), []int{3, 2}, []float64{4, 5, 0, 1, 4, 5}},
		"Rows of none":     {x.Rows(nil), []int{0, 2}, nil},
		"Concat":           {grad.Concat(x, x.Neg()), []int{3, 4}, []float64{0, 1, 0, -1, 2, 3, -2, -3, 4, 5, -4, -5}},
		"Concat of one":    {grad.Concat(x), []int{3, 2}, []float64{0, 1, 2, 3, 4, 5}},
		"Split 0":          {parts[0], []int{3, 1}, []float64{0, 2, 4}},
		"Split 1":          {parts[1], []int{3, 1}, []float64{1, 3, 5}},
		"Split 2":          {parts[2], []int{3, 0}, nil},
		"Columns":          {x.Columns(1, 2), []int{3, 1}, []float64{1, 3, 5}},
		"Roll 1":           {x.Reshape(2, 3).Roll(1), []int{2, 3}, []float64{2, 0, 1, 5, 3, 4}},
		"Roll -4":          {x.Reshape(2, 3).Roll(-4), []int{2, 3}, []float64{1, 2, 0, 4, 5, 3}},
		"Detach":           {x.Detach(), []int{3, 2}, []float64{0, 1, 2, 3, 4, 5}},
	} {
		compare.Shaped(t, what, c.got.Value(), c.shape, c.want, rounded)
	}
}

// TestShapeErrors names the operation and every shape.
func TestShapeErrors(t *testing.T) {
	x, y := grad.Const(tensor.New(3, 2)), grad.Const(tensor.New(4, 5))
	for op, f := range map[string]func(){
		"grad.Add [3 2] [4 5]":               func() { x.Add(y) },
		"grad.Div [4 5] [3 2]":               func() { y.Div(x) },
		"grad.Dot [3 2] [4 5]":               func() { x.Dot(y) },
		"grad.MatMul [3 2] [4 5]":            func() { x.MatMul(y) },
		"grad.Concat [3 2] [4 5]":            func() { grad.Concat(x, y) },
		"grad.Split [3 2] [1]":               func() { x.Split(1) },
		"grad.Columns [3 2] [1 3]":           func() { x.Columns(1, 3) },
		"grad.SumAxis [3 2] [2]":             func() { x.SumAxis(2) },
		"grad.Rows [3 2] row 3":              func() { x.Rows([]int32{0, 3}) },
		"grad.CrossEntropy [3 2] [2]":        func() { x.CrossEntropy([]int32{0, 1}) },
		"grad.CrossEntropy [3 2] label 2":    func() { x.CrossEntropy([]int32{0, 1, 2}) },
		"grad.Value [3 2] sparse":            func() { grad.Const(sparse.FromDense(tensor.New(3, 2))).Value() },
		"tensor.Reshape [3 2] [4 -1]":        func() { x.Reshape(4, -1) },
		"tensor.RowRange [3 2] [2 4]":        func() { x.RowRange(2, 4) },
		"grad.CrossEntropy [3 2] 1 class we": func() { grad.CrossEntropy{Weights: []float64{1}}.Of(x, []int32{0, 1, 1}) },
	} {
		err := tensor.Try(f)
		if !errors.As(err, new(*tensor.ShapeError)) {
			t.Errorf("%s: %v", op, err)
			continue
		}
		name, rest, _ := strings.Cut(op, " ")
		if !strings.HasPrefix(err.Error(), name+":") || !strings.Contains(err.Error(), "[") {
			t.Errorf("%q does not begin with %s", err, name)
		}
		for _, part := range strings.SplitAfter(rest, "]") {
			if !strings.Contains(err.Error(), strings.TrimSpace(part)) {
				t.Errorf("%q does not name %q", err, part)
			}
		}
	}
}

// TestLargeLogits shows that a common offset of the logits costs no precision.
func TestLargeLogits(t *testing.T) {
	x := grad.Const(tensor.Of([]tensor.Float{5000, 5000}, 1, 2))
	for what, y := range map[string]tensor.Float{
		"LogSoftmax":   -x.LogSoftmax().Value().Data[0],
		"CrossEntropy": x.CrossEntropy([]int32{1}).Value().Data[0],
	} {
		if math.Abs(float64(y)-math.Ln2) > 1e-7 {
			t.Errorf("%s of two equal logits is %v, not log 2", what, y)
		}
	}
}
