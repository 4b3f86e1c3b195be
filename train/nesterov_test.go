package train_test

import (
	"fmt"
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

// Descent on a logistic regression never raises the Lyapunov value
// t·(f − f*) + ½‖w − w*‖² while the rate is at most 1/L.
func TestLyapunovOfLogistic(t *testing.T) {
	// Two points on either side, one of them wrong, so that there is a minimum: at ln 3.
	xs, ys := []float64{1, 1, 1, -1}, []float64{1, 1, 0, 0}
	const eta = 0.9 / 1 // L is Σx²/4 = 1
	best := math.Log(3)
	f := func(w float64) (sum float64) {
		for i, x := range xs {
			sum += math.Log1p(math.Exp(-math.Abs(w*x))) + math.Max(w*x, 0) - ys[i]*w*x
		}
		return sum
	}
	p, before, opt := grad.NewParam(1), math.Inf(1), &train.SGD{LR: eta}
	p.Value.Fill(-4)
	for k := 1; k <= 200; k++ {
		w, g := float64(p.Value.Data[0]), 0.0
		for i, x := range xs {
			g += x * (1/(1+math.Exp(-w*x)) - ys[i])
		}
		opt.Step(grad.Grads{{Param: p, Value: tensor.Of([]tensor.Float{tensor.Float(g)}, 1)}})
		w = float64(p.Value.Data[0])
		value := float64(k)*eta*(f(w)-f(best)) + (w-best)*(w-best)/2
		if value > before+1e-6 {
			t.Fatalf("step %d: the Lyapunov value rises from %v to %v", k, before, value)
		}
		before = value
	}
	if w := float64(p.Value.Data[0]); math.Abs(w-best) > 1e-3 {
		t.Errorf("it ends at %v, want ln 3 = %v", w, best)
	}
}

// Momentum is added behind the clipping: after one huge gradient, clipped, the next step is
// as if it had been small. Without momentum SGD is plain descent, to the bit.
func TestMomentumAfterClipping(t *testing.T) {
	walk := func(opt train.Optimiser, first tensor.Float, clip bool) tensor.Float {
		p := grad.NewParam(1)
		for _, g := range []tensor.Float{first, 0.25} {
			gs := grad.Grads{{Param: p, Value: tensor.Of([]tensor.Float{g}, 1)}}
			if clip {
				gs.ClipNorm(1)
			}
			opt.Step(gs)
		}
		return p.Value.Data[0]
	}
	clipped, small := walk(&train.SGD{LR: 1, Momentum: 0.5}, 1e6, true), walk(&train.SGD{LR: 1, Momentum: 0.5}, 1, false)
	if math.Abs(float64(clipped-small)) > 1e-5 || small != -(1+0.5+0.25) {
		t.Errorf("after a clipped gradient the steps end at %v, after one of 1 at %v, want −1.75", clipped, small)
	}
	if got := walk(&train.SGD{LR: 0.5, Momentum: 0}, 1, false); got != -0.625 {
		t.Errorf("without momentum the steps end at %v, want −0.625", got)
	}
}

// Nesterov's momentum rises with the steps; on a long, flat valley it is far ahead of plain
// descent.
func ExampleNesterov() {
	valley := func(opt train.Optimiser) float64 {
		lambda, sum := []tensor.Float{1, 0.001}, 0.0
		descend(opt, 0.9, lambda, 200, func(_ int, w []float64) {
			sum = float64(lambda[0])*w[0]*w[0]/2 + float64(lambda[1])*w[1]*w[1]/2
		})
		return sum
	}
	plain, ahead := valley(&train.SGD{LR: 0.9}), valley(&train.Nesterov{LR: 0.9})
	fmt.Println("a fiftieth of what plain descent is left with:", ahead < plain/50)
	// Output: a fiftieth of what plain descent is left with: true
}
