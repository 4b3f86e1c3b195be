package memory

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// After each step of the addressing the weights sum to one.
func TestStagesSumToOne(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		l := &tapeLayout{slots: 1 + rng.IntN(9), width: 3, reads: 1, shifts: 1 + rng.IntN(3)}
		row := func(n int) []tensor.Float {
			x := make([]tensor.Float, n)
			for i := range x {
				x[i] = tensor.Float(3 * rng.NormFloat64())
			}
			return x
		}
		told, m := make([]tensor.Float, l.columns()), row(l.width*l.slots)
		l.activate(told, row(l.columns()))
		n := l.slots
		s := row(5 * n)
		h := &head{stages: stages{s[:n], s[n : 2*n], s[2*n : 3*n], s[3*n : 4*n], s[4*n:]}, said: l.said(told, 0), w: row(n), last: make([]tensor.Float, n), m: m, inv: row(n)}
		h.last[rng.IntN(n)] = 1
		l.norms(h.inv, m)
		l.address(h)
		for what, w := range map[string][]tensor.Float{"content": h.content, "gated": h.gated, "shifted": h.shifted, "sharpened": h.w} {
			sum := 0.0
			for _, v := range w {
				sum += float64(v)
				if v < 0 {
					t.Errorf("seed %d: a weight that is %s is %v", seed, what, v)
				}
			}
			if math.Abs(sum-1) > 1e-5 {
				t.Errorf("seed %d: the weights that are %s sum to %v", seed, what, sum)
			}
		}
	}
}
