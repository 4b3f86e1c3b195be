package dense_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Many losses have the values and slopes of single ones, to the last places of a float32,
// also where these are tiny: logits of 30 on the right side give losses of 1e-13.
func TestManyBCE(t *testing.T) {
	const n = 20_000 + 77
	for _, spread := range []float64{0.1, 1, 30} {
		for _, soft := range []bool{false, true} {
			p, dx := manyBCE(n, spread, soft), make([]tensor.Float, n)
			var first float64
			for _, threads := range append(sparing.Threads(), 1) {
				undo := par.SetThreads(threads)
				loss, count := p.Forward(nil)
				clear(dx)
				p.Backward(dense.PairGrads{X: dx}, []tensor.Float{0.5}, 4)
				undo()
				checkBCE(t, fmt.Sprint("spread ", spread, ", soft ", soft), p, loss, dx)
				if count != n {
					t.Errorf("%v losses counted, want %d", count, n)
				}
				if first == 0 {
					first = loss
				}
				if loss != first {
					t.Errorf("%v on %d threads, %v on one", loss, threads, first)
				}
			}
			undo := cpu.Disable()
			loss, _ := p.Forward(nil)
			clear(dx)
			p.Backward(dense.PairGrads{X: dx}, []tensor.Float{0.5}, 4)
			undo()
			checkBCE(t, fmt.Sprint("spread ", spread, ", soft ", soft, ", in Go"), p, loss, dx)
		}
	}
}

// manyBCE are losses of logits, mostly on the right side, against targets of 0 and 1 or
// between them.
func manyBCE(n int, spread float64, soft bool) *dense.Pairs {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &dense.Pairs{Of: &dense.BCE{Width: 1}, X: make([]tensor.Float, n), Y: make([]tensor.Float, n)}
	for i := range p.X {
		side := float64(i%2*2 - 1)
		p.X[i], p.Y[i] = tensor.Float(side*spread*(1+0.1*rng.NormFloat64())), tensor.Float(i%2)
		if soft {
			p.X[i], p.Y[i] = tensor.Float(spread*rng.NormFloat64()), tensor.Float(rng.Float64())
		}
	}
	return p
}

// checkBCE compares a sum, and gradients of twice that, with losses and slopes one by one, in
// a form in which nothing cancels.
func checkBCE(t *testing.T, what string, p *dense.Pairs, loss float64, dx []tensor.Float) {
	t.Helper()
	want, slopes, tolerances := 0.0, make([]float64, len(dx)), make([]float64, len(dx))
	for i, x := range p.X {
		y := float64(p.Y[i])
		want += y*math.Log1p(math.Exp(-float64(x))) + (1-y)*math.Log1p(math.Exp(float64(x)))
		slope := (1-y)/(1+math.Exp(-float64(x))) - y/(1+math.Exp(float64(x)))
		slopes[i], tolerances[i] = 2*slope, 1e-6*math.Abs(2*slope)
		if y > 0 && y < 1 {
			tolerances[i] += 3e-7 // of the two parts of the slope
		}
	}
	compare.Near(t, what+": slopes", dx, slopes, compare.PartOfTerms(0, 1, tolerances))
	compare.Number(t, what+": the loss", loss, want, compare.Off(0, 1e-6))
}

// A logit that is NaN makes the loss of many NaN, and its own slope.
func TestManyBCENaN(t *testing.T) {
	p := manyBCE(10_000, 1, false)
	p.X[9_000] = tensor.Float(math.NaN())
	if loss, _ := p.Forward(nil); !math.IsNaN(loss) {
		t.Errorf("the loss is %v, want NaN", loss)
	}
	dx := make([]tensor.Float, len(p.X))
	p.Backward(dense.PairGrads{X: dx}, []tensor.Float{1}, 1)
	for i, v := range dx {
		if (v != v) != (i == 9_000) {
			t.Fatalf("slope %d is %v", i, v)
		}
	}
}
