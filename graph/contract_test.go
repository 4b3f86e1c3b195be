package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestMatching follows the rule with a matrix.
func TestMatching(t *testing.T) {
	one, weight := weighted(t, 24, 50)
	two := graph.Must(graph.Uniform(rand.New(rand.NewPCG(5, 6)), 30, 50)) // one way
	for _, c := range []struct {
		g *graph.Graph
		w []tensor.Float
	}{{one, weight}, {one, nil}, {two, nil}, {graph.Batch(ring(5), two, ring(2)), nil}, {graph.Must(graph.New(3, nil, nil)), nil}} {
		for seed := range uint64(5) {
			got, err := c.g.Matching(rand.New(rand.NewPCG(seed, 1)), c.w)
			if err != nil {
				t.Fatal(err)
			}
			if want := matched(c.g, c.w, rand.New(rand.NewPCG(seed, 1))); !slices.Equal(got, want) {
				t.Fatalf("%v, seed %d: clusters %v, want %v", c.g, seed, got, want)
			}
		}
	}
	if _, err := one.Matching(rand.New(rand.NewPCG(1, 1)), slices.Repeat([]tensor.Float{-1}, one.NumEdges())); err == nil || !strings.Contains(err.Error(), "edge 0 has the weight -1") {
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

// TestContract adds weights up between clusters, with loops.
func TestContract(t *testing.T) {
	a, _ := weighted(t, 12, 30)
	g := graph.Batch(a, graph.Must(graph.New(0, nil, nil)), ring(5))
	kinds := make([]int32, g.NumEdges())
	for e := range kinds {
		kinds[e] = int32(e % 2)
	}
	g = graph.Must(g.WithKinds(kinds))
	cluster := []int32{0, 1, 1, 2, 0, 3, 3, 3, 1, 2, 4, 4, 6, 5, 6, 6, 5}
	h, into, err := g.Contract(cluster)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(h.NodeOffsets(), []int{0, 5, 5, 7}) || !slices.Equal(h.From().Src, []int32{0, 1, 3, 5, 10, 13, 12}) {
		t.Errorf("members %v, nodes from %v", h.NodeOffsets(), h.From().Src)
	}
	type key struct{ u, v, k int32 }
	count, there := map[key]int{}, map[key]int{}
	for v := range g.NumNodes() {
		for e, u := range g.Sources(v) {
			if cluster[u] == cluster[v] {
				if into[e] != -1 {
					t.Errorf("edge %d within a cluster went into %d", e, into[e])
				}
				continue
			}
			count[key{cluster[u], cluster[v], g.Kinds()[e]}]++
			to := into[e]
			if h.In().Cols[to] != cluster[u] || h.Destinations()[to] != cluster[v] || h.Kinds()[to] != g.Kinds()[e] {
				t.Errorf("edge %d went into edge %d", e, to)
			}
			there[key{h.In().Cols[to], h.Destinations()[to], h.Kinds()[to]}]++
			if e < h.From().Edges[to] {
				t.Errorf("edge %d is from %d, after %d", to, h.From().Edges[to], e)
			}
		}
	}
	if len(count) != h.NumEdges() || fmt.Sprint(count) != fmt.Sprint(there) || h.EdgeOrder()[1] != 1 {
		t.Errorf("%d edges, want %d", h.NumEdges(), len(count))
	}
	for want, c := range map[string][]int32{
		"2 clusters for 17 nodes":               {0, 1},
		"node 1 is in cluster -1":               append([]int32{0, -1}, make([]int32, 15)...),
		"no node is in cluster 1, of 3":         append(slices.Repeat([]int32{0}, 12), 2, 2, 2, 2, 2),
		"cluster 0 has a node of member 2, 12":  make([]int32, 17),
		"among those of an earlier member":      append(slices.Repeat([]int32{1}, 12), 0, 0, 0, 0, 0),
		"node 0 is in cluster 17, not in 0..16": append([]int32{17}, make([]int32, 16)...),
	} {
		if _, _, err := g.Contract(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Twice coarsened, a path of eight nodes is one of three.
func ExampleGraph_Contract() {
	g := graph.Chains(8).Undirected()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2 {
		cluster, err := g.Matching(rng, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		if g, _, err = g.Contract(cluster); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(cluster, g)
	}
	// Output:
	// [0 1 1 2 3 3 4 4] Graph(5 nodes, 8 edges)
	// [0 0 1 2 2] Graph(3 nodes, 4 edges)
}
