package docs_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"gonum.org/v1/gonum/graph/traverse"
	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/graph/gonumgraph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// roads are five towns: 10 → 20 → 40 is the way of two roads, 10 → 30 → 20 of two shorter ones.
func roads() *simple.WeightedDirectedGraph {
	src := simple.NewWeightedDirectedGraph(0, math.Inf(1))
	for _, r := range [][3]int64{{10, 20, 5}, {20, 40, 1}, {10, 30, 1}, {30, 20, 1}, {40, 50, 2}} {
		src.SetWeightedEdge(src.NewWeightedEdge(simple.Node(r[0]), simple.Node(r[1]), float64(r[2])))
	}
	return src
}

func TestGonumGraphs(t *testing.T) {
	src := roads()
	g, ids, weights, err := gonumgraph.From(src)
	is(t, "directed", fmt.Sprint(g, ids, weights, err), "Graph(5 nodes, 5 edges) [10 20 30 40 50] [5 1 1 1 2] <nil>")
	row, found := slices.BinarySearch(ids, 30)
	is(t, "row", fmt.Sprint(row, found), "2 true")
	id := ids[row]
	is(t, "id", id, 30)
	e := grad.Const(tensor.Of(weights, len(weights), 1))
	is(t, "weights", e.Shape(), "[5 1]")
	looped := graph.WithSelfLoops(g)
	carried := looped.From().Edges
	is(t, "loops", fmt.Sprint(looped.NumEdges(), carried), "10 [-1 0 1 -1 2 -1 3 -1 4 -1]")

	friends := simple.NewUndirectedGraph()
	friends.SetEdge(friends.NewEdge(simple.Node(3), simple.Node(7)))
	mutual, people, none, err := gonumgraph.From(friends)
	is(t, "undirected", fmt.Sprint(mutual, people, none == nil, err), "Graph(2 nodes, 2 edges) [3 7] true <nil>")

	lines := multi.NewWeightedDirectedGraph()
	for _, w := range []float64{2, 3} {
		lines.SetWeightedLine(lines.NewWeightedLine(multi.Node(1), multi.Node(2), w))
	}
	parallel, stations, fares, err := gonumgraph.From(lines)
	is(t, "multigraph", fmt.Sprint(parallel, stations, fares, err), "Graph(2 nodes, 2 edges) [1 2] [2 3] <nil>")
	once, counts, into := graph.Coalesce(parallel)
	is(t, "coalesced", fmt.Sprint(once, counts, into), "Graph(2 nodes, 1 edges) [2] [0 0]")

	file := filepath.Join(t.TempDir(), "roads.dot")
	text, err := dot.Marshal(gonumgraph.Of(g), "roads", "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Load(file)
	is(t, "dot", fmt.Sprint(d.Graph, d.NodeNames, err), "Graph(5 nodes, 5 edges) [0 1 2 3 4] <nil>")
}

func TestGonumViews(t *testing.T) {
	g, ids, weights, err := gonumgraph.From(roads())
	is(t, "error", err, nil)
	view := gonumgraph.Of(g)
	is(t, "view", view.HasEdgeFromTo(0, 1), true)
	lengths := make([]float64, len(weights))
	for e, w := range weights {
		lengths[e] = float64(w)
	}
	weighted, err := gonumgraph.Weighted(g, lengths)
	w, ok := weighted.Weight(0, 1)
	is(t, "weighted", fmt.Sprint(w, ok, err), "5 true <nil>")
	mutual, err := gonumgraph.Undirected(graph.Undirected(g))
	is(t, "undirected", fmt.Sprint(mutual.HasEdgeBetween(1, 0), err), "true <nil>")
	ring := graph.Ring(3, 1, -1)
	circle, err := gonumgraph.Weighted(ring, []float64{1, 1, 1, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	ringRoad, err := circle.Undirected()
	is(t, "weighted, undirected", fmt.Sprint(ringRoad.WeightedEdgeBetween(2, 1).Weight(), err), "1 <nil>")
	bare := gonumgraph.Of(graph.WithoutSelfLoops(graph.WithSelfLoops(g)))
	is(t, "bare", len(gonum.NodesOf(bare.From(0))), 2)
	own := simple.NewDirectedGraph()
	gonum.Copy(own, view)
	is(t, "copy", own.Edges().Len(), 5)
	text, err := dot.Marshal(view, "roads", "", "  ")
	is(t, "dot", fmt.Sprint(len(text) > 0, err), "true <nil>")

	tree := path.DijkstraFrom(weighted.Node(0), weighted)
	nodes, cost := tree.To(4)
	var towns []int64
	for _, node := range nodes {
		towns = append(towns, ids[node.ID()])
	}
	is(t, "path", fmt.Sprint(towns, cost), "[10 30 20 40 50] 5")
	hops := path.DijkstraFrom(view.Node(0), view)
	is(t, "hops", hops.WeightTo(4), 3)
	all := path.DijkstraAllPaths(weighted)
	is(t, "all", all.Weight(2, 4), 4)
	sorted, err := topo.Sort(view)
	is(t, "sorted", fmt.Sprint(len(sorted), err), "5 <nil>")
	strong := topo.TarjanSCC(view)
	is(t, "strong", len(strong), 5)
	cliques := topo.BronKerbosch(mutual)
	is(t, "cliques", len(cliques), 3)
	between := network.Betweenness(view)
	is(t, "between", between[1], 4)
	hubs := network.HITS(view, 1e-6)
	is(t, "hubs", hubs[0].Hub > hubs[1].Hub, true)
	capacity := network.MaxFlowDinic(weighted, weighted.Node(0), weighted.Node(1), 1e-9)
	is(t, "flow", capacity, 6)
	q := community.Q(mutual, nil, 1)
	is(t, "modularity", q < 0, true)
	walk := traverse.BreadthFirst{}
	last := walk.Walk(view, view.Node(0), nil)
	is(t, "walk", fmt.Sprint(last, len(nodes)), "<nil> 5")
}

// What gonum's algorithms say of a view is what those of package graph say.
func TestGonumOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	g := random.BarabasiAlbert(rng, 200, 3)
	view := gonumgraph.Of(g)
	mutual, err := gonumgraph.Undirected(g)
	if err != nil {
		t.Fatal(err)
	}
	ranks := analysis.PageRank(g, 0.85)
	theirs := network.PageRankSparse(view, 0.85, 1e-9)
	for v, rank := range ranks {
		if want := 200 * theirs[int64(v)]; math.Abs(rank-want) > 1e-5 {
			t.Errorf("rank of %d: %v, want %v", v, rank, want)
		}
	}
	cores := analysis.CoreNumbers(g)
	_, theirCores := topo.DegeneracyOrdering(mutual)
	for k, nodes := range theirCores {
		for _, node := range nodes {
			is(t, "core", cores[node.ID()], k)
		}
	}
	groups := analysis.Communities(rng, g, 1)
	parts := make([][]gonum.Node, slices.Max(groups)+1)
	for v, c := range groups {
		parts[c] = append(parts[c], view.Node(int64(v)))
	}
	best := community.Q(mutual, community.Modularize(mutual, 1, rng).Communities(), 1)
	is(t, "communities", community.Q(mutual, parts, 1) > best-0.03, true)
	count, of := analysis.Components(g)
	is(t, "components", fmt.Sprint(count == len(topo.ConnectedComponents(mutual)), len(of)), "true 200")

	chain := graph.Chains(4)
	levels, err := chain.Levels()
	is(t, "levels", fmt.Sprint(levels.Order, err), "[0 1 2 3] <nil>")
	far, err := graph.AtDistance(chain, 2)
	is(t, "distance", fmt.Sprint(far.In().Cols, far.Destinations(), err), "[0 1] [2 3] <nil>")
	around, err := graph.Neighbourhood(chain, []int32{2}, 1)
	is(t, "around", fmt.Sprint(around.NumNodes(), err), "2 <nil>")
	symmetric := graph.Undirected(chain)
	is(t, "symmetric", symmetric.NumEdges(), 6)
	places, err := analysis.LaplacianVectors(symmetric, 2)
	is(t, "places", fmt.Sprint(places.Shape(), err), "[4 2] <nil>")
	chance := random.Uniform(rng, 100, 300)
	is(t, "random", chance, "Graph(100 nodes, 300 edges)")
	grown := random.BarabasiAlbert(rng, 100, 2)
	is(t, "grown", grown.NumNodes(), 100)
	grid := graph.Grid(3, 4)
	is(t, "grid", grid.NumNodes(), 12)
	matrix := chain.In().Dense()
	is(t, "matrix", matrix.Data, "[0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 0]")
}

func TestGonumMatrices(t *testing.T) {
	words := mat.NewDense(4, 2, []float64{1, 0, 0, 2, 0, 0, 3, 4})
	x := tensor.FromMat(words)
	is(t, "dense", x.Data, "[1 0 0 2 0 0 3 4]")
	bag, err := sparse.FromMat(words)
	is(t, "sparse", fmt.Sprint(bag.NNZ(), err), "4 <nil>")
	m := x.Matrix()
	is(t, "back", mat.Equal(m, words), true)
	n := bag.Matrix()
	is(t, "sparse, back", mat.Equal(n, words), true)
	features := grad.Const(bag)
	is(t, "features", features.Shape(), "[4 2]")
	var svd mat.SVD
	done := svd.Factorize(x.Matrix(), mat.SVDThin)
	is(t, "svd", done, true)
	row := x.Row(3)
	is(t, "row", row, "[3 4]")
	y := tensor.New(4, 4)
	tensor.MatMul(y, x, x, tensor.TransB)
	is(t, "product", y.Data, "[1 0 0 3 0 4 0 8 0 0 0 0 3 8 0 25]")
	chain := graph.Chains(4)
	adjacency := chain.In().Matrix()
	is(t, "adjacency", adjacency.At(1, 0), 1)
	sums := message.UpdateAll(chain, message.U(grad.Const(x)), message.Sum)
	var want mat.Dense
	want.Mul(adjacency, words)
	is(t, "sums", mat.Equal(sums.Value().Matrix(), &want), true)

	conv := &layers.GATConv{In: 2, Out: 3}
	conv.Init(rand.New(rand.NewPCG(1, 2)))
	out := conv.Apply(grad.NewEval(), chain, layers.In{Src: grad.Const(x)})
	alpha := message.ApplyEdges(chain, out.Attention).Value()
	is(t, "attention", alpha.Data, "[1 1 1]")
}
