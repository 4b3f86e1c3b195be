package datasets

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Graphs whose nodes are to be told apart become one graph, whose nodes are in their
// graph's part of the split.
func TestGraphsNodes(t *testing.T) {
	d, err := readLines(t, `{"x": [1, 2], "edges": [[0, 1]], "node_label": ["b", "a"], "split": "train", "name": "one"}
{"x": [3, 4, 5], "edges": [[0, 2]], "node_label": ["a", null, "b"], "split": "test", "name": "two"}
{"x": [6], "node_label": ["a"], "split": "val", "name": "three"}`)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(e.Labels, []int32{1, 0, 0, -1, 1, 0}) || e.Classes != 2 || !slices.Equal(e.ClassNames, []string{"a", "b"}) || e.Graph.NumEdges() != 2 {
		t.Errorf("labels %v, names %v", e.Labels, e.ClassNames)
	}
	if s := e.Split; !slices.Equal(s.Train, []int32{0, 1}) || !slices.Equal(s.Test, []int32{2, 3, 4}) || !slices.Equal(s.Val, []int32{5}) || e.NodeNames[3] != "two 1" {
		t.Errorf("split %v, names %v", s, e.NodeNames)
	}
	d, err = readLines(t, `{"x": [1, 2], "edges": [[0, 1]], "node_y": [[0, 1], [1, null]]}`)
	if err != nil {
		t.Fatal(err)
	}
	e, err = d.Nodes()
	if err != nil || e.Targets.Row(1)[0] != 1 || !math.IsNaN(float64(e.Targets.Row(1)[1])) || d.Batch([]int32{0}).NodeTargets.Row(0)[1] != 1 {
		t.Errorf("%v, error %v", e, err)
	}
	if d, err = readLines(t, `{"nodes": 2, "edges": [[0, 1]], "y": [0.5, null]}`); err != nil || !math.IsNaN(float64(d.Targets.Row(0)[1])) {
		t.Errorf("a number that is not known: %v, error %v", d, err)
	}
	if _, err := d.Nodes(); err == nil || !strings.Contains(err.Error(), "nothing is to be learnt of its nodes") {
		t.Errorf("of graphs: %v", err)
	}
	for text, want := range map[string]string{
		`{"nodes": 2, "node_label": ["a"]}`:                                             "node_label or node_y is of 1 nodes, and there are 2",
		`{"nodes": 1, "node_label": ["a"], "node_y": [1]}`:                              "want one of them",
		`{"nodes": 1, "node_label": [{}]}`:                                              "the label of node 0 is an object",
		`{"nodes": 1, "node_y": [1]}` + "\n" + `{"nodes": 1}`:                           "line 2: only some of the graphs have node_label",
		`{"nodes": 2, "node_y": [[1, 2], [1]]}`:                                         "node_y of node 1 has 1 numbers, want 2",
		`{"nodes": 1, "node_label": ["a"], "label": 1}` + "\n" + `{"nodes": 1, "y": 1}`: "line 2",
	} {
		if _, err := readLines(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}
