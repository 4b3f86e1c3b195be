package datasets

import (
	"fmt"
	"strings"
	"testing"
)

// club is a small graph as networkx writes it.
const club = `<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="age" attr.type="int"/>
  <key id="d1" for="node" attr.name="town" attr.type="string"><desc>where</desc><default>Rome</default></key>
  <key id="d2" for="node" attr.name="class" attr.type="string"/>
  <key id="d3" for="edge" attr.name="weight" attr.type="double"/>
  <key id="d4" for="edge" attr.name="kind" attr.type="string"/>
  <key id="d5" for="node" attr.name="fan" attr.type="boolean"><default>false</default></key>
  <key id="d6" for="graph" attr.name="name" attr.type="string"/>
  <graph edgedefault="undirected"><data key="d6">club</data>
    <node id="n0"><data key="d0">30</data><data key="d2">x</data></node>
    <node id="n1"><data key="d0">20</data><data key="d1">7</data><data key="d5">true</data></node>
    <!-- the last -->
    <node id="n2"><data key="d0"> 0 </data><data key="d2">y</data></node>
    <edge source="n0" target="n1"><data key="d3">0.5</data><data key="d4">a&amp;b</data></edge>
    <edge id="e7" source="n2" target="n1"><data key="d3">2</data></edge>
  </graph>
</graphml>
`

const clubShown = `x ["n0" "n1" "n2"]: 0→1:0.5 1→0:0.5 1→2:2 2→1:2; labels [0 -1 1] of 2 ["x" "y"]; features of edges [4 1] [1 1 0 0]; features [3 4] [30 0 1 0 20 1 0 1 0 0 1 0]`

func TestGraphML(t *testing.T) {
	replace := func(parts ...string) string { return strings.NewReplacer(parts...).Replace(club) }
	for what, c := range map[string]struct{ text, columns, want string }{
		"undirected":       {club, "", clubShown},
		"directed":         {replace("undirected", "directed"), "", strings.NewReplacer("0→1:0.5 1→0:0.5 1→2:2 2→1:2", "0→1:0.5 2→1:2", "[4 1] [1 1 0 0]", "[2 1] [1 0]").Replace(clubShown)},
		"one is directed":  {replace(`target="n1"><data key="d3">2`, `target="n1" directed="true"><data key="d3">2`), "", strings.NewReplacer(" 1→2:2 2→1:2", " 2→1:2", "[4 1] [1 1 0 0]", "[3 1] [1 1 0]").Replace(clubShown)},
		"one is not":       {replace("undirected", "directed", `target="n1"><data key="d3">2`, `target="n1" directed="false"><data key="d3">2`), "", strings.NewReplacer("0→1:0.5 1→0:0.5", "0→1:0.5", "[4 1] [1 1 0 0]", "[3 1] [1 0 0]").Replace(clubShown)},
		"columns":          {club, "#fan,-age,-kind,-weight,-class", `x ["n0" "n1" "n2"]: 0→1 1→0 1→2 2→1; labels [0 1 0] of 2 ["false" "true"]; features [3 2] [0 1 1 0 0 1]`},
		"labels of edges":  {replace(`<data key="d3">2</data>`, `<data key="d3">2</data><data key="d4">c</data>`), "#kind,-weight", `x ["n0" "n1" "n2"]: 0→1 1→0 1→2 2→1; labels of edges [0 0 1 1] of 2 ["a&b" "c"]; features [3 6] [30 0 1 0 1 0 20 1 0 0 0 1 0 0 1 0 0 0]`},
		"without declared": {`<graphml><graph edgedefault="directed"><node id="5"/><node id="3"/><edge source="5" target="3"/></graph></graphml>`, "", `x ["3" "5"]: 1→0`},
	} {
		for _, name := range []string{"x.graphml", "x.graphml.gz"} {
			if name == "x.graphml.gz" {
				c.text = string(gz(c.text))
			}
			d, err := readWith(put(t, name, []byte(c.text)) + c.columns)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			want := c.want
			if what == "labels of edges" { // class is a feature where another column is learnt
				want = strings.Replace(want, "features [3 6] [30 0 1 0 1 0 20 1 0 0 0 1 0 0 1 0 0 0]", "features [3 6] [30 0 1 1 0 0 20 1 0 0 0 1 0 0 1 0 1 0]", 1)
			}
			if got := shown(d); got != want {
				t.Errorf("%s: read as\n%s, want\n%s", what, got, want)
			}
		}
	}
	if d, err := readWith(put(t, "x.zip", zipOf("a/x.graphml", club))); err != nil || shown(d) != clubShown {
		t.Errorf("in an archive: %v, error %v", d, err)
	}
	if d, err := readWith(saved(t, t.TempDir(), "x.graphml", club, "README.md", "")); err != nil || shown(d) != clubShown {
		t.Errorf("in a folder: %v, error %v", d, err)
	}
}

func badGraphML() []bad {
	of := func(text string, parts ...string) func(*testing.T, string) error {
		return fileOf("x.graphml", []byte(strings.NewReplacer(parts...).Replace(text)))
	}
	const edge7 = `<edge id="e7"`
	return []bad{
		{"empty", of(""), "DIR/x.graphml: line 1: there is no graph in it"},
		{"no XML", of("hello"), "DIR/x.graphml: line 1: there is no graph in it"},
		{"of another kind", of("<html><body/></html>"), "DIR/x.graphml: line 1: <html> stands there, want <graphml>, and in it keys and a graph"},
		{"cut", of(club[:strings.Index(club, "<!--")]), "DIR/x.graphml: line 13: it ends before its elements do: is it cut?"},
		{"cut gzip", fileOf("x.graphml.gz", gz(club)[:300]), "DIR/x.graphml.gz: line 11: the gzip file ends early: it was cut, so download or copy it again"},
		{"other end", of(club, "</node>\n    <!--", "</nod>\n    <!--"), "DIR/x.graphml: line 12: element <node> closed by </nod>"},
		{"unknown node", of(club, `target="n1"`, `target="n9"`), `DIR/x.graphml: line 15: node "n9" is not in DIR/x.graphml: add it there, or leave its edges out`},
		{"node twice", of(club, `id="n1"`, `id="n0"`), `DIR/x.graphml: line 12, column "id": node "n0" stands in line 11 already`},
		{"node without id", of(club, ` id="n1"`, ``), `DIR/x.graphml: line 12, column "id": it is empty`},
		{"edge without end", of(club, ` target="n1"`, ``), `DIR/x.graphml: line 15: an end of the edge is empty`},
		{"unknown key", of(club, `<data key="d0">20`, `<data key="d9">20`), `DIR/x.graphml: line 12: there is no <key> "d9" before the graph, which would say what that data are`},
		{"key twice", of(club, `id="d5"`, `id="d0"`), `DIR/x.graphml: line 8: the key "d0" has no id, or that of another`},
		{"unknown type", of(club, `attr.type="int"`, `attr.type="date"`), `DIR/x.graphml: line 3: the type of key "d0" is "date"; want boolean, int, long, float, double or string`},
		{"int of a word", of(club, `>20<`, `>old<`), `DIR/x.graphml: line 12, key "d0" (age): "old" is no int`},
		{"infinite number", of(club, `>20<`, `>-INF<`), `DIR/x.graphml: line 12, column "age": -Inf is no finite number, as features are`},
		{"weight is missing", of(club, `<data key="d3">2</data>`, ``), `DIR/x.graphml: line 16, column "weight": the edge has no weight, and others have one: write it, 1 perhaps, or leave the column out with --column weight=none`},
		{"encoding", of(`<?xml version="1.0" encoding="ISO-8859-1"?>` + "\n<graphml/>"), `DIR/x.graphml: line 1: its encoding is "ISO-8859-1": save it as UTF-8`},
		{"ascii", of(`<?xml version="1.0" encoding="US-ASCII"?>` + "\n<graphml/>"), "DIR/x.graphml: line 2: there is no graph in it"},
		{"nested graph", of(club, `<data key="d0">20</data>`, `<graph/>`), "DIR/x.graphml: line 12: a graph within a node is not read: write it to a file of its own"},
		{"nested value", of(club, `>20<`, `><b/><`), "DIR/x.graphml: line 12: <b> stands there, want a value"},
		{"hyperedge", of(club, edge7, "<hyperedge/>"+edge7), "DIR/x.graphml: line 16: a hyperedge joins several nodes, and edges of two are read: write an edge for each pair"},
		{"two graphs", of(club, "</graphml>", "<graph/></graphml>"), "DIR/x.graphml: line 18: a second graph begins, and one is read: write each to a file of its own"},
		{"key behind", of(club, "</graphml>", `<key id="d9"/></graphml>`), "DIR/x.graphml: line 18: a <key> stands behind the graph, whose attributes it declares: put it before"},
		{"no edges", of(club[:strings.Index(club, "    <edge")] + "</graph></graphml>"), "DIR/x.graphml: there are no edges in it"},
		{"no nodes", of("<graphml><graph/></graphml>"), "DIR/x.graphml: there are no edges in it"},
		{"edgedefault", of(club, `"undirected"`, `"both"`), `DIR/x.graphml: line 10: edgedefault is "both", want directed or undirected`},
		{"entity", of(club, `>20<`, `>&age;<`), "DIR/x.graphml: line 12: invalid character entity &age;"},
		{"deep", of(club, "<!-- the last -->", strings.Repeat("<a>", 200)), "DIR/x.graphml: line 13: elements are nested deeper than 100"},
		{"long tag", of(club, `id="n1"`, `id="`+strings.Repeat("n", 1<<18)+`"`), fmt.Sprintf("DIR/x.graphml: line 12: more than %d bytes are without the end of a tag", 1<<18)},
		{"no such column", func(t *testing.T, dir string) error {
			_, err := readWith(saved(t, dir, "x.graphml", club) + "/x.graphml#agee")
			return err
		}, `DIR/x.graphml: there is no column "agee" (is "age" meant?); there are "age", "town", "class", "fan", "weight", "kind"`},
	}
}

func FuzzGraphML(f *testing.F) {
	f.Add(club, "")
	f.Add(club, "fan,-age,-kind,-weight,undirected")
	f.Add(`<graphml><key id="a"/><graph><node id="1"><data key="a">2024-01-01</data></node><node id="2"/><edge source="1" target="2" directed="false"/></graph></graphml>`, "a")
	f.Fuzz(func(t *testing.T, text, columns string) {
		d, err := readText(text, "x.graphml#"+strings.ReplaceAll(columns, "#", ""))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.graphml: ") {
				t.Fatalf("no file is named: %v", err)
			}
			return
		}
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
