package form

import (
	"fmt"
	"strings"
	"testing"
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

const roadsShown = `3 nodes, 3 listed ["a" "b c" "3"]; label word (title) ["Ann \"A\""][0 -1 -1]; pop number [3 4.5 0]; class word ["x" "y"][0 1 -1]; color word (unused) ["red"][0 -1 -1]
3 edges 0→1 0→2 2→1, undirected; weight number [2 NaN NaN]; kind word ["sea"][0 -1 -1]
`

func TestDOT(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{roads, roadsShown},
		{strings.NewReplacer("strict graph \"", "digraph \"", "--", "->", "kind=sea", `label="by sea"`).Replace(roads), strings.NewReplacer("3 edges 0→1 0→2 2→1, undirected", "3 edges 0→1 0→2 2→1",
			`kind word ["sea"][0 -1 -1]`, `label word (unused) ["by sea"][0 -1 -1]`).Replace(roadsShown)},
		{`digraph { a; subgraph s { b c->d } ; {a b} -> {c, d} [k=u]; c -> d [k=v] e -> e [k=w]}`, `5 nodes, 5 listed ["a" "b" "c" "d" "e"]
7 edges 2→3 0→2 0→3 1→2 1→3 2→3 4→4; k word ["u" "v" "w"][-1 0 0 0 0 1 2]
`},
		{"\ufeffGRAPH g{ä--<b<i>c</i>> ; -1.5--.5}", `4 nodes, 4 listed ["ä" "b<i>c</i>" "-1.5" ".5"]` + "\n2 edges 0→1 2→3, undirected\n"},
		{"graph {a}", "1 nodes, 1 listed [\"a\"]\n0 edges, undirected\n"},
	} {
		r, err := dot(strings.NewReader(c.text), "x.dot")
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := shownRaw(r); got != c.want {
			t.Errorf("%s: read as\n%s, want\n%s", c.text, got, c.want)
		}
		if err := checkRaw(r); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	r, err := dot(strings.NewReader(roads), "x.dot")
	if err != nil || r.Nodes[0].Origin.At(1) != "x.dot: line 5" || r.Edges[0].Origin.At(2) != "x.dot: line 9" {
		t.Errorf("%s, %s, error %v", r.Nodes[0].Origin.At(1), r.Edges[0].Origin.At(2), err)
	}
	var again strings.Builder // an edge of a strict graph that is named over and over
	again.WriteString("strict graph {\n")
	for i := range 2000 {
		fmt.Fprintf(&again, "a -- b [weight=%d]\n", i+1)
	}
	if r, err = dot(strings.NewReader(again.String()+"}"), "x.dot"); err != nil || r.Edges[0].Rows != 1 || r.Edges[0].Columns[0].Numbers[0] != 2000 {
		t.Errorf("%v, error %v", r, err)
	}
}

func TestBadDOT(t *testing.T) {
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, "%d ", i)
	}
	for _, c := range []struct{ text, want string }{
		{"", "x.dot: line 1: it ends before its graph does: is it cut?"},
		{"hello {}", `x.dot: line 1: "hello" stands there, want graph or digraph`},
		{"graph {}", "x.dot: line 1: there are no nodes in it"},
		{roads[:200], "x.dot: line 7: it ends before its graph does: is it cut?"},
		{"graph {\na -> b}", "x.dot: line 2: -> stands there; edges of a digraph are ->, and those of a graph --"},
		{"digraph {\na -- b}", "x.dot: line 2: -- stands there; edges of a digraph are ->, and those of a graph --"},
		{"graph {a -- ;}", `x.dot: line 1: ";" stands there, want a node, an edge or }`},
		{`graph {"" -- a}`, "x.dot: line 1: the name of a node is empty"},
		{"graph {\na -- \"b\n}", "x.dot: line 2: a quote is not closed"},
		{"graph {\na -- b} /*/", "x.dot: line 2: a comment is not closed"},
		{"graph {\na -- <b>> }", `x.dot: line 2: '>' begins no token: put the name that it is of in quotes`},
		{"graph {a -- b@c}", `x.dot: line 1: '@' begins no token: put the name that it is of in quotes`},
		{"graph {a -- b [k=]}", `x.dot: line 1: "]" stands there, want a value`},
		{"graph {a -- b}\ngraph {c -- d}", "x.dot: line 2: something follows the graph, and one is read: write each to a file of its own"},
		{"graph " + strings.Repeat("{", 200), "x.dot: line 1: subgraphs are nested deeper than 100"},
		{"graph {" + strings.Repeat("{"+many.String()+"}--{"+many.String()+"}", 1) + "}", "x.dot: line 1: subgraphs of 2000 and 2000 nodes make so many edges, 4000000, that they are not believed of 17794 bytes"},
	} {
		if _, err := dot(strings.NewReader(c.text), "x.dot"); err == nil || err.Error() != c.want {
			t.Errorf("%.60s: error %v, want %s", c.text, err, c.want)
		}
	}
	bomb := zipped("graph {" + strings.Repeat("a--b;", 500_000) + "}")
	if _, err := dot(packedReader(t, bomb), "x.dot.gz"); err == nil || !strings.Contains(err.Error(), "which is refused: unpack it first, if you trust it") {
		t.Errorf("a bomb: error %v", err)
	}
}

func FuzzDOT(f *testing.F) {
	f.Add(roads)
	f.Add(`digraph { a; subgraph s { b c->d } ; {a b} -> {c, d} [k=u]; e -> e [k="w" l=<x>]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := dot(strings.NewReader(text), "x.dot")
		if err == nil {
			err = checkRaw(r)
		} else if strings.HasPrefix(err.Error(), "x.dot: ") {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
