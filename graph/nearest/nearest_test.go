package nearest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// randomPoints returns n points, now and then on a coarse grid, where many
// distances are equal and some points are the same.
func randomPoints(rng *rand.Rand, n, dims int) *tensor.Dense {
	x := tensor.New(n, dims)
	coarse := rng.IntN(2) == 0
	for i := range x.Data {
		if coarse {
			x.Data[i] = tensor.Float(rng.IntN(4))
		} else {
			x.Data[i] = tensor.Float(rng.NormFloat64())
		}
	}
	return x
}

// byDistance returns all other points with their squared distances from v, the
// nearest first and of equals the lower one.
func byDistance(x *tensor.Dense, v int) []hit {
	var hits []hit
	for u := range x.Rows() {
		if u == v {
			continue
		}
		d := 0.0
		for i, a := range x.Row(u) {
			b := float64(a) - float64(x.Row(v)[i])
			d += float64(b * b)
		}
		hits = append(hits, hit{d, int32(u)})
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.v, b.v)) })
	return hits
}

func TestKNN(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 20))
		n, dims, k := rng.IntN(120), 1+rng.IntN(5), rng.IntN(12)
		x := randomPoints(rng, n, dims)
		g := graph.Must(KNN(x, k))
		graphtest.Sound(t, g)
		for v := range n {
			all := byDistance(x, v)
			var want []int32
			for _, h := range all[:min(k, len(all))] {
				want = append(want, h.v)
			}
			if !slices.Equal(graphtest.Sources(g, v), want) {
				t.Fatalf("seed %d: %d nearest of point %d of %d in %d dimensions: %v, want %v", seed, k, v, n, dims, graphtest.Sources(g, v), want)
			}
		}
	}
}

func TestRadius(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 21))
		n, dims := rng.IntN(120), 1+rng.IntN(5)
		x, r := randomPoints(rng, n, dims), []float64{0, 1, 0.7, math.Sqrt2, 3, math.Inf(1)}[rng.IntN(6)]
		g := graph.Must(Radius(x, r))
		graphtest.Sound(t, g)
		for v := range n {
			var want []int32
			for _, h := range byDistance(x, v) {
				if h.d <= r*r {
					want = append(want, h.v)
				}
			}
			slices.Sort(want)
			if !slices.Equal(graphtest.Sources(g, v), want) {
				t.Fatalf("seed %d: within %v of point %d of %d in %d dimensions: %v, want %v", seed, r, v, n, dims, graphtest.Sources(g, v), want)
			}
		}
	}
}

// The points are asked for in parts, whose number must not show.
func TestPointsThreads(t *testing.T) {
	const n = 3*pointsAtOnce + 1
	x := randomPoints(rand.New(rand.NewPCG(2, 22)), n, 3)
	undo := par.SetThreads(1)
	k, r := graph.Must(KNN(x, 7)), graph.Must(Radius(x, 1))
	undo()
	for v := 0; v < n; v += 8 { // the last one, too, which is a part of its own
		all := byDistance(x, v)
		if near := slices.IndexFunc(all, func(h hit) bool { return h.d > 1 }); near != len(graphtest.Sources(r, v)) {
			t.Fatalf("%d points are near point %d, want %d", len(graphtest.Sources(r, v)), v, near)
		}
		for i, h := range all[:7] {
			if graphtest.Sources(k, v)[i] != h.v {
				t.Fatalf("neighbour %d of point %d is %d, want %d", i, v, graphtest.Sources(k, v)[i], h.v)
			}
		}
	}
	for _, threads := range sparing.Threads() {
		undo := par.SetThreads(threads)
		graphtest.Same(t, graph.Must(KNN(x, 7)), k)
		graphtest.Same(t, graph.Must(Radius(x, 1)), r)
		undo()
	}
}

func TestPointErrors(t *testing.T) {
	nan := tensor.New(3, 2)
	nan.Data[3] = tensor.Float(math.NaN())
	inf := tensor.New(3, 2)
	inf.Data[4] = tensor.Float(math.Inf(-1))
	for want, err := range map[string]error{
		"nearest: coordinate 1 of point 1 is NaN, want a finite number":  errOf(KNN(nan, 1)),
		"nearest: coordinate 0 of point 2 is -Inf, want a finite number": errOf(Radius(inf, 1)),
		"graph: too many edges: 9999900000, at most 2147483647":          errOf(KNN(tensor.New(100_000), math.MaxInt)),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	graphtest.Refuses(t, "nearest.Neighbours", func() { KNN(tensor.New(3, 2), -1) })
	for _, r := range []float64{-2, math.NaN()} {
		graphtest.Refuses(t, "nearest.Radius", func() { Radius(tensor.New(3, 2), r) })
	}
	for _, x := range []*tensor.Dense{tensor.New(0, 3), tensor.New(1, 3), tensor.New(40, 0), tensor.New(5)} {
		n := x.Rows()
		if k, r := graph.Must(KNN(x, 3)), graph.Must(Radius(x, 0)); k.NumEdges() != n*max(min(3, n-1), 0) || r.NumEdges() != n*(n-1) {
			t.Errorf("%d equal points: %v, %v", n, k, r)
		}
	}
}

// errOf returns the error alone.
func errOf(_ *graph.Graph, err error) error { return err }

func TestPointTreeOfEqualPoints(t *testing.T) {
	x := tensor.New(3*pointsAtOnce, 2) // a naive partition would take n² steps
	if g := graph.Must(KNN(x, 2)); !slices.Equal(graphtest.Sources(g, 400), []int32{0, 1}) {
		t.Error("nearest of many equal points:", graphtest.Sources(g, 400))
	}
}

func BenchmarkKNN(b *testing.B) {
	for _, dims := range []int{2, 3, 8, 64} {
		n := 20_000
		if dims > treeDims {
			n = 5000
		}
		x := tensor.New(n, dims)
		rng := rand.New(rand.NewPCG(1, 23))
		for i := range x.Data {
			x.Data[i] = tensor.Float(rng.Float64())
		}
		b.Run(fmt.Sprintf("%dx%d", n, dims), func(b *testing.B) {
			for b.Loop() {
				graph.Must(KNN(x, 8))
			}
		})
	}
}

func FuzzKNN(f *testing.F) {
	f.Add([]byte("some points in the plane"), 2, 3)
	f.Add([]byte{}, 1, 0)
	f.Fuzz(func(t *testing.T, data []byte, dims, k int) {
		dims = 1 + (dims%4+4)%4
		data = data[:min(len(data), 400)/dims*dims]
		x := tensor.New(len(data)/dims, dims)
		for i, b := range data {
			x.Data[i] = tensor.Float(b) / 8
		}
		var g *graph.Graph
		err := tensor.Try(func() { g = graph.Must(KNN(x, k)) })
		if (err != nil) != (k < 0) {
			t.Fatal(err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), fmt.Sprint(k)) {
				t.Fatal(err)
			}
			return
		}
		for v := range x.Rows() {
			for i, u := range graphtest.Sources(g, v) {
				if byDistance(x, v)[i].v != u {
					t.Fatalf("neighbour %d of %d is %d", i, v, u)
				}
			}
		}
	})
}
