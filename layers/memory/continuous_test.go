package memory_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// inside returns x times c.
func inside(x *tensor.Dense, c tensor.Float) *tensor.Dense {
	y := x.Clone()
	for i := range y.Data {
		y.Data[i] *= c
	}
	return y
}

// The energy is its formula, and never rises, by Euler's steps of a tenth of τ and by Runge and Kutta's;
// at rest units are s = tanh(β·(W·s + B)), inside of (−1, 1).
func TestContinuousEnergyNeverRises(t *testing.T) {
	rounding := compare.In(1e-5, 1e-12)
	for seed := range uint64(3) {
		for _, kutta := range []bool{false, true} {
			for _, beta := range []float64{0.5, 2, 10} {
				net := warm(t, seed, 24, 1).Net
				c := &memory.Continuous{Net: net, Beta: beta, RungeKutta: kutta, Most: 4000, Trace: true}
				cues := inside(signs(seed, 20, 24), 0.6)
				got, err := c.Recall(cues)
				if err != nil {
					t.Fatal(err)
				}
				for k, trace := range got.Energy {
					if !got.Rests[k] {
						t.Fatalf("seed %d, β %v: state %d does not rest", seed, beta, k)
					}
					for i := 1; i < len(trace); i++ {
						if trace[i] > trace[i-1]+rounding {
							t.Fatalf("seed %d, β %v: the energy of state %d rises from %v to %v in step %d", seed, beta, k, trace[i-1], trace[i], i)
						}
					}
				}
				checkAtRest(t, c, got)
				checkEnergy(t, c, cues)
			}
		}
	}
}

// checkAtRest compares units with what they hear, in loops.
func checkAtRest(t *testing.T, c *memory.Continuous, got *memory.Flowed) {
	t.Helper()
	for k := range got.States.Rows() {
		s := got.States.Row(k)
		for i, v := range s {
			h := float64(c.Net.B.Value.Data[i])
			for j, w := range c.Net.W.Value.Row(i) {
				h += float64(w) * float64(s[j])
			}
			if want := math.Tanh(c.Beta * h); math.Abs(want-float64(v)) > 2e-5*c.Beta+1e-5 || !(v > -1 && v < 1) && c.Beta < 5 {
				t.Fatalf("β %v: unit %d rests at %v and hears %v, want %v", c.Beta, i, v, h, want)
			}
		}
	}
}

// checkEnergy compares energies with the formula of the comment.
func checkEnergy(t *testing.T, c *memory.Continuous, states *tensor.Dense) {
	t.Helper()
	got, err := c.Energy(states)
	if err != nil {
		t.Fatal(err)
	}
	for k, e := range got {
		want := 0.0
		for i, v := range states.Row(k) {
			s := float64(v)
			for j, w := range c.Net.W.Value.Row(i) {
				want -= s * float64(w) * float64(states.Row(k)[j]) / 2
			}
			want += -float64(c.Net.B.Value.Data[i])*s + (s*math.Atanh(s)+math.Log(1-s*s)/2)/c.Beta
		}
		compare.Number(t, fmt.Sprintf("the energy of state %d", k), e, want, compare.Off(1e-4, 0))
	}
}

// Cold, units come to where those of two states do; warm, with β·λ below one, all come to the origin.
func TestContinuousLimits(t *testing.T) {
	x := signs(3, 4, 80)
	net := stored(t, memory.Hebb, x)
	cues := flipped(4, x, 12)
	want := recalled(t, net, cues, memory.Recall{})
	cold, err := (&memory.Continuous{Net: net, Beta: 50}).Recall(inside(cues, 0.5))
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range cold.States.Data {
		if (s >= 0) != (want.States.Data[i] > 0) {
			t.Fatalf("unit %d of state %d is %v, of two states %v", i%80, i/80, s, want.States.Data[i])
		}
	}
	for beta, stays := range map[float64]bool{0.5: true, 3: false} { // the largest eigenvalue is a little above one
		warm, err := (&memory.Continuous{Net: net, Beta: beta}).Recall(inside(cues, 0.5))
		if err != nil {
			t.Fatal(err)
		}
		if most := math.Abs(float64(warm.States.Data[0])); (most < 1e-4) != stays {
			t.Errorf("β = %v: a unit rests at %v", beta, most)
		}
	}
}

// Steps of the fourth order: half the step is off by about a sixteenth, of Euler's by a half.
func TestContinuousOrder(t *testing.T) {
	net := warm(t, 6, 12, 1).Net
	cues := inside(signs(7, 3, 12), 0.5)
	at := func(kutta bool, steps int) *tensor.Dense {
		got, err := (&memory.Continuous{Net: net, Beta: 2, RungeKutta: kutta, Step: 2 / float64(steps), Most: steps}).Recall(cues)
		if err != nil {
			t.Fatal(err)
		}
		return got.States
	}
	truth := at(true, 400)
	off := func(x *tensor.Dense) (sum float64) {
		for i, v := range x.Data {
			sum += math.Abs(float64(v - truth.Data[i]))
		}
		return sum
	}
	if r := off(at(false, 20)) / off(at(false, 40)); r < 1.7 || r > 2.3 {
		t.Errorf("Euler: half the step is better by %v", r)
	}
	if r := off(at(true, 4)) / off(at(true, 8)); r < 10 || r > 30 {
		t.Errorf("Runge and Kutta: half the step is better by %v", r)
	}
}
