package sequence_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// matrixOf is zeros.
func matrixOf(rows, cols int) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, cols)
	}
	return m
}

// doubleSum is back-propagation through time as the formula has it, for each loss L_t and each
// k ≤ t by itself, where dL are the gradients of L_t by a_t:
//
//	δ_tt = dL_t ⊙ h'(z_t)           δ_tk = (δ_t,k+1·Uᵀ) ⊙ h'(z_k)
//	∂L/∂U = ΣΣ a_k−1ᵀδ_tk           ∂L/∂W = ΣΣ x_kᵀδ_tk       ∂L/∂b = ΣΣ δ_tk
func doubleSum(l *sequence.RNN, x *grad.Param, a *tensor.Dense, dL *grad.Param) (w, u, b [][]float64) {
	m := l.Hidden
	w, u, b = matrixOf(l.In, m), matrixOf(m, m), matrixOf(1, m)
	slope := func(k, j int) float64 { return 1 - math.Pow(float64(a.Row(k)[j]), 2) }
	for t := range a.Rows() {
		delta := make([]float64, m)
		for j := range delta {
			delta[j] = float64(dL.Value.Row(t)[j]) * slope(t, j)
		}
		for k := t; k >= 0; k-- {
			if k < t {
				before := make([]float64, m)
				for i := range before {
					for j, d := range delta {
						before[i] += d * float64(l.U.Value.Row(i)[j])
					}
					before[i] *= slope(k, i)
				}
				delta = before
			}
			for j, d := range delta {
				b[0][j] += d
				for i := range l.In {
					w[i][j] += float64(x.Value.Row(k)[i]) * d
				}
				for i := range m {
					if k > 0 {
						u[i][j] += float64(a.Row(k - 1)[i]) * d
					}
				}
			}
		}
	}
	return w, u, b
}

// The tape's gradients are the double sum over losses and steps: of b too, where not δ_tt
// alone counts, and of U with the slopes at τ = k … t−1.
func TestBPTTFormula(t *testing.T) {
	l := &sequence.RNN{In: 2, Hidden: 3}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	x, dL := random(1, 6, 2), random(2, 6, 3)
	for i, p := range []*grad.Param{l.W, l.U, l.B} {
		p.Value.Normal(rand.New(rand.NewPCG(uint64(i), 5)), 0, 0.8)
	}
	tape := grad.NewTape(1)
	a := l.Forward(tape, graph.Chains(6), grad.Const(x.Value))
	grads := tape.Backward(a.Mul(grad.Const(dL.Value)).Sum())
	w, u, b := doubleSum(l, x, a.Value(), dL)
	for _, c := range []struct {
		name string
		p    *grad.Param
		want [][]float64
	}{{"W", l.W, w}, {"U", l.U, u}, {"b", l.B, b}} {
		got := grads.Param(c.p).Data
		compare.Near(t, "∂L/∂"+c.name+", and by the sum", got, slices.Concat(c.want...), compare.Off(1e-5, 1e-5))
	}
}

// Through 100 steps of a linear network with U = ρ times an orthogonal matrix a gradient is
// ρ^100 as long as it was: it explodes above one, and below it must vanish; a tanh can only
// make it shorter.
func TestGradientRadius(t *testing.T) {
	const steps, m = 100, 4
	reach := func(act grad.Activation, rho float64) float64 {
		l := &sequence.RNN{In: 1, Hidden: m, Activation: act, NoBias: true}
		l.Init(rand.New(rand.NewPCG(1, 1)))
		l.W.Value.Fill(0)
		l.U.Value.Fill(0)
		for i := range m { // orthogonal: each element moves on by one, so that a ReLU stays open
			l.U.Value.Row(i)[(i+1)%m] = tensor.Float(rho)
		}
		tape, g := grad.NewTape(1), graph.Chains(steps)
		h0 := tape.Watch(tensor.Of([]tensor.Float{0.3, 0.1, 0.2, 0.4}, 1, m))
		last := l.ForwardFrom(tape, g, grad.Const(tensor.New(steps, 1)), message.State{h0})[0].Rows(g.Sinks())
		v := random(3, 1, m).Value
		d := tape.Backward(last.Mul(grad.Const(v)).Sum()).Of(h0)
		return norm(d.Data) / norm(v.Data)
	}
	for _, rho := range []float64{0.9, 1, 1.1} {
		want := math.Pow(rho, steps)
		if got := reach(grad.ReLU, rho); !(math.Abs(got-want) <= 1e-4*want) {
			t.Errorf("ρ = %v: the gradient is %v times as long after %d steps, want %v", rho, got, steps, want)
		}
		if got := reach("", rho); !(got < want) {
			t.Errorf("ρ = %v: under tanh the gradient is %v times as long, want less than %v", rho, got, want)
		}
	}
}

// Orthogonal begins with UᵀU = 1 for each gate, at any width, and changes nothing else that is
// said to begin somewhere; where tanh is steepest, a gradient keeps its length for 100 steps.
func TestOrthogonalStart(t *testing.T) {
	for _, m := range []int{1, 7, 16} {
		for name, u := range map[string]func() *grad.Param{
			"RNN": func() *grad.Param {
				l := &sequence.RNN{In: 2, Hidden: m, Orthogonal: true}
				l.Init(rand.New(rand.NewPCG(1, 1)))
				return l.U
			},
			"LSTM": func() *grad.Param {
				l := &sequence.LSTM{In: 2, Hidden: m, Orthogonal: true, ForgetBias: 1}
				l.Init(rand.New(rand.NewPCG(1, 1)))
				compare.Equal(t, "b_f", l.B.Value.Data[m:2*m], slices.Repeat([]tensor.Float{1}, m))
				return l.U
			},
			"coupled": func() *grad.Param {
				l := &sequence.LSTM{In: 2, Hidden: m, Orthogonal: true, Forget: sequence.CoupledForget}
				l.Init(rand.New(rand.NewPCG(1, 1)))
				return l.U
			},
			"GRU": func() *grad.Param {
				l := &sequence.GRU{In: 2, Hidden: m, Orthogonal: true}
				l.Init(rand.New(rand.NewPCG(1, 1)))
				return l.U
			},
		} {
			p := u().Value
			for b := range p.Dim(1) / m {
				for i := range m {
					for j := range m {
						sum, want := 0.0, 0.0
						for k := range m {
							sum += float64(p.Row(k)[b*m+i]) * float64(p.Row(k)[b*m+j])
						}
						if i == j {
							want = 1
						}
						if math.Abs(sum-want) > 1e-5 {
							t.Errorf("%s of %d: columns %d and %d of block %d have the product %v, want %v", name, m, i, j, b, sum, want)
						}
					}
				}
			}
		}
	}
	l := &sequence.RNN{In: 1, Hidden: 8, Orthogonal: true}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	tape, g := grad.NewTape(1), graph.Chains(100)
	h0, v := tape.Watch(tensor.New(1, 8)), random(2, 1, 8).Value
	last := l.ForwardFrom(tape, g, grad.Const(tensor.New(100, 1)), message.State{h0})[0].Rows(g.Sinks())
	d := tape.Backward(last.Mul(grad.Const(v)).Sum()).Of(h0)
	compare.Number(t, "the gradient's length after 100 steps", tensor.Float(norm(d.Data)/norm(v.Data)), 1, compare.Off(1e-4, 0))
}

func norm(x []tensor.Float) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

// A segment that is the whole sequence has the gradients of the whole, to the bit; a carry
// that is kept hands none back to the segment before it.
func TestTruncationEnds(t *testing.T) {
	for name, c := range cells(3, 4) {
		x := random(1, 5, 3).Value
		g := graph.Chains(5)
		gradients := func(init message.State) []*tensor.Dense {
			tape := grad.NewTape(1)
			return clones(tape.Backward(weigh(c.ForwardFrom(tape, g, grad.Const(x), init))))
		}
		var zero message.State
		for _, s := range c.ForwardFrom(nil, g, grad.Const(x), nil) {
			zero = append(zero, grad.Const(tensor.New(1, s.Dim(1))))
		}
		whole := gradients(nil)
		for i, d := range gradients(zero.Keep()) {
			golden.Compare(t, name+": a gradient", d, whole[i], 0)
		}
		tape := grad.NewTape(1)
		first := tape.Watch(x)
		carry := c.ForwardFrom(tape, g, first, nil).Rows(g.Sinks())
		for i := range carry {
			carry[i] = carry[i].Detach()
		}
		second := tape.Watch(x)
		grads := tape.Backward(weigh(c.ForwardFrom(tape, g, second, carry)))
		if d := grads.Of(first); d != nil && norm(d.Data) != 0 {
			t.Errorf("%s: behind a detached carry the first segment has the gradient %v", name, d.Data)
		}
		if d := grads.Of(second); d == nil || norm(d.Data) == 0 {
			t.Errorf("%s: the second segment has no gradient", name)
		}
	}
}
