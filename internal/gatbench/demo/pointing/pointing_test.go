package pointing

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Marks of answers to two squares of points: one right, one that crosses itself or leaves a
// point out.
func TestMarksOfAnswers(t *testing.T) {
	square := []tensor.Float{0, 0, 1, 0, 1, 1, 0, 1}
	sets := points.Sets{X: tensor.Of(append(square, square...), 8, 2), Offsets: []int{0, 4, 8}, Answers: [][]int32{{0, 1, 2, 3}, {0, 1, 2, 3}}}
	tours := drawnTours(sets, "4")
	for _, c := range []struct {
		name                      string
		second                    []int32
		exact, area, tours, ratio float64
	}{
		{"right", []int32{0, 1, 2, 3}, 1, 1, 1, 1},
		{"the other way round", []int32{0, 3, 2, 1}, 0.5, 0.5, 1, 1},
		{"crossing", []int32{0, 2, 1, 3}, 0.5, 0.5, 1, (1 + (2+2*math.Sqrt2)/4) / 2},
		{"a corner is left out", []int32{0, 1, 2}, 0.5, 0.75, 0.5, (1 + (2+math.Sqrt2)/4) / 2},
		{"a corner twice", []int32{0, 1, 2, 1}, 0.5, 0.5, 0.5, 1},
	} {
		got := [][]int32{{0, 1, 2, 3}, c.second}
		for what, v := range map[string][2]float64{
			"exact": {exact(got, sets), c.exact}, "area": {hullArea(got, sets), c.area},
			"valid": {tours.valid(got), c.tours}, "ratio": {tours.ratio(got), c.ratio},
		} {
			if math.Abs(v[0]-v[1]) > 1e-9 {
				t.Errorf("%s: %s is %v, want %v", c.name, what, v[0], v[1])
			}
		}
	}
	if got := tours.longest([][]int32{{0, 1, 2, 3}, {0, 2, 1, 3}}); got != 1 {
		t.Errorf("the longest tour is %d", got)
	}
}

func TestUnsorted(t *testing.T) {
	x := tensor.Of([]tensor.Float{0.5, 0.25, 1}, 3, 1)
	if got := unsorted(x, []int32{1, 0, 2}); got != "" {
		t.Errorf("what is sorted is called%s", got)
	}
	if got, want := unsorted(x, []int32{1, 2, 0}), "   (1.000 before 0.500)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := numbersOf(x, []int32{2, 1}), "1.00 .25"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
