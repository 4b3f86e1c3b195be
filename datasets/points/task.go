package points

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Sets are sets of points of any sizes, one after the other, and an answer to each.
type Sets struct {
	X       *tensor.Dense // a row for each point
	Offsets []int         // set i has the rows Offsets[i] to Offsets[i+1], without the latter
	Answers [][]int32     // places in each set, counted from 0
}

// Len returns the number of sets.
func (s Sets) Len() int { return max(0, len(s.Offsets)-1) }

// Set returns the points of set i, which share memory with s.
func (s Sets) Set(i int) *tensor.Dense { return s.X.RowRange(s.Offsets[i], s.Offsets[i+1]) }

// Graph returns a chain for each set, a node a point.
func (s Sets) Graph() *graph.Graph {
	sizes := make([]int, s.Len())
	for i := range sizes {
		sizes[i] = s.Offsets[i+1] - s.Offsets[i]
	}
	return graph.Chains(sizes...)
}

// Task makes sets of points and their answers, as many as one wants and the same for the
// same seed. Its methods panic with a [*tensor.ShapeError] if there is no set of such a size.
type Task struct {
	Count    int    // sets
	Min, Max int    // points of a set, each number as likely; where Max is 0 all have Min
	Seed     uint64 // of the draws; each method draws others
}

// Ascending makes sets of numbers from 0 to 1, answered from the lowest to the highest.
func (t Task) Ascending() Sets {
	return t.draw("points.Task.Ascending", 1, 1<<20, func(x *tensor.Dense) ([]int32, error) { return Ascending(x), nil })
}

// Hull makes sets of points in the unit square, answered by the corners of their hull, as
// [Hull] has them.
func (t Task) Hull() Sets { return t.draw("points.Task.Hull", 2, 1<<20, Hull) }

// Salesman makes sets of points in the unit square, answered by their shortest tour, as
// [Tour] has it.
func (t Task) Salesman() Sets { return t.draw("points.Task.Salesman", 2, MostOnTour, Tour) }

// draw makes sets of points of so many numbers, of most points at most.
func (t Task) draw(op string, width, most int, answer func(*tensor.Dense) ([]int32, error)) Sets {
	if t.Max == 0 {
		t.Max = t.Min
	}
	if t.Count < 0 || t.Min < 1 || t.Max < t.Min || t.Max > most {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{t.Count}, {t.Min, t.Max}}, Why: fmt.Sprintf("want a number of sets, and of points from 1 to %d with Min before Max", most)})
	}
	stream := uint64(14695981039346656037) // FNV-1a of the name
	for _, c := range []byte(op) {
		stream = (stream ^ uint64(c)) * 1099511628211
	}
	rng := rand.New(rand.NewPCG(t.Seed, stream))
	s := Sets{Offsets: make([]int, 1, t.Count+1), Answers: make([][]int32, t.Count)}
	for i := range t.Count {
		s.Offsets = append(s.Offsets, s.Offsets[i]+t.Min+rng.IntN(t.Max-t.Min+1))
	}
	s.X = tensor.New(s.Offsets[t.Count], width)
	for i := range s.X.Data {
		s.X.Data[i] = tensor.Float(rng.Float32())
	}
	par.For(t.Count, 8, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s.Answers[i], _ = answer(s.Set(i)) // no error: they are finite, and not too many
		}
	})
	return s
}

// plane returns the points of a matrix of two columns. The error names one that is not finite.
func plane(op string, x *tensor.Dense) ([]point, error) {
	wantColumns(op, x, 2)
	out := make([]point, x.Rows())
	for i := range out {
		r := x.Row(i)
		out[i] = point{float64(r[0]), float64(r[1])}
		if !out[i].finite() {
			return nil, fmt.Errorf("points: point %d is (%v, %v); take out what is no number", i, r[0], r[1])
		}
	}
	return out, nil
}

// wantColumns panics unless x has a row of n numbers for each point.
func wantColumns(op string, x *tensor.Dense, n int) {
	if x.Axes() != 2 || x.Dim(1) != n {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{append([]int(nil), x.Shape()...)}, Why: fmt.Sprintf("want %d columns", n)})
	}
}
