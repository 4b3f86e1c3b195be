package datasets

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph"
	attributes "gonum.org/v1/gonum/graph/encoding"
	encoding "gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/multi"
	"gonum.org/v1/gonum/graph/simple"
)

// roads is a small graph in DOT.
const roads = `// roads
strict graph "my roads" {
	rankdir=LR; node [shape=box, pop=9]; graph [label="x"]
	a [label="Ann \"A\"", pop=3, class=x, color=red]
	"b c" [class=y pop=4.5];
	3 [pop=0]
	a -- "b c" [weight=2, kind=sea]
	/* a chain, ** and a port */
	a -- 3:n -- "b c"; # the end
# 1 "file"
}
`

const roadsShown = `x ["Ann \"A\"" "b c" "3"]: 0→1:2 0→2:1 1→0:2 1→2:1 2→0:1 2→1:1; labels [0 1 -1] of 2 ["x" "y"]; features [3 1] [3 4.5 0]`

func TestDOT(t *testing.T) {
	for _, c := range []struct{ text, columns, want string }{
		{strings.Replace(roads, ", kind=sea", "", 1), "#-weight", strings.NewReplacer(":2", "", ":1", "").Replace(roadsShown)},
		{strings.Replace(roads, "weight=2, ", "", 1), "", strings.NewReplacer(":2", "", ":1", "", "; features", "; features of edges [6 1] [1 0 1 0 0 0]; features").Replace(roadsShown)},
		{strings.NewReplacer("graph \"", "digraph \"", "--", "->", "weight=2, kind=sea", "").Replace(roads), "", strings.Replace(roadsShown, "0→1:2 0→2:1 1→0:2 1→2:1 2→0:1 2→1:1", "0→1 0→2 2→1", 1)},
		{`digraph { a; subgraph s { b c->d } ; {a b} -> {c, d} [k=u]; c -> d [k=v] e -> e [k=w]}`, "", `x ["a" "b" "c" "d" "e"]: 0→2 0→3 1→2 1→3 2→3; features of edges [5 2] [1 0 1 0 0 1 1 0 1 0]`},
		{"graph{1--2--3[color=red]\n2[color=red];1[color=blue]}", "#color,-shape", ""},
		{"graph{1--2--3\n2[color=red];1[color=blue]}", "#color", `x ["1" "2" "3"]: 0→1 1→0 1→2 2→1; labels [0 1 -1] of 2 ["blue" "red"]`},
		{"\ufeffGRAPH g{ä--<b<i>c</i>> ; -1.5--.5}", "", `x ["ä" "b<i>c</i>" "-1.5" ".5"]: 0→1 1→0 2→3 3→2`},
	} {
		for _, name := range []string{"x.dot", "x.gv.gz"} {
			text := []byte(c.text)
			if name == "x.gv.gz" {
				text = gz(c.text)
			}
			d, err := readWith(put(t, name, text) + c.columns)
			if c.want == "" {
				if err == nil {
					t.Errorf("%s%s: no error", c.text, c.columns)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s%s: %v", c.text, c.columns, err)
			} else if got := shown(d); got != c.want {
				t.Errorf("%s%s: read as\n%s, want\n%s", c.text, c.columns, got, c.want)
			}
		}
	}
}

// What gonum writes is read as the graph that it is.
func TestDOTOfGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		g, want := simple.NewDirectedGraph(), map[string]bool{}
		for range 12 {
			u, v := rng.Int64N(9), rng.Int64N(9)
			if u != v {
				g.SetEdge(simple.Edge{F: simple.Node(u), T: simple.Node(v)})
				want[fmt.Sprintf("%d→%d", u, v)] = true
			}
		}
		text, err := encoding.Marshal(g, "a graph", "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		d, err := readText(string(text), "x.dot")
		if err != nil {
			t.Fatalf("%v of\n%s", err, text)
		}
		got := map[string]bool{}
		for e, u := range d.Graph.In().Cols {
			got[d.NodeNames[u]+"→"+d.NodeNames[d.Graph.Destinations()[e]]] = true
		}
		if !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// dotNode, dotLine, dotEdgeOf and dotDirected are what gonum writes names, attributes and subgraphs of.
type dotNode struct {
	graph.Node
	name string
	dotAttributes
}

func (n dotNode) DOTID() string { return n.name }

type dotLine struct {
	graph.Line
	dotAttributes
}

func (l dotLine) ReversedLine() graph.Line { return dotLine{l.Line.ReversedLine(), l.dotAttributes} }

type dotEdgeOf struct {
	graph.Edge
	dotAttributes
}

func (e dotEdgeOf) ReversedEdge() graph.Edge {
	return dotEdgeOf{e.Edge.ReversedEdge(), e.dotAttributes}
}

type dotAttributes []string

func (a dotAttributes) Attributes() (all []attributes.Attribute) {
	for i := 0; i < len(a); i += 2 {
		all = append(all, attributes.Attribute{Key: a[i], Value: a[i+1]})
	}
	return all
}

type dotDirected struct {
	*simple.DirectedGraph
	name  string
	parts []encoding.Graph
}

func (g dotDirected) DOTID() string               { return g.name }
func (g dotDirected) Structure() []encoding.Graph { return g.parts }

// Names, attributes, weights, subgraphs and parallel edges that gonum writes are read as they
// were given to it.
func TestDOTOfGonumAttributes(t *testing.T) {
	var nodes []dotNode
	for i, name := range []string{`Ann "A"`, `C:\`, `x\y z`, "node", "-1.5", "3x", "中"} {
		nodes = append(nodes, dotNode{simple.Node(i), name, dotAttributes{"class", []string{"b", "a c"}[i%2], "pop", fmt.Sprint(i)}})
	}
	nodes[2].dotAttributes = dotAttributes{"pop", "2"}
	of := func(from, to int, attributes ...string) (graph.Edge, dotAttributes) {
		return simple.Edge{F: nodes[from], T: nodes[to]}, attributes
	}
	edges := func(set func(graph.Edge)) {
		for _, ends := range [][2]int{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {6, 5}} {
			e, a := of(ends[0], ends[1], "weight", fmt.Sprint(ends[0])+".5", "label", `the "label"`)
			set(dotEdgeOf{e, a})
		}
	}
	const wholeShown = `x ["Ann \"A\"" "C:\\" "x\\y z" "node" "-1.5" "3x" "中"]: %s; labels [1 0 -1 0 1 0 1] of 2 ["a c" "b"]; features [7 1] [0 1 2 3 4 5 6]`
	const directed = "0→1:0.5 1→2:1.5 2→0:2.5 3→4:3.5 6→5:6.5"
	const both = "0→1:0.5 0→2:2.5 1→0:0.5 1→2:1.5 2→0:2.5 2→1:1.5 3→4:3.5 4→3:3.5 5→6:6.5 6→5:6.5"
	doubled := func(edges string) string { // the weights of parallel edges add up
		return strings.NewReplacer("0.5", "1", "1.5", "3", "2.5", "5", "3.5", "7", "6.5", "13").Replace(edges)
	}
	read := func(what, want string, text []byte, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		d, err := readText(string(text), "x.dot")
		if err != nil {
			t.Fatalf("%s: %v of\n%s", what, err, text)
		}
		if d.Name = "x"; shown(d) != fmt.Sprintf(wholeShown, want) {
			t.Errorf("%s: read as\n%s, want\n%s, of\n%s", what, shown(d), fmt.Sprintf(wholeShown, want), text)
		}
	}

	whole, part := simple.NewDirectedGraph(), simple.NewDirectedGraph()
	undirected := simple.NewUndirectedGraph()
	lines, ways := multi.NewDirectedGraph(), multi.NewUndirectedGraph()
	for _, n := range nodes {
		whole.AddNode(n)
		undirected.AddNode(n)
		lines.AddNode(n)
		ways.AddNode(n)
	}
	edges(whole.SetEdge)
	edges(undirected.SetEdge)
	edges(func(e graph.Edge) {
		for id := range int64(2) {
			l := dotLine{multi.Line{F: e.From(), T: e.To(), UID: id}, e.(dotEdgeOf).dotAttributes}
			lines.SetLine(l)
			ways.SetLine(l)
		}
	})
	e, _ := of(0, 1)
	part.SetEdge(e)
	text, err := encoding.Marshal(whole, "all", "", "\t")
	read("directed", directed, text, err)
	text, err = encoding.Marshal(dotDirected{whole, "all", []encoding.Graph{dotDirected{part, "a part", nil}}}, "", "", "\t")
	read("a strict graph, an edge of which is in a subgraph, too", directed, text, err)
	text, err = encoding.Marshal(undirected, "all", "  ", " ")
	read("undirected", both, text, err)
	text, err = encoding.MarshalMulti(lines, "", "", " ")
	read("directed lines", doubled(directed), text, err)
	text, err = encoding.MarshalMulti(ways, "graph", "", " ")
	read("lines", doubled(both), text, err)
}

// An edge of a strict graph has the attributes of all statements that name it, the last of each,
// and they are not copied for each: two thousand statements took 74 MB, and twice as many four times that.
func TestDOTStrictMemory(t *testing.T) {
	var text strings.Builder
	text.WriteString("strict graph {\na -- b [first=7]\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "a -- b [weight=%d]\n", i+1)
	}
	path := filepath.Join(t.TempDir(), "again.dot")
	if err := os.WriteFile(path, []byte(text.String()+"}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := readWith(path)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("%d bytes were allocated", took)
	}
	if d.Graph.NumEdges() != 2 || d.Weights[0] != 2000 || d.EdgeFeatures == nil || d.EdgeFeatures.Row(0)[0] != 7 {
		t.Errorf("%v with weights %v and features %v", d.Graph, d.Weights, d.EdgeFeatures)
	}
}

func badDOT() []bad {
	of := func(text string) func(*testing.T, string) error { return fileOf("x.dot", []byte(text)) }
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, "%d ", i)
	}
	return []bad{
		{"empty", of(""), "DIR/x.dot: line 1: it ends before its graph does: is it cut?"},
		{"no graph", of("hello {}"), `DIR/x.dot: line 1: "hello" stands there, want graph or digraph`},
		{"no nodes", of("graph {}"), "DIR/x.dot: line 1: there are no nodes in it"},
		{"no edges", of("graph {a}"), "DIR/x.dot: there are no edges in it"},
		{"cut", of(roads[:200]), "DIR/x.dot: line 7: it ends before its graph does: is it cut?"},
		{"cut gzip", fileOf("x.dot.gz", gz(roads)[:60]), "DIR/x.dot.gz: line 1: the gzip file ends early: it was cut, so download or copy it again"},
		{"arrow in a graph", of("graph {\na -> b}"), "DIR/x.dot: line 2: -> stands there; edges of a digraph are ->, and those of a graph --"},
		{"no arrow in a digraph", of("digraph {\na -- b}"), "DIR/x.dot: line 2: -- stands there; edges of a digraph are ->, and those of a graph --"},
		{"no end", of("graph {a -- ;}"), `DIR/x.dot: line 1: ";" stands there, want a node, an edge or }`},
		{"empty name", of(`graph {"" -- a}`), "DIR/x.dot: line 1: the name of a node is empty"},
		{"open quote", of("graph {\na -- \"b\n}"), "DIR/x.dot: line 2: a quote is not closed"},
		{"open comment", of("graph {\na -- b} /*/"), "DIR/x.dot: line 2: a comment is not closed"},
		{"open HTML", of("graph {\na -- <b>> }"), `DIR/x.dot: line 2: '>' begins no token: put the name that it is of in quotes`},
		{"other letter", of("graph {a -- b@c}"), `DIR/x.dot: line 1: '@' begins no token: put the name that it is of in quotes`},
		{"value without", of("graph {a -- b [k=]}"), `DIR/x.dot: line 1: "]" stands there, want a value`},
		{"two graphs", of("graph {a -- b}\ngraph {c -- d}"), "DIR/x.dot: line 2: something follows the graph, and one is read: write each to a file of its own"},
		{"deep", of("graph " + strings.Repeat("{", 200)), "DIR/x.dot: line 1: subgraphs are nested deeper than 100"},
		{"infinite number", of("graph {\na [n=-inf]\na -- b}"), `DIR/x.dot: line 2, column "n": -Inf is no finite number, as features are`},
		{"weight is a word", of("graph {a\na -- b [weight=x]}"), `DIR/x.dot: line 2, column "weight": the weight is "x", want a finite number`},
		{"squares", of("graph {" + strings.Repeat("{"+many.String()+"}--{"+many.String()+"}", 1) + "}"), "DIR/x.dot: line 1: subgraphs of 2000 and 2000 nodes make so many edges, 4000000, that they are not believed of 17794 bytes"},
	}
}

func FuzzDOT(f *testing.F) {
	f.Add(roads, "")
	f.Add(roads, "color,-pop,kind")
	f.Add(`digraph { a; subgraph s { b c->d } ; {a b} -> {c, d} [k=u]; e -> e [k="w" l=<x>]}`, "k,-l,undirected")
	f.Fuzz(func(t *testing.T, text, columns string) {
		d, err := readText(text, "x.dot#"+strings.ReplaceAll(columns, "#", ""))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.dot: ") {
				t.Fatalf("no file is named: %v", err)
			}
			return
		}
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
