package graph_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
)

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
		g := graph.Must(graph.New(n, src, dst))
		for d := 1; d <= 3; d++ {
			h := graph.Must(g.AtDistance(d))
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
	if _, err := graph.Ring(5, 1).AtDistance(0); err == nil || !strings.Contains(err.Error(), "AtDistance 0") {
		t.Errorf("distance 0: %v", err)
	}
}
