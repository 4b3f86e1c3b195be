package datasets

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestTUDatasetCounts compares the real datasets with their published statistics.
func TestTUDatasetCounts(t *testing.T) {
	dir := rawDir(t)
	for _, c := range []struct {
		name                                    string
		graphs, nodes, edges, width, attributes int
		edgeWidth                               int
		sizes                                   []int
		classes                                 string
	}{
		{"mutag", 188, 3371, 7442, 7, 0, 4, []int{63, 125}, "-1 1"},
		{"PROTEINS", 1113, 43471, 162088, 4, 1, 0, []int{663, 450}, "1 2"},
	} {
		d, err := OpenGraphs(dir, c.name)
		if err != nil {
			t.Fatal(err)
		}
		sizes := make([]int, d.Classes)
		for _, l := range d.Labels {
			sizes[l]++
		}
		edgeWidth := 0
		if d.EdgeFeatures != nil {
			edgeWidth = d.EdgeFeatures.Dim(1)
		}
		if d.Len() != c.graphs || d.Graph.NumNodes() != c.nodes || d.Graph.NumEdges() != c.edges || d.Features.Dim(1) != c.width ||
			d.Attributes != c.attributes || edgeWidth != c.edgeWidth || !slices.Equal(sizes, c.sizes) || strings.Join(d.ClassNames, " ") != c.classes {
			t.Errorf("%s: %d graphs, %v, %v features, %d attributes, %d of edges, classes %v %v", d.Name, d.Len(), d.Graph, d.Features.Shape(), d.Attributes, edgeWidth, sizes, d.ClassNames)
		}
		if !d.Graph.Symmetric() {
			t.Errorf("%s: an edge has no other direction", d.Name)
		}
		if w := d.WithoutAttributes().Features; w.Dim(1) != c.width-c.attributes || tensor.Sum64(w) != float64(c.nodes) {
			t.Errorf("%s: without attributes %v features, whose sum is %v", d.Name, w.Shape(), tensor.Sum64(w))
		}
	}
}

// smallTU is two graphs: a path of three nodes, and a pair.
func smallTU() map[string]string {
	return map[string]string{
		"A": "1, 2\n2, 1\n2, 3\n3, 2\n5, 4\n4,5\n4,4\n1, 2\n", "graph_indicator": "1\n1\n1\n2\n2\n", "graph_labels": "1\n-1\n",
		"node_labels": "6\n8\n6\n7\n6\n", "node_attributes": "0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n4.5, 5\n", "edge_labels": "0\n1\n0\n1\n1\n0\n2\n0\n",
	}
}

func tuZip(parts map[string]string) []byte {
	var list []string
	for _, name := range []string{"A", "graph_indicator", "graph_labels", "graph_attributes", "node_labels", "node_attributes", "edge_labels", "edge_attributes"} {
		if text, ok := parts[name]; ok {
			list = append(list, "X/X_"+name+".txt", text)
		}
	}
	return zipOf(list...)
}

func readTU(t testing.TB, parts map[string]string) (*Graphs, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "X.zip")
	if err := os.WriteFile(path, tuZip(parts), 0o666); err != nil {
		t.Fatal(err)
	}
	return LoadGraphs(path)
}

// wantSmall checks that d is smallTU.
func wantSmall(t *testing.T, d *Graphs, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Graph.NodeOffsets(), []int{0, 3, 5}) || !slices.Equal(d.Graph.In().Cols, []int32{1, 0, 2, 1, 4, 3}) {
		t.Errorf("graph %v of %v", d.Graph.In(), d.Graph.NodeOffsets())
	}
	if !slices.Equal(d.Labels, []int32{1, 0}) || d.loops != 1 || d.repeated != 1 || d.Attributes != 2 {
		t.Errorf("labels %v, %d loops, %d repeated, %d attributes", d.Labels, d.loops, d.repeated, d.Attributes)
	}
	if got := fmt.Sprint(d.Features.Row(1), d.Features.Row(3), d.EdgeFeatures); got != "[1.5 2 0 0 1] [3.5 4 0 1 0] "+fmt.Sprint(tensor.Of([]tensor.Float{0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0}, 6, 3)) {
		t.Errorf("features %s", got)
	}
}

func TestTUDataset(t *testing.T) {
	d, err := readTU(t, smallTU())
	wantSmall(t, d, err)
	marked := smallTU() // as some editors write it
	for part, text := range marked {
		marked[part] = mark + strings.ReplaceAll(text, "\n", "\r\n") + "\r\n"
	}
	d, err = readTU(t, marked)
	wantSmall(t, d, err)
	zero := smallTU() // numbered from 0
	for _, part := range []string{"A", "graph_indicator"} {
		zero[part] = strings.NewReplacer("1", "0", "2", "1", "3", "2", "4", "3", "5", "4").Replace(zero[part])
	}
	d, err = readTU(t, zero)
	wantSmall(t, d, err)

	dir := t.TempDir() // a folder, without labels of graphs
	for name, text := range map[string]string{"A": "", "graph_indicator": "1\n3\n", "graph_attributes": "0.5 1\n2 3\n4 5\n7 8\n"} {
		if err := os.WriteFile(filepath.Join(dir, "X_"+name+".txt"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if d, err = LoadGraphs(dir); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Sizes(), []int{1, 0, 1, 0}) || d.Features != nil || d.Targets.Dim(1) != 2 || d.Graph.NumEdges() != 0 {
		t.Errorf("sizes %v, features %v, targets %v", d.Sizes(), d.Features, d.Targets)
	}
}

func TestBadTUDataset(t *testing.T) {
	for _, c := range []struct{ part, text, want string }{
		{"A", "1, 2\n1, x\n", `X_A.txt: line 2: "x" is no number from 0 to`},
		{"A", "1, 2, 3\n", "X_A.txt: line 1: 3 fields, want the two nodes of an edge"},
		{"A", "1, 2\n\n6, 1\n", "X_A.txt: line 3: with this the nodes go from 1 to 6, and there are 5"},
		{"A", "5, 4\n0, 1\n", "X_A.txt: line 2: with this the nodes go from 0 to 5, and there are 5"},
		{"A", "3, 4\n", "X_A.txt: edge 1 leads from graph 1 to graph 2"},
		{"A", "1,\n", `line 1: "" is no number`},
		{"A", "99999999999, 1\n", "line 1: \"99999999999\" is no number"},
		{"graph_indicator", "1\n2\n1\n2\n2\n", "line 3: graph 1, after 2"},
		{"graph_indicator", "", "there are no nodes"},
		{"graph_indicator", "1\n1\n1\n1\n3\n", "names graph 3, and there are labels of 2"},
		{"graph_labels", "1 2\n", "line 1: 2 fields, want one label"},
		{"graph_labels", "toxic\n", "names graph 2, and there are labels of 1"},
		{"node_labels", "1\n2\n", "2 lines for 5 nodes"},
		{"edge_labels", "1\n2\n", "2 lines for 8 edges"},
		{"node_attributes", "1\n2\nnan\n4\n5\n", `line 3: "nan" is no finite number`},
		{"node_attributes", "1\n2, 3\n3\n4\n5\n", "line 2: 2 numbers, want 1 as in the first line"},
		{"node_attributes", strings.Repeat("1,", 1<<20), "line 1: it is longer than 1048576 bytes"},
	} {
		parts := smallTU()
		parts[c.part] = c.text
		if _, err := readTU(t, parts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.20q: error %v, want %s", c.part, c.text, err, c.want)
		}
	}
	for part, want := range map[string]string{"A": `there is no "X/X_A.txt" in it`, "graph_indicator": "there is no file NAME_graph_indicator.txt in it"} {
		parts := smallTU()
		delete(parts, part)
		if _, err := readTU(t, parts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: error %v", part, err)
		}
	}
	whole := tuZip(smallTU())
	cut := filepath.Join(t.TempDir(), "X.zip")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadGraphs(cut); err == nil || !strings.Contains(err.Error(), "the zip archive is cut or damaged") {
		t.Errorf("a cut archive: error %v", err)
	}
	many := smallTU() // labels that would take a square of memory
	many["graph_indicator"], many["A"], many["graph_labels"] = strings.Repeat("1\n", 6000), "", "1\n"
	delete(many, "edge_labels")
	delete(many, "node_attributes")
	var labels strings.Builder
	for v := range 6000 {
		fmt.Fprintln(&labels, v)
	}
	many["node_labels"] = labels.String()
	if _, err := readTU(t, many); err == nil || !strings.Contains(err.Error(), "6000 different labels in 6000 lines are too many") {
		t.Errorf("labels of all nodes: error %v", err)
	}
}

func readLines(t testing.TB, text string) (*Graphs, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mols.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return LoadGraphs(path)
}

func TestJSONLines(t *testing.T) {
	d, err := readLines(t, `{"edges": [[0, 1], [1, 2], [1, 1]], "x": [[1, 0], [0, 1], [1, 1]], "edge_attr": [4, 5, 6], "directed": false, "label": "b", "split": "train", "name": "one"}

{"edge_index": [[1], [0]], "node_feat": [[2, 0], [0, 2]], "edge_feat": [[7]], "label": "a", "split": "test"}
{"nodes": 0, "edges": [], "label": "b", "split": "val"}
`)
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "mols" || !slices.Equal(d.Graph.NodeOffsets(), []int{0, 3, 5, 5}) || !slices.Equal(d.Graph.In().Cols, []int32{1, 0, 2, 1, 4}) ||
		!slices.Equal(d.EdgeFeatures.Data, []tensor.Float{4, 4, 5, 5, 7}) || !slices.Equal(d.Labels, []int32{1, 0, 1}) {
		t.Errorf("%s: %v, edges %v, labels %v", d.Name, d.Graph.In(), d.EdgeFeatures, d.Labels)
	}
	if fmt.Sprint(d.Split) != "{[0] [2] [1]}" || d.GraphNames[0] != "one" || d.Features.Dim(0) != 5 {
		t.Errorf("split %v, names %v, features %v", d.Split, d.GraphNames, d.Features)
	}
	d, err = readLines(t, `{"num_nodes": 3, "y": [1.5, 2]}`+"\n"+`{"edges": [[0, 3]], "targets": [0, 1]}`)
	if err != nil || d.Targets.Dim(1) != 2 || !slices.Equal(d.Sizes(), []int{3, 4}) || d.Features != nil {
		t.Errorf("%+v, error %v", d, err)
	}
}

// Kinds of edges are columns after their numbers, and known as kinds again; what nothing reads
// is said.
func TestKindsOfLines(t *testing.T) {
	d, err := readLines(t, `{"edges": [[0, 1], [2, 1], [1, 1]], "edge_attr": [4, 5, 6], "edge_type": ["single", "double", "single"], "directed": false, "label": 1, "smiles": "C{:\"O", "Name": "x"}
{"edges": [[1, 0]], "edge_attr": [7], "edge_type": ["aromatic"], "label": 0, "colour": {"edges": 3}}
`)
	if err != nil {
		t.Fatal(err)
	}
	kinds, n := d.EdgeKinds() // in the order of destinations and sources
	if want := []tensor.Float{4, 0, 0, 1, 4, 0, 0, 1, 5, 0, 1, 0, 5, 0, 1, 0, 7, 1, 0, 0}; !slices.Equal(d.EdgeFeatures.Data, want) || d.EdgeNumbers != 1 || n != 3 || !slices.Equal(kinds, []int32{2, 2, 1, 1, 0}) {
		t.Errorf("features %v, of which %d are numbers; kinds %v of %d", d.EdgeFeatures, d.EdgeNumbers, kinds, n)
	}
	var b strings.Builder
	if err := d.Describe(&b); err != nil || !strings.Contains(b.String(), "4 an edge: 1 numbers, and its kind one-hot") || !strings.Contains(b.String(), `not read  "smiles", "colour"`+"\n") {
		t.Errorf("it is described as\n%s, error %v", b.String(), err)
	}
	d, err = readLines(t, `{"edges": [[0, 1], [1, 2]], "edge_type": [3, 0]}`)
	if err != nil {
		t.Fatal(err)
	}
	if kinds, n := d.EdgeKinds(); n != 4 || !slices.Equal(kinds, []int32{3, 0}) || d.EdgeNumbers != 0 {
		t.Errorf("kinds %v of %d", kinds, n)
	}
	d.EdgeFeatures.Row(0)[1] = 1
	if kinds, n := d.EdgeKinds(); kinds != nil || n != 0 {
		t.Errorf("of an edge of two kinds: %v of %d", kinds, n)
	}
	for text, want := range map[string]string{
		`{"edges": [[0, 1]], "edge_type": [0, 1]}`:                             "line 1: edge_type is of 2 edges, and there are 1",
		`{"edges": [[0, 1]], "edge_type": [0.5]}`:                              `line 1, column 35: "edge_type"[0]: 0.5 stands there, want a whole number from 0, or a word`,
		`{"edges": [[0, 1]], "edge_type": [null]}`:                             "null stands there, want a whole number",
		`{"edges": [[0, 1]], "edge_type": [0]}` + "\n" + `{"edges": [[0, 1]]}`: "line 2: only some of the graphs have an edge_type",
		`{"edges": [[0, 1], [1, 2]], "edge_type": [0, 2147483639]}`:            "edge_type: 2147483640 different labels in 2 lines are too many",
	} {
		if _, err := readLines(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

// Labels have a column for each number between the least and the largest, as in PyG.
func TestLabelsThatNeverOccur(t *testing.T) {
	parts := smallTU()
	parts["node_labels"] = "3\n5\n6\n6\n5\n"
	d, err := readTU(t, parts)
	if err != nil {
		t.Fatal(err)
	}
	var columns []int
	for v := range 5 {
		columns = append(columns, slices.Index(d.Features.Row(v)[d.Attributes:], 1))
	}
	if w := d.Features.Dim(1) - d.Attributes; w != 4 || !slices.Equal(columns, []int{0, 2, 3, 3, 2}) {
		t.Errorf("%d columns, of which nodes have %v", w, columns)
	}
	parts["node_labels"] = "3\n5\n900\n900\n-5\n" // far apart
	if d, err = readTU(t, parts); err != nil || d.Features.Dim(1)-d.Attributes != 4 {
		t.Errorf("%+v, error %v", d, err)
	}
}

func TestBadJSONLines(t *testing.T) {
	if _, err := readLines(t, `{"x": [1e99]}`); unsafe.Sizeof(tensor.Float(0)) == 4 && (err == nil || !strings.Contains(err.Error(), "line 1: number 0 of node 0 is 1e+99")) {
		t.Errorf("a number beyond float32: error %v", err)
	}
	for text, want := range map[string]string{
		"":                                 "there are no graphs in it",
		"\n[1]":                            "line 2: a list stands there, want a graph: an object in braces, one a line",
		`[{"x": [1]},`:                     "line 1: a list stands there, want a graph",
		`{"edges": [[0.5, 1]]}`:            `line 1, column 13: "edges"[0][0]: 0.5 stands there, want a whole number`,
		`{"x": "a"}`:                       `line 1, column 7: "x": "a" stands there, want a list`,
		`{"x": [["a"]]}`:                   `line 1, column 9: "x"[0][0]: "a" stands there, want a number`,
		`{"x": ["a"]}`:                     `line 1, column 8: "x"[0]: "a" stands there, want a number or a list of them`,
		`{"y": "a"}`:                       `line 1, column 7: "y": "a" stands there, want a number or a list of them; a class that is a word is the graph's "label"`,
		"  {\"split\": 1}":                 `line 1, column 13: "split": 1 stands there, want a text`,
		`{"edges": [[0, 4294967296.5]]}`:   `line 1, column 16: "edges"[0][1]: 4294967296.5 stands there, want a whole number`,
		`{"x": [1], "name": 'a'}`:          `line 1, column 20: ' stands there, and JSON has double quotes, ": json.dump writes them`,
		`{"x": [1]} {"x": [1]}`:            "line 1, column 12: something follows its value",
		`{"nodes": [0]}`:                   `line 1, column 11: "nodes": a list stands there, want a whole number`,
		`{"edges": [[0, 1]]`:               "line 1, column 19: it ends inside an object: it is cut, or a } is missing",
		`{"edges": [[0]]}`:                 "line 1: edge 0 has 1 ends",
		`{"edges": [[0, 2]], "x": [1, 2]}`: "line 1: edge 0 has an end 2, and features of 2 nodes",
		`{"edges": [[1, 2]], "x": [1, 2]}`: "line 1: edge 0 has an end 2, and features of 2 nodes, numbered from 0. Indices seem to begin at 1: subtract 1",
		`{"edges": [[0, -1]]}`:             "line 1: edge 0 has an end -1",
		`{"nodes": 3, "x": [1, 2]}`:        "line 1: nodes is 3, and there are features of 2",
		`{"edge_index": [[0], []]}`:        "line 1: want edges, or an edge_index",
		`{"x": [1, [1, 2]]}`:               "line 1: node 1 has 2 numbers, want 1",
		`{"x": [[1, null]]}`:               `line 1, column 8: "x"[0]: number 1 of a list is null: fill it in`,
		`{"x": [1e999]}`:                   `line 1, column 8: "x"[0]: 1e999 stands there, want a number that 64 bits hold`,
		`{"edges": [[0, 1]], "edge_weight": [1, 2]}`:                          "line 1: features of 2 edges, and there are 1",
		`{"edges": [[0, 1]], "edge_weight": [[1, 2]]}`:                        "line 1: the weight of edge 0 is [1 2], want one number",
		`{"edges": [[0, 1]], "edge_weight": [null]}`:                          "line 1: the weight of edge 0 is [], want one number",
		`{"edges": [[0, 1]], "edge_weight": [1], "edge_attr": [1, 2]}`:        "line 1: weights of 1 edges, and features of 2",
		`{"edges": [[0, 1]], "edge_attr": [1, 2]}`:                            "line 1: features of 2 edges, and there are 1",
		`{"x": [1], "label": 1}` + "\n" + `{"x": [1]}`:                        "line 2: its label or y is missing",
		`{"x": [1], "y": 1}` + "\n" + `{"x": [1]}`:                            "line 2: its label or y is missing",
		`{"x": [1], "y": NaN}`:                                                "line 1, column 17: NaN stands there, and JSON has no such number: write null where a value is not known",
		`{"x": [1], "label": {}}`:                                             "line 1: the label is an object",
		`{"x": [1], "split": "training"}`:                                     `line 1: split is "training"`,
		`{"x": [1]}` + "\n" + `{"nodes": 2}`:                                  "line 2: only some of the graphs have features of nodes",
		`{"nodes": 99999999}`:                                                 "line 1: 99999999 nodes, more than",
		`{"edges": [[0, 99999999]]}`:                                          "line 1: 100000000 nodes, more than",
		`{"x": [1], "split": "test"}`:                                         "the split has no training graphs",
		`{"edges": [[0,1]], "edge_attr": [2]}` + "\n" + `{"edges": [[0, 1]]}`: "line 2: only some of the graphs have features of edges",
		`{"nodes": 1, "label": "a", "y": 2}`:                                  "line 1: it has a label and y",
		`{"nodes": 1, "y": 2}` + "\n" + `{"nodes": 1, "label": 2}`:            "line 2: its label or y is missing, or of another kind",
		`{"nodes": 1, "y": 2}` + "\n" + strings.Repeat(" ", 1<<24):            "line 2: it is longer than",
	} {
		if _, err := readLines(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: error %v, want %s", text, err, want)
		}
	}
}

// TestGraphBatch reads a batch back from the whole.
func TestGraphBatch(t *testing.T) {
	d, err := readTU(t, smallTU())
	if err != nil {
		t.Fatal(err)
	}
	b := d.Batch([]int32{1, 0, 1})
	if !slices.Equal(b.Graph.NodeOffsets(), []int{0, 2, 5, 7}) || !slices.Equal(b.Labels, []int32{0, 1, 0}) {
		t.Errorf("members %v, labels %v", b.Graph.NodeOffsets(), b.Labels)
	}
	if b.Features.Row(0)[0] != 3.5 || b.Features.Row(2)[0] != 0.5 || b.EdgeFeatures.Dim(0) != 8 || b.EdgeFeatures.Row(2)[1] != d.EdgeFeatures.Row(0)[1] {
		t.Errorf("features %v, of edges %v", b.Features, b.EdgeFeatures)
	}
	if err := tensor.Try(func() { d.Batch([]int32{2}) }); err == nil || !strings.Contains(err.Error(), "member 2, of 2") {
		t.Errorf("error %v", err)
	}
}

// growing is n graphs of 1 to n nodes, of two classes.
func growing(n int) *Graphs {
	offsets := []int{0}
	d := &Graphs{Name: "sized", Classes: 2}
	for i := range n {
		offsets = append(offsets, offsets[i]+i+1)
		d.Labels = append(d.Labels, int32(btoi(i%3 == 0)))
	}
	d.Graph = graph.Must(graph.WithMembers(graph.Must(graph.New(offsets[n], nil, nil)), offsets))
	return d
}

func ids(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

func TestGraphBatches(t *testing.T) {
	const n = 103
	d := growing(n)
	spread := func(batches [][]int32) (total int) {
		for _, b := range batches {
			total += int(slices.Max(b) - slices.Min(b))
		}
		return total
	}
	plain, buckets := d.Batches(rand.New(rand.NewPCG(1, 2)), ids(n), 10), d.BucketedBatches(rand.New(rand.NewPCG(1, 2)), ids(n), 10)
	for _, batches := range [][][]int32{plain, buckets} {
		all := slices.Concat(batches...)
		slices.Sort(all)
		if !slices.Equal(all, ids(n)) || len(batches) != 11 {
			t.Errorf("%d batches of %v", len(batches), all)
		}
	}
	if s, p := spread(buckets), spread(plain); 5*s > p {
		t.Errorf("sizes differ by %d in buckets, by %d without", s, p)
	}
	if again := d.BucketedBatches(rand.New(rand.NewPCG(1, 2)), ids(n), 10); fmt.Sprint(again) != fmt.Sprint(buckets) {
		t.Error("the same rng gives other batches")
	}
}

func TestFolds(t *testing.T) {
	d := growing(103) // 35 and 68
	d.Labels[5] = -1
	folds, err := d.Folds(rand.New(rand.NewPCG(1, 2)), 10)
	if err != nil {
		t.Fatal(err)
	}
	tested := make([]int, d.Len())
	for _, s := range folds {
		if err := s.check(d.Len(), "graph"); err != nil {
			t.Error(err)
		}
		counts := make([]int, 2)
		for _, i := range s.Test {
			tested[i]++
			counts[d.Labels[i]]++
		}
		if len(s.Train)+len(s.Test) != 102 || counts[1] < 3 || counts[1] > 4 || counts[0] < 6 || counts[0] > 7 || len(s.Test) < 10 || len(s.Test) > 11 {
			t.Errorf("%d train, %d test, of the classes %v", len(s.Train), len(s.Test), counts)
		}
	}
	for i, n := range tested {
		if want := 1 - btoi(i == 5); n != want {
			t.Errorf("graph %d is tested %d times", i, n)
		}
	}
	if _, err := d.Folds(rand.New(rand.NewPCG(1, 2)), 103); err == nil {
		t.Error("more folds than graphs")
	}
	d.Labels = nil
	if folds, err := d.Folds(rand.New(rand.NewPCG(1, 2)), 2); err != nil || len(folds[0].Test) != 52 || len(folds[1].Test) != 51 {
		t.Errorf("folds without classes: %v", err)
	}
}

// Each node tests in one fold and validates in another.
func TestFoldsOfNodes(t *testing.T) {
	d := Karate()
	folds, err := d.Folds(rand.New(rand.NewPCG(1, 2)), 5)
	if err != nil {
		t.Fatal(err)
	}
	tested, validated := map[int32]int{}, map[int32]int{}
	for f, s := range folds {
		if err := s.Check(34); err != nil || len(s.Train)+len(s.Val)+len(s.Test) != 34 {
			t.Errorf("fold %d: %v, error %v", f, s, err)
		}
		for _, v := range s.Test {
			tested[v]++
		}
		for _, v := range s.Val {
			validated[v]++
		}
	}
	if len(tested) != 34 || len(validated) != 34 {
		t.Errorf("%d nodes test, %d validate", len(tested), len(validated))
	}
	if _, err := d.Folds(rand.New(rand.NewPCG(1, 2)), 2); err == nil {
		t.Error("two folds, and no part to train on")
	}
}

func FuzzTUDataset(f *testing.F) {
	s := smallTU()
	f.Add(s["A"], s["graph_indicator"], s["graph_labels"], "", s["node_labels"], s["node_attributes"], s["edge_labels"], "1\n2\n3\n4\n5\n6\n7\n8\n")
	f.Add("1,2\n", "1\n1\n2\n", "", "0.5,nan\n1,2\n", "0\n1\n-5\n", "", "2\n", "")
	f.Fuzz(func(t *testing.T, a, indicator, labels, targets, nodeLabels, nodeAttributes, edgeLabels, edgeAttributes string) {
		parts := map[string]string{"A": a, "graph_indicator": indicator}
		for name, text := range map[string]string{"graph_labels": labels, "graph_attributes": targets, "node_labels": nodeLabels, "node_attributes": nodeAttributes,
			"edge_labels": edgeLabels, "edge_attributes": edgeAttributes} {
			if text != "" { // else there is no such file
				parts[name] = text
			}
		}
		d, err := readTU(t, parts)
		if err == nil {
			err = d.Check()
			d.Batch(ids(d.Len()))
		} else if !strings.Contains(err.Error(), "X.zip") {
			t.Fatalf("no file is named: %v", err)
		} else {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// Weights of edges are the last of their features.
func TestEdgeWeightsOfLines(t *testing.T) {
	d, err := readLines(t, `{"edges": [[0, 1], [1, 2]], "edge_attr": [[4, 5], [6, 7]], "edge_weight": [0.5, 2], "directed": false, "label": 1}`)
	if err != nil || fmt.Sprint(d.EdgeFeatures.Shape(), d.EdgeFeatures.Data) != "[4 3] [4 5 0.5 4 5 0.5 6 7 2 6 7 2]" {
		t.Errorf("%v, error %v", d, err)
	}
	if d, err = readLines(t, `{"edges": [[0, 1]], "edge_weight": [3], "label": 1}`); err != nil || fmt.Sprint(d.EdgeFeatures.Data) != "[3]" {
		t.Errorf("%v, error %v", d, err)
	}
}

func FuzzJSONLines(f *testing.F) {
	f.Add(`{"edges": [[0, 1]], "x": [[1], [2]], "edge_attr": [[3]], "label": 1}`)
	f.Add(`{"edge_index": [[0], [1]], "num_nodes": 2, "y": 0.5, "split": "train"}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := readLines(t, text)
		if err != nil {
			if !strings.Contains(err.Error(), "mols.jsonl") {
				t.Fatalf("no file is named: %v", err)
			}
			return
		}
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
		d.Batch(ids(d.Len()))
	})
}
