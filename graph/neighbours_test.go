package graph

import (
	"math/rand/v2"
	"testing"
)

func TestDegreesAndIterators(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		in, out := g.InDegrees(), g.OutDegrees()
		seen := 0
		for v := range g.NumNodes() {
			if int(in[v]) != g.InDegree(v) || int(out[v]) != g.OutDegree(v) {
				t.Fatal("degrees of node", v)
			}
			n := 0
			for e, u := range g.Sources(v) {
				if g.In().Cols[e] != u || int(g.Destinations()[e]) != v || int(e) != seen {
					t.Fatalf("edge %d is not %d → %d", e, u, v)
				}
				n++
				seen++
			}
			last := int32(-1)
			for e, w := range g.Targets(v) {
				if int(g.In().Cols[e]) != v || g.Destinations()[e] != w || e <= last {
					t.Fatalf("edge %d is not %d → %d", e, v, w)
				}
				last = e
				n--
			}
			if n != g.InDegree(v)-g.OutDegree(v) {
				t.Fatal("edges of node", v)
			}
			for range g.Sources(v) {
				break // stopping early must be possible
			}
			for range g.Targets(v) {
				break
			}
		}
		if seen != g.NumEdges() {
			t.Fatalf("%d edges of %d", seen, g.NumEdges())
		}
	})
	g, sum := Ring(100, 1, 2, 3), int32(0)
	g.Out()
	if n := testing.AllocsPerRun(10, func() {
		for v := range g.NumNodes() {
			for e, u := range g.Sources(v) {
				sum += e + u
			}
			for e, w := range g.Targets(v) {
				sum += e - w
			}
		}
	}); n != 0 {
		t.Errorf("iterators allocate %v times", n)
	}
}
