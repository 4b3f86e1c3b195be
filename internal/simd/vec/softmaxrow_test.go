package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// TestRowGrads compares the gradients of rows with their formulas in float64,
// and the assembly with plain Go.
func TestRowGrads(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	for n := range 601 {
		x, dy := simdtest.Draw(n, simdtest.Plain(rng)), simdtest.Draw(n, simdtest.Plain(rng))
		y, logs := make([]Float, n), make([]Float, n)
		Softmax(y, x)
		LogSoftmax(logs, x)
		top := LogSumExp(x)
		dx, dlog, dsum := make([]Float, n), make([]Float, n), make([]Float, n)
		SoftmaxBackward(dx, dy, y)
		LogSoftmaxBackward(dlog, dy, logs)
		LogSumExpBackward(dsum, x, top, 0.7)
		dot, sum := 0.0, 0.0
		for i, g := range dy {
			dot += float64(g) * float64(y[i])
			sum += float64(g)
		}
		for i, g := range dy {
			p := float64(y[i])
			if !byOracle.Near(float64(dx[i]), p*(float64(g)-dot)) || !byOracle.Near(float64(dlog[i]), float64(g)-p*sum) || !byOracle.Near(float64(dsum[i]), 0.7*p) {
				t.Fatalf("of %d: gradient %d is %v, %v and %v", n, i, dx[i], dlog[i], dsum[i])
			}
		}
		ones := simdtest.Draw(n, simdtest.NearOne(rng)) // so that nothing cancels
		simdtest.Trial(t, "softmax backward", 1e-4, [][]Float{make([]Float, n), make([]Float, n), ones, y}, func(s [][]Float) {
			mulAddLess(s[0], s[3], s[2], -1)
			LogSumExpBackward(s[1], s[3], 3, 0.7)
		})
	}
}

// ExpSum64 is the sum of the exponentials, which are zero of −Inf.
func TestExpSum64(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{0, 1, 7, 255, 256, 257, 2000} {
		x, f := simdtest.Draw(n, simdtest.Plain(rng)), rounding.NewFormula()
		if n > 7 {
			x[n-2] = Float(math.Inf(-1))
		}
		m := MaxOf(x)
		var terms []rounding.Number
		for _, v := range rounding.Given(f, x) {
			terms = append(terms, f.ExpLess(v, float64(m)))
		}
		rounding.Near(t, fmt.Sprint("of ", n), []float64{ExpSum64(x, m)}, []rounding.Result{f.Result(f.Sum(terms...))})
	}
}

// TestRowGradEnds checks rows of infinities and with NaN.
func TestRowGradEnds(t *testing.T) {
	inf, nan := Float(math.Inf(1)), Float(math.NaN())
	for _, c := range []struct{ x, want [3]Float }{
		{[3]Float{-inf, -inf, -inf}, [3]Float{}},
		{[3]Float{inf, 0, inf}, [3]Float{0.5, 0, 0.5}},
		{[3]Float{-inf, 2, -inf}, [3]Float{0, 1, 0}},
		{[3]Float{nan, 2, 1}, [3]Float{nan, nan, nan}},
	} {
		var dx [3]Float
		LogSumExpBackward(dx[:], c.x[:], LogSumExp(c.x[:]), 1)
		for i, v := range dx {
			if v != c.want[i] && (v == v || c.want[i] == c.want[i]) {
				t.Errorf("LogSumExp of %v has the gradient %v, want %v", c.x, dx, c.want)
			}
		}
	}
	y, dx := make([]Float, 3), make([]Float, 3)
	Softmax(y, []Float{-inf, -inf, -inf})
	if SoftmaxBackward(dx, []Float{1, 2, 3}, y); dx[0] != 0 || dx[1] != 0 || dx[2] != 0 {
		t.Errorf("a softmax of −∞ alone has the gradient %v", dx)
	}
}

// Rows together are rows one by one.
func TestLogSoftmaxRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	for width := range 60 {
		for _, rows := range []int{0, 1, 2, 75, 140} {
			next := simdtest.Plain(rng)
			if rows == 2 {
				next = simdtest.Some(rng)
			}
			checkLogRows(t, simdtest.Draw(rows*width, next), width)
		}
	}
	checkLogRows(t, simdtest.Draw(3*700, simdtest.Plain(rng)), 700)
	inf := Float(math.Inf(1))
	checkLogRows(t, []Float{-inf, -inf, inf, 0, inf, inf, Float(math.NaN()), 1, 2, 3}, 2)
}

func checkLogRows(t *testing.T, x []Float, width int) {
	t.Helper()
	want := make([]Float, len(x))
	for i := 0; i < len(x); i += width {
		LogSoftmax(want[i:i+width], x[i:i+width])
	}
	y, intact := simdtest.Guarded(len(x), 3, func() Float { return 9 })
	LogSoftmaxRows(y, x, width)
	LogSoftmaxRows(x, x, width) // in place
	sizes := make([]float64, len(want))
	for i, w := range want {
		sizes[i] = max(0.5, math.Abs(float64(w)))
	}
	by, what := compare.PartOfTerms(0, 2e-6, sizes).OrNaN(), fmt.Sprintf("rows of %d", width)
	compare.Near(t, what, y, want, by)
	compare.Near(t, what+" in place", x, want, by)
	if !intact() {
		t.Fatalf("width %d: wrote outside the rows", width)
	}
}
