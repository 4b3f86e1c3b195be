package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestWalks holds walks to edges, and what is drawn to seed, round and place.
func TestWalks(t *testing.T) {
	g := web(t, true)
	nodes := slices.Repeat([]int32{3, 4, 50, 199}, 300)
	for _, w := range []Walks{
		{Graph: g, Length: 7, Seed: 1},
		{Graph: g, Length: 7, Seed: 1, Return: 0.25, Explore: 4},
		{Graph: graph.Chains(4), Length: 7, Seed: 1, Explore: 2},
		{Graph: g, Seed: 1},
	} {
		from := nodes
		if w.Graph != g {
			from = []int32{0, 1, 3}
		}
		walks, err := w.From(from, 5)
		if err != nil {
			t.Fatal(err)
		}
		edges := map[[2]int32]bool{}
		for e, v := range w.Graph.Destinations() {
			edges[[2]int32{w.Graph.In().Cols[e], v}] = true
		}
		for i, walk := range walks {
			if walk[0] != from[i] {
				t.Fatalf("walk %d begins at %d, want %d", i, walk[0], from[i])
			}
			for k := range walk[1:] {
				if !edges[[2]int32{walk[k], walk[k+1]}] {
					t.Fatalf("walk %d goes from %d to %d", i, walk[k], walk[k+1])
				}
			}
			if last := walk[len(walk)-1]; len(walk) != w.Length+1 && w.Graph.OutDegree(int(last)) > 0 {
				t.Fatalf("walk %v ends early", walk)
			}
		}
		back := par.SetThreads(1)
		alone, _ := w.From(from, 5)
		back()
		if !slices.EqualFunc(walks, alone, slices.Equal) {
			t.Error("one thread walks elsewhere")
		}
		if next, _ := w.From(from, 6); w.Length > 0 && w.Graph == g && slices.EqualFunc(walks, next, slices.Equal) {
			t.Error("the next round is the same")
		}
	}
}

// TestSecondOrder counts where walks go after the edge 0→1, beside the paper's weights.
func TestSecondOrder(t *testing.T) {
	// 1 leads back to 0, to 2 and 3, which 0 leads to as well, and to 4, which it does not.
	g := graph.Must(graph.New(5, []int32{0, 0, 0, 1, 1, 1, 1}, []int32{1, 2, 3, 0, 2, 3, 4}))
	for _, c := range []struct{ back, explore float64 }{{0.25, 4}, {4, 0.5}, {1, 2}, {2, 1}, {0, 0}} {
		w := Walks{Graph: g, Length: 2, Return: c.back, Explore: c.explore, Seed: 9}
		walks, err := w.From(make([]int32, 60000), 0)
		if err != nil {
			t.Fatal(err)
		}
		count, all := [5]float64{}, 0.0
		for _, walk := range walks {
			if walk[1] == 1 {
				count[walk[2]]++
				all++
			}
		}
		back, far := 1/max(c.back, 1e-9), 1/max(c.explore, 1e-9)
		if c.back == 0 {
			back, far = 1, 1
		}
		for x, weight := range [5]float64{back, 0, 1, 1, far} {
			want := weight / (back + 2 + far)
			if got := count[x] / all; math.Abs(got-want) > 5*math.Sqrt(want/all) {
				t.Errorf("p %v, q %v: node %d has a share of %v, want %v", c.back, c.explore, x, got, want)
			}
		}
	}
}

func TestWalksErrors(t *testing.T) {
	for want, w := range map[string]Walks{
		"no Graph":              {},
		"one set of nodes":      {Graph: graph.CompleteBipartite(2, 2)},
		"-1 steps":              {Graph: graph.Chains(3), Length: -1},
		"Return is -1":          {Graph: graph.Chains(3), Return: -1},
		"Explore NaN":           {Graph: graph.Chains(3), Explore: math.NaN()},
		"begins at node 3 of 3": {Graph: graph.Chains(3)},
	} {
		if _, err := w.From([]int32{3}, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %q", err, want)
		}
	}
}

func TestContexts(t *testing.T) {
	g, err := Contexts(5, [][]int32{{0, 1, 2, 1}, {4}, nil}, 2)
	if err != nil {
		t.Fatal(err)
	}
	got := edgesOf(g)
	want := [][2]int32{{1, 0}, {2, 0}, {0, 1}, {2, 1}, {0, 2}, {1, 2}, {2, 1}, {1, 2}}
	sort := func(e [][2]int32) {
		slices.SortFunc(e, func(a, b [2]int32) int { return int(a[0]-b[0])*10 + int(a[1]-b[1]) })
	}
	sort(got)
	sort(want)
	if g.NumEdges() != 10 || !slices.Equal(got, want) { // and 1 in the context of itself, twice
		t.Errorf("%d contexts, %v, want %v", g.NumEdges(), got, want)
	}
	if _, err := Contexts(2, [][]int32{{0, 2}}, 1); err == nil {
		t.Error("a node that is not there is no error")
	}
}

// TestCorruptions replaces one end of each edge, evenly, and keeps its kind.
func TestCorruptions(t *testing.T) {
	g := graph.Must(graph.WithKinds(graph.Must(graph.New(40, []int32{7, 3, 3, 9}, []int32{1, 0, 1, 9})), []int32{5, 4, 3, 2}))
	for _, ends := range []Ends{"", ReplaceSource, ReplaceDestination} {
		c := Corruptions{Number: 2000, Ends: ends, Seed: 2}
		not, at := c.Draw(g, 1)
		seen, kept := map[int32]bool{}, [2]int{}
		for k, e := range at {
			of := k / c.Number
			src, dst := not.In().Cols[e] == g.In().Cols[of], not.Destinations()[e] == g.Destinations()[of]
			if !src && !dst || not.Kinds()[e] != g.Kinds()[of] {
				t.Fatalf("%q: false edge %d does not resemble edge %d", ends, k, of)
			}
			if !src {
				kept[1]++
				seen[not.In().Cols[e]] = true
			} else if !dst {
				kept[0]++
				seen[not.Destinations()[e]] = true
			}
			if seen[e] = true; ends == ReplaceSource && !dst || ends == ReplaceDestination && !src {
				t.Fatalf("%q: the other end of edge %d was replaced", ends, of)
			}
		}
		if len(seen) < 40 || ends == "" && math.Abs(float64(kept[0]-kept[1])) > 400 {
			t.Errorf("%q: %d nodes were drawn, and %v of the ends replaced", ends, len(seen), kept)
		}
		again, _ := c.Draw(g, 1)
		next, _ := c.Draw(g, 2)
		if !slices.Equal(edgesOf(again), edgesOf(not)) || slices.Equal(edgesOf(next), edgesOf(not)) {
			t.Error("the same step draws differently, or another the same")
		}
	}
	// Of the false edges of one edge every second one has another source, not those of every second edge.
	large := graph.Must(graph.New(1<<16, []int32{7, 3, 9}, []int32{1, 2, 4}))
	for _, n := range []int{1, 4, 5} {
		not, at := Corruptions{Number: n, Seed: 3}.Draw(large, 1)
		for k, e := range at {
			if source := not.In().Cols[e] != large.In().Cols[k/n]; source != (k%2 == 0) || source == (not.Destinations()[e] != large.Destinations()[k/n]) {
				t.Errorf("%d false edges an edge: number %d is %d→%d", n, k, not.In().Cols[e], not.Destinations()[e])
			}
		}
	}
	for want, c := range map[string]Corruptions{`Ends is "Source"`: {Number: 1, Ends: "Source"}, "Number is -1": {Number: -1}} {
		if err := tensor.Try(func() { c.Draw(g, 1) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error about %s", c, err, want)
		}
	}
	pairs := graph.CompleteBipartite(3, 2)
	if not, _ := (Corruptions{Number: 1}).Draw(pairs, 0); not.NumSrc() != 3 || not.NumDst() != 2 || not.Kinds() != nil {
		t.Errorf("the false edges of %v are %v", pairs, not)
	}
}

// BenchmarkWalks walks on a graph of PubMed's size; an operation is 20,000 walks of 80.
func BenchmarkWalks(b *testing.B) {
	g := random.Citation(rand.New(rand.NewPCG(1, 2)), 19717, 108365)
	nodes := make([]int32, 19717)
	for i := range nodes {
		nodes[i] = int32(i)
	}
	for name, w := range map[string]Walks{
		"DeepWalk": {Graph: g, Length: 80},
		"node2vec": {Graph: g, Length: 80, Return: 0.25, Explore: 4},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := w.From(nodes, 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*80*19717/b.Elapsed().Seconds()/1e6, "Msteps/s")
		})
	}
}
