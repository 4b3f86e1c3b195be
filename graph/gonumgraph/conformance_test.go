package gonumgraph

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/testgraph"
	"gonum.org/v1/gonum/graph/topo"
)

// conformance builds the graphs of gonum's suite.
type conformance struct {
	loops    bool // whether loops are kept
	ids      bool // whether IDs must stay: graphs whose nodes are not 0…n−1 are left out
	weighted bool
	both     bool // whether each edge goes both ways
	built    int
}

// parts returns the nodes' numbers, and the edges with the weights of parallel
// ones added up.
func (c *conformance) parts(nodes []gonum.Node, edges []testgraph.WeightedLine) (number map[int64]int32, weights map[[2]int32]float64) {
	var ids []int64
	for _, n := range nodes {
		ids = append(ids, n.ID())
	}
	for _, e := range edges {
		ids = append(ids, e.From().ID(), e.To().ID())
	}
	slices.Sort(ids)
	number, weights = map[int64]int32{}, map[[2]int32]float64{}
	for i, id := range slices.Compact(ids) {
		number[id] = int32(i)
	}
	for _, e := range edges {
		u, v := number[e.From().ID()], number[e.To().ID()]
		if u == v && !c.loops {
			continue
		}
		if c.both {
			u, v = min(u, v), max(u, v)
		}
		weights[[2]int32{u, v}] += e.Weight()
	}
	return number, weights
}

func (c *conformance) build(nodes []gonum.Node, edges []testgraph.WeightedLine, self, absent float64) (g gonum.Graph, n []gonum.Node, e []testgraph.Edge, s, a float64, ok bool) {
	number, weights := c.parts(nodes, edges)
	for id, i := range number {
		if c.ids && id != int64(i) {
			return nil, nil, nil, 0, 0, false
		}
		n = append(n, simple.Node(i))
	}
	if len(weights) == 0 && len(edges) > 0 {
		return nil, nil, nil, 0, 0, false
	}
	var src, dst []int32
	for k, w := range weights {
		src, dst = append(src, k[0]), append(dst, k[1])
		f, t := simple.Node(k[0]), simple.Node(k[1])
		if c.weighted {
			e = append(e, simple.WeightedEdge{F: f, T: t, W: w})
		} else {
			e = append(e, simple.Edge{F: f, T: t})
		}
	}
	h := graph.Must(graph.New(len(number), src, dst))
	c.built++
	switch {
	case c.weighted:
		w := make([]float64, len(src))
		for k, i := range h.EdgeOrder() {
			w[k] = weights[[2]int32{src[i], dst[i]}]
		}
		if c.both {
			h, w = bothWays(h, w)
		}
		v, err := Weighted(h, w)
		if c.both && err == nil {
			both, err := v.Undirected()
			return both, n, e, self, absent, err == nil
		}
		return v, n, e, self, absent, err == nil
	case c.both:
		v, err := Undirected(graph.Undirected(h))
		return v, n, e, self, absent, err == nil
	}
	return Of(h), n, e, self, absent, true
}

// bothWays returns a graph with an edge back for each, and their weights.
func bothWays(g *graph.Graph, w []float64) (*graph.Graph, []float64) {
	h := graph.Undirected(g)
	weights, from := make([]float64, h.NumEdges()), h.From().Edges
	at := map[[2]int32]float64{}
	for e, u := range g.In().Cols {
		at[[2]int32{u, g.Destinations()[e]}] = w[e]
	}
	for e, u := range h.In().Cols {
		v := h.Destinations()[e]
		if weights[e] = at[[2]int32{v, u}]; from[e] >= 0 {
			weights[e] = w[from[e]]
		}
	}
	return h, weights
}

// Gonum's own suite for implementations of its interfaces.
func TestConformance(t *testing.T) {
	const usesEmpty, reverses = true, true
	for name, c := range map[string]conformance{"View": {loops: true}, "WeightedView": {weighted: true}, "UndirectedView": {both: true}, "WeightedUndirectedView": {weighted: true, both: true}} {
		t.Run(name, func(t *testing.T) {
			exact := conformance{loops: c.loops, weighted: c.weighted, both: c.both, ids: true}
			testgraph.NodeExistence(t, exact.build)
			testgraph.EdgeExistence(t, c.build, reverses)
			testgraph.ReturnAdjacentNodes(t, c.build, usesEmpty, reverses)
			testgraph.ReturnAllNodes(t, c.build, usesEmpty)
			testgraph.ReturnNodeSlice(t, c.build, usesEmpty)
			testgraph.ReturnAllEdges(t, c.build, usesEmpty)
			testgraph.ReturnEdgeSlice(t, c.build, usesEmpty)
			if c.weighted {
				testgraph.ReturnAllWeightedEdges(t, c.build, usesEmpty)
				testgraph.ReturnWeightedEdgeSlice(t, c.build, usesEmpty)
				testgraph.Weight(t, c.build)
			}
			if exact.built < 2 || c.built < 50 {
				t.Errorf("only %d and %d cases of the suite were tried", exact.built, c.built)
			}
		})
	}
}

// The algorithms give on a view what they give on gonum's own graphs.
func TestGonumAlgorithmsAgree(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 11))
		l := graphtest.RandomEdges(rng, false)
		g := graph.WithoutSelfLoops(graph.Must(graph.New(l.NSrc, l.Src, l.Dst)))
		theirs := simple.NewWeightedDirectedGraph(0, math.Inf(1))
		for v := range g.NumNodes() {
			theirs.AddNode(simple.Node(v))
		}
		weights, sums := make([]float64, g.NumEdges()), map[[2]int32]float64{}
		for e, u := range g.In().Cols {
			weights[e] = float64(1 + rng.IntN(9))
			sums[[2]int32{u, g.Destinations()[e]}] += weights[e]
		}
		for k, w := range sums {
			theirs.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(k[0]), T: simple.Node(k[1]), W: w})
		}
		ours, err := Weighted(g, weights)
		if err != nil {
			t.Fatal(err)
		}
		for v := range g.NumNodes() {
			got, want := path.DijkstraFrom(simple.Node(v), ours), path.DijkstraFrom(simple.Node(v), theirs)
			for w := range int64(g.NumNodes()) {
				if got.WeightTo(w) != want.WeightTo(w) {
					t.Fatalf("seed %d: the way %d → %d weighs %v, want %v", seed, v, w, got.WeightTo(w), want.WeightTo(w))
				}
			}
		}
		if g.NumNodes() == 0 {
			continue // gonum's PageRank wants a node
		}
		got, want := network.PageRank(ours, 0.85, 1e-9), network.PageRank(theirs, 0.85, 1e-9)
		if !maps.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) {
			t.Fatalf("seed %d: PageRank %v, want %v", seed, got, want)
		}
		if a, b := components(topo.TarjanSCC(ours)), components(topo.TarjanSCC(theirs)); !slices.EqualFunc(a, b, slices.Equal) {
			t.Fatalf("seed %d: strong components %v, want %v", seed, a, b)
		}
	}
}

// components returns components with their nodes and themselves in order.
func components(scc [][]gonum.Node) [][]int64 {
	var out [][]int64
	for _, c := range scc {
		var ids []int64
		for _, n := range c {
			ids = append(ids, n.ID())
		}
		slices.Sort(ids)
		out = append(out, ids)
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

func TestViewErrors(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{0, 1, 1}, []int32{1, 0, 2}))
	if _, err := Undirected(g); err == nil || err.Error() != "gonumgraph: edge 1 → 2 has no edge back: use graph.Undirected first" {
		t.Error("an edge without one back:", err)
	}
	if _, err := Weighted(g, []float64{1, math.NaN(), 3}); err == nil || err.Error() != "gonumgraph: the weight of edge 1, 0 → 1, is NaN" {
		t.Error("NaN:", err)
	}
	if w, err := Weighted(g, []float64{1, 2, 3}); err != nil {
		t.Error(err)
	} else if _, err := w.Undirected(); err == nil || err.Error() != "gonumgraph: edge 0 → 1 weighs 2 and the edge back 1: an undirected view wants one weight" {
		t.Error("weights that differ:", err)
	}
	if w, err := Weighted(g, []float64{2, 2, 3}); err != nil {
		t.Error(err)
	} else if _, err := w.Undirected(); err == nil || err.Error() != "gonumgraph: edge 1 → 2 has no edge back: use graph.Undirected first" {
		t.Error("weights without an edge back:", err)
	}
	graphtest.Refuses(t, "gonumgraph.Weighted", func() { Weighted(g, []float64{1}) })
	v := Of(graph.Must(graph.New(2, []int32{0, 0, 1}, []int32{1, 1, 1})))
	w, err := Weighted(graph.Must(graph.New(2, []int32{0, 0, 1}, []int32{1, 1, 1})), []float64{2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x, y int64
		w    float64
		ok   bool
	}{{0, 1, 5, true}, {1, 1, 4, true}, {0, 0, 0, true}, {1, 0, math.Inf(1), false}, {7, 1, math.Inf(1), false}, {0, 1 << 40, math.Inf(1), false}} {
		if got, ok := w.Weight(c.x, c.y); got != c.w || ok != c.ok || v.HasEdgeFromTo(c.x, c.y) != (w.Edge(c.x, c.y) != nil) {
			t.Errorf("Weight(%d, %d) = %v, %t; want %v, %t", c.x, c.y, got, ok, c.w, c.ok)
		}
	}
	n := v.To(1)
	if n.Node() != nil || n.Len() != 2 || !n.Next() || n.Len() != 1 || n.Node().ID() != 0 || !n.Next() || n.Next() || n.Len() != 0 || n.Node() != nil {
		t.Error("the iterator's states")
	}
	if n.Reset(); n.Len() != 2 {
		t.Error("Reset left", n.Len())
	}
}
