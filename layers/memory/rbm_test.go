package memory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// restricted returns an RBM of random Params.
func restricted(seed uint64, visible, hidden int) *memory.RBM {
	m, rng := &memory.RBM{Visible: visible, Hidden: hidden}, rand.New(rand.NewPCG(seed, 12))
	m.Init(rng)
	m.W.Value.Normal(rng, 0, 1)
	m.A.Value.Normal(rng, 0, 0.5)
	m.B.Value.Normal(rng, 0, 0.5)
	return m
}

// jointly returns P(v) of all visible states by loops over E(v, h), P(h_j = 1 | v) and log Z.
func jointly(m *memory.RBM) (p []float64, hidden [][]float64, logZ float64) {
	vs, hs, z := allStates(m.Visible, 0), allStates(m.Hidden, 0), 0.0
	for i := range vs.Rows() {
		sum, on := 0.0, make([]float64, m.Hidden)
		for j := range hs.Rows() {
			e := 0.0
			for a, v := range vs.Row(i) {
				e -= float64(m.A.Value.Data[a] * v)
				for b, h := range hs.Row(j) {
					e -= float64(h) * float64(m.W.Value.Row(b)[a]) * float64(v)
				}
			}
			for b, h := range hs.Row(j) {
				e -= float64(m.B.Value.Data[b] * h)
			}
			sum += math.Exp(-e)
			for b, h := range hs.Row(j) {
				on[b] += float64(h) * math.Exp(-e)
			}
		}
		for b := range on {
			on[b] /= sum
		}
		p, hidden = append(p, sum), append(hidden, on)
		z += sum
	}
	for i := range p {
		p[i] /= z
	}
	return p, hidden, math.Log(z)
}

// Free energies, probabilities of hidden units and log Z are those of all states, either side the smaller.
func TestRBMIsItsFormula(t *testing.T) {
	for _, size := range [][2]int{{6, 4}, {3, 5}, {1, 1}} {
		m := restricted(1, size[0], size[1])
		p, hidden, logZ := jointly(m)
		all := allStates(m.Visible, 0)
		f, on := m.FreeEnergy(nil, grad.Const(all)).Value(), m.Forward(nil, grad.Const(all)).Value()
		got, err := m.LogZ()
		if err != nil {
			t.Fatal(err)
		}
		compare.Number(t, fmt.Sprintf("%v: log Z", size), got, logZ, compare.Off(1e-4, 0))
		for k, q := range p {
			compare.Number(t, fmt.Sprintf("%v: the free energy of state %d", size, k), f.Data[k], -math.Log(q)-logZ, compare.Off(1e-4, 0))
			compare.Near(t, fmt.Sprintf("%v: hidden units of state %d", size, k), on.Row(k), hidden[k], compare.Off(1e-5, 0))
		}
	}
}

// Chains come to visible states as often as enumeration says, and clamped units stay.
func TestRBMIsItsDistribution(t *testing.T) {
	m := restricted(2, 6, 4)
	p, _, _ := jointly(m)
	got := m.Sample(tensor.New(20_000, 6), memory.Gibbs{Sweeps: 60, Seed: 3})
	if chi, n := chi2(got, p); chi > float64(n)+5*math.Sqrt(2*float64(n)) {
		t.Errorf("χ² is %.1f of %d degrees", chi, n)
	}
	sum := 0.0
	for k := range p {
		if k&3 != 0 {
			p[k] = 0
		}
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	got = m.Sample(tensor.New(20_000, 6), memory.Gibbs{Sweeps: 60, Seed: 4, Clamp: 2})
	if chi, n := chi2(got, p); chi > float64(n)+5*math.Sqrt(2*float64(n)) {
		t.Errorf("clamped: χ² is %.1f of %d degrees", chi, n)
	}
}

// The gradient of the loss against differences, and, with chains of a thousand sweeps, against that of
// −log P(data), by enumeration.
func TestRBMGradient(t *testing.T) {
	m := restricted(0, 5, 3)
	data := allStates(5, 0)
	data = tensor.Of(data.Data[5*7:5*12], 5, 5)
	negative := tensor.Of(allStates(5, 0).Data[5*18:5*31], 13, 5)
	gradtest.Check(t, m, func(tape *grad.Tape) *grad.Var { return m.Loss(tape, data, negative) })
	gradtest.Check(t, m, func(tape *grad.Tape) *grad.Var {
		v := m.Backward(tape, m.Forward(tape, tape.Input(data)))
		return m.FreeEnergy(tape, v).Sin().Sum()
	})

	p, _, _ := jointly(m)
	gradients := func(model *tensor.Dense) map[*grad.Param]*tensor.Dense {
		tape, out := grad.NewTape(1), map[*grad.Param]*tensor.Dense{}
		for _, g := range tape.Backward(m.Loss(tape, data, model)) {
			out[g.Param] = g.Value.Clone()
		}
		return out
	}
	exactly := gradients(weightedBy(allStates(5, 0), p, 400_000))
	many := tensor.New(2000, 5)
	for k := range many.Rows() {
		copy(many.Row(k), data.Row(k%5))
	}
	farther := gradients(m.Sample(many, memory.Gibbs{Sweeps: 1000, Seed: 6}))
	one := gradients(m.Sample(many, memory.Gibbs{Seed: 6}))
	off := func(a map[*grad.Param]*tensor.Dense) (worst float64) {
		for p, want := range exactly {
			for i, v := range want.Data {
				worst = max(worst, math.Abs(float64(v-a[p].Data[i])))
			}
		}
		return worst
	}
	if a, b := off(farther), off(one); a > 0.05 || b < 0.2 {
		t.Errorf("chains of 1,000 sweeps are off by %v, of one by %v", a, b)
	}
	const by = 1e-3 // and exactly is the gradient of −log P
	logP := func() (sum float64) {
		z, err := m.LogZ()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range m.FreeEnergy(nil, grad.Const(data)).Value().Data {
			sum += (float64(-f) - z) / 5
		}
		return sum
	}
	for q, g := range exactly {
		for i, v := range g.Data {
			q.Value.Data[i] += by
			up := logP()
			q.Value.Data[i] -= 2 * by
			down := logP()
			q.Value.Data[i] += by
			compare.Number(t, fmt.Sprintf("gradient %d", i), v, (down-up)/(2*by), compare.Off(3e-3, 0))
		}
	}
}

// The exact log-likelihood of the data rises, by contrastive divergence and by persistent chains.
func TestRBMLearns(t *testing.T) {
	data := tensor.Of([]tensor.Float{1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0}, 3, 6)
	for _, persistent := range []bool{false, true} {
		m := &memory.RBM{Visible: 6, Hidden: 5}
		m.Init(rand.New(rand.NewPCG(8, 8)))
		likelihood := func() (sum float64) {
			z, err := m.LogZ()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range m.FreeEnergy(nil, grad.Const(data)).Value().Data {
				sum += (float64(-f) - z) / 3
			}
			return sum
		}
		many := tensor.New(99, 6)
		for k := range many.Rows() {
			copy(many.Row(k), data.Row(k%3))
		}
		before, chains := likelihood(), many
		opt, tape := &train.SGD{LR: 0.1}, grad.NewTape(1)
		for step := range 1000 {
			if !persistent {
				chains = many
			}
			chains = m.Sample(chains, memory.Gibbs{Sweeps: 1, Seed: uint64(step)})
			tape.Reset()
			opt.Step(tape.Backward(m.Loss(tape, many, chains)))
		}
		if after := likelihood(); before > -4 || after < -2.6 {
			t.Errorf("persistent %v: the log-likelihood goes from %.2f to %.2f; −log 3 is the best", persistent, before, after)
		}
	}
}

func TestRBMRefuses(t *testing.T) {
	m := restricted(9, 4, 3)
	for want, f := range map[string]func(){
		"was Init called":             func() { (&memory.RBM{Visible: 2, Hidden: 2}).Forward(nil, grad.Const(tensor.New(1, 2))) },
		"want Visible and Hidden":     func() { (&memory.RBM{Visible: 2}).Init(rand.New(rand.NewPCG(1, 1))) },
		"Visible is 4":                func() { m.Forward(nil, grad.Const(tensor.New(1, 3))) },
		"Hidden is 3":                 func() { m.Backward(nil, grad.Const(tensor.New(1, 4))) },
		"how many visible units stay": func() { m.Sample(tensor.New(1, 4), memory.Gibbs{Clamp: 5}) },
	} {
		if err := refusal(f); !strings.Contains(err, want) {
			t.Errorf("the error is %q, want %q", err, want)
		}
	}
	wide := restricted(9, 30, 25)
	if _, err := wide.LogZ(); err == nil || !strings.Contains(err.Error(), "25 units") {
		t.Errorf("log Z of 25 units: %v", err)
	}
	if y := m.Forward(nil, grad.Const(tensor.New(0, 4))); y.Dim(0) != 0 || y.Dim(1) != 3 {
		t.Errorf("of no rows there are %v", y.Shape())
	}
	if y := m.Sample(tensor.New(0, 4), memory.Gibbs{}); y.Rows() != 0 {
		t.Errorf("of no chains there are %v", y.Shape())
	}
}
