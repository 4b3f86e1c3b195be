package main

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// A score is the sum of products, one after the other, whatever else is scored beside it.
func TestScoresOfCandidates(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 3, 4, 5, 7, 8, 11} { // four are scored at a time
		x := tensor.New(n, 5)
		for i := range x.Data {
			x.Data[i] = tensor.Float(rng.NormFloat64())
		}
		for users := range min(n, 3) {
			s := &linkScores{rows: x, users: users, scores: make([]float64, 2)} // of another call
			var want []float64
			for w := users; w < n; w++ {
				sum := 0.0
				for j, v := range x.Row(w) {
					sum += float64(v) * float64(x.Row(n / 2)[j])
				}
				want = append(want, sum)
			}
			if got, base := s.of(int32(n / 2)); !slices.Equal(got, want) || int(base) != users {
				t.Errorf("%d nodes, %d of them users: from %d on the scores %v, want %v", n, users, base, got, want)
			}
		}
	}
}
