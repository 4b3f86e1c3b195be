package graph_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A papers' network whose ids are names. Rows of features follow ids.
func ExampleNewCompact() {
	g, ids, err := graph.NewCompact([]string{"gat", "gcn", "gat"}, []string{"gcn", "spectral", "attention"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g, ids)
	for e, u := range g.In().Cols {
		fmt.Println(ids[u], "cites", ids[g.Destinations()[e]])
	}
	// Output:
	// Graph(4 nodes, 3 edges) [attention gat gcn spectral]
	// gat cites attention
	// gat cites gcn
	// gcn cites spectral
}

// The in-edges and out-edges of a node, without an allocation.
func ExampleGraph_Sources() {
	g := graph.Must(graph.New(4, []int32{0, 3, 2, 0}, []int32{2, 0, 0, 1}))
	for e, u := range g.Sources(0) {
		fmt.Printf("edge %d: %d → 0\n", e, u)
	}
	for e, v := range g.Targets(0) {
		fmt.Printf("edge %d: 0 → %d\n", e, v)
	}
	// Output:
	// edge 0: 3 → 0
	// edge 1: 2 → 0
	// edge 2: 0 → 1
	// edge 3: 0 → 2
}

// Weights of a list of directed links, with repetitions, become those of a
// symmetric graph.
func ExampleGraph_Coalesce() {
	g := graph.Must(graph.New(3, []int32{0, 0, 1}, []int32{1, 1, 2}))
	links, counts, _ := g.Coalesce()
	both := links.Undirected()
	for e, u := range both.In().Cols {
		fmt.Printf("%d → %d seen %d times\n", u, both.Destinations()[e], counts[both.From().Edges[e]])
	}
	// Output:
	// 1 → 0 seen 2 times
	// 0 → 1 seen 2 times
	// 2 → 1 seen 1 times
	// 1 → 2 seen 1 times
}

// Rows of a derived graph's edges and nodes come from the parent's by From.
func ExampleOrigin() {
	g := graph.Ring(6, 1)
	h, err := g.Subgraph([]int32{4, 5, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("nodes", h.From().Src)
	fmt.Println("edges", h.From().Edges)
	// Output:
	// nodes [4 5 0]
	// edges [5 0]
}

// A mask of attention over two sentences holds two blocks and no edges.
func ExampleSpan() {
	g := graph.Batch(graph.Causal(3), graph.Causal(500))
	for _, s := range g.Spans() {
		fmt.Printf("%d sources from %d, %d destinations from %d, %v: %d edges\n", s.NumSrc, s.Src, s.NumDst, s.Dst, s.Mask, s.NumEdges())
	}
	// Output:
	// 3 sources from 0, 3 destinations from 0, causal: 6 edges
	// 500 sources from 3, 500 destinations from 3, causal: 125250 edges
}

// Levels of a small circuit.
func ExampleLevels() {
	g := graph.Must(graph.New(5, []int32{0, 1, 2, 0}, []int32{2, 2, 3, 3}))
	l, err := g.Levels()
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range l.Len() {
		fmt.Println(l.Order[l.Offsets[i]:l.Offsets[i+1]])
	}
	_, err = graph.Ring(3, 1).Levels()
	fmt.Println(err)
	// Output:
	// [0 1 4]
	// [2]
	// [3]
	// graph: cycle through nodes 0 → 1 → 2 → 0
}

func ExampleReport() {
	fmt.Println(graph.Must(graph.New(4, []int32{0, 0}, []int32{1, 1})).Check())
	// Output:
	// 3 nodes have no in-edges and receive no messages (first: 0); add self-loops?
	// 2 nodes have no edges at all (first: 2)
	// 1 edges repeat another edge and count again
}

// The two nearest of five points.
func ExampleKNN() {
	g, err := graph.KNN(tensor.Of([]tensor.Float{0, 1, 3, 7, 8}, 5, 1), 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for v := range g.NumNodes() {
		for _, u := range g.Sources(v) {
			fmt.Print(u, " ")
		}
		fmt.Println("→", v)
	}
	// Output:
	// 1 2 → 0
	// 0 2 → 1
	// 1 0 → 2
	// 4 2 → 3
	// 3 2 → 4
}

func ExamplePowerLaw() {
	g, err := graph.PowerLaw(rand.New(rand.NewPCG(1, 2)), 1000, 20_000, 0.75)
	if err != nil {
		fmt.Println(err)
		return
	}
	most := int32(0)
	for _, d := range g.InDegrees() {
		most = max(most, d)
	}
	fmt.Println(g, "with a hub:", most > 10*20)
	// Output: Graph(1000 nodes, 20000 edges) with a hub: true
}

// Authors write papers, and papers cite papers.
func ExampleHetero() {
	writes, cites := graph.Rel{Src: "author", Name: "writes", Dst: "paper"}, graph.Rel{Src: "paper", Name: "cites", Dst: "paper"}
	h, err := graph.NewHetero(map[string]int{"author": 2, "paper": 3}, map[graph.Rel]*graph.Graph{
		writes: graph.Must(graph.NewBipartite(2, 3, []int32{0, 0, 1}, []int32{0, 1, 2})),
		cites:  graph.Must(graph.New(3, []int32{2}, []int32{0})),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range h.Into("paper") {
		fmt.Println(r, h.Graph(r))
	}
	g, ends := h.Homogeneous()
	fmt.Println(g, "kinds", g.Kinds(), "types from", ends)
	// Output:
	// author -writes-> paper Graph(2 → 3 nodes, 3 edges)
	// paper -cites-> paper Graph(3 nodes, 1 edges)
	// Graph(5 nodes, 4 edges) kinds [0 1 0 0] types from [0 2 5]
}

// Gonum's algorithms run on a view.
func ExampleView() {
	g := graph.Must(graph.New(4, []int32{0, 1, 2, 1}, []int32{1, 2, 0, 3}))
	fmt.Println("strong components:", len(topo.TarjanSCC(g.Gonum())))
	v, err := g.GonumWeighted([]float64{1, 1, 1, 5}) // by edge: into 0, 1, 2, 3
	if err != nil {
		fmt.Println(err)
		return
	}
	way, length := path.DijkstraFrom(v.Node(0), v).To(3)
	fmt.Println("way to 3:", way, length)
	// Output:
	// strong components: 2
	// way to 3: [0 1 3] 6
}

// One list of nodes and one of edges becomes a graph for each relation.
func ExampleGraph_Heterogeneous() {
	g := graph.Must(graph.Must(graph.New(4, []int32{0, 0, 2, 3}, []int32{1, 3, 1, 1})).WithKinds([]int32{0, 0, 0, 1}))
	h, nodes, err := g.Heterogeneous([]string{"author", "paper"}, []int32{0, 1, 0, 1}, []string{"writes", "cites"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range h.Rels() {
		fmt.Println(r, h.Graph(r))
	}
	fmt.Println(nodes)
	// Output:
	// author -writes-> paper Graph(2 → 2 nodes, 3 edges)
	// paper -cites-> paper Graph(2 nodes, 1 edges)
	// map[author:[0 2] paper:[1 3]]
}

// Two sets of points, of which none hears one of the other set, by the angles between them.
func ExampleNearest() {
	points := tensor.Of([]tensor.Float{1, 0, 5, 1, 0, 2, 1, 1, 2, 2.2}, 5, 2)
	g, err := graph.Nearest{K: 1, Cosine: true, Members: []int{0, 3, 5}}.Graph(points)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.In().Cols, g.NodeOffsets())
	// Output: [1 0 1 4 3] [0 3 5]
}

// PageRank, core numbers and the four largest communities become features beside those of a dataset.
func ExampleCommunities() {
	d := datasets.Karate()
	cores := graph.CoreNumbers(d.Graph)
	ranks, err := graph.PageRank(d.Graph, 0.85)
	if err != nil {
		fmt.Println(err)
		return
	}
	community, err := graph.Communities(rand.New(rand.NewPCG(0, 0)), d.Graph, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := tensor.New(d.Graph.NumNodes(), 6)
	for v := range d.Graph.NumNodes() {
		x.Row(v)[0] = tensor.Float(math.Log(ranks[v]))
		x.Row(v)[1] = tensor.Float(math.Log1p(float64(cores[v])))
		if c := community[v]; c < 4 {
			x.Row(v)[2+c] = 1
		}
	}
	d = d.WithFeatures(x)
	fmt.Println(d.Features.Shape())
	// Output: [34 40]
}

// A block of one graph becomes one of several types: what a layer reads to say something of paper 0.
func ExampleHetero_Split() {
	h, err := graph.NewHetero(map[string]int{"author": 3, "paper": 3}, map[graph.Rel]*graph.Graph{
		{Src: "author", Name: "writes", Dst: "paper"}: graph.Must(graph.NewBipartite(3, 3, []int32{2, 1, 0}, []int32{0, 1, 2})),
		{Src: "paper", Name: "cites", Dst: "paper"}:   graph.Must(graph.New(3, []int32{1}, []int32{0})),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	all, ends := h.Homogeneous()
	b, err := all.Block([]int32{int32(ends[1])}) // paper 0: papers are type number 1
	if err != nil {
		fmt.Println(err)
		return
	}
	block, rows, err := h.Split(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	for k, name := range block.Types() {
		fmt.Printf("%s, %d of %d destinations:", name, block.NumDst(name), block.NumNodes(name))
		for _, row := range rows[name] {
			fmt.Print(" ", b.From().Src[row]-int32(ends[k]))
		}
		fmt.Println()
	}
	for _, r := range block.Rels() {
		fmt.Println(r, block.Graph(r))
	}
	// Output:
	// author, 0 of 1 destinations: 2
	// paper, 1 of 2 destinations: 0 1
	// author -writes-> paper Graph(1 → 1 nodes, 1 edges)
	// paper -cites-> paper Graph(2 → 1 nodes, 1 edges)
}
