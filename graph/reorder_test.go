package graph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// planted returns a graph of communities of 50 under a random numbering; eight
// of ten edges stay inside.
func planted(rng *rand.Rand, nodes, degree int) *Graph {
	ids := rng.Perm(nodes)
	var src, dst []int32
	for u := range nodes {
		for range degree {
			v := rng.IntN(nodes)
			if rng.IntN(10) < 8 {
				v = u/50*50 + rng.IntN(50)
			}
			src, dst = append(src, int32(ids[u])), append(dst, int32(ids[v]))
		}
	}
	return Must(New(nodes, src, dst)).Undirected()
}

func TestReorder(t *testing.T) {
	g := planted(rand.New(rand.NewPCG(1, 40)), 5000, 6)
	h := g.Reorder()
	sound(t, h)
	descends(t, h, g, false)
	if !slices.Equal(slices.Sorted(slices.Values(h.From().Src)), iota32(5000)) {
		t.Error("no permutation")
	}
	near := func(g *Graph) int { // edges that span less than two communities
		n := 0
		for e, u := range g.In().Cols {
			if d := u - g.Destinations()[e]; -100 < d && d < 100 {
				n++
			}
		}
		return 100 * n / g.NumEdges()
	}
	if before, after := near(g), near(h); before > 10 || after < 75 {
		t.Errorf("%d %% of the edges were near before, %d %% are now; 80 %% are planted", before, after)
	}
	same(t, g.Reorder(), h)
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		h := g.Reorder()
		sound(t, h)
		descends(t, h, g, false)
	})
}

func BenchmarkReorder(b *testing.B) {
	g := Must(Citation(rand.New(rand.NewPCG(1, 1)), 169_344, 1_169_344))
	g.In()
	for b.Loop() {
		g.Reorder()
	}
}
