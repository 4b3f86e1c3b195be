package nearest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// byAngle returns the other points of a range by falling cosine, and of equals the lower one.
func byAngle(x *tensor.Dense, v, lo, hi int) (hits []hit) {
	dot := func(u, v int) (sum float64) {
		for i, a := range x.Row(u) {
			sum += float64(a) * float64(x.Row(v)[i])
		}
		return sum
	}
	for u := lo; u < hi; u++ {
		if u == v {
			continue
		}
		cos := 0.0
		if by := math.Sqrt(dot(u, u)) * math.Sqrt(dot(v, v)); by > 0 {
			cos = dot(u, v) / by
		}
		hits = append(hits, hit{-cos, int32(u)})
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.v, b.v)) })
	return hits
}

// Neighbours are exact, by distance and by angle, in each member, where many are equally far,
// where points are far from the origin, and where products overflow.
func TestNearest(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 24))
		n, dims, k := rng.IntN(90), 1+rng.IntN(24), rng.IntN(12)
		cut := rng.IntN(n + 1)
		x := randomPoints(rng, n, dims)
		scale, shift := []float64{1, 1, 1e-22, 1e25}[rng.IntN(4)], []float64{0, 0, 1000}[rng.IntN(3)]
		if n > 0 && seed%5 == 0 {
			x.Data[rng.IntN(len(x.Data))] = 1e6 // far from all
		}
		for i, v := range x.Data {
			x.Data[i] = tensor.Float(scale * (float64(v) + shift))
		}
		near := Neighbours{K: k, Cosine: seed%2 == 0, Members: []int{0, cut, cut, n}}
		g := graph.Must(near.Graph(x))
		graphtest.Sound(t, g)
		if !slices.Equal(g.NodeOffsets(), near.Members) {
			t.Fatalf("members %v, want %v", g.NodeOffsets(), near.Members)
		}
		for v := range n {
			lo, hi := 0, cut
			if v >= cut {
				lo, hi = cut, n
			}
			var all []hit
			if near.Cosine {
				all = byAngle(x, v, lo, hi)
			} else {
				all = slices.DeleteFunc(byDistance(x, v), func(h hit) bool { return int(h.v) < lo || int(h.v) >= hi })
			}
			var want []int32
			for _, h := range all[:min(k, len(all))] {
				want = append(want, h.v)
			}
			if !slices.Equal(graphtest.Sources(g, v), want) {
				t.Fatalf("seed %d, %+v: of point %d in %d dimensions %v, want %v", seed, near, v, dims, graphtest.Sources(g, v), want)
			}
		}
	}
}

// Both sides of the sizes of a tile and of the dimensions that a tree takes, on any number of
// threads.
func TestNearestSizes(t *testing.T) {
	for _, n := range []int{tileRows, tileRows + 1, tileColumns, tileColumns + 1} {
		for _, dims := range []int{treeDims, treeDims + 1} {
			if n > tileRows+1 && dims == treeDims { // a tree has no tiles
				continue
			}
			x := randomPoints(rand.New(rand.NewPCG(2, uint64(n+dims))), n, dims)
			undo := par.SetThreads(1)
			g := graph.Must(KNN(x, 5))
			undo()
			for v := n - 1; v >= 0; v -= n/20 + 1 {
				for i, h := range byDistance(x, v)[:5] {
					if graphtest.Sources(g, v)[i] != h.v {
						t.Fatalf("%d points, %d dimensions: neighbour %d of %d is %d, want %d", n, dims, i, v, graphtest.Sources(g, v)[i], h.v)
					}
				}
			}
			undo = par.SetThreads(3)
			graphtest.Same(t, graph.Must(KNN(x, 5)), g)
			undo()
		}
	}
}

func TestNearestErrors(t *testing.T) {
	x := tensor.New(4, 2)
	for _, at := range [][]int{{}, {0, 3}, {1, 4}, {0, 3, 2, 4}} {
		if _, err := (Neighbours{K: 1, Members: at}).Graph(x); err == nil || !strings.Contains(err.Error(), "want them to ascend from 0 to the 4 points") {
			t.Errorf("%v: error %v", at, err)
		}
	}
	g := graph.Must(Neighbours{K: 2, Cosine: true}.Graph(x)) // all of them zeros
	if !slices.Equal(graphtest.Sources(g, 0), []int32{1, 2}) || !slices.Equal(graphtest.Sources(g, 3), []int32{0, 1}) {
		t.Errorf("points of zeros hear %v", g.In().Cols)
	}
}
