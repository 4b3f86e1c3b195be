package points_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/points"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// plane returns points from their numbers.
func plane(xy ...tensor.Float) *tensor.Dense { return tensor.Of(xy, len(xy)/2, 2) }

// drawn returns n points of a grid of k×k, so that many are equal or in a line; k of 0 is the
// unit square.
func drawn(rng *rand.Rand, n, k int) *tensor.Dense {
	x := tensor.New(n, 2)
	for i := range x.Data {
		if x.Data[i] = tensor.Float(rng.Float32()); k > 0 {
			x.Data[i] = tensor.Float(rng.IntN(k))
		}
	}
	return x
}

func turn(x *tensor.Dense, a, b, c int) float64 {
	p, q, r := x.Row(a), x.Row(b), x.Row(c)
	return float64(q[0]-p[0])*float64(r[1]-p[1]) - float64(q[1]-p[1])*float64(r[0]-p[0])
}

// hullLoops follows the sides of the hull: from i to j goes one if all other points are to
// the left of it, or between the two.
func hullLoops(x *tensor.Dense) []int32 {
	n := x.Rows()
	var corners []int // the lowest row of each different point
	for i := range n {
		if !slices.ContainsFunc(corners, func(j int) bool { return slices.Equal(x.Row(i), x.Row(j)) }) {
			corners = append(corners, i)
		}
	}
	next := map[int]int{}
	for _, i := range corners {
		for _, j := range corners {
			side := i != j
			for _, k := range corners {
				if k == i || k == j || i == j {
					continue
				}
				dot := 0.0 // between i and j the two directions are opposite
				for c := range 2 {
					dot += float64(x.Row(i)[c]-x.Row(k)[c]) * float64(x.Row(j)[c]-x.Row(k)[c])
				}
				s := turn(x, i, j, k)
				side = side && (s > 0 || s == 0 && dot < 0)
			}
			if side {
				next[i] = j
			}
		}
	}
	if len(corners) == 1 {
		return []int32{int32(corners[0])}
	}
	first := n
	for i := range next {
		first = min(first, i)
	}
	out := []int32{int32(first)}
	for i := next[first]; i != first; i = next[i] {
		out = append(out, int32(i))
	}
	return out
}

func TestHullAgainstLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 7; n++ {
		for _, grid := range []int{0, 1, 2, 3, 4} {
			for range 40 {
				x := drawn(rng, n, grid)
				got, err := points.Hull(x)
				if want := hullLoops(x); err != nil || !slices.Equal(got, want) {
					t.Fatalf("%v: hull %v, %v; want %v", x.Data, got, err, want)
				}
				if area := points.Area(x, got); area < 0 || len(got) > 2 && (area == 0 || !points.Simple(x, got)) {
					t.Fatalf("%v: the hull %v has the area %v", x.Data, got, area)
				}
			}
		}
	}
}

func TestHullOfKnown(t *testing.T) {
	for _, c := range []struct {
		name string
		x    *tensor.Dense
		want []int32
		area float64
	}{
		{"square, its middle, and a side's", plane(0.5, 0.5, 1, 1, 0, 0, 1, 0, 0, 1, 0.5, 0), []int32{1, 4, 2, 3}, 1},
		{"in a line", plane(1, 1, 0, 0, 3, 3, 2, 2), []int32{1, 2}, 0},
		{"upright line", plane(0, 2, 0, 1, 0, 0), []int32{0, 2}, 0},
		{"equal", plane(1, 2, 1, 2, 1, 2), []int32{0}, 0},
		{"equal corners", plane(0, 0, 0, 1, 1, 0, 0, 0, 1, 0), []int32{0, 2, 1}, 0.5},
		{"none", tensor.New(0, 2), nil, 0},
	} {
		got, err := points.Hull(c.x)
		if err != nil || !slices.Equal(got, c.want) || points.Area(c.x, got) != c.area {
			t.Errorf("%s: %v, %v, area %v; want %v and %v", c.name, got, err, points.Area(c.x, got), c.want, c.area)
		}
	}
}

func TestSimple(t *testing.T) {
	x := plane(0, 0, 1, 0, 1, 1, 0, 1, 2, 0)
	for _, c := range []struct {
		ring []int32
		want bool
	}{{[]int32{0, 1, 2, 3}, true}, {[]int32{0, 2, 1, 3}, false}, {[]int32{0, 1, 2}, true}, {[]int32{0, 4, 2, 1, 3}, false}, {[]int32{0}, true}} {
		if got := points.Simple(x, c.ring); got != c.want {
			t.Errorf("%v: simple is %v", c.ring, got)
		}
	}
}

// tourLoops tries every order.
func tourLoops(x *tensor.Dense) float64 {
	best := math.Inf(1)
	var try func(tour, left []int32)
	try = func(tour, left []int32) {
		if len(left) == 0 {
			best = min(best, points.Length(x, tour))
		}
		for i := range left {
			rest := slices.Delete(slices.Clone(left), i, i+1)
			try(append(slices.Clone(tour), left[i]), rest)
		}
	}
	var others []int32
	for i := 1; i < x.Rows(); i++ {
		others = append(others, int32(i))
	}
	try([]int32{0}, others)
	return best
}

func TestTourAgainstAllOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= 7; n++ {
		for _, grid := range []int{0, 0, 1, 2, 3} {
			for range 1 + 20/n {
				x := drawn(rng, n, grid)
				tour, err := points.Tour(x)
				if err != nil || len(tour) != n || tour[0] != 0 {
					t.Fatalf("%v: tour %v, %v", x.Data, tour, err)
				}
				if got, want := points.Length(x, tour), tourLoops(x); math.Abs(got-want) > 1e-9 {
					t.Fatalf("%v: tour %v has the length %v, the shortest %v", x.Data, tour, got, want)
				}
				sorted := slices.Sorted(slices.Values(tour))
				for i, v := range sorted {
					if int(v) != i {
						t.Fatalf("%v: tour %v does not visit all once", x.Data, tour)
					}
				}
				if n > 2 && tour[1] >= tour[n-1] {
					t.Fatalf("%v: tour %v goes the other way", x.Data, tour)
				}
			}
		}
	}
}

// Tours are of row 0 whatever it is, and a ring of ten is found.
func TestTourOfRing(t *testing.T) {
	x := tensor.New(10, 2)
	for i := range 10 {
		a := 2 * math.Pi * float64(i*3%10) / 10
		x.Row(i)[0], x.Row(i)[1] = tensor.Float(math.Cos(a)), tensor.Float(math.Sin(a))
	}
	got, err := points.Tour(x)
	if want := []int32{0, 3, 6, 9, 2, 5, 8, 1, 4, 7}; err != nil || !slices.Equal(got, want) {
		t.Errorf("tour %v, %v; want %v", got, err, want)
	}
}

func TestAscending(t *testing.T) {
	if got := points.Ascending(tensor.Of([]tensor.Float{3, 1, 2, 1}, 4, 1)); !slices.Equal(got, []int32{1, 3, 2, 0}) {
		t.Errorf("order %v", got)
	}
}

func TestBadPoints(t *testing.T) {
	for _, bad := range []tensor.Float{tensor.Float(math.NaN()), tensor.Float(math.Inf(1))} {
		x := plane(0, 0, 1, bad, 1, 1)
		_, hull := points.Hull(x)
		_, tour := points.Tour(x)
		for _, err := range []error{hull, tour} {
			if err == nil || !strings.Contains(err.Error(), "point 1 is") {
				t.Errorf("%v: %v", bad, err)
			}
		}
	}
	if _, err := points.Tour(tensor.New(points.MostOnTour+1, 2)); err == nil || !strings.Contains(err.Error(), "tour of 17 points") {
		t.Errorf("too many points: %v", err)
	}
	for name, f := range map[string]func(){
		"three numbers":    func() { points.Hull(tensor.New(2, 3)) },
		"no points":        func() { points.Task{Count: 1}.Hull() },
		"Max before Min":   func() { points.Task{Count: 1, Min: 3, Max: 2}.Ascending() },
		"negative count":   func() { points.Task{Count: -1, Min: 3}.Ascending() },
		"too many on tour": func() { points.Task{Count: 1, Min: 17}.Salesman() },
	} {
		err := tensor.Try(f)
		if s := new(tensor.ShapeError); !errors.As(err, &s) || !strings.HasPrefix(s.Op, "points.") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The draws of a seed are always the same, of another seed or task others, and answered.
func TestTasks(t *testing.T) {
	task := points.Task{Count: 60, Min: 2, Max: 6, Seed: 5}
	a, again := task.Hull(), task.Hull()
	if !reflect.DeepEqual(a, again) {
		t.Error("the same seed draws other points")
	}
	task.Seed++
	if b := task.Hull(); reflect.DeepEqual(a.X, b.X) {
		t.Error("another seed draws the same points")
	}
	sizes := map[int]bool{}
	for i := range a.Len() {
		sizes[a.Set(i).Rows()] = true
		if want := hullLoops(a.Set(i)); !slices.Equal(a.Answers[i], want) {
			t.Errorf("set %d: %v, want %v", i, a.Answers[i], want)
		}
	}
	if len(sizes) != 5 || a.Graph().NumNodes() != a.X.Rows() || graph.Membership(a.Graph()).NumDst() != 60 {
		t.Errorf("sizes %v, graph %v", sizes, a.Graph())
	}
	for i, s := 0, task.Ascending(); i < s.Len(); i++ {
		for k := 1; k < len(s.Answers[i]); k++ {
			if s.Set(i).Data[s.Answers[i][k-1]] > s.Set(i).Data[s.Answers[i][k]] {
				t.Errorf("set %d: %v is not ascending", i, s.Answers[i])
			}
		}
	}
	for i, s := 0, task.Salesman(); i < s.Len(); i++ {
		if got, want := points.Length(s.Set(i), s.Answers[i]), tourLoops(s.Set(i)); math.Abs(got-want) > 1e-9 {
			t.Errorf("set %d: the tour's length is %v, want %v", i, got, want)
		}
	}
}
