package graph_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
)

// Edges are stored by destination; EdgeOrder leads back to the list.
func ExampleNew() {
	src := []int32{0, 3, 2, 1}
	dst := []int32{2, 0, 0, 2}
	g, err := graph.New(4, src, dst)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g)
	fmt.Println("sources     ", g.In().Cols)
	fmt.Println("destinations", g.Destinations())
	fmt.Println("in the list ", g.EdgeOrder())

	_, err = graph.New(3, src, dst)
	fmt.Println(err)
	// Output:
	// Graph(4 nodes, 4 edges)
	// sources      [3 2 0 1]
	// destinations [0 0 2 2]
	// in the list  [1 2 0 3]
	// graph: edge 1 of 4, 3 → 0: the source is not in 0..2
}

// One layer reads the seeds and their in-neighbours.
func ExampleBlock() {
	g := graph.Ring(8, 1) // v hears v−1
	b, err := graph.Block(g, []int32{5, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b, b.From().Src)
	// Output: Graph(4 → 2 nodes, 2 edges) [5 2 1 4]
}

// A network of two layers reads two hops around its seeds.
func ExampleBlocks() {
	g := graph.Ring(8, 1) // v hears v−1
	blocks, err := graph.Blocks(g, []int32{5, 2}, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("first:", blocks[0], blocks[0].From().Src)
	fmt.Println("last: ", blocks[1], blocks[1].From().Src)
	// Output:
	// first: Graph(6 → 4 nodes, 4 edges) [5 2 1 4 0 3]
	// last:  Graph(4 → 2 nodes, 2 edges) [5 2 1 4]
}

// Two sentences of three and two words.
func ExampleChains() {
	g := graph.Chains(3, 2)
	fmt.Println("roots    ", g.Roots())
	fmt.Println("sinks    ", g.Sinks())
	fmt.Println("positions", g.Positions())
	fmt.Println("sentence ", graph.Membership(g).Destinations())
	levels, _ := g.Levels()
	for i := range levels.Len() {
		fmt.Println("level", i, levels.Order[levels.Offsets[i]:levels.Offsets[i+1]])
	}
	// Output:
	// roots     [0 3]
	// sinks     [2 4]
	// positions [0 1 2 0 1]
	// sentence  [0 0 0 1 1]
	// level 0 [0 3]
	// level 1 [1 4]
	// level 2 [2]
}

// Twice coarsened, a path of eight nodes is one of three.
func ExampleContract() {
	g := graph.Undirected(graph.Chains(8))
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2 {
		cluster, err := analysis.Matching(g, rng, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		if g, _, err = graph.Contract(g, cluster); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(cluster, g)
	}
	// Output:
	// [0 1 1 2 3 3 4 4] Graph(5 nodes, 8 edges)
	// [0 0 1 2 2] Graph(3 nodes, 4 edges)
}

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
func ExampleCoalesce() {
	g := graph.Must(graph.New(3, []int32{0, 0, 1}, []int32{1, 1, 2}))
	links, counts, _ := graph.Coalesce(g)
	both := graph.Undirected(links)
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
	h, err := graph.Subgraph(g, []int32{4, 5, 0})
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

// The code of docs/library/transforms.md is that of the examples of this package.
func TestTransformsGuide(t *testing.T) {
	doc, err := os.ReadFile("../docs/library/transforms.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := ""
	for _, file := range []string{"example_test.go", "analysis/example_test.go", "nearest/example_test.go", "hetero/example_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		examples += string(text)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(blocks) != 7 {
		t.Fatalf("docs/library/transforms.md has %d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(examples, "\n"+b[1]) {
			t.Errorf("docs/library/transforms.md quotes what is not in an example:\n%s", b[1])
		}
	}
}
