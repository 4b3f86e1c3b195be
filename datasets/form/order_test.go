package form

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// shop is a graph of four nodes, the last of which only edges name.
func shop() *Raw {
	return &Raw{
		Nodes: []Nodes{{Table: Table{
			Rows: 4, IDs: &Words{Texts: []string{"b", "10", "9", "a"}}, Origin: Origin{File: "n.csv", First: 2},
			Columns: []Column{{Name: "age", Type: Number, Numbers: []float64{1, 2, 3, math.NaN()}}, {Name: "town", Type: Word, Words: &Words{Texts: []string{"x", "y"}, Codes: []int32{0, 1, -1, -1}}}},
		}, Listed: 3}},
		Edges: []Edges{{Table: Table{
			Rows: 4, Origin: Origin{File: "e.csv", First: 2}, Columns: []Column{{Name: "n", Type: Number, Numbers: []float64{4, 3, 2, 1}}},
		}, Source: []int32{0, 3, 0, 1}, Target: []int32{1, 0, 1, 2}, Back: []int32{1}}},
		Splits: []Split{{Of: OfNodes, Train: []int32{0}, Val: []int32{1, 2}}},
	}
}

// said is a graph in words, which do not depend on how its rows are numbered.
func said(r *Raw) (lines []string) {
	n := &r.Nodes[0]
	for i := range n.Rows {
		lines = append(lines, strings.Join([]string{n.IDs.At(i), n.Origin.At(i), cellText(n.Column("age"), i), cellText(n.Column("town"), i)}, " "))
	}
	e := &r.Edges[0]
	for i, u := range e.Source {
		line := n.IDs.At(int(u)) + "→" + n.IDs.At(int(e.Target[i])) + " " + e.Origin.At(i) + " " + cellText(e.Column("n"), i)
		if e.Undirected || slices.Contains(e.Back, int32(i)) {
			line += " both"
		}
		lines = append(lines, line)
	}
	return lines
}

func cellText(c *Column, row int) string {
	switch {
	case c == nil || c.Type == Empty:
		return "-"
	case c.Type == Number && c.Numbers[row] != c.Numbers[row]:
		return "-"
	case c.Type == Number:
		return string(rune('0' + int(c.Numbers[row])))
	}
	return c.Words.At(row)
}

func TestOrdered(t *testing.T) {
	r := shop()
	o := r.Ordered()
	if got := o.Nodes[0].IDs.Texts; !slices.Equal(got, []string{"9", "10", "b", "a"}) || o.Nodes[0].Listed != 3 { // a is not listed
		t.Errorf("the ids are %q", got)
	}
	e := &o.Edges[0] // by target, source and what they carry
	if !slices.Equal(e.Target, []int32{0, 1, 1, 2}) || !slices.Equal(e.Source, []int32{1, 2, 2, 3}) || !slices.Equal(e.Columns[0].Numbers, []float64{1, 2, 4, 3}) {
		t.Errorf("the edges are %+v", e)
	}
	a, b := said(r), said(o.Raw)
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		t.Errorf("it was\n%q, and is\n%q", a, b)
	}
	if s := o.Splits[0]; !slices.Equal(s.Train, []int32{2}) || !slices.Equal(s.Val, []int32{0, 1}) {
		t.Errorf("the split is %+v", s)
	}
	if !slices.Equal(o.NodeRows[0], []int32{2, 1, 0, 3}) || !slices.Equal(o.EdgeRows[0], []int32{3, 2, 0, 1}) {
		t.Errorf("the rows were %v and %v", o.NodeRows, o.EdgeRows)
	}
	again := o.Ordered()
	if &again.Nodes[0].IDs.Texts[0] != &o.Nodes[0].IDs.Texts[0] {
		t.Error("what is in order is copied")
	}
	if !slices.Equal(r.Nodes[0].IDs.Texts, []string{"b", "10", "9", "a"}) {
		t.Error("the graph itself has changed")
	}
}

func TestJoin(t *testing.T) {
	old := shop()
	next := &Raw{
		Name: "next",
		Nodes: []Nodes{{Table: Table{
			Rows: 4, IDs: &Words{Texts: []string{"new", "10", "a", "b"}}, Origin: Origin{File: "n2.csv", First: 2},
			Columns: []Column{{Name: "Town", Type: Word, Words: &Words{Texts: []string{"z"}, Codes: []int32{0, -1, -1, -1}}}},
		}, Listed: 2}},
		Edges: []Edges{{Table: Table{Rows: 2, Origin: Origin{File: "e2.csv", First: 2}}, Source: []int32{2, 3}, Target: []int32{0, 0}, Undirected: true}},
	}
	j, err := Join(old, next)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"new n2.csv: line 2 - z", "10 n2.csv: line 3 - ", "b n2.csv: line 2 1 x", "9 n2.csv: line 4 3 ", "a n2.csv: line 5 - ",
		"b→10 e2.csv: line 2 4", "a→b e2.csv: line 3 3 both", "b→10 e2.csv: line 4 2", "10→9 e2.csv: line 5 1", "a→new e2.csv: line 2 - both", "b→new e2.csv: line 3 - both",
	}
	if got := said(j); !slices.Equal(got, want) {
		t.Errorf("it says\n%q, want\n%q", got, want)
	}
	if j.Nodes[0].Listed != 4 {
		t.Errorf("%d rows are listed", j.Nodes[0].Listed)
	}
	next.Nodes[0].Columns[0] = Column{Name: "town", Type: Number, Numbers: []float64{1, 2, 3, 4}}
	if _, err := Join(old, next); err == nil || !strings.Contains(err.Error(), `column "town" has words in n.csv and numbers in n2.csv, so the two cannot be joined`) {
		t.Errorf("error %v", err)
	}
	next.Nodes[0].IDs = nil
	if _, err := Join(old, next); err == nil || !strings.Contains(err.Error(), "has no ids") {
		t.Errorf("error %v", err)
	}
}

// A column keeps its kind when rows are joined, and its name where another differs by its case alone.
func TestJoinedColumns(t *testing.T) {
	graph := func(id string, names []string, x ...float64) *Raw {
		numbers := func(name string, v float64) Column { return Column{Name: name, Type: Number, Numbers: []float64{v}} }
		truth := numbers("left", x[0])
		truth.Truth = true
		return &Raw{Nodes: []Nodes{{Listed: 1, Table: Table{Rows: 1, IDs: &Words{Texts: []string{id}}, Columns: []Column{
			truth, numbers("Age", x[1]), numbers("age", x[2]),
			{Name: "x", Type: Many, Matrix: &Matrix{Rows: 1, Cols: 2, Values: []tensor.Float{1, 2}, Names: names}},
		}}}}}
	}
	old := graph("a", []string{"p", "q"}, 1, 2, 3)
	j, err := Join(old, graph("b", []string{"p", "q"}, 0, 5, 6))
	if err != nil {
		t.Fatal(err)
	}
	if c := j.Nodes[0].Columns; len(c) != 4 || !c[0].Truth || !slices.Equal(c[0].Numbers, []float64{0, 1}) || !slices.Equal(c[1].Numbers, []float64{5, 2}) || !slices.Equal(c[2].Numbers, []float64{6, 3}) {
		t.Errorf("the columns are %+v", c)
	}
	if _, err := Join(old, graph("b", []string{"q", "p"}, 0, 5, 6)); err == nil || !strings.Contains(err.Error(), `column "x" has 2 numbers a row ("p", "q") in the other and 2 numbers a row ("q", "p") in the other`) {
		t.Errorf("error %v", err)
	}
}

func TestAround(t *testing.T) {
	r := shop()
	for _, tt := range []struct {
		hops       int
		undirected bool
		ids, edges string
	}{
		{0, false, "10", ""},
		{1, false, "b 10", "b→10 b→10"},
		{2, false, "b 10 a", "b→10 a→b b→10"},
		{1, true, "b 10 9", "b→10 b→10 10→9"},
	} {
		p := r.Around([]Row{{0, 1}}, tt.hops, tt.undirected)
		var ids, edges []string
		for i := range p.Nodes[0].Rows {
			if ids = append(ids, p.Nodes[0].IDs.At(i)); r.Nodes[0].IDs.At(int(p.NodeRows[0][i])) != ids[i] {
				t.Errorf("row %d was none of %d", i, p.NodeRows[0][i])
			}
		}
		for i, u := range p.Edges[0].Source {
			edges = append(edges, p.Nodes[0].IDs.At(int(u))+"→"+p.Nodes[0].IDs.At(int(p.Edges[0].Target[i])))
		}
		if strings.Join(ids, " ") != tt.ids || strings.Join(edges, " ") != tt.edges {
			t.Errorf("%d hops, undirected %v: nodes %q and edges %q, want %q and %q", tt.hops, tt.undirected, ids, edges, tt.ids, tt.edges)
		}
	}
	if p := r.Around([]Row{{0, 3}}, 1, false); len(p.NodeRows[0]) != 2 { // a→b leads both ways
		t.Errorf("around a are the rows %v", p.NodeRows[0])
	}
	r.Edges[0].From = "nobody"
	if r.Around([]Row{{0, 1}}, 1, false) != nil {
		t.Error("edges from no table have a part")
	}
}
