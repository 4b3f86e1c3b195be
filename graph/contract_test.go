package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

// TestContract adds weights up between clusters, with loops.
func TestContract(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	src, dst := []int32{1}, []int32{1}
	for range 30 {
		u, v := rng.Int32N(11), rng.Int32N(11)
		src, dst = append(src, u, v), append(dst, v, u)
	}
	g := Batch(Must(New(12, src, dst)), Must(New(0, nil, nil)), Ring(5, 1, -1))
	kinds := make([]int32, g.NumEdges())
	for e := range kinds {
		kinds[e] = int32(e % 2)
	}
	g = Must(WithKinds(g, kinds))
	cluster := []int32{0, 1, 1, 2, 0, 3, 3, 3, 1, 2, 4, 4, 6, 5, 6, 6, 5}
	h, into, err := Contract(g, cluster)
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
		"node 1 is in cluster -1":               append([]int32{0, -1}, make([]int32, 15)...),
		"no node is in cluster 1, of 3":         append(slices.Repeat([]int32{0}, 12), 2, 2, 2, 2, 2),
		"cluster 0 has a node of member 2, 12":  make([]int32, 17),
		"among those of an earlier member":      append(slices.Repeat([]int32{1}, 12), 0, 0, 0, 0, 0),
		"node 0 is in cluster 17, not in 0..16": append([]int32{17}, make([]int32, 16)...),
	} {
		if _, _, err := Contract(g, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestCoalesce(t *testing.T) {
	check := func(t *testing.T, g *Graph) {
		h, counts, into := Coalesce(g)
		graphtest.Sound(t, h)
		descends(t, h, g, false)
		if h.Bipartite() != g.Bipartite() || !slices.Equal(h.DstRows(), g.DstRows()) {
			t.Fatal("nodes of", h)
		}
		type edge struct{ u, v, kind int32 }
		key := func(g *Graph, e int) edge {
			k := edge{u: g.In().Cols[e], v: g.Destinations()[e]}
			if g.Kinds() != nil {
				k.kind = g.Kinds()[e]
			}
			return k
		}
		left, got := map[edge]int32{}, make([]int32, h.NumEdges())
		for e, k := range into {
			if key(h, int(k)) != key(g, e) {
				t.Fatalf("edge %v went into %v", key(g, e), key(h, int(k)))
			}
			got[k]++
			left[key(g, e)]++
		}
		if !slices.Equal(got, counts) || len(left) != h.NumEdges() {
			t.Fatalf("counts %v, want %v; %d edges, want %d", counts, got, h.NumEdges(), len(left))
		}
		for e, p := range h.From().Edges {
			if left[key(h, e)] != counts[e] || slices.Index(into, int32(e)) != int(p) {
				t.Fatalf("edge %d counts %d from %d", e, counts[e], p)
			}
		}
		again, counts, _ := Coalesce(h)
		graphtest.Same(t, again, h)
		if len(counts) > 0 && slices.Max(counts) != 1 {
			t.Fatal("twice:", counts)
		}
	}
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		check(t, g)
		check(t, Must(Block(g, graphtest.RandomRows(rng, g.NumNodes()))))
	})
}
