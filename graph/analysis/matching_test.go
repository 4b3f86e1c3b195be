package analysis_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestMatching follows the rule with a matrix.
func TestMatching(t *testing.T) {
	one, weight := weighted(t, 24, 50)
	two := random.Uniform(rand.New(rand.NewPCG(5, 6)), 30, 50) // one way
	for _, c := range []struct {
		g *graph.Graph
		w []tensor.Float
	}{{one, weight}, {one, nil}, {two, nil}, {graph.Batch(ring(5), two, ring(2)), nil}, {graph.Must(graph.New(3, nil, nil)), nil}} {
		for seed := range uint64(5) {
			got, err := analysis.Matching(c.g, rand.New(rand.NewPCG(seed, 1)), c.w)
			if err != nil {
				t.Fatal(err)
			}
			if want := matched(c.g, c.w, rand.New(rand.NewPCG(seed, 1))); !slices.Equal(got, want) {
				t.Fatalf("%v, seed %d: clusters %v, want %v", c.g, seed, got, want)
			}
		}
	}
	if _, err := analysis.Matching(one, rand.New(rand.NewPCG(1, 1)), slices.Repeat([]tensor.Float{-1}, one.NumEdges())); err == nil || !strings.Contains(err.Error(), "edge 0 has the weight -1") {
		t.Errorf("error %v", err)
	}
}

// matched is Matching on a matrix.
func matched(g *graph.Graph, weight []tensor.Float, rng *rand.Rand) []int32 {
	n := g.NumNodes()
	w, d := make([][]float64, n), make([]float64, n)
	for v := range w {
		w[v] = make([]float64, n)
	}
	for v := range n {
		for e, u := range g.Sources(v) {
			x := 1.0
			if weight != nil {
				x = float64(weight[e])
			}
			if int(u) != v {
				w[u][v] += x
				w[v][u] += x
			}
		}
	}
	for v := range n {
		for u := range n {
			d[v] += w[v][u]
		}
	}
	partner := slices.Repeat([]int{-1}, n)
	for _, v := range rng.Perm(n) {
		if partner[v] >= 0 {
			continue
		}
		best, at := 0.0, v
		for u := range n {
			if u == v || partner[u] >= 0 || w[u][v] == 0 {
				continue
			}
			if cut := w[u][v] * (1/d[u] + 1/d[v]); cut > best*(1+1e-9) {
				best, at = cut, u
			}
		}
		partner[v], partner[at] = at, v
	}
	cluster, count := make([]int32, n), int32(0)
	for v, u := range partner {
		if u < v {
			cluster[v] = cluster[u]
		} else {
			cluster[v] = count
			count++
		}
	}
	return cluster
}
