package form

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/tensor"
)

func readGraphLines(text string) (*Raw, error) {
	return graphsOfLines(&unpack.File{Reader: strings.NewReader(text), Budget: unpack.NewBudget(int64(len(text)))}, "mols.jsonl")
}

func TestJSONLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"edges": [[0, 1], [1, 2], [1, 1]], "x": [[1, 0], [0, 1], [1, 1]], "edge_attr": [4, 5, 6], "directed": false, "label": "b", "split": "train", "name": "one"}

{"edge_index": [[1], [0]], "node_feat": [[2, 0], [0, 2]], "edge_feat": [[7]], "label": "a", "split": "test"}
{"nodes": 0, "edges": [], "label": "b", "split": "val"}
`, `5 nodes, 5 listed; x matrix (feature) 5×2[1 0 0 1 1 1 2 0 0 2]
4 edges 0→1 1→2 1→1 4→3, back [0 1 2]; edge_attr matrix (feature) 4×1[4 5 6 7]
3 graphs at [0 3 5 5]; label word (label) ["a" "b"][1 0 1] ordered; name word (title) ["one" "" ""]
split "" of graphs [0] [2] [1]
`},
		{`{"num_nodes": 3, "y": [1.5, null]}` + "\n" + `{"edges": [[0, 3]], "targets": [0, 256]}`, `7 nodes, 7 listed
1 edges 3→6
2 graphs at [0 3 7]; y matrix (target) 2×2[1.5 NaN 0 256]
`},
		{`{"edges": [[0, 1], [2, 1]], "edge_attr": [4, 5], "edge_type": ["single", "double"], "edge_weight": [0.5, 1], "directed": false, "smiles": "C{:\"O", "Name": "x"}
{"directed": false, "edges": [[1, 0]], "edge_attr": [7], "edge_weight": [2], "edge_type": ["aromatic"], "colour": {"edges": 3}, "smiles": 1}
`, `5 nodes, 5 listed
3 edges 0→1 2→1 4→3, back [0 1 2]; edge_attr matrix (feature) 3×1[4 5 7]; edge_weight matrix (feature) 3×1[0.5 1 2]; edge_type word (kind) ["aromatic" "double" "single"][2 1 0] ordered
2 graphs at [0 3 5]; name word (title) ["x" ""]
unread: ["smiles" "colour"]
`},
		{`{"edges": [[0, 1], [1, 2]], "edge_type": [3, 0]}`, `3 nodes, 3 listed
2 edges 0→1 1→2; edge_type word (kind) ["0" "1" "2" "3"][3 0] ordered
1 graphs at [0 3]
`},
		{`{"x": [1, 2], "edges": [[0, 1]], "node_label": ["b", 10], "label": true}
{"x": [3, 4, -0.5], "edges": [[0, 2]], "node_label": [9, null, "nan"], "label": 1e6}`, `5 nodes, 5 listed; x matrix (feature) 5×1[1 2 3 4 -0.5]; node_label word (label) ["10" "9" "b"][2 0 1 -1 -1] ordered
2 edges 0→1 2→4
2 graphs at [0 2 5]; label word (label) ["1e+06" "true"][1 0] ordered
`},
		{`{"nodes": 2, "node_y": [[0, 1], [1, null]], "label": 10}` + "\n" + `{"nodes": 0, "label": -9}`, `2 nodes, 2 listed; node_y matrix (target) 2×2[0 1 1 NaN]
0 edges
2 graphs at [0 2 2]; label word (label) ["-9" "10"][1 0] ordered
`},
		{`{"edges": [[1, 2]]}`, `3 nodes, 3 listed
1 edges 1→2
1 graphs at [0 3]
doubt: mols.jsonl: in every graph no edge has an end 0, and nothing says how many nodes there are: node 0 has no edges. If the numbers begin at 1, subtract 1 from all; if they do not, give each its "num_nodes"
`},
	} {
		r, err := readGraphLines(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := shownRaw(r); got != c.want {
			t.Errorf("%s: read as\n%s, want\n%s", c.text, got, c.want)
		}
		if err := checkRaw(r); err != nil {
			t.Error(err)
		}
	}
	r, err := readGraphLines("\n{\"nodes\": 1}\n\n{\"nodes\": 1}")
	if err != nil || r.Graphs.Origin.At(1) != "mols.jsonl: line 4" {
		t.Errorf("%v, error %v", r, err)
	}
}

func TestBadJSONLines(t *testing.T) {
	if _, err := readGraphLines(`{"x": [1e99]}`); unsafe.Sizeof(tensor.Float(0)) == 4 && (err == nil || !strings.Contains(err.Error(), "line 1: number 0 of node 0 is 1e+99")) {
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
		`{"edges": [[0, 1]], "edge_weight": [1, 2]}`:                                    "line 1: features of 2 edges, and there are 1",
		`{"edges": [[0, 1]], "edge_weight": [[1, 2]]}`:                                  "line 1: the weight of edge 0 is [1 2], want one number",
		`{"edges": [[0, 1]], "edge_weight": [null]}`:                                    "line 1: the weight of edge 0 is [], want one number",
		`{"edges": [[0, 1]], "edge_weight": [1], "edge_attr": [1, 2]}`:                  "line 1: weights of 1 edges, and features of 2",
		`{"edges": [[0, 1]], "edge_attr": [1, 2]}`:                                      "line 1: features of 2 edges, and there are 1",
		`{"x": [1], "label": 1}` + "\n" + `{"x": [1]}`:                                  "line 2: its label or y is missing",
		`{"x": [1], "y": 1}` + "\n" + `{"x": [1]}`:                                      "line 2: its label or y is missing",
		`{"x": [1], "y": NaN}`:                                                          "line 1, column 17: NaN stands there, and JSON has no such number: write null where a value is not known",
		`{"x": [1], "label": {}}`:                                                       "line 1: the label is an object",
		`{"x": [1], "split": "training"}`:                                               `line 1: split is "training"`,
		`{"x": [1]}` + "\n" + `{"nodes": 2}`:                                            "line 2: only some of the graphs have features of nodes",
		`{"nodes": 99999999}`:                                                           "line 1: 99999999 nodes, more than",
		`{"edges": [[0, 99999999]]}`:                                                    "line 1: 100000000 nodes, more than",
		`{"edges": [[0,1]], "edge_attr": [2]}` + "\n" + `{"edges": [[0, 1]]}`:           "line 2: only some of the graphs have features of edges",
		`{"nodes": 1, "label": "a", "y": 2}`:                                            "line 1: it has a label and y",
		`{"nodes": 1, "y": 2}` + "\n" + `{"nodes": 1, "label": 2}`:                      "line 2: its label or y is missing, or of another kind",
		`{"nodes": 1, "y": 2}` + "\n" + strings.Repeat(" ", graphLineMost):              "line 2: it is longer than",
		`{"edges": [[0, 1]], "edge_type": [0, 1]}`:                                      "line 1: edge_type is of 2 edges, and there are 1",
		`{"edges": [[0, 1]], "edge_type": [0.5]}`:                                       `line 1, column 35: "edge_type"[0]: 0.5 stands there, want a whole number from 0, or a word`,
		`{"edges": [[0, 1]], "edge_type": [null]}`:                                      "null stands there, want a whole number",
		`{"edges": [[0, 1]], "edge_type": [0]}` + "\n" + `{"edges": [[0, 1]]}`:          "line 2: only some of the graphs have an edge_type",
		`{"nodes": 2, "node_label": ["a"]}`:                                             "node_label or node_y is of 1 nodes, and there are 2",
		`{"nodes": 1, "node_label": ["a"], "node_y": [1]}`:                              "want one of them",
		`{"nodes": 1, "node_label": [{}]}`:                                              "the label of node 0 is an object",
		`{"nodes": 1, "node_y": [1]}` + "\n" + `{"nodes": 1}`:                           "line 2: only some of the graphs have node_label",
		`{"nodes": 2, "node_y": [[1, 2], [1]]}`:                                         "node_y of node 1 has 1 numbers, want 2",
		`{"nodes": 1, "node_label": ["a"], "label": 1}` + "\n" + `{"nodes": 1, "y": 1}`: "line 2",
		`{"x": [1], "label": [1]}`:                                                      "line 1: the label is a list, want a number or a word",
		`{"nodes": -1}`:                                                                 "line 1: nodes is -1, want a number from 0",
		`{"nodes": 9223372036854775807}`:                                                "line 1: 2147483647 nodes, more than a file of that length is believed to have",
		`{"nodes": 92233720368547758070}`:                                               `"nodes": 92233720368547758070 stands there, want a whole number from -9223372036854775808 to 9223372036854775807`,
		`{"edges": [[0, null]]}`:                                                        `"edges"[0][1]: null stands there, want a whole number`,
		`{"edges": [], "edge_index": [[], []]}`:                                         "line 1: want edges, or an edge_index of two lists",
		`{"directed": 1}`:                                                               `line 1, column 14: "directed": 1 stands there, want true or false`,
		`{"x": [[]]}`:                                                                   "line 1: node 0 has 0 numbers, want 1 as the first",
		"{\"name\": \"\xff\"}":                                                          "line 1, column 10: ",
		`"x"`:                                                                           `line 1, column 1: "x" stands there, want an object in braces`,
	} {
		if _, err := readGraphLines(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: error %v, want %s", text, err, want)
		}
	}
}

// An ordinary file expands twentyfold and is read; what expands to more than is kept of it is not.
func TestJSONLinesBudget(t *testing.T) {
	var text strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		var x, edges, attr strings.Builder
		for i := range 300 {
			fmt.Fprintf(&x, "[%d,0,4,5,1,0,2,0,%d],", 5+rng.IntN(3), rng.IntN(2))
			fmt.Fprintf(&edges, "[%d,%d],", i, i+1)
			fmt.Fprintf(&attr, "[%d,0,1],", rng.IntN(2))
		}
		fmt.Fprintf(&text, `{"x":[%s[5,0,4,5,1,0,2,0,0]],"edges":[%s[0,2]],"edge_attr":[%s[0,0,0]],"directed":false,"y":[0,1]}`+"\n", &x, &edges, &attr)
	}
	packed := zipped(text.String())
	r, err := graphsOfLines(packedReader(t, packed), "x.jsonl.gz")
	if err != nil || r.Nodes[0].Rows != 400*301 || text.Len() < 18*len(packed) {
		t.Errorf("%d bytes of %d in gzip: error %v", text.Len(), len(packed), err)
	}
	for what, text := range map[string]string{
		"long lists":   strings.Repeat(`{"y":[`+strings.Repeat("1.5,", 1<<18)+"1]}\n", 26),
		"empty graphs": strings.Repeat("{}\n", 900_000),
	} {
		_, err := graphsOfLines(packedReader(t, zipped(text)), "x.jsonl.gz")
		if err == nil || !strings.Contains(err.Error(), "which is refused: unpack it first, if you trust it") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

func FuzzJSONLines(f *testing.F) {
	f.Add(`{"edges": [[0, 1]], "x": [[1], [2]], "edge_attr": [[3]], "label": 1}`)
	f.Add(`{"edge_index": [[0], [1]], "num_nodes": 2, "y": 0.5, "split": "train", "edge_type": ["a"], "edge_weight": [2], "directed": false, "name": "x"}`)
	f.Add(`{"nodes": 1, "node_label": ["a"]}` + "\n" + `{"nodes": 2, "node_label": [null, 3], "directed": true, "edges": [[1, 0]]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := readGraphLines(text)
		if err == nil {
			err = checkRaw(r)
		} else if strings.HasPrefix(err.Error(), "mols.jsonl: ") {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
