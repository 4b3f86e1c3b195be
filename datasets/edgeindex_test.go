package datasets

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// shaped is an array with a shape.
func shaped(name string, data any, shape ...int) npy.Named {
	return npy.Named{Name: name, Data: data, Shape: shape}
}

// edgesOf lists the edges of a dataset in order, with their weights if it has any.
func edgesOf(d *Dataset) string {
	var out []string
	to := d.Graph.Destinations()
	for e, u := range d.Graph.In().Cols {
		text := fmt.Sprintf("%d→%d", u, to[e])
		if d.Weights != nil {
			text += fmt.Sprintf(":%g", d.Weights[e])
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// heterophilous is a small dataset in Platonov and others' form: three splits, edges that
// stand there once.
func heterophilous() []npy.Named {
	return []npy.Named{
		shaped("edges", []int64{0, 1, 2, 1, 0, 0}, 3, 2), shaped("node_features", []float32{1, 2, 0, 4, 5, 6}, 3, 2),
		{Name: "node_labels", Data: []int64{1, 0, 1}},
		shaped("train_masks", []bool{true, false, false, false, true, false, false, false, true}, 3, 3),
		shaped("val_masks", []bool{false, true, false, false, false, true, true, false, false}, 3, 3),
		shaped("test_masks", []bool{false, false, true, true, false, false, false, true, false}, 3, 3),
	}
}

func TestNPZEdges(t *testing.T) {
	index := shaped("edge_index", []int64{0, 2, 0, 1, 1, 0}, 2, 3)
	for name, c := range map[string]struct {
		arrays []npy.Named
		nodes  int
		want   string
	}{
		"edges":              {heterophilous(), 3, "0→1 1→0 1→2 2→1"},
		"edges, 2 rows":      {[]npy.Named{shaped("edges", []int32{0, 2, 0, 1, 1, 0}, 2, 3)}, 3, "0→1 1→0 1→2 2→1"},
		"two edges":          {[]npy.Named{shaped("edges", []int32{0, 1, 2, 1}, 2, 2)}, 3, "0→1 1→0 1→2 2→1"},
		"edge_index":         {[]npy.Named{index}, 3, "0→1 2→1"},
		"edge_index, turned": {[]npy.Named{shaped("edge_index", []int32{0, 1, 2, 1, 0, 0}, 3, 2)}, 3, "0→1 2→1"},
		"two of edge_index":  {[]npy.Named{shaped("edge_index", []int32{0, 2, 1, 1}, 2, 2)}, 3, "0→1 2→1"},
		"num_nodes":          {[]npy.Named{index, shaped("num_nodes", []int64{5}, 1)}, 5, "0→1 2→1"},
		"nodes by labels":    {[]npy.Named{index, {Name: "y", Data: []int64{0, 1, 1, -1}}}, 4, "0→1 2→1"},
		"edge_weight":        {[]npy.Named{index, {Name: "edge_weight", Data: []float32{0.5, 2, 9}}}, 3, "0→1:0.5 2→1:2"},
		"weights of edges":   {[]npy.Named{shaped("edges", []int32{0, 1, 2, 1, 1, 2}, 3, 2), shaped("edge_weights", []float64{0.5, 2, 3}, 3, 1)}, 3, "0→1:0.5 1→0:0.5 1→2:3 2→1:2"},
	} {
		d, err := readWith(put(t, "x.npz", archiveOf(t, c.arrays...)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := edgesOf(d); got != c.want || d.Graph.NumNodes() != c.nodes {
			t.Errorf("%s: %d nodes, edges %s; want %d, %s", name, d.Graph.NumNodes(), got, c.nodes, c.want)
		}
	}
}

// Of files that are called so the edges have directions, as those who publish them have it.
func TestNPZDirected(t *testing.T) {
	edges := shaped("edges", []int32{0, 1, 2, 1, 0, 1}, 3, 2)
	for name, want := range map[string]string{"x_directed.npz": "0→1 2→1", "x.npz": "0→1 1→0 1→2 2→1"} {
		if d, err := readWith(put(t, name, archiveOf(t, edges))); err != nil || edgesOf(d) != want {
			t.Errorf("%s: edges %s, error %v, want %s", name, edgesOf(d), err, want)
		}
	}
}

// What is said of edges goes with them, whatever order the graph has them in.
func TestNPZEdgeValues(t *testing.T) {
	index := shaped("edge_index", []int64{2, 2, 0, 0, 1, 0, 1, 2, 2, 2}, 2, 5) // 2→0 2→1 0→2 0→2 1→2
	attr := shaped("edge_attr", []float32{10, 20, 30, 99, 40}, 5, 1)
	labels := shaped("edge_label", []int64{0, 1, 2, 0, -1}, 5)
	d, err := readWith(put(t, "x.npz", archiveOf(t, index, attr, labels, shaped("train_idx", []int32{0, 3}, 2))))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := told(d), "2→0:0[10]train 2→1:1[20]none 0→2:2[30]none 1→2:-1[40]none "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	d, err = readWith(put(t, "x.npz", archiveOf(t, shaped("edges", []int64{2, 0, 1, 2}, 2, 2), shaped("edge_attr", []float32{10, 20}, 2), shaped("edge_labels", []int64{1, 0}, 2))))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := told(d), "2→0:1[10]none 2→1:0[20]none 1→2:0[20]none 0→2:1[10]none "; got != want {
		t.Errorf("both directions: %s, want %s", got, want)
	}
	for want, arrays := range map[string][]npy.Named{
		`array "edge_attr": its shape is [2 2], want a row for each of 5 edges`:     {index, shaped("edge_attr", []float32{1, 2, 3, 4}, 2, 2)},
		`array "edge_label": 1 labels for 5 edges`:                                  {index, shaped("edge_label", []int64{0}, 1)},
		`array "edge_targets": 1 rows for 5 edges`:                                  {index, shaped("edge_targets", []float64{0.5, 1}, 1, 2)},
		`array "edge_label": the largest label is 9, of 5 edges`:                    {index, shaped("edge_label", []int64{0, 1, 2, 9, 0}, 5)},
		`array "edge_label": there are labels of nodes, too: leave one of them out`: {index, labels, shaped("y", []int64{0, 1, 1}, 3)},
		`train node 1 is 9; the nodes are 0 to 2`:                                   {index, shaped("train", []int32{0, 9}, 2)},
		`train edge 1 is 9; the edges are 0 to 4`:                                   {index, labels, shaped("train", []int32{0, 9}, 2)},
		`array "edge_attr": element 1 is NaN`:                                       {index, shaped("edge_attr", []float64{1, nan(), 1, 1, 1}, 5)},
	} {
		if _, err := readWith(put(t, "x.npz", archiveOf(t, arrays...))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestNPZSplits(t *testing.T) {
	want := []Split{{[]int32{0}, []int32{1}, []int32{2}}, {[]int32{1}, []int32{2}, []int32{0}}, {[]int32{2}, []int32{0}, []int32{1}}}
	pyg := []npy.Named{shaped("edge_index", []int32{0, 1}, 2, 1), {Name: "y", Data: []int32{0, 1, 1, 0}}}
	for _, part := range []struct {
		name string
		is   []bool
	}{
		{"train_mask", []bool{true, false, false, true, false, false, false, false}},
		{"val_mask", []bool{false, true, true, false, false, false, false, false}},
		{"test_mask", []bool{false, false, false, false, true, false, false, true}},
	} {
		pyg = append(pyg, shaped(part.name, part.is, 4, 2))
	}
	for name, c := range map[string]struct {
		arrays []npy.Named
		want   []Split
	}{
		"a row each":      {heterophilous(), want},
		"a column each":   {pyg, []Split{{[]int32{0}, []int32{1}, []int32{2}}, {[]int32{1}, []int32{0}, []int32{3}}}},
		"lists":           {append(slices.Clone(pyg[:2]), arrays("train_idx", []int32{3, 0}, "val_idx", []int32{1})...), []Split{{[]int32{0, 3}, []int32{1}, nil}}},
		"valid":           {append(slices.Clone(pyg[:2]), arrays("train", []int32{3, 0}, "valid", []int32{1}, "test", []int32{2})...), []Split{{[]int32{0, 3}, []int32{1}, []int32{2}}}},
		"one of two axes": {append(slices.Clone(pyg[:2]), shaped("train_mask", []bool{true, false, false, true}, 4, 1)), []Split{{[]int32{0, 3}, nil, nil}}},
	} {
		path := put(t, "x.npz", archiveOf(t, c.arrays...))
		d, err := readWith(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(c.want) > 1 && !reflect.DeepEqual(d.Splits, c.want) || len(c.want) == 1 && d.Splits != nil || !reflect.DeepEqual(d.Split, c.want[0]) {
			t.Errorf("%s: splits %v, the first %v, want %v", name, d.Splits, d.Split, c.want)
		}
		if all, err := LoadSplits(path, d.Graph.NumNodes()); err != nil || !reflect.DeepEqual(all, c.want) {
			t.Errorf("%s: read splits %v, error %v", name, all, err)
		}
		last, err := d.SplitOf(len(c.want) - 1)
		if err != nil || !reflect.DeepEqual(last, c.want[len(c.want)-1]) {
			t.Errorf("%s: the last split is %v, error %v", name, last, err)
		}
		for k, says := range map[int]string{-1: "x has no split -1; it has ", len(c.want): "x has no split " + fmt.Sprint(len(c.want))} {
			if _, err := d.SplitOf(k); err == nil || !strings.HasPrefix(err.Error(), says) {
				t.Errorf("%s: split %d: error %v", name, k, err)
			}
		}
	}
}

// What is written is read again: all splits, and the graph that edges stood for.
func TestWriteSplits(t *testing.T) {
	d, err := readWith(put(t, "x.npz", archiveOf(t, heterophilous()...)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "y.npz")
	if err := d.SaveNPZ(path); err != nil {
		t.Fatal(err)
	}
	e, err := readWith(path)
	if err != nil || !reflect.DeepEqual(e.Splits, d.Splits) || edgesOf(e) != edgesOf(d) {
		t.Fatalf("splits %v, edges %s, error %v", e.Splits, edgesOf(e), err)
	}
	var b strings.Builder
	if err := d.Describe(&b); err != nil || !strings.Contains(b.String(), "the first of 3, numbers 0 to 2: --split-number K takes another") {
		t.Errorf("described as %s, error %v", b.String(), err)
	}
	part := d.Subgraph([]int32{0, 2})
	if want := []Split{{[]int32{0}, nil, []int32{1}}, {nil, []int32{1}, []int32{0}}, {[]int32{1}, []int32{0}, nil}}; !reflect.DeepEqual(part.Splits, want) {
		t.Errorf("of two nodes: %v", part.Splits)
	}
	d.Splits[1].Val = []int32{1}
	if err := d.Check(); err == nil || err.Error() != "split 1: node 1 is in two parts of the split, train and val" {
		t.Errorf("overlapping: error %v", err)
	}
}

// Labels are numbers, whole ones that are stored as floats, or words; others are to be
// predicted.
func TestNPZLabelKinds(t *testing.T) {
	for name, c := range map[string]struct {
		labels npy.Named
		want   string
	}{
		"floats":          {npy.Named{Name: "y", Data: []float32{1, 0, -1, 1}}, "[1 0 -1 1] 2 []"},
		"NaN is none":     {npy.Named{Name: "y", Data: []float64{1, 0, nan(), 2}}, "[1 0 -1 2] 3 []"},
		"words":           {npy.Named{Name: "label", Data: []string{"dog", "cat", "", "dog"}}, "[1 0 -1 1] 2 [cat dog]"},
		"a column":        {shaped("y", []int64{0, 1, 1, 2}, 4, 1), "[0 1 1 2] 3 []"},
		"bools":           {npy.Named{Name: "y", Data: []bool{true, false, true, true}}, "[1 0 1 1] 2 []"},
		"to be predicted": {npy.Named{Name: "y", Data: []float32{1, 0.5, -1, 1}}, "[1 0.5 -1 1]"},
	} {
		d, err := readWith(put(t, "x.npz", archiveOf(t, shaped("edge_index", []int32{0, 1}, 2, 1), c.labels)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := fmt.Sprint(d.Labels, d.Classes, d.ClassNames)
		if d.Targets != nil {
			got = fmt.Sprint(d.Targets.Data)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func nan() float64 { return math.NaN() }

// Features of mostly zeros become sparse, others stay as they are.
func TestStored(t *testing.T) {
	for _, c := range []struct {
		cols, ones int
		sparse     bool
	}{{100, 1, true}, {100, 25, true}, {100, 26, false}, {sparseLeast, 2, true}, {sparseLeast - 1, 2, false}, {100, 0, true}} {
		x := tensor.New(3, c.cols)
		for i := range 3 {
			for j := range c.ones {
				x.Row(i)[j] = 2
			}
		}
		d, err := readWith(put(t, "x.npz", archiveOf(t, shaped("edge_index", []int32{0, 1}, 2, 1), shaped("x", x.Data, 3, c.cols))))
		if err != nil {
			t.Fatal(err)
		}
		a, ok := d.Features.(*sparse.CSR)
		if ok != c.sparse {
			t.Errorf("%d of %d columns: %T", c.ones, c.cols, d.Features)
		}
		if ok && !slices.Equal(a.Dense().Data, x.Data) {
			t.Errorf("%d of %d columns: other values", c.ones, c.cols)
		}
	}
}

// Edges that alone say how many nodes there are, and begin at 1, are taken as they stand, and the
// doubt is said: a node 0 without edges is legal.
func TestBeginAtOne(t *testing.T) {
	index, zero := shaped("edge_index", []int32{1, 2, 2, 3}, 2, 2), shaped("edge_index", []int32{0, 2, 2, 3}, 2, 2)
	doubt := func(d *Dataset, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if d.Describe(&b); strings.Contains(b.String(), "mind ") != (d.Doubt() != "") {
			t.Errorf("%s does not say %s", b.String(), d.Doubt())
		}
		return d.Doubt()
	}
	path := put(t, "x.npz", archiveOf(t, index))
	if got, want := doubt(readWith(path)), path+`: in array "edge_index" no edge has an end 0, and nothing says how many nodes there are: node 0 has no edges. If the numbers begin at 1, subtract 1 from all; if they do not, add num_nodes to the file`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := doubt(readWith(put(t, "x.npz", archiveOf(t, shaped("edges", []int32{1, 2, 2, 3}, 2, 2))))); got == "" {
		t.Error("edges from 1 are not doubted")
	}
	for name, arrays := range map[string][]npy.Named{"num_nodes": {index, shaped("num_nodes", []int32{4}, 1)}, "y": {index, shaped("y", []int32{0, 1, 0, 1}, 4)}, "from 0": {zero}} {
		if got := doubt(readWith(put(t, "x.npz", archiveOf(t, arrays...)))); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for text, want := range map[string]bool{
		`{"edges":[[1,2]],"y":0}` + "\n" + `{"edges":[[2,1]],"y":1}`: true,
		`{"edges":[[1,2]],"y":0}` + "\n" + `{"edges":[],"y":1}`:      true,
		`{"edges":[[1,2]],"y":0}` + "\n" + `{"edges":[[0,1]],"y":1}`: false,
		`{"edges":[[1,2]],"num_nodes":3,"y":0}`:                      false,
		`{"edges":[[1,2]],"x":[[1],[2],[3]],"y":0}`:                  false,
	} {
		d, err := LoadGraphs(put(t, "g.jsonl", []byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if d.Describe(&b); (d.Doubt() != "") != want || strings.Contains(b.String(), "mind ") != want {
			t.Errorf("%s: doubt %q, want one: %v; %s", text, d.Doubt(), want, &b)
		}
	}
}

// Numbers of kinds, as PyG has them, go with their edges; those that cannot be are errors.
func TestNPZKinds(t *testing.T) {
	index, three := shaped("edge_index", []int64{2, 2, 0, 0, 1, 0}, 2, 3), shaped("x", []float32{1, 2, 3}, 3, 1) // 2→0 2→1 0→0
	d, err := readWith(put(t, "x.npz", archiveOf(t, index, three, shaped("edge_type", []int64{2, 0, 1}, 3), shaped("node_type", []int32{0, 1, 1}, 3, 1))))
	if err != nil || !slices.Equal(d.EdgeKinds.Of, []int32{2, 0}) || !slices.Equal(d.EdgeKinds.Names, []string{"0", "1", "2"}) || !slices.Equal(d.NodeKinds.Of, []int32{0, 1, 1}) {
		t.Fatalf("%v %v, error %v", d.EdgeKinds, d.NodeKinds, err)
	}
	for want, a := range map[string]npy.Named{
		`array "edge_type": 2 kinds for 3 edges`:                                                  shaped("edge_type", []int64{0, 1}, 2),
		`array "edge_type": the kind of edge 1 is -2, and there are names for 2`:                  shaped("edge_type", []int64{0, -2, 1}, 3),
		`array "node_type": there is kind 65536; without node_kind_names kinds are at most 65535`: shaped("node_type", []int64{0, 1, 65536}, 3),
		`array "edge_kinds": its shape is [3 2], want one axis`:                                   shaped("edge_kinds", make([]int32, 6), 3, 2),
	} {
		if _, err := readWith(put(t, "x.npz", archiveOf(t, index, three, a))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
