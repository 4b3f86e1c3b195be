package stage

import (
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
)

// Of the numbers of several seeds the median is that of the two in the middle, where their number
// is even, and the worst is the one that is worst in their sense.
func TestSpread(t *testing.T) {
	seeds, none := []uint64{7, 8, 9, 10}, math.NaN()
	for _, c := range []struct {
		sense         Sense
		of            []float64
		median, worst float64
		seed          uint64
	}{
		{Higher, []float64{0.9, 0.2, 0.8, 1}, 0.85, 0.2, 8},
		{Lower, []float64{0.9, 0.2, 0.8, 1}, 0.85, 1, 10},
		{Higher, []float64{3, 1, 2}, 2, 1, 8},
		{Higher, []float64{1, 1, 1}, 1, 1, 7},
		{Higher, []float64{1, 3, none, 2}, 1.5, none, 9},
		{Lower, []float64{1, 3, none, 2}, 2.5, none, 9},
		{Neither, []float64{1, 3, 2}, 2, none, 0},
		{Lower, []float64{5}, 5, 5, 7},
	} {
		s := NewSpread(c.sense, seeds[:len(c.of)], c.of)
		same := func(a report.Number, b float64) bool {
			return math.Abs(float64(a)-b) < 1e-12 || math.IsNaN(float64(a)) && math.IsNaN(b)
		}
		if !same(s.Median, c.median) || !same(s.Worst, c.worst) || s.Of != c.seed && c.sense != Neither {
			t.Errorf("%s of %v: the median is %v and the worst %v of seed %d, want %v and %v of %d", c.sense, c.of, s.Median, s.Worst, s.Of, c.median, c.worst, c.seed)
		}
	}
}

// The numbers of a result have the names of what they are within, and are sorted as one counts.
func TestNumbersOfAResult(t *testing.T) {
	s := &Stage{JSON: false}
	s.Result(map[string]any{
		"exact": map[string]map[string]float64{"stack, reversing": {"8": 1, "16": 0.5}},
		"parts": map[string]any{"loss": float32(0.25), "said": "no number"}, "by": []float64{1, 2}, "try": 3, "times": true, "none": nil,
	})
	n := s.Numbers()
	want := []string{"by.1", "by.2", "exact.stack, reversing.8", "exact.stack, reversing.16", "none", "parts.loss", "try"}
	if got := n.Names(); !slices.Equal(got, want) || n["exact.stack, reversing.16"] != 0.5 || n["parts.loss"] != 0.25 || n["try"] != 3 || n["by.2"] != 2 || !math.IsNaN(float64(n["none"])) {
		t.Errorf("the numbers are %v, want those of %q", n, want)
	}
}
