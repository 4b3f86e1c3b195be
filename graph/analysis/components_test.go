package analysis

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/gonumgraph"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

func TestComponents(t *testing.T) {
	graphtest.Each(t, func(t *testing.T, _ *rand.Rand, l graphtest.Edges) {
		g := graph.Must(graph.New(l.NSrc, l.Src, l.Dst))
		n, of := Components(g)
		want := numbers(g.NumNodes()) // the lowest node of each node's component, by spreading it
		for range g.NumNodes() {
			for e, u := range g.In().Cols {
				v := g.Destinations()[e]
				want[u], want[v] = min(want[u], want[v]), min(want[u], want[v])
			}
		}
		number := map[int32]int32{}
		for v, low := range want {
			if int(low) == v {
				number[low] = int32(len(number))
			}
			if of[v] != number[low] {
				t.Fatalf("components %v, lowest nodes %v", of, want)
			}
		}
		if n != len(number) {
			t.Fatalf("%d components, want %d", n, len(number))
		}
	})
}

// The largest component is the first of those of most nodes.
func TestLargestComponent(t *testing.T) {
	graphtest.Each(t, func(t *testing.T, _ *rand.Rand, l graphtest.Edges) {
		g := graph.Must(graph.New(l.NSrc, l.Src, l.Dst))
		n, of := Components(g)
		parts := make([][]int32, n)
		for v, c := range of {
			parts[c] = append(parts[c], int32(v))
		}
		var want []int32
		for _, p := range parts {
			if len(p) > len(want) {
				want = p
			}
		}
		if got := LargestComponent(g); !slices.Equal(got, want) {
			t.Fatalf("the largest component is %v, want %v", got, want)
		}
	})
}

// Graphs with nothing in them, or one node, have components, too.
func TestEmptyGraphs(t *testing.T) {
	for _, g := range []*graph.Graph{
		graph.Must(graph.New(0, nil, nil)), graph.Must(graph.New(1, nil, nil)), graph.Must(graph.New(4, nil, nil)), graph.Complete(0), graph.Complete(1),
		graph.Chains(), graph.Chains(0), graph.Batch(), graph.Star(0), graph.Grid(0, 3), graph.Batch(graph.Complete(0), graph.Complete(0)),
		graph.Must(graph.New(1, []int32{0}, []int32{0})), new(graph.Graph),
	} {
		if n, of := Components(g); len(of) != g.NumNodes() || n > g.NumNodes() || n > 0 != (len(of) > 0) {
			t.Errorf("%v: components %v", g, of)
		}
		if len(PageRank(g, 0.85)) != g.NumNodes() || len(CoreNumbers(g)) != g.NumNodes() || len(Communities(rand.New(rand.NewPCG(1, 1)), g, 1)) != g.NumNodes() {
			t.Errorf("%v: not a number for each node", g)
		}
		view := gonumgraph.Of(g)
		if view.Nodes().Len() != g.NumNodes() {
			t.Errorf("%v: the view has %d nodes", g, view.Nodes().Len())
		}
		if _, err := gonumgraph.Undirected(g); err != nil {
			t.Errorf("%v: %v", g, err)
		}
	}
}
