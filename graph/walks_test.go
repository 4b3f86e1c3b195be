package graph

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

func TestLineGraph(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		h := Must(LineGraph(g))
		graphtest.Sound(t, h)
		var src, dst []int32
		for f, u := range g.In().Cols {
			for e, v := range g.Destinations() {
				if u == v {
					src, dst = append(src, int32(e)), append(dst, int32(f))
				}
			}
		}
		graphtest.Same(t, h, Must(New(g.NumEdges(), src, dst)))
	})
	if h, err := LineGraph(Star(50_000)); h != nil || err == nil || !strings.Contains(err.Error(), "the line graph of Graph(50000 nodes, 99998 edges) has 2499950000 edges, at most") {
		t.Error("a line graph of too many edges:", err)
	}
}

// More pairs than a graph has edges are an error before any are listed.
func TestAtDistanceLimit(t *testing.T) {
	star := Undirected(Star(5)) // each two of four neighbours are two edges apart
	if g, err := star.atDistance(2, 12); err != nil || g.NumEdges() != 12 {
		t.Errorf("%v, error %v", g, err)
	}
	want := "graph: AtDistance 2: there are 12 pairs of nodes, and a graph has at most 11 edges"
	if _, err := star.atDistance(2, 11); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Pairs at a distance are those that Floyd and Warshall find.
func TestAtDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, edges := range []int{0, 6, 14} {
		const n = 7
		src, dst := make([]int32, edges), make([]int32, edges)
		var far [n][n]int
		for u := range n {
			for v := range n {
				far[u][v] = 99
			}
			far[u][u] = 0
		}
		for i := range edges { // loops and repeated edges among them
			src[i], dst[i] = int32(rng.IntN(n)), int32(rng.IntN(n))
			far[src[i]][dst[i]] = min(far[src[i]][dst[i]], 1)
		}
		for w := range n {
			for u := range n {
				for v := range n {
					far[u][v] = min(far[u][v], far[u][w]+far[w][v])
				}
			}
		}
		g := Must(New(n, src, dst))
		for d := 1; d <= 3; d++ {
			h := Must(AtDistance(g, d))
			var got [n][n]int
			for v := range int32(n) {
				for _, u := range h.Sources(int(v)) {
					got[u][v]++
				}
			}
			for u := range n {
				for v := range n {
					if want := far[u][v] == d; (got[u][v] == 1) != want || got[u][v] > 1 {
						t.Errorf("%d edges, distance %d: %d edges from %d to %d, which are %d apart", edges, d, got[u][v], u, v, far[u][v])
					}
				}
			}
		}
	}
}
