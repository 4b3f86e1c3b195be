package train_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/train"
)

func TestTeacherForcing(t *testing.T) {
	share := func(f train.TeacherForcing, step int) float64 {
		n := 0
		for k := range 20000 {
			if f.Truth(step, k) {
				n++
			}
		}
		return float64(n) / 20000
	}
	tests := []struct {
		schedule train.Schedule
		step     int
		want     float64
	}{
		{nil, 5, 1},
		{train.Constant(0.3), 0, 0.3},
		{train.Constant(0.3), 1000, 0.3},
		{train.Constant(-1), 3, 0},
		{train.Constant(7), 3, 1},
		{train.Linear{From: 1, To: 0.2, Steps: 10}, 5, 0.6},
		{train.Linear{From: 1, To: 0.2, Steps: 10}, 500, 0.2},
		{train.InverseSigmoid{K: 20}, 0, 20.0 / 21},
		{train.InverseSigmoid{K: 20}, 60, 20 / (20 + math.Exp(3))},
		{train.InverseSigmoid{K: 20}, math.MaxInt, 0},
		{train.Exponential{Gamma: 0.9}, 7, math.Pow(0.9, 7)},
	}
	for _, tt := range tests {
		f := train.TeacherForcing{Schedule: tt.schedule, Seed: 3}
		if p := f.Probability(tt.step); math.Abs(p-tt.want) > 1e-12 {
			t.Errorf("%#v: probability %v in step %d, want %v", tt.schedule, p, tt.step, tt.want)
		}
		if got := share(f, tt.step); math.Abs(got-tt.want) > 0.015 || (tt.want == 0 || tt.want == 1) && got != tt.want {
			t.Errorf("%#v: the share %v is true in step %d, want %v", tt.schedule, got, tt.step, tt.want)
		}
	}
}

// A draw depends on the seed, the step and the token, on each of them.
func TestTeacherForcingDraws(t *testing.T) {
	draws := func(seed uint64, step, token int) (out [2]uint64) {
		for i := range 128 {
			f := train.TeacherForcing{Schedule: train.Constant(0.5), Seed: seed}
			s, k := step, token
			if step < 0 {
				s = i
			} else {
				k = i
			}
			if f.Truth(s, k) {
				out[i/64] |= 1 << (i % 64)
			}
		}
		return out
	}
	if once, again := draws(1, 4, 0), draws(1, 4, 0); once != again {
		t.Error("the same draws differ")
	}
	all := map[[2]uint64]bool{draws(1, 4, 0): true, draws(2, 4, 0): true, draws(1, 5, 0): true, draws(1, -1, 0): true, draws(1, -1, 1): true}
	if len(all) != 5 {
		t.Error("draws of another seed, step or token are the same")
	}
}
