package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// saved writes files, names and contents in turn, into a folder of their own.
func saved(t testing.TB, dir string, parts ...string) string {
	t.Helper()
	for i := 0; i < len(parts); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, parts[i]), []byte(parts[i+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shown is all there is of a dataset in a line.
func shown(d *Dataset) string {
	out := fmt.Sprintf("%s %q: %s", d.Name, d.NodeNames, edgesOf(d))
	if d.Labels != nil {
		out += fmt.Sprintf("; labels %v of %d %q", d.Labels, d.Classes, d.ClassNames)
	}
	if d.Targets != nil {
		out += fmt.Sprintf("; targets %v", d.Targets.Data)
	}
	if d.MultiLabels != nil {
		out += fmt.Sprintf("; several of %q %v", d.ClassNames, d.MultiLabels.Dense().Data)
	}
	if d.EdgeLabels != nil {
		out += fmt.Sprintf("; labels of edges %v of %d %q", d.EdgeLabels, d.Classes, d.ClassNames)
	}
	if x := d.EdgeTargets; x != nil {
		out += fmt.Sprintf("; targets of edges %v of %d %q", x.Data, d.Classes, d.ClassNames)
	}
	if x := d.EdgeFeatures; x != nil {
		out += fmt.Sprintf("; features of edges %v %v", x.Shape(), x.Data)
	}
	if len(d.Split.Train) > 0 {
		out += fmt.Sprintf("; split %v", d.Split)
	}
	switch x := d.Features.(type) {
	case *tensor.Dense:
		out += fmt.Sprintf("; features %v %v", x.Shape(), x.Data)
	case *sparse.CSR:
		if x.Values != nil {
			out += fmt.Sprintf("; features %v %v %v %v", x.Shape(), x.Offsets, x.Cols, x.Values)
		}
	}
	return out
}

const (
	peopleEdges = "source,target,weight\nann,bob,0.5\nbob,\"cy, d\",2\n"
	peopleNodes = "id,age,member,class,split\nbob,30,true,x,train\nann,20,FALSE,y,val\n\"cy, d\",0,1,,\n"
	people      = `"bob" "ann" "cy, d"`
	peopleShown = `["bob" "ann" "cy, d"]: 0→2:2 1→0:0.5; labels [0 1 -1] of 2 ["x" "y"]; split {[0] [1] []}; features [3 2] [30 1 20 0 0 1]`
)

func TestTables(t *testing.T) {
	for name, c := range map[string]struct {
		parts []string
		read  string // of the folder; empty: the folder
		want  string
	}{
		"words":         {[]string{"e.csv", peopleEdges}, "e.csv", `e ["ann" "bob" "cy, d"]: 0→1:0.5 1→2:2`},
		"numbers":       {[]string{"e.tsv", "src\tdst\n10\t9\n9.0\t2\n"}, "e.tsv", `e ["2" "9" "10"]: 1→0 2→1`},
		"blanks":        {[]string{"e.txt", "# from SNAP\nFrom To\n1 0\n"}, "e.txt", `e ["0" "1"]: 1→0`},
		"other columns": {[]string{"e.csv", "Type;ID 1;ID 2;Value\nx;1;0;3\n"}, "", `e ["0" "1"]: 1→0:3; features of edges [1 1] [1]`},
		"edge columns":  {[]string{"e.csv", "u,v,kind,km,since,edge id\n0,1,road,2,2024-01-03,1\n1,2,rail,3,2024-01-01T12:00:00Z,2\n0,1,sea,9,2025-01-01,3\n"}, "", `e ["0" "1" "2"]: 0→1 1→2; features of edges [2 4] [0 1 2 1.5 1 0 3 0]`},
		"words and times": {[]string{"g_edges.csv", "u,v\nb,a\n", "g_nodes.csv", "id,town,joined,n,seen at,void\na,Rome,2024-03-02 06:00:00,1,1700000000,\nb,,2024-03-01,0,1700086400,\nc,Oslo,2024-03-01,x,1700043200,\n"}, "",
			`g ["a" "b" "c"]: 1→0; features [3 7] [0 1 1.25 0 1 0 0 0 0 0 1 0 0 1 1 0 0 0 0 1 0.5]`},
		"words among numbers": {[]string{"g_edges.csv", "u,v\nb,a\n", "g_nodes.csv", "id,n\na,0\nb,2\nc,\nd,x\ne,0\nf,\ng,2.0\n"}, "", // 0, 2, x
			`g ["a" "b" "c" "d" "e" "f" "g"]: 1→0; features [7 3] [1 0 0 0 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0 1 0]`},
		"a chosen column":  {[]string{"p_edges.csv", peopleEdges, "p_nodes.csv", peopleNodes}, "p_edges.csv#member,-age", `p ["bob" "ann" "cy, d"]: 0→2:2 1→0:0.5; labels [1 0 1] of 2 []; split {[0] [1] []}; features [3 1] [1 0 0]`},
		"chosen of a zip":  {[]string{"x.zip", string(zipOf("p_edges.csv", peopleEdges, "p_nodes.csv", peopleNodes))}, "x.zip#age, -Class ,-weight,undirected", `p ["bob" "ann" "cy, d"]: 0→1 0→2 1→0 2→0; labels [2 1 0] of 3 ["0" "20" "30"]; split {[0] [1] []}; features [3 1] [1 0 1]`},
		"numbers to learn": {[]string{"g_edges.csv", "u,v\n1,0\n", "g_nodes.csv", "id,a,b\n0,1.5,\n1,0,2\n"}, "g_nodes.csv#a,b", `g ["0" "1"]: 1→0; targets [1.5 NaN 0 2]`},
		"one with gaps":    {[]string{"g_edges.csv", "u,v\n1,0\n", "g_nodes.csv", "id,a\n0,1.5\n1,\n"}, "g_nodes.csv#a", `g ["0" "1"]: 1→0; targets [1.5 NaN]`},
		"several classes":  {[]string{"g_edges.csv", "u,v\n1,0\n", "g_nodes.csv", "id,wet,red,label\n0,1,,x\n1,false,1,y\n"}, "g_nodes.csv#wet,red,-label", `g ["0" "1"]: 1→0; several of ["wet" "red"] [1 NaN 0 1]`},
		"labels of edges":  {[]string{"g_edges.csv", "u,v,fraud,split,sum\n1,0,no,train,5\n0,2,yes,test,6\n2,1,,,7\n"}, "g_edges.csv#fraud", `g_edges ["0" "1" "2"]: 0→2 1→0 2→1; labels of edges [0 -1 1] of 2 ["no" "yes"]; features of edges [3 1] [5 7 6]; split {[0] [] [2]}`},
		"numbers of edges": {[]string{"g_edges.csv", "u,v,weight\n1,0,1.5\n0,2,\n2,1,-1\n"}, "g_edges.csv#weight", `g_edges ["0" "1" "2"]: 0→2 1→0 2→1; targets of edges [1.5 -1 NaN] of 0 []`},
		"several of edges": {[]string{"g_edges.csv", "u,v,late,lost,split\n1,0,1,0,train\n0,2,,1,test\n"}, "#late,lost,undirected", `g_edges ["0" "1" "2"]: 0→1 0→2 1→0 2→0; targets of edges [1 0 NaN 1 1 0 NaN 1] of 2 ["late" "lost"]; split {[0 2] [] [1 3]}`},
		"both directions":  {[]string{"g_edges.csv", "u,v,fraud,split,sum\n1,0,no,train,5\n0,2,yes,test,6\n"}, "#fraud,undirected", `g_edges ["0" "1" "2"]: 0→1 0→2 1→0 2→0; labels of edges [0 1 0 1] of 2 ["no" "yes"]; features of edges [4 1] [5 6 5 6]; split {[0 2] [] [1 3]}`},
		"a list, both":     {[]string{"g.txt", "1 0\n"}, "g.txt#undirected", `g ["0" "1"]: 0→1 1→0`},
		"a class of tests": {[]string{"g_edges.csv", "u,v\n1,0\n", "g_nodes.csv", "id,y,split\n0,x,train\n1,z,test\n2,y,val\n"}, "", `g ["0" "1" "2"]: 1→0; labels [0 2 1] of 3 ["x" "y" "z"]; split {[0] [2] [1]}`},
		"parallel edges":   {[]string{"e.csv", "u,v,w\n0,1,1\n0,1,2\n1,1,5\n"}, "", `e ["0" "1"]: 0→1:3`},
		"two files":        {[]string{"p_edges.csv", peopleEdges, "p_nodes.csv", peopleNodes}, "", "p " + peopleShown},
		"named":            {[]string{"p_edges.csv", peopleEdges, "p_nodes.csv", peopleNodes, "q.csv", ""}, "p_edges.csv", "p " + peopleShown},
		"by its nodes":     {[]string{"p_edges.csv", peopleEdges, "p_nodes.csv", peopleNodes, "q_edges.csv", "", "q_nodes.csv", ""}, "p_nodes.csv", "p " + peopleShown},
		"gzip and zstd":    {[]string{"p-edges.csv.gz", string(gz(peopleEdges)), "p-nodes.csv.zst", string(zst(peopleNodes))}, "", "p " + peopleShown},
		"zip":              {[]string{"x.zip", string(zipOf("d/p_edges.csv", peopleEdges, "d/p_nodes.csv.gz", string(gz(peopleNodes)), "d/README.txt", "a,b\n"))}, "x.zip", "p " + peopleShown},
		"a list":           {[]string{"g_edges.txt", "1 0\n", "g_labels.csv", "node,y\n0,1\n1,0\n"}, "", `g ["0" "1"]: 1→0; labels [1 0] of 2 []`},
		"to be predicted":  {[]string{"g_edges.csv", "u,v\n1,0\n", "g_labels.csv", "id,target\n1,-1\n0,0.5\n"}, "", `g ["0" "1"]: 1→0; targets [0.5 -1]`},
		"gaps":             {[]string{"g_edges.csv", "u,v\n1,0\n", "g_labels.csv", ",id,label\n0,1,7\n1,0,3.0\n2,2,\n3,3,-1\n"}, "", `g ["0" "1" "2" "3"]: 1→0; labels [0 1 -1 -1] of 2 ["3" "7"]`},
		"masks":            {[]string{"g_edges.csv", "u,v\n1,0\n", "g_nodes.csv", "id,a,train_mask,val_mask,test_mask\n0,1,True,False,False\n1,2,0,0,1\n"}, "", `g ["0" "1"]: 1→0; split {[0] [] [1]}; features [2 1] [1 2]`},
		"MUSAE": {[]string{"m_edges.csv", "id_1,id_2\n0,1\n2,1\n", "m_target.csv", "id,facebook_id,page_name,page_type\n1,145,One,tv\n0,226,Zero,company\n2,13,Two,tv\n",
			"m_features.json", `{"0": [3, 1], "1": [0], "2": []}`}, "m_target.csv", `m ["Zero" "One" "Two"]: 0→1 2→1; labels [0 1 1] of 2 ["company" "tv"]; features [3 4] [0 1 0 1 1 0 0 0 0 0 0 0]`},
		"Twitch": {[]string{"musae_DE_edges.csv", "from,to\n0,1\n", "musae_DE_target.csv", "id,days,mature,views,new_id\n99,12,True,5,1\n98,10,False,7,0\n"}, "",
			`musae_DE ["0" "1"]: 0→1; labels [0 1] of 2 ["false" "true"]; features [2 2] [10 7 12 5]`},
		"several of Twitch": {[]string{"musae_DE_edges.csv", "from,to\n0,1\n", "musae_DE_target.csv", "id,days,mature,views,new_id\n99,12,True,5,1\n98,10,False,7,0\n"}, "musae_DE_edges.csv#days,mature",
			`musae_DE ["0" "1"]: 0→1; targets [10 0 12 1]; features [2 1] [7 5]`},
		"three tables": {[]string{"edges.csv", "u,v\n1,0\n", "labels.csv", "id,label\n1,1\n0,0\n", "features.csv", "id,f,g\n0,5,6\n1,7,8\n"}, "edges.csv", `DIR ["0" "1"]: 1→0; labels [0 1] of 2 []; features [2 2] [5 6 7 8]`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := saved(t, t.TempDir(), c.parts...)
			path := filepath.Join(dir, c.read)
			if strings.HasPrefix(c.read, "#") {
				path = dir + c.read
			}
			d, err := readWith(path)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(c.want, "DIR", filepath.Base(dir), 1)
			if file, _ := rolesOf(path); len(Files(file)) == 0 {
				t.Errorf("no files of %s", file)
			}
			if got := shown(d); strings.Replace(got, "features [3 4] [0 2 3 3] [1 3 0] [1 1 1]", "features [3 4] [0 1 0 1 1 0 0 0 0 0 0 0]", 1) != want {
				t.Errorf("read as\n%s, want\n%s", got, want)
			}
			if err := d.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Numbers that are as many as nodes are no classes: the visits of MUSAE's pages, say.
func TestTableOfCounts(t *testing.T) {
	d, err := readWith(saved(t, t.TempDir(), "e_edges.csv", "id1,id2\n0,1\n", "e_target.csv", "id,target\n"+manyRows("%d,1%d\n")))
	if err != nil || d.Targets == nil || d.Targets.Dim(0) != 200 || d.Targets.Data[7] != 17 {
		t.Errorf("%v, error %v", d, err)
	}
}

// Features that are mostly zeros are sparse, whatever the table.
func TestTableFeatures(t *testing.T) {
	head, rows := "id", ""
	for i := range sparseLeast {
		head += fmt.Sprintf(",f%d", i)
		rows += fmt.Sprintf("%d%s,3%s\n", sparseLeast-1-i, strings.Repeat(",0", i), strings.Repeat(",0", sparseLeast-1-i))
	}
	d, err := readWith(saved(t, t.TempDir(), "edges.csv", "u,v\n0,1\n", "nodes.csv", head+"\n"+rows))
	if err != nil {
		t.Fatal(err)
	}
	x, ok := d.Features.(*sparse.CSR)
	if !ok || x.NumCols != sparseLeast || x.NNZ() != sparseLeast || x.Cols[0] != sparseLeast-1 || x.Values[0] != 3 || x.Offsets[1] != 1 {
		t.Errorf("features %v", d.Features)
	}
}

// What stands for a number that is not known is no class of its own, and among words it is a word.
func TestMissingWords(t *testing.T) {
	for column, want := range map[string]string{
		"0 1 NA 1":          `labels [0 1 -1 1] of 2 []`,
		"0.5 n/a null 2":    `targets [0.5 NaN NaN 2]`,
		"yes NA no yes":     `labels [2 0 1 2] of 3 ["NA" "no" "yes"]`,
		"None NA None <NA>": `labels [2 1 2 0] of 3 ["<NA>" "NA" "None"]`,
	} {
		nodes := "id,label\n"
		for i, text := range strings.Fields(column) {
			nodes += fmt.Sprintf("%d,%s\n", i, text)
		}
		d, err := readWith(saved(t, t.TempDir(), "x_edges.csv", "u,v\n0,1\n", "x_nodes.csv", nodes))
		if err != nil {
			t.Errorf("%s: %v", column, err)
		} else if got := shown(d); !strings.HasSuffix(got, "; "+want) {
			t.Errorf("%s: read as %s, want %s", column, got, want)
		}
	}
}

// A list of features may name one twice, as Twitch's of MUSAE do: it is there once.
func TestFeatureTwice(t *testing.T) {
	d, err := readWith(put(t, "x.json", []byte(`{"edges":[[1,0]],"features":{"0":[2,0,2,2],"1":[1]}}`)))
	if err != nil {
		t.Fatal(err)
	}
	x, ok := d.Features.(*sparse.CSR)
	if !ok {
		x = sparse.FromDense(d.Features.(*tensor.Dense))
	}
	if got := fmt.Sprint(x.Dense().Data); got != "[1 0 1 0 1 0]" {
		t.Errorf("features %s", got)
	}
}

func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`[[1,0],["2",1]]`:           `x ["0" "1" "2"]: 1→0 2→1`,
		`[["b","a",0.5],["b","c"]]`: `x ["b" "a" "c"]: 0→1:0.5 0→2:1`,
		`[{"source":"b","target":"a","weight":2,"kind":[{}]}]`:                                                                                                                    `x ["b" "a"]: 0→1:2`,
		`{"directed":false,"graph":{"a":[1]},"nodes":[{"id":5,"size":0},{"id":3,"size":1}],"links":[{"source":3,"target":5,"value":2}]}`:                                          `x ["3" "5"]: 0→1:2 1→0:2; features [2 1] [1 0]`,
		`{"directed":true,"edges":[{"source":"q","target":"p"}],"nodes":[{"id":"p","group":1,"split":"train","name":"Pia"},{"id":"q","split":null},"r"]}`:                         `x ["Pia" "q" "r"]: 1→0; labels [0 -1 -1] of 1 ["1"]; split {[0] [] []}`,
		`{"edges":[[0,1]],"labels":["x",null,"y"],"features":[[1,2],[0,4],[5,6]]}`:                                                                                                `x ["0" "1" "2"]: 0→1; labels [0 -1 1] of 2 ["x" "y"]; features [3 2] [1 2 0 4 5 6]`,
		`{"links":[{"source":"a","target":"b","kind":"road","toll":true,"km":2,"key":0,"via":["x"]},{"source":"b","target":"c","toll":false,"km":3.5,"weight":2,"kind":"rail"}]}`: `x ["a" "b" "c"]: 0→1:1 1→2:2; features of edges [2 4] [0 1 1 2 1 0 0 3.5]`,
		`[{"u":1,"v":0,"kind":"road"},[0,1],{"u":2,"v":1,"kind":null}]`:                                                                                                           `x ["0" "1" "2"]: 0→1 1→0 2→1; features of edges [3 1] [1 0 0]`,
		`{"directed":false,"links":[{"source":"a","target":"b","km":2}]}`:                                                                                                         `x ["a" "b"]: 0→1 1→0; features of edges [2 1] [2 2]`,
		`{"labels":{"a":1,"b":0},"edges":[["a","b"]],"features":{"b":[2,0],"a":[1]}}`:                                                                                             `x ["a" "b"]: 0→1; labels [1 0] of 2 []; features [2 3] [0 1 0 1 0 1]`,
		`{"nodes":["b","a"],"edges":[["a","b"]],"y":[0.5,2]}`:                                                                                                                     `x ["b" "a"]: 1→0; targets [0.5 2]`,
		`{"nodes":[{"id":0,"x":[1,0]},{"id":1,"x":[0,2]}],"edges":[[0,1]]}`:                                                                                                       `x ["0" "1"]: 0→1; features [2 2] [1 0 0 2]`,
	} {
		for _, name := range []string{"x.json", "x.json.gz"} {
			if name == "x.json.gz" {
				text = string(gz(text))
			}
			d, err := readWith(put(t, name, []byte(text)))
			if err != nil {
				t.Errorf("%s: %v", text, err)
			} else if got := shown(d); got != want {
				t.Errorf("%s: read as\n%s, want\n%s", text, got, want)
			}
		}
	}
	d, err := readWith(saved(t, t.TempDir(), "y.zip", string(zipOf("y.json", "[[0,1]]"))))
	if err == nil {
		t.Errorf("a folder of an archive: %v", d)
	}
	if d, err := readWith(put(t, "y.zip", zipOf("y.json", "[[0,1]]"))); err != nil || shown(d) != `y ["0" "1"]: 0→1` {
		t.Errorf("in an archive: %v, error %v", d, err)
	}
	if d, err := readWith(saved(t, t.TempDir(), "y.json", "[[0,1]]")); err != nil || shown(d) != `y ["0" "1"]: 0→1` {
		t.Errorf("in a folder: %v, error %v", d, err)
	}
}

// tablesWith reads a table of edges with one of nodes.
func tablesWith(edges, nodes string) func(*testing.T, string) error {
	return func(t *testing.T, dir string) error {
		_, err := readWith(saved(t, dir, "e_edges.csv", edges, "e_nodes.csv", nodes))
		return err
	}
}

// chosenOf is tablesWith of columns that are chosen.
func chosenOf(edges, nodes, columns string) func(*testing.T, string) error {
	return func(t *testing.T, dir string) error {
		_, err := readWith(saved(t, dir, "e_edges.csv", edges, "e_nodes.csv", nodes) + "/e_edges.csv#" + columns)
		return err
	}
}

// manyRows is 200 rows in which the number of the row stands twice.
func manyRows(format string) string {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, format, i, i)
	}
	return b.String()
}

func badTables() []bad {
	csv := func(text string) func(*testing.T, string) error { return fileOf("x.csv", []byte(text)) }
	js := func(text string) func(*testing.T, string) error { return fileOf("x.json", []byte(text)) }
	const edges = "source,target\na,b\n"
	return []bad{
		{"no ends", csv("a,b\n1,2\n"), `DIR/x.csv: line 1: of the columns "a", "b" no two are the ends of an edge: call them source and target, or, if the first line is an edge itself, write source,target above it; a table of nodes goes beside that of its edges, NAME_nodes.csv beside NAME_edges.csv`},
		{"header alone", csv("source,target\n"), "DIR/x.csv: there are no edges in it"},
		{"short row", csv("source,target,weight\na,b,1\na,b\n"), "DIR/x.csv: line 3: 2 fields, want 3 as the first line names: complete the row, or put a field that holds commas in quotes"},
		{"empty end", csv("source,target\na,\n"), "DIR/x.csv: line 2: an end of the edge is empty: write the node's id, or leave the row out"},
		{"open quote", csv("source,target\n\"a,b\n"), `DIR/x.csv: line 2: a quote is not closed: close it, or write one that is meant as "" in a field that stands in quotes`},
		{"weight is a word", csv("source,target,weight\na,b,heavy\n"), `DIR/x.csv: line 2, column "weight": the weight is "heavy", want a finite number`},
		{"weight is NaN", csv("source,target,weight\na,b,nan\n"), `DIR/x.csv: line 2, column "weight": the edge has no weight, and others have one: write it, 1 perhaps, or leave the column out with --column weight=none`},
		{"weight is empty", csv("source,target,weight\na,b,\n"), `DIR/x.csv: line 2, column "weight": the edge has no weight, and others have one: write it, 1 perhaps, or leave the column out with --column weight=none`},
		{"cut gzip", fileOf("x.csv.gz", gz(peopleEdges)[:40]), "DIR/x.csv.gz: line 2: the gzip file ends early: it was cut, so download or copy it again"},
		{"unknown node", tablesWith("source,target\na,b\nb,c\n", "id\na\nb\n"), `DIR/e_edges.csv: line 3: node "c" is not in DIR/e_nodes.csv: add it there, or leave its edges out`},
		{"no id", tablesWith(edges, "age,label\n1,2\n"), `DIR/e_nodes.csv: line 1: of the columns "age", "label" none names the nodes: call one id, or choose it with --id, as --id age`},
		{"empty id", tablesWith(edges, "id,label\na,1\n,2\n"), `DIR/e_nodes.csv: line 3, column "id": it is empty: write an id, or leave the row out`},
		{"node twice", tablesWith(edges, "id,label\na,1\nb,2\na,1\n"), `DIR/e_nodes.csv: line 4, column "id": node "a" stands in line 2 already: keep one of the two`},
		{"no nodes", tablesWith(edges, "id,label\n"), "DIR/e_nodes.csv: there is no line below its names: write one for each node"},
		{"unknown part", tablesWith(edges, "id,split\na,trian\n"), `DIR/e_nodes.csv: line 2, column "split": "trian" is no part of a split: want train, val or test, or nothing`},
		{"two parts", tablesWith(edges, "id,train_mask,val_mask\na,1,1\n"), `DIR/e_nodes.csv: line 2, column "val_mask": the node is in two parts of the split`},
		{"tests without training", tablesWith(edges, "id,split\na,test\nb,\n"), "DIR/e_nodes.csv: the split has no training nodes"},
		{"labels that are names", tablesWith(edges, "id,label\na,x\nb,y\n"+manyRows("id%d,word%d\n")), `DIR/e_nodes.csv: column "label": 202 different labels of 202 nodes are no classes: leave the column out, or call it name`},
		{"labels twice", func(t *testing.T, dir string) error {
			_, err := readWith(saved(t, dir, "edges.csv", edges, "nodes.csv", "id,y\na,1\nb,0\n", "labels.csv", "id,y\na,1\nb,0\n"))
			return err
		}, `DIR/labels.csv: the column "y" stands in DIR/nodes.csv, too: leave one of them out`},
		{"nodes of another table", func(t *testing.T, dir string) error {
			_, err := readWith(saved(t, dir, "edges.csv", edges, "nodes.csv", "id\na\nb\n", "labels.csv", "id,y\na,1\nc,0\n"))
			return err
		}, `DIR/labels.csv: line 3: node "c" is not in the table that lists the nodes, DIR/nodes.csv: add it there, or leave it out here`},
		{"features of fewer nodes", func(t *testing.T, dir string) error {
			_, err := readWith(saved(t, dir, "edges.csv", edges, "nodes.csv", "id\na\nb\n", "features.json", `{"a": [1]}`))
			return err
		}, `DIR/features.json: it says nothing of node "b", which is in DIR/nodes.csv: add it, or leave it out there`},
		{"two families", func(t *testing.T, dir string) error {
			_, err := readWith(saved(t, dir, "a_edges.csv", "", "a_nodes.csv", "", "b_edges.csv", "", "b_nodes.csv", ""))
			return err
		}, "DIR: there are several datasets in it: name one of a_edges.csv, b_edges.csv"},
		{"empty JSON", js(""), "DIR/x.json: line 1, column 1: it ends where a value is wanted: it is empty or cut"},
		{"a number", js("7"), "DIR/x.json: line 1, column 1: 7 stands there, want a list of edges or an object"},
		{"cut JSON", js(`[[0,1],[1,`), "DIR/x.json: line 1, column 11: it ends inside a list: it is cut, or a ] is missing"},
		{"cut JSON of several lines", js("[\n  [0, 1],\n  [1"), "DIR/x.json: line 3, column 5: it ends inside a list: it is cut, or a ] is missing"},
		{"JSON of Python", js("{\"edges\": [[0, 1]],\n \"directed\": False}"), "DIR/x.json: line 2, column 14: False stands there, as Python writes it: JSON has true, false and null; json.dump writes them"},
		{"JSON in Latin-1", js("[[\"caf\xe9\", \"b\"]]"), "DIR/x.json: line 1, column 3: the byte 0xe9 of a text is not UTF-8: save the file as UTF-8"},
		{"more JSON", js(`[[0,1]] [`), "DIR/x.json: line 1, column 9: something follows its value"},
		{"one end", js(`[[0]]`), "DIR/x.json: line 1, column 3: edge 0 has 1 ends, want two"},
		{"four ends", js(`[[0,1,2,3]]`), "DIR/x.json: line 1, column 7: edge 0 has more than two ends and a weight"},
		{"weight is a text", js(`[[0,1,"x"]]`), `DIR/x.json: line 1, column 7: edge 0: "x" stands there, want a finite number`},
		{"edge is a number", js(`[0,1]`), `DIR/x.json: line 1, column 2: edge 0 is 0, want [source, target], with a weight perhaps`},
		{"end is null", js(`[[0,null]]`), "DIR/x.json: line 1, column 5: an end of the edge is empty"},
		{"no edges", js(`{"0":[1,5],"1":[]}`), `DIR/x.json: there are no edges in it: want a list [[source, target], …], or an object that has one as "edges" or "links"`},
		{"JSON node twice", js(`{"nodes":[1,1],"edges":[[1,1]]}`), `DIR/x.json: line 1, column 13: node 1: node "1" stands there already`},
		{"JSON node without id", js(`{"nodes":[{"y":1}],"edges":[[1,1]]}`), `DIR/x.json: line 1, column 17: node 0: it has no "id"`},
		{"JSON unknown node", js(`{"nodes":[1],"edges":[[1,2]]}`), `DIR/x.json: edge 0: node "2" is not in DIR/x.json: add it there, or leave its edges out`},
		{"labels of fewer nodes", js(`{"nodes":[1,2],"edges":[[1,2]],"labels":[0]}`), "DIR/x.json: a list of 2 nodes, and what is said of 1 in their order"},
		{"JSON from 1", js(`{"edges":[[1,2]],"labels":[0,1]}`), "DIR/x.json: an edge has an end 2, and there are labels or features of 2 nodes, numbered from 0. Indices seem to begin at 1: subtract 1 from all ends of edges"},
		{"JSON far from 1", js(`{"edges":[[1,3]],"features":[[0],[1]]}`), `DIR/x.json: edge 0: node "3" is not in DIR/x.json: add it there, or leave its edges out`},
		{"features of two widths", js(`{"edges":[[1,0]],"features":[[1,2],[1]]}`), `DIR/x.json: line 1, column 38: of node "1": 1 features, and 2 of the nodes before`},
		{"feature far away", js(`{"edges":[[1,0]],"features":{"0":[1],"1":[2000000000]}}`), "DIR/x.json: 2000000001 features a node, in a file of 55 bytes: each takes weights, so at most 65591 are believed: leave out those that are zero everywhere, or save the file without compression"},
		{"feature below zero", js(`{"edges":[[1,0]],"features":{"0":[-1]}}`), `DIR/x.json: line 1, column 35: of node "0": -1 is not the number of a feature`},
		{"link without source", js(`{"links":[{"target":1}]}`), `DIR/x.json: line 1, column 22: edge 0: want its ends as "source" and "target"`},
		{"link of no finite number", js(`[{"u":1,"v":0,"km":1e999}]`), `DIR/x.json: link 1, column "km": +Inf is no finite number, as features are`},
		{"links of many attributes", js(`[{"u":1,"v":0` + manyKeys(300) + `}]`), `DIR/x.json: line 1, column 2069: edge 0: links have more than 256 attributes`},
		{"deep JSON", js(`{"a":` + strings.Repeat("[", 10000)), "DIR/x.json: line 1, column 10005: values are nested deeper than 10000"},
		{"MATLAB 5", fileOf("x.mat", []byte("MATLAB 5.0 MAT-file, Platform: posix")), `DIR/x.mat: it is a MATLAB file of version 5, which is not read: save it as npz, with the names that its variables have: python3 -c "import numpy as np, scipy.io as s, scipy.sparse as p; m = s.loadmat('FILE.mat'); a = p.coo_matrix(m['network']); g = m['group']; np.savez_compressed('FILE.npz', edge_index=[a.row, a.col], edge_weight=a.data, labels=g.toarray() if p.issparse(g) else g)"`},
		{"MATLAB 7.3", fileOf("x.mat", []byte("MATLAB 7.3 MAT-file, Platform: posix")), "DIR/x.mat: it is a MATLAB file of version 7.3 (HDF5), which is not read: save it from MATLAB with -v7, and then as npz with SciPy and NumPy"},
		{"no MATLAB", fileOf("x.mat", []byte("hello")), "DIR/x.mat: it is no MATLAB file of a version that is known: save its arrays as npz, with NumPy"},
	}
}

// badColumns are columns that cannot be what they are to be.
func badColumns() []bad {
	csv := func(text string) func(*testing.T, string) error { return fileOf("x.csv", []byte(text)) }
	const edges = "source,target\na,b\n"
	return []bad{
		{"numbers, then a word", tablesWith(edges, "id,town\n"+manyRows("id%d,1%d\n")+"a,Rome\nb,3\n"), `DIR/e_nodes.csv: line 202, column "town": "Rome" stands among 201 numbers: write a number, leave the cell empty, or say what the column is: --column town=category, or --column town=none to leave it out`},
		{"feature is infinite", tablesWith(edges, "id,age\na,-inf\n"), `DIR/e_nodes.csv: line 2, column "age": -Inf is no finite number, as features are`},
		{"time is a word", tablesWith(edges, "id,born\na,2001-02-03\nb,soon\n"), `DIR/e_nodes.csv: line 3, column "born": "soon" is no time, and line 2 has one: times are like 2024-03-01T12:30:00Z: write them all so, or leave the column out (--column born=none)`},
		{"feature is NA", tablesWith("u,v\na,a\n", "id,age\na,30\nb,NA\n"), `DIR/e_nodes.csv: line 3, column "age": "NA" stands among numbers: leave the cell empty, fill it, with 0 perhaps, or leave the column out (--column age=none)`},
		{"no such column", chosenOf(edges, "id,age\na,1\nb,2\n", "agee"), `DIR/e_nodes.csv: there is no column "agee" (is "age" meant?); there are "age"`},
		{"columns of JSON", func(t *testing.T, dir string) error {
			_, err := readWith(saved(t, dir, "x.json", "[[0,1]]") + "/x.json#label")
			return err
		}, `DIR/x.json: there is no column "label": its nodes and edges have no columns`},
		{"id to be learnt", chosenOf(edges, "id,age\na,1\nb,2\n", "id"), `DIR/e_nodes.csv: the column "id" says which row is which; it is neither learnt nor a feature`},
		{"id left out", chosenOf(edges, "id,age\na,1\nb,2\n", "-id"), `DIR/e_nodes.csv: the column "id" says which row is which; it is neither learnt nor a feature`},
		{"end to be learnt", chosenOf(edges, "id,age\na,1\nb,2\n", "target"), `DIR/e_nodes.csv: the column "target" says which row is which; it is neither learnt nor a feature`},
		{"several with a word", chosenOf(edges, "id,p,q\na,1,0\nb,2,x\n", "p,q"), `DIR/e_nodes.csv: line 3, column "q": "x" is not a number: if several columns are to be learnt, all of their cells must be numbers or empty`},
		{"several of nothing", chosenOf(edges, "id,p,q\na,,\nb,,\n", "p,q"), `DIR/e_nodes.csv: nothing stands in the columns "p", "q", which are to be learnt`},
		{"two of edges", chosenOf("u,v,p,q\na,b,1,x\n", "id\na\nb\n", "p,q"), `DIR/e_edges.csv: line 2, column "q": "x" is not a number: if several columns are to be learnt, all of their cells must be numbers or empty`},
		{"edges of a part", chosenOf("u,v,p,split\na,b,1,most\n", "id\na\nb\n", "p"), `DIR/e_edges.csv: line 2, column "split": "most" is no part of a split: want train, val or test, or nothing`},
		{"edge feature is infinite", csv("u,v,km\na,b,1\nb,a,inf\n"), `DIR/x.csv: line 3, column "km": +Inf is no finite number, as features are`},
		{"columns of a matrix", func(t *testing.T, dir string) error {
			_, err := readWith(saved(t, dir, "x.mtx", "") + "/x.mtx#label")
			return err
		}, "DIR/x.mtx: line 1: the file is empty"},
		{"mask of a word", tablesWith(edges, "id,train_mask\na,yes\n"), `DIR/e_nodes.csv: line 2, column "train_mask": "yes" is neither true nor false, nor 1 or 0`},
	}
}

// manyKeys are members of an object.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%03d":1`, i)
	}
	return b.String()
}

// What links in JSON say may be learnt or left out.
func TestLinksOfJSON(t *testing.T) {
	path := put(t, "x.json", []byte(`[{"u":"a","v":"b","kind":"road","km":2,"split":"train"},{"u":"b","v":"a","kind":"rail","split":"test"}]`))
	d, err := readWith(path + "#kind,-km")
	if err != nil || fmt.Sprint(d.EdgeLabels, d.ClassNames, d.EdgeFeatures, d.Split) != "[0 1] [rail road] <nil> {[1] [] [0]}" {
		t.Errorf("%v %v %v %v, error %v", d.EdgeLabels, d.ClassNames, d.EdgeFeatures, d.Split, err)
	}
	if _, err := readWith(path + "#colour"); err == nil || !strings.HasSuffix(err.Error(), `there is no column "colour"; there are "kind", "km", "split"`) {
		t.Errorf("error %v", err)
	}
}

func FuzzTables(f *testing.F) {
	f.Add("u,v,kind,at\n0,1,road,2024-01-03\n1,0,rail,2024-01-02\n", "id,town,seen_at,label\n0,Rome,1700000000,x\n1,,1700000001,y\n", "{}")
	f.Add(peopleEdges, peopleNodes, "{}")
	f.Add("id_1,id_2\n0,1\n2,1\n", "id,page_name,page_type\n1,One,tv\n0,Zero,x\n2,Two,tv\n", `{"0": [3, 1], "1": [0], "2": []}`)
	f.Add("1 0\n", "node,y,train_mask\n0,1,1\n1,0.5,0\n", `{"0": [3], "1": []}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, edges, nodes, features string) {
		path := saved(t, dir, "edges.csv", edges, "nodes.csv", nodes, "features.json", features)
		for _, columns := range []string{"", "#kind,undirected", "#town,seen_at"} {
			d, err := readWith(path + columns)
			if err != nil {
				continue
			}
			if err := d.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"directed":false,"nodes":[{"id":5,"x":[1]},{"id":3,"y":1}],"links":[{"source":3,"target":5,"value":2}]}`)
	f.Add(`[["b","a",0.5],["b","c"]]`)
	f.Add(`[{"u":1,"v":0,"kind":"road","km":2},[0,1],{"u":2,"v":1,"kind":null,"km":1}]`)
	f.Add(`{"labels":{"a":1,"b":0},"edges":[["a","b"]],"features":{"b":[2,0],"a":[1]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := readText(text, "x.json")
		if err != nil {
			return
		}
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
