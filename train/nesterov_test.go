package train_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// descend minimises ½Σλw² from ones and calls see with w after each step, which is
// what the Params were ahead of, less the step.
func descend(opt train.Optimiser, rate float64, lambda []tensor.Float, steps int, see func(k int, w []float64)) {
	p := grad.NewParam(len(lambda))
	p.Value.Fill(1)
	g := tensor.New(len(lambda))
	w := make([]float64, len(lambda))
	for k := 1; k <= steps; k++ {
		for i, v := range p.Value.Data {
			g.Data[i] = lambda[i] * v
			w[i] = float64(v) - rate*float64(g.Data[i])
		}
		opt.Step(grad.Grads{{Param: p, Value: g}})
		see(k, w)
	}
}

// On ½λw² Nesterov's flow is 2·J₁(t√λ)/(t√λ). The gap up to t = 8 is at most √η;
// another friction than 3 misses by more than a tenth.
func TestNesterovFollowsBessel(t *testing.T) {
	for _, eta := range []float64{1e-2, 1e-3, 1e-4} {
		for _, lambda := range []float64{1, 0.5} {
			gap := 0.0
			descend(&train.Nesterov{LR: eta}, eta, []tensor.Float{tensor.Float(lambda)}, int(8/math.Sqrt(eta)), func(k int, w []float64) {
				at := float64(k) * math.Sqrt(eta*lambda)
				gap = math.Max(gap, math.Abs(w[0]-2*math.J1(at)/at))
			})
			if gap > math.Sqrt(eta) {
				t.Errorf("η = %v, λ = %v: the gap is %v, more than √η", eta, lambda, gap)
			}
		}
	}
}

// f − f* ≤ 2‖w_0 − w*‖²/(η(k+1)²) at every step, where plain descent is still above.
func TestNesterovBound(t *testing.T) {
	lambda := []tensor.Float{1, 0.1, 0.01, 0.001}
	const eta, steps = 0.9, 300
	f := func(w []float64) (sum float64) {
		for i, v := range w {
			sum += 0.5 * float64(lambda[i]) * v * v
		}
		return sum
	}
	last := 0.0
	descend(&train.Nesterov{LR: eta}, eta, lambda, steps, func(k int, w []float64) {
		last = f(w)
		if bound := 2 * float64(len(lambda)) / (eta * float64(k+1) * float64(k+1)); last > bound {
			t.Errorf("step %d: f is %v, the bound %v", k, last, bound)
		}
	})
	plain, before := 0.0, math.Inf(1)
	descend(&train.SGD{LR: eta}, eta, lambda, steps, func(k int, w []float64) {
		if plain = f(w); plain > float64(len(lambda))/(2*eta*float64(k)) {
			t.Errorf("step %d: plain descent is above its bound", k)
		}
		distance := 0.0
		for _, v := range w {
			distance += v * v / 2
		}
		lyapunov := float64(k)*eta*plain + distance
		if lyapunov > before*(1+1e-6) {
			t.Errorf("step %d: the Lyapunov value rises from %v to %v", k, before, lyapunov)
		}
		before = lyapunov
	})
	if last > plain/3 {
		t.Errorf("f is %v, of plain descent %v", last, plain)
	}
}
