package attention_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/tensor"
)

// enumerated is the expectation of monotonic attention from all places where it may begin
// and all where it may stop, each with its probability.
func enumerated(p, last []float64) []float64 {
	y := make([]float64, len(p))
	for from := range p {
		for to := from; to < len(p); to++ {
			chance := last[from]
			for j := from; j < to; j++ {
				chance *= 1 - p[j]
			}
			y[to] += chance * p[to]
		}
	}
	return y
}

// stopAbove is one at the first place, from the one of last on, whose p is above a half.
func stopAbove(p, last []float64) []float64 {
	y := make([]float64, len(p))
	at := 0
	for at < len(p) && last[at] == 0 {
		at++
	}
	for ; at < len(p); at++ {
		if p[at] > 0.5 {
			y[at] = 1
			break
		}
	}
	return y
}

// monotonic weighs one sequence with given probabilities of stopping, from last.
func monotonic(t *testing.T, l *attention.Monotonic, tape *grad.Tape, p, last []float64) []float64 {
	t.Helper()
	keys := tensor.New(len(p), 1)
	for j, v := range p {
		keys.Data[j] = tensor.Float(math.Log(v / (1 - v)))
		if v == 0 || v == 1 {
			keys.Data[j] = tensor.Float(200 * (2*v - 1)) // σ of it is 0 or 1
		}
	}
	l.R = grad.NewParam(1)
	look := attention.Look{Graph: graph.CompleteBipartite(len(p), 1), Keys: grad.Const(keys)}
	one := tensor.New(1, 1)
	one.Fill(1)
	before := tensor.New(len(p), 1)
	copy(before.Data, row(last).Data)
	_, y := l.Weigh(tape, look, grad.Const(one), grad.Const(before))
	return floats(y.Value().Data)
}

// The recursion is the sum over all places where one may begin and stop, for n ≤ 5; what
// runs off the end is missing.
func TestMonotonicEnumerated(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	soft := &attention.Monotonic{Score: attention.Dot{}, Expected: true}
	for n := 1; n <= 5; n++ {
		for range 20 {
			p, last := make([]float64, n), make([]float64, n)
			for j := range p {
				p[j], last[j] = 0.05+0.9*rng.Float64(), rng.Float64()/float64(n)
			}
			want, sum := enumerated(p, last), 0.0
			got := monotonic(t, soft, nil, p, last)
			compare.Near(t, "drawn", got, want, compare.Off(1e-6, 0))
			for _, v := range got {
				sum += v
			}
			if sum > 1+1e-6 || sum >= dot(last, []float64{1, 1, 1, 1, 1}[:n]) {
				t.Errorf("the weights come to %v", sum)
			}
		}
	}
	last := []float64{0.2, 0.5, 0.1, 0}
	compare.Near(t, "who always stops stays", monotonic(t, soft, nil, []float64{1, 1, 1, 1}, last), last, compare.Off(1e-6, 0))
	compare.Near(t, "who never stops runs off", monotonic(t, soft, nil, []float64{0, 0, 0, 0}, last), make([]float64, 4), compare.Off(1e-6, 0))
}

// Where p is nought or one, stopping for good is the expectation; it never stops before
// the stop of the step before, which it may read again.
func TestMonotonicHard(t *testing.T) {
	soft, hard := &attention.Monotonic{Score: attention.Dot{}, Expected: true}, &attention.Monotonic{Score: attention.Dot{}}
	for code := range 1 << 5 {
		p := make([]float64, 5)
		for j := range p {
			p[j] = float64(code >> j & 1)
		}
		for at := range 6 {
			last := make([]float64, 5)
			if at < 5 {
				last[at] = 1
			}
			a, b := monotonic(t, soft, nil, p, last), monotonic(t, hard, nil, p, last)
			compare.Near(t, "hard", b, a, compare.Off(1e-6, 0))
			if stop := slices.Index(b, 1); stop >= 0 && stop < at {
				t.Errorf("from %d it went back to %d", at, stop)
			}
		}
	}
	drawn := &attention.Monotonic{Score: attention.Dot{}, Rand: rand.New(rand.NewPCG(1, 1))}
	counts := make([]float64, 2)
	for range 2000 {
		for j, v := range monotonic(t, drawn, nil, []float64{0.25, 0.5}, []float64{1, 0}) {
			counts[j] += v
		}
	}
	if math.Abs(counts[0]-500) > 80 || math.Abs(counts[1]-750) > 90 { // four deviations
		t.Errorf("of 2,000 draws %v stop at either key, want 500 and 750", counts)
	}
}

// There is noise on a tape that records, the same for the same seed, and on no other.
func TestMonotonicNoise(t *testing.T) {
	p, last := []float64{0.3, 0.6, 0.5}, []float64{1, 0, 0}
	l := &attention.Monotonic{Score: attention.Dot{}, Expected: true}
	quiet := monotonic(t, l, nil, p, last)
	compare.Near(t, "on an eval tape", monotonic(t, l, grad.NewEval(), p, last), quiet, compare.Off(1e-6, 0))
	a, b := monotonic(t, l, grad.NewTape(1), p, last), monotonic(t, l, grad.NewTape(2), p, last)
	compare.Near(t, "the same seed", monotonic(t, l, grad.NewTape(1), p, last), a, compare.Off(1e-6, 0))
	if slices.Equal(a, quiet) || slices.Equal(a, b) {
		t.Errorf("with noise of seed 1 %v, of seed 2 %v, without %v", a, b, quiet)
	}
	l.Noise = grad.Zero
	compare.Near(t, "no deviation", monotonic(t, l, grad.NewTape(1), p, last), quiet, compare.Off(1e-6, 0))
}

// The recursion backwards: of a chain of five, by the probability of stopping at each and
// by the weights before.
func TestMonotonicGradient(t *testing.T) {
	type model struct{ S, Last *grad.Param }
	m := model{param(1, 5, 1), param(2, 5, 1)}
	l := &attention.Monotonic{Score: attention.Dot{}, Noise: grad.Zero, R: grad.NewParam(1)}
	one := tensor.Of([]tensor.Float{1}, 1, 1)
	by := grad.Const(tensor.Of([]tensor.Float{30, -20, 50, 10, -40}, 5, 1)) // large, so that float32 is enough
	gradtest.Check(t, &m, func(tape *grad.Tape) *grad.Var {
		look := attention.Look{Graph: graph.CompleteBipartite(5, 1), Keys: tape.Use(m.S)}
		_, y := l.Weigh(tape, look, grad.Const(one), tape.Use(m.Last))
		return y.Mul(by).Sum()
	})
}
