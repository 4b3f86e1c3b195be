package datasets

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
)

// payments are seven edges between three nodes: one a loop, two repeated once and one twice.
func payments() *form.Raw {
	ids := &form.Words{Texts: []string{"10", "9", "200"}}
	return &form.Raw{
		Name: "payments",
		Nodes: []form.Nodes{{Listed: 3, Table: form.Table{Rows: 3, IDs: ids, Origin: form.Origin{File: "p_nodes.csv", First: 2}, Columns: []form.Column{
			{Name: "age", Type: form.Number, Numbers: []float64{30, 20, math.NaN()}},
			{Name: "town", Type: form.Word, Words: &form.Words{Texts: []string{"Oulu", "Turku", "Rome"}}},
			{Name: "split", Type: form.Word, Words: &form.Words{Texts: []string{"train", "train", "test"}}},
		}}}},
		Edges: []form.Edges{{
			Source: []int32{0, 1, 1, 0, 2, 1, 0}, Target: []int32{1, 0, 2, 1, 2, 2, 1},
			Table: form.Table{Rows: 7, IDs: &form.Words{Texts: strings.Split("abcdefg", "")}, Origin: form.Origin{File: "p_edges.csv", First: 2}, Columns: []form.Column{
				{Name: "sum", Type: form.Number, Numbers: []float64{1, 2, 4, 8, 16, math.NaN(), 32}},
				{Name: "year", Type: form.Time, Times: []int64{2001, 2002, 2003, 2004, 2005, 2006, 2007}},
				{Name: "w", Type: form.Number, Numbers: []float64{1, 2, 3, 4, 5, 6, 7}},
			}},
		}},
	}
}

// Where a column of the edges is learnt each row has an answer, so each is an edge unless something else is asked for.
func TestRepeatedEdgesThatAreLearnt(t *testing.T) {
	for r, want := range map[columns.Repeated]int{"": 6, columns.First: 3} {
		d, err := asTheyStand(payments(), columns.Roles{Label: []string{"sum"}, Repeated: r})
		if err != nil || d.Graph.NumEdges() != want {
			t.Errorf("%q: %v, %v, want %d edges", r, d, err, want)
		}
	}
}

// Nodes are in the order of their ids, and repeated edges become what is asked for.
func TestRepeatedEdges(t *testing.T) {
	for r, want := range map[columns.Repeated]string{
		"":            `0→1:2 0→2:9 1→0:12; [a b c] [1 2001 2 2002 4 2003]; 1 loops, 3 repeated; 3 duplicates of the raw data left out`,
		columns.First: `0→1:2 0→2:9 1→0:12; [a b c] [1 2001 2 2002 4 2003]; 1 loops, 3 repeated; 3 duplicates of the raw data left out`,
		columns.Keep:  `0→1:2 0→2:3 0→2:6 1→0:1 1→0:4 1→0:7; [a d g b c f] [1 2001 8 2004 32 2007 2 2002 4 2003 4 2006]; 1 loops, 3 repeated; 3 of them repeat another, and are edges of their own`,
		columns.Sum:   `0→1:2 0→2:9 1→0:12; [a b c] [41 2001 2 2002 4 2003]; 1 loops, 3 repeated; 3 duplicates of the raw data, whose numbers are added to those of the first`,
		columns.Count: `0→1:1 0→2:2 1→0:3; [a b c] [1 2001 1 2 2002 2 4 2003 3]; 1 loops, 3 repeated; 3 duplicates of the raw data, of which the weights say how many there are`,
	} {
		raw := payments()
		d, err := asTheyStand(raw, columns.Roles{Repeated: r})
		if err != nil {
			t.Errorf("%s: %v", r, err)
			continue
		}
		var b strings.Builder
		if err := d.Describe(&b); err != nil {
			t.Fatal(err)
		}
		what, _, _ := strings.Cut(want[strings.LastIndex(want, "; ")+2:], "\n")
		if !strings.Contains(b.String(), what) {
			t.Errorf("%s: described as\n%s, want %s", r, b.String(), what)
		}
		// The empty sum of the edge f is the median of the others.
		if got := fmt.Sprintf("%s; %v %v; %d loops, %d repeated; %s", edgesOf(d), d.EdgeNames, d.EdgeFeatures.Data, d.loops, d.repeated, what); got != want {
			t.Errorf("%s: %s, want %s", r, got, want)
		}
		if got := fmt.Sprint(d.NodeIDs, d.Split, d.EdgeColumns[0].Times[0]); got != "[9 10 200] {[0 1] [] [2]} 2001" {
			t.Errorf("%s: %s", r, got)
		}
		u := d.Undirected()
		if err := u.Check(); err != nil || len(u.EdgeNames) != u.Graph.NumEdges() {
			t.Errorf("%s: %q, %v", r, u.EdgeNames, err)
		}
		if payments().Edges[0].Source[2] != raw.Edges[0].Source[2] || raw.Nodes[0].IDs.At(0) != "10" {
			t.Errorf("%s: what it is made of has changed", r)
		}
	}
}

// Features come from the rows that train, of the data's own split and of another, after transforms too; a fitted Schema is
// only applied.
func TestFitAnew(t *testing.T) {
	d, err := From(payments(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.FeatureNames, denseOf(d.Features).Data); got != "[age town=Oulu town=Turku] [-1 0 1 1 1 0 0 0 0]" {
		t.Errorf("features %s", got)
	}
	const warned = `[1 cell of column "age" (p_nodes.csv) is empty, the first in line 4: it counts as 25, the median of the rows that train 1 cell of column "town" (p_nodes.csv) has a word that the model has not seen, such as "Rome" in line 4: it counts as none of its 2 words]`
	if got := fmt.Sprint(d.Warnings); got != warned {
		t.Errorf("warnings %s, want %s", got, warned)
	}
	more := denseOf(d.Features).Clone()
	more.Fill(7)
	for i, e := range []*Dataset{d, d.Undirected(), d.WithSelfLoops(), d.LargestComponent(), d.WithFeatures(more)} {
		e, err = e.Fit([]int32{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		x := denseOf(e.Features)
		if x.Dim(1) != 4+3*btoi(i == 4) {
			t.Errorf("%d features", x.Dim(1))
		}
		var rows []string
		for v := range x.Rows() {
			rows = append(rows, fmt.Sprint(x.Row(v)[:4]))
			for _, f := range x.Row(v)[4:] {
				if f != 7 {
					t.Errorf("feature %v of another kind", f)
				}
			}
		}
		if got := strings.Join(rows, " "); got != "[0 0 0 0] [0 0 1 0] [0 1 0 1]" || e.Schema.Nodes[0].Columns[1].Words[1] != "Rome" {
			t.Errorf("features %s of %+v", got, e.Schema)
		}
		if err := e.Check(); err != nil {
			t.Error(err)
		}
	}
	if d.Schema.Nodes[0].Columns[1].Words[1] != "Turku" {
		t.Error("the dataset itself has changed")
	}
	again, err := From(payments(), d.Schema)
	if err != nil || shown(again) != shown(d) {
		t.Errorf("%v, want %v; error %v", shown(again), shown(d), err)
	}
	if e, err := again.Fit([]int32{2}); err != nil || e != again {
		t.Errorf("a Schema of somebody else's was fitted: %v", err)
	}
	small, err := d.LargestComponent().Fit([]int32{0, 0})
	if err != nil || fmt.Sprint(small.FeatureNames) != "[age town=Turku]" {
		t.Errorf("%v, %v", small, err)
	}
	if _, err := d.LargestComponent().Fit([]int32{9}); err == nil {
		t.Error("there is no node 9")
	}
}

// Of rows of which nothing is to be learnt, and so are only neighbours, the features are learnt from, too.
func TestUnlabelledRowsAreLearntFrom(t *testing.T) {
	raw := payments()
	raw.Nodes[0].Columns = append(raw.Nodes[0].Columns, form.Column{Name: "label", Type: form.Word, Words: &form.Words{Texts: []string{"x", "y"}, Codes: []int32{0, 1, -1}}})
	raw.Nodes[0].Columns[2].Words.Texts = []string{"train", "test", ""}
	d, err := From(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.Schema.Nodes[0].Columns[1].Words); got != "[Oulu Rome]" {
		t.Errorf("words %s", got)
	}
	if d, err = d.Fit([]int32{0}); err != nil || fmt.Sprint(d.Schema.Nodes[0].Columns[1].Words) != "[Rome Turku]" {
		t.Errorf("of another split %v, %v", d.Schema, err)
	}
}

// Ids may repeat across types, each kind of edges may lead between two nodes, and only some of the kinds both ways.
func TestSeveralTypesFrom(t *testing.T) {
	ids := func() *form.Words { return &form.Words{Texts: []string{"7", "3"}} }
	raw := &form.Raw{
		Name: "bank",
		Nodes: []form.Nodes{
			{Type: "person", Listed: 2, Table: form.Table{Rows: 2, IDs: ids(), Columns: []form.Column{{Name: "age", Type: form.Number, Numbers: []float64{70, 30}}, {Name: "label", Type: form.Word, Words: &form.Words{Texts: []string{"x", "y"}}}}}},
			{Type: "account", Listed: 2, Table: form.Table{Rows: 2, IDs: ids(), Columns: []form.Column{{Name: "sum", Type: form.Number, Numbers: []float64{700, 300}}}}},
		},
		Edges: []form.Edges{
			{Kind: "owns", From: "person", To: "account", Table: form.Table{Rows: 2}, Source: []int32{0, 1}, Target: []int32{0, 1}},
			{Kind: "uses", From: "person", To: "account", Undirected: true, Table: form.Table{Rows: 1, Columns: []form.Column{{Name: "how", Type: form.Word, Words: &form.Words{Texts: []string{"online"}}}}}, Source: []int32{1}, Target: []int32{1}},
		},
	}
	d, err := From(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%v %s %v %v %v %v %v", d.NodeIDs, edgesOf(d), *d.NodeKinds, *d.EdgeKinds, d.EdgeFeatures.Data, d.Labels, denseOf(d.Features).Data); got !=
		"[3 7 3 7] 0→2 0→2 1→3 2→0 {[person account] [0 0 1 1]} {[owns uses] [1 0 1 0]} [1 0 1 0] [1 0 -1 -1] [-1 0 1 0 0 -1 0 1]" {
		t.Error(got)
	}
	if _, _, err := d.Heterogeneous(); err != nil {
		t.Error(err)
	}
	raw.Edges[0].To = "bank"
	if _, err := From(raw, nil); err == nil || !strings.Contains(err.Error(), `edges of kind "owns" lead from "person" to "bank", and there are no such types of nodes`) {
		t.Errorf("error %v", err)
	}
	few := payments()
	few.Nodes[0].Listed = 2
	if _, err := From(few, nil); err == nil || err.Error() != `p_edges.csv: line 4: node "200" is not in p_nodes.csv: add it there, or leave its edges out` {
		t.Errorf("error %v", err)
	}
}

// New rows are read as those that a Schema was fitted on, alone or with edges between them, and have the features that they have
// among these.
func TestNewRows(t *testing.T) {
	d, err := From(payments(), nil)
	if err != nil {
		t.Fatal(err)
	}
	sums, years := d.Schema.Edges[0].Columns[0].Scale, d.Schema.Edges[0].Columns[1].Scale
	for _, edges := range []bool{false, true} {
		raw := payments()
		raw.Nodes[0].Table = raw.Nodes[0].Gather([]int32{2, 0})
		raw.Edges[0].Table = raw.Edges[0].Gather([]int32{3})
		raw.Edges[0].Source, raw.Edges[0].Target = []int32{0}, []int32{1}
		if raw.Nodes[0].Listed = 2; !edges {
			raw.Edges = nil
		}
		e, err := From(raw, d.Schema)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(e.NodeIDs, denseOf(e.Features).Data, e.FeatureNames), fmt.Sprint([]string{"10", "200"}, denseOf(d.Features).Data[3:], d.FeatureNames); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if x := e.EdgeFeatures; x.Dim(1) != 3 && x.Dim(1) != 2 || edges != (x.Dim(0) == 1 && math.Abs(float64(x.Data[0])*sums.Dev+sums.Mean-8) < 1e-5 && math.Abs(float64(x.Data[1])*years.Dev+years.Mean-2004) < 1e-3) {
			t.Errorf("features of edges %v", e.EdgeFeatures)
		}
		if !strings.Contains(strings.Join(e.Warnings, "\n"), `1 cell of column "town" (p_nodes.csv) has a word that the model has not seen, such as "Rome" in line 4`) {
			t.Errorf("warnings %q", e.Warnings)
		}
	}
	raw := payments()
	raw.Nodes[0].Columns[1].Name = "city"
	if _, err := From(raw, d.Schema); err == nil || !strings.Contains(err.Error(), `p_nodes.csv: there is no column "town", which the model reads as a category of 2 words`) {
		t.Errorf("a column that is called otherwise: %v", err)
	}
}

// Graphs are read as those that a Schema was fitted on.
func TestNewGraphs(t *testing.T) {
	const train = `{"edges": [[0, 1], [1, 2]], "x": [[1, 2], [3, 4], [5, 6]], "edge_type": ["single", "double"], "label": "b", "directed": false}
{"edges": [[1, 0]], "x": [[7, 8], [9, 0]], "edge_type": ["single"], "label": "a", "directed": false}
`
	const new = `{"edges": [[0, 1]], "x": [[1, 2], [3, 4]], "edge_type": ["double"], "label": "a", "directed": false}
`
	d, err := LoadGraphs(put(t, "train.jsonl", []byte(train)))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := form.Load(put(t, "new.jsonl", []byte(new)), form.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := GraphsFrom(raw, d.Schema)
	if err != nil {
		t.Fatal(err)
	}
	table := &raw.Nodes[0].Table // and nodes and edges of graphs that train say what an empty number is
	table.Columns = []form.Column{{Name: "charge", Type: form.Number, Numbers: []float64{1, 3, 5, 7, math.NaN()}}}
	table.Rows, raw.Nodes[0].Listed, raw.Graphs.Offsets = 5, 5, []int{0, 2, 5}
	raw.Graphs.Table = form.Table{Rows: 2}
	raw.Splits = []form.Split{{Of: form.OfGraphs, Train: []int32{0}, Test: []int32{1}}}
	if f, err := GraphsFrom(raw, nil); err != nil || fmt.Sprint(f.Features.Data) != "[-1 1 3 5 0]" {
		t.Errorf("%v, %v", f, err)
	}
	kinds, n := e.EdgeKinds()
	if got := fmt.Sprint(e.Labels, e.ClassNames, e.Features.Data, kinds, n); got != "[0] [a b] [1 2 3 4] [0 0] 2" {
		t.Errorf("%s", got)
	}
}

// A Schema that passes its check reads any tables, or says why not.
func FuzzSchema(f *testing.F) {
	const nodes, edges = "id,age,town,joined,label,split\na,1,Oulu,2024-01-02,x,train\nb,,Rome,2024-01-03,y,test\n", "source,target,w,kind\na,b,2,web\nb,a,3,app\n"
	read := func(nodes, edges string) (*form.Raw, error) {
		return form.ReadFS(fstest.MapFS{"nodes.csv": {Data: []byte(nodes)}, "edges.csv": {Data: []byte(edges)}}, ".", form.Options{})
	}
	must := func(raw *form.Raw, err error) *form.Raw {
		if err != nil {
			f.Fatal(err)
		}
		return raw
	}
	d, err := From(must(read(nodes, edges)), nil)
	if err != nil {
		f.Fatal(err)
	}
	text, err := json.Marshal(d.Schema)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), nodes, edges)
	f.Add(string(text), "id,town,age\na,1,2\n", "source,target\na,a\n")
	const more = "id,note,fare,zone,seen_at,label\na,late again,1,z,2023-01-02T03:04:05Z,x\nb,Late!,-7,z,2024-05-06,y\nc,,,q,,x\n"
	s, err := columns.Choose(must(read(more, edges)), columns.Roles{As: map[string]columns.Encoding{"note": columns.AsText, "fare": columns.AsLog, "zone": columns.AsCode, "w": columns.AsPlain}})
	if err == nil {
		d, err = From(must(read(more, edges)), s)
	}
	if err == nil {
		text, err = json.Marshal(d.Schema)
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text), more, edges)
	f.Fuzz(func(t *testing.T, text, nodes, edges string) {
		s := new(columns.Schema)
		if json.Unmarshal([]byte(text), s) != nil || s.Check() != nil {
			return
		}
		raw, err := read(nodes, edges)
		if err != nil {
			return
		}
		if d, err := From(raw, s); err == nil && d.Check() != nil {
			t.Fatal(d.Check())
		}
	})
}

// Columns of edges are learnt from those that lead from or to nodes that train, and of edges that train their ends' columns.
func TestColumnsOfTheOtherTable(t *testing.T) {
	raw := &form.Raw{Nodes: []form.Nodes{{Table: form.Table{Rows: 5, Columns: []form.Column{
		{Name: "town", Type: form.Word, Words: &form.Words{Texts: []string{"Oslo", "Lund", "Turku"}, Codes: []int32{0, 0, 1, 2, 2}}},
		{Name: "label", Type: form.Number, Numbers: []float64{0, 1, 0, 1, 0}},
	}}}}, Edges: []form.Edges{{Table: form.Table{Rows: 3, Columns: []form.Column{
		{Name: "channel", Type: form.Word, Words: &form.Words{Texts: []string{"web", "mail", "fax"}, Codes: []int32{0, 1, 2}}},
		{Name: "late", Type: form.Number, Numbers: []float64{0, 1, 1}},
	}}, Source: []int32{0, 2, 3}, Target: []int32{1, 1, 4}}},
		Splits: []form.Split{{Of: form.OfNodes, Train: []int32{0, 1}, Val: []int32{2}, Test: []int32{3, 4}}}}
	d, err := From(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	words := func(d *Dataset) string {
		return fmt.Sprint(d.Schema.Nodes[0].Columns[0].Words, d.Schema.Edges[0].Columns[0].Words)
	}
	if got := words(d); got != "[Oslo] [mail web]" {
		t.Errorf("nodes 0 and 1 train: words %s", got)
	}
	if d, err = d.Fit([]int32{3}); err != nil || words(d) != "[Turku] [fax]" {
		t.Errorf("node 3 trains: words %s, error %v", words(d), err)
	}
	raw.Splits = nil
	s, err := columns.Choose(raw, columns.Roles{Label: []string{"late"}, As: map[string]columns.Encoding{"label": columns.Left}})
	if err != nil {
		t.Fatal(err)
	}
	if d, err = From(raw, s); err != nil {
		t.Fatal(err)
	}
	if d, err = d.Fit([]int32{0}); err != nil || words(d) != "[Lund Oslo] [mail]" && words(d) != "[Oslo] [web]" {
		t.Errorf("an edge trains: words %s, error %v", words(d), err)
	}
}
