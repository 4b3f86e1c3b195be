package memory_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// directions returns n random rows of length one, and as many cues, each with noise of a size.
func directions(seed uint64, n, cues, d int, noise float64) (patterns, near *tensor.Dense) {
	rng := rand.New(rand.NewPCG(seed, 1))
	patterns, near = tensor.New(n, d), tensor.New(cues, d)
	patterns.Normal(rng, 0, 1)
	near.Normal(rng, 0, noise/math.Sqrt(float64(d)))
	for i := range n {
		norm := 0.0
		for _, v := range patterns.Row(i) {
			norm += float64(v) * float64(v)
		}
		for j := range patterns.Row(i) {
			patterns.Row(i)[j] /= tensor.Float(math.Sqrt(norm))
			if i < cues {
				near.Row(i)[j] += patterns.Row(i)[j]
			}
		}
	}
	return patterns, near
}

// The formula of the comment as loops, and the energy, which falls at every step and is
// never negative.
func TestModernIsItsFormula(t *testing.T) {
	x, s := directions(1, 6, 3, 5, 1.5)
	m := &memory.Modern{Beta: 3}
	before := m.Energy(x, s)
	for step := range 4 {
		next := m.Retrieve(x, s)
		for k := range 3 {
			w, sum := make([]float64, 6), 0.0
			for n := range w {
				for j, v := range x.Row(n) {
					w[n] += 3 * float64(v) * float64(s.Row(k)[j])
				}
				w[n] = math.Exp(w[n])
				sum += w[n]
			}
			for j := range 5 {
				want := 0.0
				for n := range w {
					want += w[n] / sum * float64(x.Row(n)[j])
				}
				if math.Abs(want-float64(next.Row(k)[j])) > 1e-5 {
					t.Fatalf("step %d: state %d is %v, want %v at %d", step, k, next.Row(k), want, j)
				}
			}
		}
		s = next
		for k, e := range m.Energy(x, s) {
			if e > before[k]+1e-5 || e < -1e-6 {
				t.Errorf("step %d: the energy of state %d goes from %v to %v", step, k, before[k], e)
			}
			before[k] = e
		}
	}
}

// One step finds the pattern where β is large, and the mean of all where it is small.
func TestModernOneStep(t *testing.T) {
	x, s := directions(2, 1000, 50, 64, 0.5)
	got := (&memory.Modern{Beta: 32}).Retrieve(x, s)
	for k, n := range memory.Nearest(x, got) {
		d := 0.0
		for j, v := range got.Row(k) {
			d += math.Pow(float64(v-x.Row(k)[j]), 2)
		}
		if n != k || math.Sqrt(d) > 1e-3 {
			t.Errorf("cue %d comes to pattern %d, at a distance of %v", k, n, math.Sqrt(d))
		}
	}
	mean := tensor.New(1, 64)
	for n := range 1000 {
		for j, v := range x.Row(n) {
			mean.Data[j] += v / 1000
		}
	}
	flat := (&memory.Modern{Beta: 1e-6}).Retrieve(x, tensor.Of(s.Row(0), 1, 64))
	compare.Near(t, "with no β", flat.Data, mean.Data, compare.Off(1e-5, 0))
}

// A result lies within the patterns, and steps follow each other.
func TestModernSteps(t *testing.T) {
	x, s := directions(3, 7, 4, 3, 1)
	two := (&memory.Modern{Beta: 2, Steps: 2}).Retrieve(x, s)
	once := &memory.Modern{Beta: 2}
	if want := once.Retrieve(x, once.Retrieve(x, s)); memory.Wrong(two, want)[0] != 0 {
		t.Error("two steps are not one after the other")
	}
	for j := range 3 {
		lo, hi := math.Inf(1), math.Inf(-1)
		for n := range 7 {
			lo, hi = min(lo, float64(x.Row(n)[j])), max(hi, float64(x.Row(n)[j]))
		}
		for k := range 4 {
			if v := float64(two.Row(k)[j]); v < lo-1e-6 || v > hi+1e-6 {
				t.Errorf("element %d of state %d is %v, outside of [%v, %v]", j, k, v, lo, hi)
			}
		}
	}
}

func TestModernGradient(t *testing.T) {
	x, s := directions(4, 3, 2, 4, 1)
	g := graph.Must(graph.NewBipartite(3, 3, []int32{0, 1, 2, 1}, []int32{0, 0, 0, 1}))
	net := &struct{ X, S *grad.Param }{grad.NewParam(3, 4), grad.NewParam(3, 4)}
	copy(net.X.Value.Data, x.Data)
	copy(net.S.Value.Data, s.Data)
	m := &memory.Modern{Beta: 1.5, Steps: 2}
	gradtest.Check(t, net, func(tape *grad.Tape) *grad.Var {
		return m.Forward(tape, g, tape.Use(net.X), tape.Use(net.S)).Tanh().Sum()
	})
	if y := m.Forward(nil, g, grad.Const(net.X.Value), grad.Const(net.S.Value)).Value(); y.Row(2)[0] != 0 {
		t.Error("a cue that hears nothing does not become zero")
	}
}

// With β = 1/√d it is a Transformer's attention whose projections change nothing.
func TestModernIsSelfAttention(t *testing.T) {
	const d = 4
	x, s := directions(5, 6, 3, d, 1)
	l := &attention.MultiHead{Model: d, NoBias: true}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	for _, p := range grad.Params(l) {
		p.Value.Zero()
		for i := range d {
			p.Value.Row(i)[i] = 1
		}
	}
	want := l.Cross(nil, graph.CompleteBipartite(6, 3), grad.Const(s), grad.Const(x)).Value()
	compare.Near(t, "retrieved, and by attention", (&memory.Modern{Beta: 1 / math.Sqrt(d)}).Retrieve(x, s).Data, want.Data, compare.Off(1e-6, 0))
}

// What a memory of nothing, of zeros, or of patterns of another length does.
func TestModernOfNothing(t *testing.T) {
	_, s := directions(6, 3, 2, 4, 1)
	m, none := &memory.Modern{Beta: 2}, tensor.New(0, 4)
	if got := m.Retrieve(none, s); slices.ContainsFunc(got.Data, func(v tensor.Float) bool { return v != 0 }) {
		t.Errorf("without patterns cues come to %v, want zeros", got.Data)
	}
	if e := m.Energy(none, s); !math.IsInf(e[0], 1) {
		t.Errorf("without patterns the energy is %v, want +Inf", e)
	}
	if n := memory.Nearest(none, s); !slices.Equal(n, []int{-1, -1}) {
		t.Errorf("without patterns the nearest are %v, want −1", n)
	}
	zeros := tensor.New(2, 4)
	if got := m.Retrieve(zeros, s); slices.ContainsFunc(got.Data, func(v tensor.Float) bool { return v != 0 }) {
		t.Errorf("patterns of zeros give %v", got.Data)
	}
	if n := memory.Nearest(zeros, s); !slices.Equal(n, []int{0, 0}) {
		t.Errorf("of zeros the nearest are %v, want the first", n)
	}
	for what, f := range map[string]func(){
		"Retrieve": func() { m.Retrieve(tensor.New(2, 5), s) }, "Energy": func() { m.Energy(tensor.New(2, 5), s) },
		"Nearest": func() { memory.Nearest(tensor.New(2, 5), s) },
	} {
		if why := refusal(f); !strings.Contains(why, "5") {
			t.Errorf("%s of patterns of another length: %q", what, why)
		}
	}
}

// How far one step comes from a cue whose noise is half as long as it: the figures of a program in
// PyTorch, 0.34 at β = 8, 0.002 at 16 and less than 1e-4 at 32.
func TestModernDistances(t *testing.T) {
	x, s := directions(7, 1000, 200, 64, 0.5)
	s = tensor.Of(s.Data[:200*64], 200, 64)
	for _, c := range []struct{ beta, least, most float64 }{{8, 0.306, 0.374}, {16, 0, 0.0022}, {32, 0, 1e-4}} {
		got, sum := (&memory.Modern{Beta: c.beta}).Retrieve(x, s), 0.0
		for k := range 200 {
			d := 0.0
			for j, v := range got.Row(k) {
				d += math.Pow(float64(v-x.Row(k)[j]), 2)
			}
			sum += math.Sqrt(d) / 200
		}
		if sum < c.least || sum > c.most {
			t.Errorf("with β = %v one step comes as near as %.4f, want %v to %v", c.beta, sum, c.least, c.most)
		}
	}
}
