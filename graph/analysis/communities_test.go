package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/gonumgraph"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/tensor"
	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/simple"
)

// grouped returns the nodes of each community.
func grouped(of []int32) (groups [][]gonum.Node) {
	for v, c := range of {
		for int(c) >= len(groups) {
			groups = append(groups, nil)
		}
		groups[c] = append(groups[c], simple.Node(v))
	}
	return groups
}

// Communities are as good as gonum's by gonum's own measure.
func TestCommunitiesModularity(t *testing.T) {
	var ours, theirs float64
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 4))
		g := graph.Undirected(random.BarabasiAlbert(rng, 20+rng.IntN(60), 1+rng.IntN(3)))
		view, err := gonumgraph.Undirected(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, resolution := range []float64{0.5, 1, 2} {
			of := Communities(rng, g, resolution)
			groups := grouped(of)
			q := community.Q(view, groups, resolution)
			ours += q
			theirs += community.Q(view, community.Modularize(view, resolution, rand.NewPCG(seed, 5)).Communities(), resolution)
			for i := 1; i < len(groups); i++ {
				if len(groups[i]) > len(groups[i-1]) || len(groups[i]) == 0 {
					t.Fatalf("seed %d: community %d has %d nodes, the one before %d", seed, i, len(groups[i]), len(groups[i-1]))
				}
			}
		}
	}
	if ours < 0.98*theirs {
		t.Errorf("modularity %v in all, gonum's communities have %v", ours, theirs)
	}
}

// Two cliques with an edge between them are two communities, in each member of a batch.
func TestCommunitiesOfCliques(t *testing.T) {
	var src, dst []int32
	for _, clique := range [][2]int32{{0, 5}, {5, 12}} {
		for u := clique[0]; u < clique[1]; u++ {
			for v := u + 1; v < clique[1]; v++ {
				src, dst = append(src, u), append(dst, v)
			}
		}
	}
	g := graph.Must(graph.New(13, append(src, 0, 12), append(dst, 5, 12))) // node 12 has a loop alone
	b := graph.Batch(g, graph.Must(graph.New(0, nil, nil)), g)
	of := Communities(rand.New(rand.NewPCG(1, 1)), b, 1)
	want := []int32{1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2}
	if !slices.Equal(of, append(slices.Clone(want), want...)) {
		t.Errorf("%v", of)
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		graphtest.Refuses(t, "analysis.Communities", func() { Communities(rand.New(rand.NewPCG(1, 1)), g, bad) })
	}
	if of := Communities(rand.New(rand.NewPCG(1, 1)), graph.Must(graph.New(3, nil, nil)), 1); !slices.Equal(of, []int32{0, 1, 2}) {
		t.Errorf("without edges: %v", of)
	}
}

// Other members of a batch change no community: what counts is the modularity of the member.
func TestCommunitiesOfBatch(t *testing.T) {
	var src, dst []int32
	for u := range int32(10) {
		for v := u + 1; v < 10; v++ {
			if u/5 == v/5 {
				src, dst = append(src, u), append(dst, v)
			}
		}
	}
	g := graph.Must(graph.New(10, append(src, 0), append(dst, 5)))
	members := make([]*graph.Graph, 40)
	for i := range members {
		members[i] = g
	}
	of := Communities(rand.New(rand.NewPCG(2, 1)), graph.Batch(members...), 1)
	for v, c := range of {
		if int(c) != v%10/5 {
			t.Fatalf("node %d of member %d is in community %d", v%10, v/10, c)
		}
	}
}

// PageRank keeps its equation, a member's is that of the member alone, and a second call
// gives the same bits.
func TestPageRankEquation(t *testing.T) {
	graphtest.Each(t, func(t *testing.T, _ *rand.Rand, l graphtest.Edges) {
		b := graph.Must(graph.New(l.NSrc, l.Src, l.Dst))
		var all []float64
		for _, g := range graph.Unbatch(b) {
			ranks, view := PageRank(g, 0.85), gonumgraph.Of(g)
			all = append(all, ranks...)
			n := float64(g.NumNodes())
			stuck := 0.0 // readers who cannot go on
			for v, r := range ranks {
				if view.From(int64(v)).Len() == 0 {
					stuck += r / n
				}
			}
			for v, r := range ranks {
				want := 0.15 + 0.85*stuck
				for from := view.To(int64(v)); from.Next(); {
					u := from.Node().ID()
					want += 0.85 * ranks[u] / float64(view.From(u).Len())
				}
				if math.Abs(r-want) > 2*pageRankError*n { // a round from here moves less
					t.Fatalf("node %d has %v, the equation %v", v, r, want)
				}
			}
			if n == 0 {
				continue
			}
			for v, r := range network.PageRankSparse(view, 0.85, 1e-12) {
				if math.Abs(r*n-ranks[v]) > 1e-8*n {
					t.Fatalf("node %d has %v, and by gonum %v", v, ranks[v], r*n)
				}
			}
		}
		if ranks := PageRank(b, 0.85); !slices.Equal(ranks, all) {
			t.Fatalf("the members have %v, alone %v", ranks, all)
		}
	})
	pair := graph.Must(graph.New(3, []int32{0, 1, 1}, []int32{1, 0, 2}))
	if ranks := PageRank(pair, 0); !slices.Equal(ranks, []float64{1, 1, 1}) {
		t.Errorf("damping 0: %v", ranks)
	}
	for _, damping := range []float64{1, 2, -1, math.NaN(), math.Inf(1)} {
		if err := tensor.Try(func() { PageRank(pair, damping) }); err == nil || !strings.Contains(err.Error(), "from 0 to less than 1") {
			t.Errorf("damping %v: error %v", damping, err)
		}
	}
}

// Taking away nodes of fewer than k neighbours, again and again, leaves the core.
func TestCoreNumbers(t *testing.T) {
	graphtest.Each(t, func(t *testing.T, _ *rand.Rand, l graphtest.Edges) {
		g := graph.Must(graph.New(l.NSrc, l.Src, l.Dst))
		got, n := CoreNumbers(g), g.NumNodes()
		near := make([]map[int32]bool, n)
		for v := range near {
			near[v] = map[int32]bool{}
		}
		for e, u := range g.In().Cols {
			if v := g.Destinations()[e]; u != v {
				near[u][v], near[v][u] = true, true
			}
		}
		want, left := make([]int32, n), n
		for k := 0; left > 0; {
			took := false
			for v := range near {
				if near[v] != nil && len(near[v]) <= k {
					for u := range near[v] {
						delete(near[u], int32(v))
					}
					near[v], want[v], took = nil, int32(k), true
					left--
				}
			}
			if !took {
				k++
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// A chain of a million nodes takes a moment, and by a method whose time goes with the square of
// the nodes most of an hour, which go test ends.
func TestCoreNumbersChain(t *testing.T) {
	const n = 1 << 20
	src, dst := make([]int32, n-1), make([]int32, n-1)
	for i := range src {
		src[i], dst[i] = int32(i), int32(i+1)
	}
	for v, k := range CoreNumbers(graph.Must(graph.New(n, src, dst))) {
		if k != 1 {
			t.Fatalf("node %d is in core %d", v, k)
		}
	}
}
