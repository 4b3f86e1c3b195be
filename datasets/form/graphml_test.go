package form

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// shownRaw shows what was read.
func shownRaw(r *Raw) string {
	var b strings.Builder
	rows := func(t *Table) {
		if t.IDs != nil {
			fmt.Fprintf(&b, " %q", t.IDs.Texts)
		}
		for i := range t.Columns {
			fmt.Fprintf(&b, "; %s", shownColumn(&t.Columns[i]))
		}
		b.WriteString("\n")
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		fmt.Fprintf(&b, "%d nodes, %d listed", n.Rows, n.Listed)
		rows(&n.Table)
	}
	for i := range r.Edges {
		e := &r.Edges[i]
		fmt.Fprintf(&b, "%d edges", e.Rows)
		for k := range e.Source {
			fmt.Fprintf(&b, " %d→%d", e.Source[k], e.Target[k])
		}
		if e.Undirected {
			b.WriteString(", undirected")
		}
		if e.Back != nil {
			fmt.Fprintf(&b, ", back %v", e.Back)
		}
		rows(&e.Table)
	}
	if g := r.Graphs; g != nil {
		fmt.Fprintf(&b, "%d graphs at %v", g.Rows, g.Offsets)
		rows(&g.Table)
	}
	for _, s := range r.Splits {
		fmt.Fprintf(&b, "split %q of %ss %v %v %v\n", s.Name, s.Of, s.Train, s.Val, s.Test)
	}
	if r.Doubt != "" {
		fmt.Fprintf(&b, "doubt: %s\n", r.Doubt)
	}
	if r.Unread != nil {
		fmt.Fprintf(&b, "unread: %q\n", r.Unread)
	}
	return b.String()
}

// checkRaw returns what is wrong with the sizes and the rows of what was read.
func checkRaw(r *Raw) error {
	table := func(noun string, t *Table) error {
		if t.IDs != nil && t.IDs.Len() != t.Rows {
			return fmt.Errorf("%d ids of %d %ss", t.IDs.Len(), t.Rows, noun)
		}
		for _, c := range t.Columns {
			n := map[Type]int{Empty: t.Rows, Number: len(c.Numbers), Time: len(c.Times)}[c.Type]
			switch c.Type {
			case Word:
				n = c.Words.Len()
				for _, k := range c.Words.Codes {
					if k < -1 || int(k) >= len(c.Words.Texts) {
						return fmt.Errorf("column %q has the code %d of %d texts", c.Name, k, len(c.Words.Texts))
					}
				}
			case Many:
				if n = c.Matrix.Rows; c.Matrix.Offsets == nil && len(c.Matrix.Values) != n*c.Matrix.Cols {
					return fmt.Errorf("column %q is a matrix %d×%d of %d values", c.Name, n, c.Matrix.Cols, len(c.Matrix.Values))
				}
			}
			if n != t.Rows {
				return fmt.Errorf("column %q has %d cells, of %d %ss", c.Name, n, t.Rows, noun)
			}
		}
		if t.Rows > 0 {
			t.Origin.At(t.Rows - 1)
		}
		return nil
	}
	nodes := r.Nodes[0].Rows
	if err := table("node", &r.Nodes[0].Table); err != nil {
		return err
	}
	for i := range r.Edges {
		e := &r.Edges[i]
		if len(e.Source) != e.Rows || len(e.Target) != e.Rows {
			return fmt.Errorf("%d sources and %d targets of %d edges", len(e.Source), len(e.Target), e.Rows)
		}
		for k := range e.Source {
			if min(e.Source[k], e.Target[k]) < 0 || int(max(e.Source[k], e.Target[k])) >= nodes {
				return fmt.Errorf("edge %d leads from %d to %d of %d nodes", k, e.Source[k], e.Target[k], nodes)
			}
		}
		for _, k := range e.Back {
			if k < 0 || int(k) >= e.Rows {
				return fmt.Errorf("back names edge %d of %d", k, e.Rows)
			}
		}
		if err := table("edge", &e.Table); err != nil {
			return err
		}
	}
	if g := r.Graphs; g != nil {
		if len(g.Offsets) != g.Rows+1 || g.Offsets[g.Rows] != nodes {
			return fmt.Errorf("%d graphs at %v, of %d nodes", g.Rows, g.Offsets, nodes)
		}
		return table("graph", &g.Table)
	}
	return nil
}

// zipped is a text in gzip.
func zipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

// packedReader is the text of a file in gzip, with the budget that such a file has.
func packedReader(t testing.TB, packed []byte) io.Reader {
	t.Helper()
	r, err := unpack.NewFile(bytes.NewReader(packed), unpack.NewBudget(int64(len(packed))))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

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

const clubShown = `3 nodes, 3 listed ["n0" "n1" "n2"]; age number [30 20 0]; town word ["Rome" "7"][0 1 0]; class word ["x" "y"][0 -1 1]; fan number [0 1 0] truths
2 edges 0→1 2→1, undirected; weight number [0.5 2]; kind word ["a&b"][0 -1]
`

func TestGraphML(t *testing.T) {
	replace := func(parts ...string) string { return strings.NewReplacer(parts...).Replace(club) }
	shown := func(parts ...string) string { return strings.NewReplacer(parts...).Replace(clubShown) }
	for what, c := range map[string]struct{ text, want string }{
		"undirected":      {club, clubShown},
		"directed":        {replace("undirected", "directed"), shown(", undirected", "")},
		"one is directed": {replace(`target="n1"><data key="d3">2`, `target="n1" directed="true"><data key="d3">2`), shown(", undirected", ", back [0]")},
		"one is not":      {replace("undirected", "directed", `target="n1"><data key="d3">2`, `target="n1" directed="false"><data key="d3">2`), shown(", undirected", ", back [1]")},
		"edges have ids":  {replace(`<edge source`, `<edge id="e6" source`), shown("2→1, undirected;", `2→1, undirected ["e6" "e7"];`)},
		"ids twice":       {replace(`<edge source`, `<edge id="e7" source`), clubShown},
		"empty attribute": {replace(`<data key="d0">20</data>`, ``), shown("[30 20 0]", "[30 NaN 0]")},
		"no keys": {`<graphml><graph edgedefault="directed"><node id="5"/><node id="3.0"/><edge source="5" target="3"/></graph></graphml>`,
			"2 nodes, 2 listed [\"5\" \"3\"]\n1 edges 0→1\n"},
	} {
		r, err := graphML(strings.NewReader(c.text), "x.graphml")
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got := shownRaw(r); got != c.want {
			t.Errorf("%s: read as\n%s, want\n%s", what, got, c.want)
		}
		if err := checkRaw(r); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	r, err := graphML(strings.NewReader(club), "x.graphml")
	if err != nil || r.Nodes[0].Origin.At(2) != "x.graphml: line 14" || r.Edges[0].Origin.At(1) != "x.graphml: line 16" {
		t.Errorf("%s, %s, error %v", r.Nodes[0].Origin.At(2), r.Edges[0].Origin.At(1), err)
	}
}

func TestBadGraphML(t *testing.T) {
	const edge7 = `<edge id="e7"`
	for _, c := range []struct{ text, from, to, want string }{
		{"", "", "", "x.graphml: line 1: there is no graph in it"},
		{"hello", "", "", "x.graphml: line 1: there is no graph in it"},
		{"<html><body/></html>", "", "", "x.graphml: line 1: <html> stands there, want <graphml>, and in it keys and a graph"},
		{club[:strings.Index(club, "<!--")], "", "", "x.graphml: line 13: it ends before its elements do: is it cut?"},
		{club, "</node>\n    <!--", "</nod>\n    <!--", "x.graphml: line 12: element <node> closed by </nod>"},
		{club, `target="n1"`, `target="n9"`, `x.graphml: line 15: node "n9" is not in x.graphml: add it there, or leave its edges out`},
		{club, `id="n1"`, `id="n0"`, `x.graphml: line 12, column "id": node "n0" stands in line 11 already`},
		{club, ` id="n1"`, ``, `x.graphml: line 12, column "id": it is empty`},
		{club, ` target="n1"`, ``, `x.graphml: line 15: an end of the edge is empty`},
		{club, `<data key="d0">20`, `<data key="d9">20`, `x.graphml: line 12: there is no <key> "d9" before the graph, which would say what that data are`},
		{club, `id="d5"`, `id="d0"`, `x.graphml: line 8: the key "d0" has no id, or that of another`},
		{club, `attr.type="int"`, `attr.type="date"`, `x.graphml: line 3: the type of key "d0" is "date"; want boolean, int, long, float, double or string`},
		{club, `>20<`, `>old<`, `x.graphml: line 12, key "d0" (age): "old" is no int`},
		{`<?xml version="1.0" encoding="ISO-8859-1"?>` + "\n<graphml/>", "", "", `x.graphml: line 1: its encoding is "ISO-8859-1": save it as UTF-8`},
		{`<?xml version="1.0" encoding="US-ASCII"?>` + "\n<graphml/>", "", "", "x.graphml: line 2: there is no graph in it"},
		{club, `<data key="d0">20</data>`, `<graph/>`, "x.graphml: line 12: a graph within a node is not read: write it to a file of its own"},
		{club, `>20<`, `><b/><`, "x.graphml: line 12: <b> stands there, want a value"},
		{club, edge7, "<hyperedge/>" + edge7, "x.graphml: line 16: a hyperedge joins several nodes, and edges of two are read: write an edge for each pair"},
		{club, "</graphml>", "<graph/></graphml>", "x.graphml: line 18: a second graph begins, and one is read: write each to a file of its own"},
		{club, "</graphml>", `<key id="d9"/></graphml>`, "x.graphml: line 18: a <key> stands behind the graph, whose attributes it declares: put it before"},
		{"<graphml><graph/></graphml>", "", "", "x.graphml: there are no edges in it"},
		{club, `"undirected"`, `"both"`, `x.graphml: line 10: edgedefault is "both", want directed or undirected`},
		{club, `>20<`, `>&age;<`, "x.graphml: line 12: invalid character entity &age;"},
		{club, "<!-- the last -->", strings.Repeat("<a>", 200), "x.graphml: line 13: elements are nested deeper than 100"},
		{club, `id="n1"`, `id="` + strings.Repeat("n", tagMost) + `"`, fmt.Sprintf("x.graphml: line 12: more than %d bytes are without the end of a tag", tagMost)},
	} {
		text := c.text
		if c.from != "" {
			text = strings.ReplaceAll(text, c.from, c.to)
		}
		if _, err := graphML(strings.NewReader(text), "x.graphml"); err == nil || err.Error() != c.want {
			t.Errorf("%.60q for %.60q: error %v, want %s", c.to, c.from, err, c.want)
		}
	}
	cut := packedReader(t, zipped(club)[:300])
	if _, err := graphML(cut, "x.graphml.gz"); err == nil || !strings.HasSuffix(err.Error(), "the gzip file ends early: it was cut, so download or copy it again") {
		t.Errorf("cut gzip: error %v", err)
	}
	bomb := new(strings.Builder) // each node has a cell in each column
	bomb.WriteString(`<graphml>`)
	for i := range 250 {
		fmt.Fprintf(bomb, `<key id="%d" for="node"/>`, i)
	}
	bomb.WriteString(`<graph>`)
	for i := range 50_000 {
		fmt.Fprintf(bomb, `<node id="%d"/>`, i)
	}
	if _, err := graphML(packedReader(t, zipped(bomb.String())), "x.graphml.gz"); err == nil || !strings.Contains(err.Error(), "which is refused: unpack it first, if you trust it") {
		t.Errorf("a bomb: error %v", err)
	}
}

func FuzzGraphML(f *testing.F) {
	f.Add(club)
	f.Add(`<graphml><key id="a"/><graph><node id="1"><data key="a">2024-01-01</data></node><node id="2"/><edge source="1" target="2" directed="false"/></graph></graphml>`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := graphML(strings.NewReader(text), "x.graphml")
		if err == nil {
			err = checkRaw(r)
		} else if strings.HasPrefix(err.Error(), "x.graphml: ") {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// shownColumn shows a column.
func shownColumn(c *Column) string {
	text := fmt.Sprintf("%s %s", c.Name, c.Type)
	if c.Role != "" {
		text += fmt.Sprintf(" (%s)", c.Role)
	}
	switch c.Type {
	case Number:
		text += fmt.Sprint(" ", c.Numbers)
		if c.Truth {
			text += " truths"
		}
	case Time:
		text += fmt.Sprint(" ", strings.ReplaceAll(fmt.Sprint(c.Times), fmt.Sprint(int64(math.MinInt64)), "NoTime"))
		if c.Dated {
			text += " dated"
		}
	case Word:
		text += fmt.Sprintf(" %q", c.Words.Texts)
		if c.Words.Codes != nil {
			text += fmt.Sprint(c.Words.Codes)
		}
		if c.Words.Ordered {
			text += " ordered"
		}
	case Many:
		text += fmt.Sprintf(" %d×%d%v", c.Matrix.Rows, c.Matrix.Cols, c.Matrix.Values)
		if c.Matrix.Offsets != nil {
			text += fmt.Sprint(c.Matrix.Offsets, c.Matrix.Columns)
		}
	}
	if c.Mixed != nil {
		text += fmt.Sprint(" !", c.Mixed)
	}
	return text
}
