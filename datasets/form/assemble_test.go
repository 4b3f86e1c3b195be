package form

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// wordColumn is a column of words, of which "" is empty.
func wordColumn(name string, texts ...string) Column {
	return Column{Name: name, Type: Word, Words: coded(texts)}
}

func numberColumn(name string, v ...float64) Column {
	return Column{Name: name, Type: Number, Numbers: v}
}

// tableOf is a table whose first row stands in line 2 of a file.
func tableOf(file string, columns ...Column) Table {
	t := Table{Columns: columns, Origin: Origin{File: file, First: 2}}
	switch c := columns[0]; c.Type {
	case Word:
		t.Rows = c.Words.Len()
	case Number:
		t.Rows = len(c.Numbers)
	case Time:
		t.Rows = len(c.Times)
	}
	return t
}

func nodesOf(typ string, t Table) Named { return Named{Table: t, Of: OfNodes, Type: typ} }

func edgesOf(kind, from, to string, t Table) Named {
	return Named{Table: t, Of: OfEdges, Kind: kind, From: from, To: to}
}

// shownRows is all that a Raw says, with each row of nodes and edges as a word.
func shownRows(r *Raw) string {
	var b strings.Builder
	cells := func(t *Table, row int) {
		for i := range t.Columns {
			switch c := &t.Columns[i]; c.Type {
			case Number:
				fmt.Fprintf(&b, " %s=%v", c.Name, c.Numbers[row])
			case Word:
				fmt.Fprintf(&b, " %s=%q", c.Name, c.Words.At(row))
			case Time:
				fmt.Fprintf(&b, " %s=%d", c.Name, c.Times[row])
			case Many:
				fmt.Fprintf(&b, " %s=%v", c.Name, dense(c.Matrix)[row*c.Matrix.Cols:][:c.Matrix.Cols])
			}
			if t.Columns[i].Role != "" {
				fmt.Fprintf(&b, "(%s)", t.Columns[i].Role)
			}
		}
	}
	for _, n := range r.Nodes {
		fmt.Fprintf(&b, "%s[%d]:", n.Type, n.Listed)
		for row := range n.Rows {
			fmt.Fprintf(&b, " %s@%d", n.IDs.At(row), n.Origin.line(row))
			cells(&n.Table, row)
		}
		b.WriteString("; ")
	}
	for _, e := range r.Edges {
		fmt.Fprintf(&b, "%s(%s-%s):", e.Kind, e.From, e.To)
		for row := range e.Rows {
			b.WriteByte(' ')
			if e.IDs != nil {
				b.WriteString(e.IDs.At(row) + "=")
			}
			fmt.Fprintf(&b, "%d>%d", e.Source[row], e.Target[row])
			cells(&e.Table, row)
		}
		b.WriteString("; ")
	}
	return strings.TrimSpace(b.String())
}

func dense(m *Matrix) []tensor.Float {
	if m.Offsets == nil {
		return m.Values
	}
	out := make([]tensor.Float, m.Rows*m.Cols)
	for row := range m.Rows {
		for k := m.Offsets[row]; k < m.Offsets[row+1]; k++ {
			out[row*m.Cols+int(m.Columns[k])] = 1
			if m.Values != nil {
				out[row*m.Cols+int(m.Columns[k])] = m.Values[k]
			}
		}
	}
	return out
}

func TestAssemble(t *testing.T) {
	times := Column{Name: "since", Type: Time, Times: []int64{5, NoTime, 7}}
	sparse := Column{Name: "x", Type: Many, Matrix: &Matrix{Rows: 3, Cols: 2, Offsets: []int64{0, 1, 1, 3}, Columns: []int32{1, 0, 1}, Values: []tensor.Float{2, 3, 4}}}
	pairs := Column{Name: "x", Type: Many, Matrix: &Matrix{Rows: 3, Cols: 1, Values: []tensor.Float{2, 3, 4}}}
	huge := Column{Name: "id", Type: Time, Times: []int64{1<<53 + 1, 1 << 53}}
	for name, tt := range map[string]struct {
		tables []Named
		o      Options
		want   string
	}{
		"edges alone": {[]Named{{Table: tableOf("e", wordColumn("src", "b", "a", "b"), wordColumn("dst", "c", "c", "b"), numberColumn("weight", 1, 2, 3))}}, Options{},
			`[0]: b@2 c@2 a@3; (-): 0>1 weight=1 2>1 weight=2 0>0 weight=3;`},
		"numbers ascend": {[]Named{edgesOf("", "", "", tableOf("e", numberColumn("u", 10, 9), wordColumn("v", "9.0", "7")))}, Options{}, `[0]: 7@3 9@2 10@2; (-): 2>1 1>0;`},
		"exact":          {[]Named{nodesOf("", tableOf("n", huge, wordColumn("c", "x", "y")))}, Options{}, `[2]: 9007199254740992@3 c="y" 9007199254740993@2 c="x";`},
		"nodes sorted": {[]Named{nodesOf("", tableOf("n", wordColumn("id", "3", "1", "2"), wordColumn("c", "x", "", "z"), times, sparse)), edgesOf("", "", "", tableOf("e", wordColumn("source", "3", "2"), wordColumn("target", "1", "3")))}, Options{},
			`[3]: 1@3 c="" since=-9223372036854775808 x=[0 0] 2@4 c="z" since=7 x=[3 4] 3@2 c="x" since=5 x=[0 2]; (-): 2>0 1>2;`},
		"nodes alone":  {[]Named{{Table: tableOf("n", wordColumn("node", "x", "y"), numberColumn("id", 8, 9))}}, Options{}, `[2]: 8@2 node="x" 9@3 node="y";`},
		"chosen":       {[]Named{nodesOf("", tableOf("n", wordColumn("customer", "x", "y"), numberColumn("id", 8, 9))), edgesOf("", "", "", tableOf("e", wordColumn("from", "1", "2"), wordColumn("payer", "x", "y"), wordColumn("payee", "y", "x"), wordColumn("nr", "t1", "t2")))}, Options{ID: "Customer", Source: "payer", Target: "payee", EdgeID: "nr"}, `[2]: x@2 id=8 y@3 id=9; (-): t1=0>1 from="1" t2=1>0 from="2";`},
		"joined":       {[]Named{nodesOf("", tableOf("n", wordColumn("id", "b", "a"), numberColumn("age", 1, 2))), nodesOf("", tableOf("f", wordColumn("id", "a", "b"), wordColumn("town", "A", "B")))}, Options{}, `[2]: b@2 age=1 town="B" a@3 age=2 town="A";`},
		"unlisted":     {[]Named{nodesOf("", tableOf("n", wordColumn("id", "3", "1", "2"), pairs)), edgesOf("", "", "", tableOf("e", wordColumn("u", "3", "9", "8"), wordColumn("v", "9", "8", "1")))}, Options{}, `[3]: 1@3 x=[3] 2@4 x=[4] 3@2 x=[2] 8@3 x=[NaN] 9@2 x=[NaN]; (-): 2>4 4>3 3>0;`},
		"types by ids": {[]Named{nodesOf("man", tableOf("m", wordColumn("id", "a", "b"))), nodesOf("shop", tableOf("s", wordColumn("shop_id", "s", "r"))), edgesOf("buys", "", "", tableOf("e", wordColumn("source", "b", "a"), wordColumn("target", "s", "r")))}, Options{}, `man[2]: a@2 b@3; shop[2]: s@2 r@3; buys(man-shop): 1>0 0>1;`},
		"types by name": {[]Named{edgesOf("buys", "man", "shop", tableOf("e", wordColumn("man_id", "x", "y"), wordColumn("shop", "y", "y"))), edgesOf("knows", "man", "man", tableOf("k", wordColumn("u", "y"), wordColumn("v", "z")))}, Options{},
			`man[0]: x@2 y@3 z@2; shop[0]: y@2; buys(man-shop): 0>0 1>0; knows(man-man): 1>2;`},
		"no edges": {[]Named{nodesOf("", tableOf("n", wordColumn("id", "a"))), edgesOf("", "", "", tableOf("e", wordColumn("source"), wordColumn("target")))}, Options{}, `[1]: a@2; (-):;`},
	} {
		r, err := Assemble(tt.tables, tt.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := shownRows(r); got != tt.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, tt.want)
		}
	}
}

// A column that was joined says where its own cells stand, whatever became of the order of the nodes.
func TestJoinedOrigin(t *testing.T) {
	r, err := Assemble([]Named{
		nodesOf("", tableOf("n", wordColumn("id", "3", "1", "2"), numberColumn("a", 1, 2, 3))),
		nodesOf("", tableOf("f", wordColumn("id", "1", "2", "3"), numberColumn("b", 4, 5, 6))),
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := &r.Nodes[0]
	for row, want := range []string{"1 n: line 3 f: line 2", "2 n: line 4 f: line 3", "3 n: line 2 f: line 4"} {
		if got := n.IDs.At(row) + " " + n.At(&n.Columns[0], row) + " " + n.At(&n.Columns[1], row); got != want {
			t.Errorf("row %d is %s, want %s", row, got, want)
		}
	}
}

// Each error says where, which column, which value, and what to do.
func TestAssembleErrors(t *testing.T) {
	people := func() Named { return nodesOf("man", tableOf("m", wordColumn("id", "a", "b"))) }
	shops := func() Named { return nodesOf("shop", tableOf("s", wordColumn("id", "b", "r"))) }
	e := func(from, to string) Named {
		return edgesOf("", "", "", tableOf("e", wordColumn("source", "a", from), wordColumn("target", "a", to)))
	}
	for want, tables := range map[string][]Named{
		`e: the columns 1 and 3 are both called "u": rename one`:                                     {{Table: tableOf("e", numberColumn("u", 1), numberColumn("v", 1), numberColumn("u", 1))}},
		`f: of the columns "w" no two are the ends of an edge: call them source and target`:          {{Table: tableOf("f", numberColumn("w", 1))}},
		`n: of the columns "w" none names the nodes: call one id, or choose it with --id, as --id w`: {nodesOf("", tableOf("n", numberColumn("w", 1)))},
		`e: of the columns "w" no two are the ends of an edge: call them source and target`:          {edgesOf("", "", "", tableOf("e", numberColumn("w", 1)))},
		`n: line 3, column "id": it is empty: write an id, or`:                                       {{Table: tableOf("n", numberColumn("id", 1, math.NaN()))}},
		`n: line 4, column "id": node "7" stands in line 2 already: keep one`:                        {{Table: tableOf("n", wordColumn("id", "7", "8", "7.0"))}},
		`n: there is no line below its names: write one for each node`:                               {nodesOf("", tableOf("n", wordColumn("id")))},
		`e: there are no edges in it`:                                                                {},
		`e: line 3: an end of the edge is empty: write`:                                              {e("a", "")},
		`f: line 2: node "z" is not in the table that lists the nodes, m: add`:                       {people(), nodesOf("man", tableOf("f", wordColumn("id", "z")))},
		`f: it says nothing of node "b", which is in m`:                                              {people(), nodesOf("man", tableOf("f", wordColumn("id", "a")))},
		`e: line 3, column "target": "b" is a node of type "man" and one of type "shop": say`:        {people(), shops(), e("a", "b")},
		`e: line 3, column "target": "r" is a node of type "shop", and the end of the first edge,`:   {people(), shops(), e("a", "r")},
		`e: line 2, column "source": "x" is no node of any table`:                                    {people(), shops(), edgesOf("", "", "", tableOf("e", wordColumn("source", "x"), wordColumn("target", "a")))},
		`n, column "id": it has several numbers a row, and an id is one`:                             {nodesOf("", tableOf("n", wordColumn("x", "y"), Column{Name: "id", Type: Many, Matrix: new(Matrix)}))},
	} {
		if len(tables) == 0 {
			tables = []Named{edgesOf("", "", "", tableOf("e", wordColumn("source"), wordColumn("target")))}
			tables[0].Table.Rows = 0
		}
		if _, err := Assemble(tables, Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for want, o := range map[string]Options{
		`m: there is no column "nr"; there are "id"`:                 {ID: "nr"},
		`e: there is no column "goal"; there are "source", "target"`: {Source: "source", Target: "goal"},
		`e: there is no column "nr"; there are "source", "target"`:   {EdgeID: "nr"},
		`e: the column "source" is chosen twice`:                     {EdgeID: "source"},
	} {
		if _, err := Assemble([]Named{people(), e("a", "b")}, o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestUnlisted(t *testing.T) {
	r, err := Assemble([]Named{nodesOf("", tableOf("m", wordColumn("id", "a"))), edgesOf("", "", "", tableOf("e", wordColumn("source", "a", "a", "r"), wordColumn("target", "a", "q", "a")))}, Options{})
	if err != nil || r.Nodes[0].Listed != 1 || r.Unlisted == nil || r.Unlisted.Error() != `e: line 3: node "q" is not in m: add it there, or leave its edges out` {
		t.Errorf("%+v, error %v", r, err)
	}
}

func TestFamily(t *testing.T) {
	endings := []string{".csv", ".tsv"}
	for names, want := range map[string]string{
		"edges.csv nodes.csv":  "edges.csv: nodes.csv= edges.csv=(-)",
		"edges.csv":            "edges.csv: edges.csv=(-)",
		"a/nodes.tsv.gz x.csv": "a/nodes.tsv.gz: a/nodes.tsv.gz=",
		"shop_edges.csv shop_target.csv shop_features.csv.zst":                             "shop_edges.csv: shop_target.csv= shop_features.csv.zst= shop_edges.csv=(-)",
		"edges.csv edges.tsv nodes.tsv":                                                    "edges.csv: nodes.tsv= edges.csv=(-)",
		"edges_man_buys_shop.csv nodes_man.csv":                                            "edges_man_buys_shop.csv: nodes_man.csv=man edges_man_buys_shop.csv=buys(man-shop)",
		"edges_man_buys_shop.csv":                                                          "edges_man_buys_shop.csv: edges_man_buys_shop.csv=buys(man-shop)",
		"edges_works_at_night.csv nodes.csv":                                               "edges_works_at_night.csv: nodes.csv= edges_works_at_night.csv=works_at_night(-)",
		"nodes_old_man.csv nodes_man.csv edges_old_man_is_seen_by_man.csv edges_knows.csv": "edges_knows.csv: nodes_man.csv=man nodes_old_man.csv=old_man edges_knows.csv=knows(-) edges_old_man_is_seen_by_man.csv=is_seen_by(old_man-man)",
		"a_edges.csv a_nodes.csv b_edges.csv":                                              "a_edges.csv: a_nodes.csv= a_edges.csv=(-)",
		"bridges.csv x.txt":                                                                "",
		"a_edges.csv a_nodes.csv b_edges.csv b_labels.csv":                                 "there are several datasets in it: name one of a_edges.csv, b_edges.csv",
	} {
		list := strings.Fields(names)
		main, err := FamilyIn(list, endings)
		got := main
		if err != nil {
			got = err.Error()
		} else if main != "" {
			got += ":"
			for _, m := range Family(list, main, endings) {
				got += " " + m.File + "=" + m.Type + m.Kind
				if m.Of == OfEdges {
					got += "(" + m.From + "-" + m.To + ")"
				}
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
	if got := Family([]string{"edges.csv", "pay.csv"}, "pay.csv", endings); !slices.Equal(got, []Member{{File: "pay.csv"}}) {
		t.Errorf("%v", got)
	}
}

// Numbers in a column whose name says when are the times that they are in a text.
func TestAssembleTimes(t *testing.T) {
	const file = "id,at,ts,year,sent_at,len\na,1730541120,1730541120000000001,2024,,1730541120\nb,1730544000,1730541120000000002,2023,1730544000.25,1730544000\n"
	text, err := Read(strings.NewReader(file), "nodes.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	typed, err := Assemble([]Named{nodesOf("", tableOf("n", wordColumn("id", "a", "b"), numberColumn("at", 1730541120, 1730544000),
		Column{Name: "ts", Type: Time, Times: []int64{1730541120000000001, 1730541120000000002}}, numberColumn("year", 2024, 2023),
		numberColumn("sent_at", math.NaN(), 1730544000.25), numberColumn("len", 1730541120, 1730544000)))}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range text.Nodes[0].Columns {
		got := typed.Nodes[0].Columns[i]
		if got.Name != want.Name || got.Type != want.Type || got.Dated != want.Dated || !slices.Equal(got.Times, want.Times) {
			t.Errorf("column %s is of type %s, dated %v: %v %v; want %s, %v: %v %v", want.Name, got.Type, got.Dated, got.Times, got.Numbers, want.Type, want.Dated, want.Times, want.Numbers)
		}
	}
}
