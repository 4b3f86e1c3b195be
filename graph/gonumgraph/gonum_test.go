package gonumgraph

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
	"github.com/edgewise-ml/edgewise/tensor"
)

// wide says that a tensor.Float is a float64.
const wide = unsafe.Sizeof(tensor.Float(0)) == 8

func TestView(t *testing.T) {
	graphtest.Each(t, func(t *testing.T, _ *rand.Rand, l graphtest.Edges) {
		g := graph.Must(graph.New(l.NSrc, l.Src, l.Dst))
		v, n := Of(g), int64(g.NumNodes())
		if v.Nodes().Len() != int(n) || v.Node(n) != nil || v.Node(-1) != nil || v.From(n).Len() != 0 || v.To(-1).Len() != 0 || v.Edge(n, 0) != nil {
			t.Fatal("nodes of the view")
		}
		edge := func(x, y int64) bool {
			for e, u := range g.In().Cols {
				if int64(u) == x && int64(g.Destinations()[e]) == y {
					return true
				}
			}
			return false
		}
		for x := range n {
			var to, from []int64
			for y := range n {
				want := edge(x, y)
				if want {
					from = append(from, y)
				}
				if edge(y, x) {
					to = append(to, y)
				}
				e := v.Edge(x, y)
				if v.HasEdgeFromTo(x, y) != want || v.HasEdgeBetween(x, y) != (want || edge(y, x)) || (e != nil) != want || want && (e.From().ID() != x || e.To().ID() != y) {
					t.Fatalf("edge %d → %d is %v, want %v", x, y, e, want)
				}
			}
			if got := idsOf(v.From(x)); !slices.Equal(got, from) {
				t.Fatalf("From(%d) = %v, want %v", x, got, from)
			}
			if got := idsOf(v.To(x)); !slices.Equal(got, to) {
				t.Fatalf("To(%d) = %v, want %v", x, got, to)
			}
		}
		back, ids, weights, err := From(v)
		if err != nil || weights != nil || len(ids) != int(n) || back.Check().Parallel != 0 || back.NumEdges() != g.NumEdges()-g.Check().Parallel {
			t.Fatalf("there and back: %v, %v of %v", err, back, g)
		}
		for e, u := range back.In().Cols {
			if !edge(int64(u), int64(back.Destinations()[e])) {
				t.Fatal("there and back has a new edge")
			}
		}
	})
}

// idsOf returns the IDs of nodes in order.
func idsOf(nodes gonum.Nodes) (ids []int64) {
	for nodes.Next() {
		ids = append(ids, nodes.Node().ID())
	}
	return ids
}

func TestGonumAlgorithms(t *testing.T) {
	g := graph.Must(graph.New(5, []int32{3, 3, 0, 4, 0}, []int32{0, 4, 2, 2, 1}))
	sorted, err := topo.Sort(Of(g))
	if err != nil || len(sorted) != 5 {
		t.Fatal("topo.Sort:", sorted, err)
	}
	at := make([]int, 5)
	for i, n := range sorted {
		at[n.ID()] = i
	}
	for e, u := range g.In().Cols {
		if v := g.Destinations()[e]; at[u] >= at[v] {
			t.Errorf("topo.Sort put %d after %d", u, v)
		}
	}
	if _, err := topo.Sort(Of(graph.Ring(4, 1))); err == nil {
		t.Error("topo.Sort sorted a ring")
	}
	if _, err := topo.Sort(Of(graph.Complete(1))); err != nil {
		t.Error("topo.Sort sees loops now, and the comment of View is wrong:", err)
	}
	for v := range int64(6) { // a ring of 6 both ways, from node 0
		if got, want := path.DijkstraFrom(simple.Node(0), Of(graph.Ring(6, 1, -1))).WeightTo(v), float64(min(v, 6-v)); got != want {
			t.Errorf("path to %d weighs %v, want %v", v, got, want)
		}
	}
}

func TestFromGonum(t *testing.T) {
	d := simple.NewDirectedGraph()
	for _, e := range [][2]int64{{40, -7}, {40, 12}, {-7, 12}} {
		d.SetEdge(simple.Edge{F: simple.Node(e[0]), T: simple.Node(e[1])})
	}
	d.AddNode(simple.Node(99))
	g, ids, _, err := From(d)
	if err != nil || !slices.Equal(ids, []int64{-7, 12, 40, 99}) {
		t.Fatal(ids, err)
	}
	graphtest.Same(t, g, graph.Must(graph.New(4, []int32{0, 2, 2}, []int32{1, 0, 1})))
	u := simple.NewUndirectedGraph()
	u.SetEdge(simple.Edge{F: simple.Node(1), T: simple.Node(5)})
	if g, _, _, err = From(u); err != nil {
		t.Fatal(err)
	}
	graphtest.Same(t, g, graph.Must(graph.New(2, []int32{0, 1}, []int32{1, 0})))
	if g, ids, _, err := From(broken{Of(graph.Ring(3, 1))}); g != nil || ids != nil || err == nil || !strings.Contains(err.Error(), "edge 0 → 1: there is no node 1") {
		t.Error("a broken graph:", g, err)
	}
}

// Weights come in the graph's own order, each line of a multigraph is an edge, and the IDs stay.
func TestFromGonumWeights(t *testing.T) {
	node := func(id int64) gonum.Node { return simple.Node(id) }
	type edge struct {
		u, v int64
		w    tensor.Float
	}
	lines := []edge{{40, -7, 2}, {-7, 40, 3}, {12, -7, 5}, {40, 12, 7}, {40, -7, 11}, {12, 12, 13}}
	directed, undirected := simple.NewWeightedDirectedGraph(0, math.Inf(1)), simple.NewWeightedUndirectedGraph(0, math.Inf(1))
	many, both := multi.NewWeightedDirectedGraph(), multi.NewWeightedUndirectedGraph()
	plain := multi.NewDirectedGraph()
	for i, l := range lines {
		if l.u != l.v { // simple graphs have no loops
			directed.SetWeightedEdge(simple.WeightedEdge{F: node(l.u), T: node(l.v), W: float64(l.w)})
			undirected.SetWeightedEdge(simple.WeightedEdge{F: node(l.u), T: node(l.v), W: float64(l.w)})
		}
		many.SetWeightedLine(multi.WeightedLine{F: node(l.u), T: node(l.v), W: float64(l.w), UID: int64(i)})
		both.SetWeightedLine(multi.WeightedLine{F: node(l.u), T: node(l.v), W: float64(l.w), UID: int64(i)})
		plain.SetLine(multi.Line{F: node(l.u), T: node(l.v), UID: int64(i)})
	}
	for name, c := range map[string]struct {
		src  gonum.Graph
		want []edge // by destination, then by source, then by line
	}{
		"directed":              {directed, []edge{{12, -7, 5}, {40, -7, 11}, {40, 12, 7}, {-7, 40, 3}}},
		"undirected":            {undirected, []edge{{12, -7, 5}, {40, -7, 11}, {-7, 12, 5}, {40, 12, 7}, {-7, 40, 11}, {12, 40, 7}}},
		"lines":                 {many, []edge{{12, -7, 5}, {40, -7, 2}, {40, -7, 11}, {12, 12, 13}, {40, 12, 7}, {-7, 40, 3}}},
		"lines without weights": {plain, []edge{{12, -7, 0}, {40, -7, 0}, {40, -7, 0}, {12, 12, 0}, {40, 12, 0}, {-7, 40, 0}}},
		"undirected lines": {both, []edge{{12, -7, 5}, {40, -7, 2}, {40, -7, 3}, {40, -7, 11}, {-7, 12, 5}, {12, 12, 13}, {40, 12, 7},
			{-7, 40, 2}, {-7, 40, 3}, {-7, 40, 11}, {12, 40, 7}}},
	} {
		g, ids, weights, err := From(c.src)
		if err != nil || !slices.Equal(ids, []int64{-7, 12, 40}) {
			t.Fatal(name, ids, err)
		}
		var got []edge
		for e, u := range g.In().Cols {
			l := edge{ids[u], ids[g.Destinations()[e]], 0}
			if weights != nil {
				l.w = weights[e]
			}
			got = append(got, l)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	barred := simple.NewWeightedDirectedGraph(0, math.Inf(1)) // by an infinite weight, which a Float holds
	barred.SetWeightedEdge(simple.WeightedEdge{F: node(3), T: node(4), W: math.Inf(1)})
	if _, _, weights, err := From(barred); err != nil || len(weights) != 1 || !math.IsInf(float64(weights[0]), 1) {
		t.Errorf("an infinite weight: %v, error %v", weights, err)
	}
	for _, w := range []float64{math.NaN(), 1e300} {
		bad := simple.NewWeightedDirectedGraph(0, math.Inf(1))
		bad.SetWeightedEdge(simple.WeightedEdge{F: node(3), T: node(4), W: w})
		if _, _, _, err := From(bad); (err == nil || !strings.Contains(err.Error(), "gonumgraph: edge 3 → 4: its weight is")) && !(wide && w == 1e300) {
			t.Errorf("weight %v: %v", w, err)
		}
	}
}

// broken is a graph that forgets node 1.
type broken struct{ View }

func (b broken) Nodes() gonum.Nodes {
	return iterator.NewOrderedNodes([]gonum.Node{simple.Node(0), simple.Node(2)})
}
