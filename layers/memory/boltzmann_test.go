package memory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// warm returns a machine of random weights and thresholds.
func warm(t *testing.T, seed uint64, units int, beta float64) *memory.Boltzmann {
	t.Helper()
	h := memory.NewHopfield(units)
	rng := rand.New(rand.NewPCG(seed, 9))
	h.B = grad.NewParam(units)
	h.B.Value.Normal(rng, 0, 0.3)
	for i := range units {
		for j := range i {
			w := tensor.Float(rng.NormFloat64() / math.Sqrt(float64(units)))
			h.W.Value.Row(i)[j], h.W.Value.Row(j)[i] = w, w
		}
	}
	return &memory.Boltzmann{Net: h, Beta: beta}
}

// allStates are the 2^n states of n units, of lo and 1.
func allStates(n int, lo tensor.Float) *tensor.Dense {
	x := tensor.New(1<<n, n)
	for k := range x.Rows() {
		for i := range n {
			x.Row(k)[i] = lo
			if k>>i&1 == 1 {
				x.Row(k)[i] = 1
			}
		}
	}
	return x
}

// chances are those of all states of a machine, by its formula in loops, and log Z.
func chances(m *memory.Boltzmann) (p []float64, logZ float64) {
	n, z := m.Net.Units, 0.0
	all := allStates(n, -1)
	for k := range all.Rows() {
		s, e := all.Row(k), 0.0
		for i := range n {
			for j := range n {
				e -= float64(s[i]) * float64(m.Net.W.Value.Row(i)[j]) * float64(s[j]) / 2
			}
			e -= float64(m.Net.B.Value.Data[i]) * float64(s[i])
		}
		p = append(p, math.Exp(-m.Beta*e))
		z += p[k]
	}
	for k := range p {
		p[k] /= z
	}
	return p, math.Log(z)
}

// numberOf is the number of a state among allStates.
func numberOf(s []tensor.Float) (k int) {
	for i, v := range s {
		if v == 1 {
			k |= 1 << i
		}
	}
	return k
}

// chi2 is χ² of how often each state was drawn, over those that are expected five times, and its degrees.
func chi2(drawn *tensor.Dense, p []float64) (chi float64, degrees int) {
	counts := make([]float64, len(p))
	for k := range drawn.Rows() {
		counts[numberOf(drawn.Row(k))]++
	}
	rest, restCount := 0.0, 0.0
	for k, q := range p {
		if want := q * float64(drawn.Rows()); want >= 5 {
			chi += (counts[k] - want) * (counts[k] - want) / want
			degrees++
		} else {
			rest, restCount = rest+want, restCount+counts[k]
		}
	}
	if rest >= 5 {
		chi += (restCount - rest) * (restCount - rest) / rest
		degrees++
	}
	return chi, degrees - 1
}

// Chains come to states as often as enumeration says; all units at once would come to others.
func TestGibbsIsItsDistribution(t *testing.T) {
	const units, chains = 8, 20_000
	for seed := range uint64(3) {
		m := warm(t, seed, units, 0.8)
		p, _ := chances(m)
		got, err := m.Sample(signs(seed, chains, units), memory.Gibbs{Sweeps: 40, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if chi, n := chi2(got, p); chi > float64(n)+5*math.Sqrt(2*float64(n)) {
			t.Errorf("seed %d: χ² is %.1f of %d degrees", seed, chi, n)
		}
		at := signs(seed, chains, units) // Little's: all units at once
		rng := rand.New(rand.NewPCG(seed, 10))
		for range 40 {
			f, err := m.Net.Fields(at)
			if err != nil {
				t.Fatal(err)
			}
			for i, h := range f.Data {
				at.Data[i] = -1
				if rng.Float64() < 1/(1+math.Exp(-2*m.Beta*float64(h))) {
					at.Data[i] = 1
				}
			}
		}
		if chi, n := chi2(at, p); chi < float64(n)+5*math.Sqrt(2*float64(n)) {
			t.Errorf("seed %d: all at once χ² is only %.1f of %d degrees", seed, chi, n)
		}
	}
}

// Units that are clamped stay, and the others come to their conditional distribution.
func TestGibbsClamped(t *testing.T) {
	const units, chains, held = 7, 20_000, 3
	m := warm(t, 5, units, 1)
	p, _ := chances(m)
	all := allStates(units, -1)
	cond, sum := make([]float64, len(p)), 0.0
	for k := range p { // the first are +1, −1, +1
		if k&7 == 5 {
			cond[k] = p[k]
			sum += p[k]
		}
	}
	for k := range cond {
		cond[k] /= sum
	}
	from := tensor.New(chains, units)
	for k := range chains {
		copy(from.Row(k), all.Row(5))
	}
	got, err := m.Sample(from, memory.Gibbs{Sweeps: 30, Seed: 1, Clamp: held})
	if err != nil {
		t.Fatal(err)
	}
	for k := range chains {
		if !slices.Equal(got.Row(k)[:held], from.Row(k)[:held]) {
			t.Fatalf("chain %d has turned over what is clamped", k)
		}
	}
	if chi, n := chi2(got, cond); chi > float64(n)+5*math.Sqrt(2*float64(n)) {
		t.Errorf("χ² is %.1f of %d degrees", chi, n)
	}
}

// weightedBy repeats states so that each stands about as often as its chance says.
func weightedBy(all *tensor.Dense, p []float64, n int) *tensor.Dense {
	var data []tensor.Float
	for k, q := range p {
		for range int(math.Round(q * float64(n))) {
			data = append(data, all.Row(k)...)
		}
	}
	return tensor.Of(data, len(data)/all.RowLen(), all.RowLen())
}

// With all states for the model the gradient is that of log P(data), by differences; it has no diagonal.
func TestBoltzmannGradient(t *testing.T) {
	const units = 5
	m := warm(t, 7, units, 0.7)
	data := signs(8, 6, units)
	logP := func() float64 {
		p, _ := chances(m)
		sum := 0.0
		for k := range data.Rows() {
			sum += math.Log(p[numberOf(data.Row(k))]) / float64(data.Rows())
		}
		return sum
	}
	p, _ := chances(m)
	tape := grad.NewTape(1)
	loss, err := m.Loss(tape, data, weightedBy(allStates(units, -1), p, 400_000))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range tape.Backward(loss) {
		isW := g.Param == m.Net.W
		for i := range g.Value.Data {
			const by = 1e-3
			if isW && i/units == i%units {
				if g.Value.Data[i] != 0 {
					t.Errorf("the diagonal has a gradient of %v", g.Value.Data[i])
				}
				continue
			}
			twin := i
			if isW {
				twin = i%units*units + i/units
			}
			set := func(d tensor.Float) {
				g.Param.Value.Data[i] += d
				if twin != i {
					g.Param.Value.Data[twin] += d
				}
			}
			set(by)
			up := logP()
			set(-2 * by)
			down := logP()
			set(by)
			got := -float64(g.Value.Data[i])
			if twin != i {
				got -= float64(g.Value.Data[twin])
			}
			compare.Number(t, fmt.Sprintf("of W %v: gradient %d", g.Param == m.Net.W, i), got, (up-down)/(2*by), compare.Off(2e-3, 0))
		}
	}
}

// Persistent chains find weights whose distribution is that of the data, to what their number allows.
func TestBoltzmannLearns(t *testing.T) {
	const units = 6
	teacher := warm(t, 11, units, 1)
	want, _ := chances(teacher)
	data := weightedBy(allStates(units, -1), want, 3000)
	m := warm(t, 12, units, 1)
	m.Net.W.Value.Zero()
	m.Net.B.Value.Zero()
	divergence := func() (kl float64) {
		p, _ := chances(m)
		for k, q := range want {
			kl += q * math.Log(q/p[k])
		}
		return kl
	}
	before := divergence()
	chains, opt, tape := signs(13, 1000, units), &train.SGD{LR: 0.1}, grad.NewTape(1)
	for step := range 150 {
		var err error
		if chains, err = m.Sample(chains, memory.Gibbs{Sweeps: 2, Seed: uint64(step)}); err != nil {
			t.Fatal(err)
		}
		tape.Reset()
		loss, err := m.Loss(tape, data, chains)
		if err != nil {
			t.Fatal(err)
		}
		opt.Step(tape.Backward(loss))
	}
	if after := divergence(); after > before/20 {
		t.Errorf("the divergence from the teacher goes from %.4f to %.4f", before, after)
	}
	for i := range units {
		for j := range i {
			compare.Number(t, fmt.Sprintf("W[%d,%d]", i, j), m.Net.W.Value.Row(i)[j], m.Net.W.Value.Row(j)[i], compare.Off(1e-5, 0))
		}
	}
}

// Cold chains do as Hopfield's rule; annealed ones come to a lower energy than quenched ones.
func TestAnnealing(t *testing.T) {
	m := warm(t, 15, 60, 1e7)
	from := signs(16, 40, 60)
	cold, err := m.Sample(from, memory.Gibbs{Sweeps: 30, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	rest := recalled(t, m.Net, from, memory.Recall{})
	if exact(cold, rest.States) < 1 {
		t.Errorf("of cold chains %.2f come to rest where Hopfield's rule does", exact(cold, rest.States))
	}
	m.Beta = 20
	slow, err := m.Sample(from, memory.Gibbs{Sweeps: 200, From: 0.005, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	mean := func(x *tensor.Dense) (sum float64) {
		e, err := m.Net.Energy(x)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range e {
			sum += v / float64(len(e))
		}
		return sum
	}
	if a, b := mean(slow), mean(rest.States); a > b-1 {
		t.Errorf("annealed states have an energy of %.2f, quenched ones of %.2f", a, b)
	}
}

// No bit depends on the threads, or on the other chains.
func TestGibbsThreads(t *testing.T) {
	m, from := warm(t, 17, 30, 0.5), signs(18, 9, 30)
	r := &memory.RBM{Visible: 30, Hidden: 7}
	r.Init(rand.New(rand.NewPCG(1, 1)))
	g := memory.Gibbs{Sweeps: 5, From: 0.3, Seed: 4}
	draw := func() (a, b *tensor.Dense) {
		a, err := m.Sample(from, g)
		if err != nil {
			t.Fatal(err)
		}
		return a, r.Sample(tensor.New(9, 30), g)
	}
	a, b := draw()
	undo := par.SetThreads(3)
	c, d := draw()
	undo()
	one, err := m.Sample(tensor.Of(from.Data[:30], 1, 30), g)
	if err != nil || !slices.Equal(a.Data, c.Data) || !slices.Equal(b.Data, d.Data) || !slices.Equal(one.Data, a.Row(0)) {
		t.Errorf("other states on three threads, or alone: %v", err)
	}
}

func TestBoltzmannRefuses(t *testing.T) {
	m, good := warm(t, 19, 3, 1), signs(1, 2, 3)
	loss := func(a, b *tensor.Dense) error { _, err := m.Loss(grad.NewTape(1), a, b); return err }
	sample := func(m *memory.Boltzmann, g memory.Gibbs) error { _, err := m.Sample(good, g); return err }
	flow := func(c memory.Continuous, x *tensor.Dense) error { _, err := c.Recall(x); return err }
	for want, f := range map[string]func() error{
		"β is -1 and begins at 0":        func() error { return sample(&memory.Boltzmann{Net: m.Net, Beta: -1}, memory.Gibbs{}) },
		"unit 0 of state 0 is 0":         func() error { return loss(good, tensor.New(1, 3)) },
		"Loss: there is no state":        func() error { return loss(good, tensor.New(0, 3)) },
		"Continuous.Recall: there is no": func() error { return flow(memory.Continuous{Net: m.Net}, tensor.New(0, 3)) },
		"unit 0 of state 0 is":           func() error { return flow(memory.Continuous{Net: m.Net}, good) },
		"Beta is -1":                     func() error { _, err := (&memory.Continuous{Net: m.Net, Beta: -1}).Energy(good); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	for want, f := range map[string]func(){
		"memory.Boltzmann.Sample: there is no network":  func() { _ = sample(&memory.Boltzmann{}, memory.Gibbs{}) },
		"Clamp says how many units stay":                func() { _ = sample(m, memory.Gibbs{Clamp: 4}) },
		"a state has 4 units":                           func() { _ = loss(signs(1, 2, 4), good) },
		"a state has 2 units":                           func() { _ = flow(memory.Continuous{Net: m.Net}, signs(1, 1, 2)) },
		"memory.Continuous.Recall: there is no network": func() { _ = flow(memory.Continuous{}, good) },
	} {
		if got := panicOf(f); !strings.Contains(got, want) {
			t.Errorf("the panic is %q, want %q", got, want)
		}
	}
}
