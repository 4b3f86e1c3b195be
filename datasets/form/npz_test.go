package form

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/npy"
)

// heterophilous is a graph of three nodes, each of whose edges stands there once, with three splits.
func heterophilous() []npy.Named {
	return []npy.Named{
		shaped("edges", []int64{0, 1, 2, 1, 0, 0}, 3, 2), shaped("node_features", []float32{1, 2, 0, 4, 5, 6}, 3, 2),
		{Name: "node_labels", Data: []int64{1, 0, 1}},
		shaped("train_masks", []bool{true, false, false, false, true, false, false, false, true}, 3, 3),
		shaped("val_masks", []bool{false, true, false, false, false, true, true, false, false}, 3, 3),
		shaped("test_masks", []bool{false, false, true, true, false, false, false, true, false}, 3, 3),
	}
}

func TestNPZ(t *testing.T) {
	index := shaped("edge_index", []int64{0, 2, 0, 1, 1, 0}, 2, 3)
	nan := math.NaN()
	for name, c := range map[string]struct {
		arrays []npy.Named
		want   string
	}{
		"plain": {shchur(), `
			4 nodes, 4 listed ids [a b c d]; attr matrix feature4x3[1 3][][0 2 2 2 2][0 2]; labels word label[A B][1 0 -1 1]true of 2
			edges [0 1 2] to [1 2 2] undirected
			split  of nodes [0] [1 3] [2]`},
		"pickled": {arrays("adj_matrix", object(inner(words(4, []int{1}, []int{2}, []int{2}, nil))), "node_attr", object(inner(words(3, []int{0, 2}, nil, nil, nil))), "node_label", []int32{0, 1, 1, 0}), `
			4 nodes, 4 listed; node_attr matrix feature4x3[1 1][][0 2 2 2 2][0 2]; node_label number label[0 1 1 0] of 2
			edges [0 1 2] to [1 2 2] undirected`},
		"heterophilous": {heterophilous(), `
			3 nodes, 3 listed; node_features matrix feature3x2[1 2 0 4 5 6][]; node_labels number label[1 0 1] of 2
			edges [0 2 0] to [1 1 0] undirected
			split 0 of nodes [0] [1] [2]
			split 1 of nodes [1] [2] [0]
			split 2 of nodes [2] [0] [1]`},
		"saved": {arrays("indptr", []int64{0, 1, 3}, "indices", []int32{1, 1, 0}, "weights", []float32{1, 2, 0.5}, "targets", []float32{0.5, float32(nan)}, "node_names", []string{"x", "x"}), `
			2 nodes, 2 listed; node_names word title[x x][]false; targets matrix target2x1[0.5 NaN][]
			edges [1 1 0] to [0 1 1] saved; weights number weight[1 2 0.5]`},
		"several": {append(arrays("edge_index", nil)[1:], index, shaped("y", []float32{1, float32(nan), 0, 1, 0, 0}, 3, 2), shaped("class_names", []string{"p", "q"}, 2)), `
			3 nodes, 3 listed; y matrix label3x2[1 NaN 0 1 0 0][p q] of 2
			edges [0 2 0] to [1 1 0]`},
		"one of several": {[]npy.Named{index, shaped("y", []int32{0, 1, 0, 1, 0, 0, 0, 1, 0}, 3, 3)}, `
			3 nodes, 3 listed; y number label[1 0 1] of 3
			edges [0 2 0] to [1 1 0]`},
		"words": {[]npy.Named{index, shaped("label", []string{"dog", "", "cat"}, 3)}, `
			3 nodes, 3 listed; label word label[dog  cat][]false
			edges [0 2 0] to [1 1 0]`},
		"words that are called otherwise": {[]npy.Named{index, shaped("label", []string{"dog", "", "cat"}, 3), shaped("class_names", []string{"Cat", "Dog"}, 2)}, `
			3 nodes, 3 listed; label word label[Cat Dog][1 -1 0]true
			edges [0 2 0] to [1 1 0]`},
		"NaN is none": {[]npy.Named{index, shaped("y", []float64{1, nan, 0}, 3)}, `
			3 nodes, 3 listed; y number label[1 NaN 0] of 2
			edges [0 2 0] to [1 1 0]`},
		"to be predicted": {[]npy.Named{index, shaped("y", []float64{1, nan, -0.5}, 3, 1)}, `
			3 nodes, 3 listed; y matrix target3x1[1 NaN -0.5][]
			edges [0 2 0] to [1 1 0]`},
		"labels of edges": {[]npy.Named{index, shaped("edge_attr", []float32{1, 2, 3}, 3, 1), shaped("edge_labels", []int32{1, -1, 0}, 3), shaped("train_mask", []bool{true, false, true}, 3)}, `
			3 nodes, 3 listed
			edges [0 2 0] to [1 1 0]; edge_attr matrix feature3x1[1 2 3][]; edge_labels number label[1 NaN 0] of 2
			split  of edges [0 2] [] []`},
		"numbers of edges": {[]npy.Named{index, shaped("edge_targets", []float32{1, 2, float32(nan)}, 3, 1)}, `
			3 nodes, 3 listed
			edges [0 2 0] to [1 1 0]; edge_targets matrix target3x1[1 2 NaN][]`},
		"several of edges": {[]npy.Named{index, shaped("edge_targets", []float32{1, 0, 0}, 3, 1)}, `
			3 nodes, 3 listed
			edges [0 2 0] to [1 1 0]; edge_targets matrix label3x1[1 0 0][] of 1`},
		"columns and kinds": {[]npy.Named{index, shaped("x", []float32{1, 2, 3}, 3, 1), shaped("feature_names", []string{"age"}, 1), shaped("edge_type", []int64{2, 0, 1}, 3),
			shaped("node_kinds", []int32{0, -1, 1}, 3), shaped("node_kind_names", []string{"a", "b"}, 2), shaped("node_columns", []string{"born", "share"}, 2), shaped("node_column_dated", []bool{true, false}, 2),
			shaped("node_column_0", []int64{5, -7, 0}, 3), shaped("node_column_1", []float64{0.5, nan, 1}, 3)}, `
			3 nodes, 3 listed; x matrix feature3x1[1 2 3][age]; born time time[5 -7 0]true; share number time[0.5 NaN 1]; node_kinds word kind[a b][0 -1 1]true
			edges [0 2 0] to [1 1 0]; edge_type word kind[0 1 2][2 0 1]true`},
		"more nodes than edges say": {[]npy.Named{index, shaped("num_nodes", []int32{9}, 1)}, "9 nodes, 9 listed\nedges [0 2 0] to [1 1 0]"},
	} {
		r, err := readOne("x.npz", archiveOf(t, c.arrays...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		same(t, name, told(r), c.want)
	}
}

// TestNPZDirected: edges are as they are where the file's name says so, and the doubt of numbers from 1 is said.
func TestNPZDirected(t *testing.T) {
	b := archiveOf(t, shaped("edges", []int32{1, 2, 2, 3}, 2, 2))
	r, err := readOne("a_directed.npz", b)
	if err != nil || r.Edges[0].Undirected || r.Name != "a_directed" || r.Size != int64(len(b)) || !strings.Contains(r.Doubt, `in array "edges" no edge has an end 0`) {
		t.Errorf("%+v, error %v", r, err)
	}
}

// npzWith is the plain form, some of whose arrays are others.
func npzWith(t testing.TB, parts ...any) []byte { return archiveOf(t, with(shchur(), parts...)...) }

// withShape is heterophilous, one of whose arrays is another.
func withShape(t testing.TB, a npy.Named) []byte {
	return archiveOf(t, append(with(heterophilous(), a.Name, nil), a)...)
}

func TestBadNPZ(t *testing.T) {
	whole := archiveOf(t, shchur()...)
	index := shaped("edge_index", []int32{0, 1, 1, 0}, 2, 2)
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"no archive", []byte("hello"), "npy: x.npz: no npz archive: it has no end, where the list of its arrays stands: it was cut, or is another kind of file: download or copy it again"},
		{"cut archive", whole[:len(whole)/2], "npy: x.npz: no npz archive: it has no end, where the list of its arrays stands: it was cut, or is another kind of file: download or copy it again"},
		{"no graph", archiveOf(t, arrays("labels", []int32{1})...), "x.npz: there is no graph in it: want one of the arrays adj_matrix, adj_indptr, indptr, edge_index, edges; it has labels"},
		{"no indices", npzWith(t, "adj_indices", nil), `npy: x.npz has no array "adj_indices"; it has adj_data, adj_indptr, adj_shape, attr_data, attr_indices, attr_indptr, attr_shape, class_names, labels, node_names, test_mask, train_mask, val`},
		{"floating indices", npzWith(t, "adj_indices", []float32{1, 2, 2}), `x.npz: array "adj_indices": npy: elements of type "<f4", want whole numbers`},
		{"edge out of range", npzWith(t, "adj_indices", []int32{1, 4, 2}), "x.npz: arrays adj_*: sparse: nonzero 1, in row 1, has column 4 of a matrix of 4 columns"},
		{"negative edge", npzWith(t, "adj_indices", []int32{1, -1, 2}), "x.npz: arrays adj_*: sparse: nonzero 1, in row 1, has column -1 of a matrix of 4 columns"},
		{"not square", npzWith(t, "adj_shape", []int64{4, 5}), "x.npz: the adjacency is 4 × 5, want it square"},
		{"three lengths", npzWith(t, "adj_shape", []int64{4, 4, 4}), `x.npz: array "adj_shape": 3 lengths, want 2`},
		{"too few offsets", npzWith(t, "adj_indptr", []int32{0, 1, 3}), "x.npz: arrays adj_*: sparse: 3 offsets for 4 rows, want 5: one a row and the end"},
		{"offsets descend", npzWith(t, "adj_indptr", []int32{0, 2, 1, 3, 3}), "x.npz: arrays adj_*: sparse: offset 2 is 1, below the 2 before it"},
		{"NaN feature", npzWith(t, "attr_data", []float32{3, float32(math.NaN())}), `x.npz: array "attr_data": element 1 is NaN`},
		{"features of other nodes", npzWith(t, "attr_indptr", []int32{0, 2}, "attr_shape", []int64{1, 3}), "x.npz: features of shape [1 3] for 4 nodes"},
		{"label out of range", npzWith(t, "labels", []int64{1, 0, -2, 1}), "x.npz: the label of node 2 is -2; classes are 0 to 1, and -1 is none"},
		{"label far out of range", npzWith(t, "labels", []int64{1, 0, 1 << 30, 1}), `x.npz: array "labels": the largest label is 1073741824, of 4 nodes; classes are numbered from 0 without gaps`},
		{"labels below zero", npzWith(t, "labels", []int64{-1, -4, -2, -1}, "class_names", nil), "x.npz: the label of node 1 is -4; classes are numbered from 0, and -1 is none"},
		{"empty archive", zipOf(t, nil), "x.npz: there is no graph in it: want one of the arrays adj_matrix, adj_indptr, indptr, edge_index, edges; it has no arrays"},
		{"labels of other nodes", npzWith(t, "labels", []int64{1, 0}), "x.npz: 2 labels for 4 nodes"},
		{"infinite target", npzWith(t, "labels", []float64{0.5, math.Inf(1), 1, 2}), `x.npz: array "labels": element 1 is +Inf, which is no number to be learnt; NaN is one that is not known`},
		{"huge float label", npzWith(t, "labels", []float64{0, 1, 1e12, 0}), `x.npz: array "labels": element 2 is 1e+12, which is no class: they are numbered from 0`},
		{"labels of three axes", archiveOf(t, append(with(shchur(), "labels", nil), npy.Named{Name: "labels", Data: []int32{1, 0, 1, 0}, Shape: []int{2, 2, 1}})...), `x.npz: array "labels": its shape is [2 2 1], want one axis`},
		{"multi-label of 2", archiveOf(t, append(with(shchur(), "labels", nil), npy.Named{Name: "labels", Data: []int32{1, 0, 2, 0}, Shape: []int{4, 1}})...), `x.npz: array "labels": row 2, column 0 is 2, want 0 or 1, or NaN for what is not known: the values of a regression go into "targets"`},
		{"too few names", npzWith(t, "node_names", []string{"a"}), "x.npz: 1 names for 4 nodes"},
		{"masks overlap", npzWith(t, "test_mask", []bool{false, true, false, false}), "x.npz: node 1 is in two parts of the split, val and test"},
		{"mask of the wrong size", npzWith(t, "test_mask", []bool{false, true}), `x.npz: array "test_mask": 2 elements for 4 nodes`},
		{"mask of nodes", npzWith(t, "test_mask", []int32{0, 1, 2, 3}), `x.npz: array "test_mask": element 2 is 2, want 0 or 1: nodes themselves go into "test"`},
		{"train nodes out of range", npzWith(t, "train_mask", nil, "train", []int32{9}), "x.npz: train node 0 is 9; the nodes are 0 to 3"},
		{"empty train set", npzWith(t, "train_mask", []bool{false, false, false, false}), "x.npz: the split has no training nodes"},
		{"pickle that runs", npzWith(t, "adj_indptr", nil, "adj_matrix", pickled("\x80\x02cposix\nsystem\nU\x02ls\x85R.")), `x.npz: array "adj_matrix": pickle: byte 2: it asks for "system" of "posix", which is not data that can be read`},
		{"pickle of no matrix", npzWith(t, "adj_indptr", nil, "adj_matrix", object("N")), `x.npz: array "adj_matrix": it holds None, not a csr_matrix`},
		{"pickle for numbers", npzWith(t, "labels", object("N")), `x.npz: array "labels": its shape is [], want one axis`},
		{"edges of three", withShape(t, shaped("edges", []int32{0, 1, 2, 0, 1, 2, 0, 1, 2}, 3, 3)), `x.npz: array "edges": its shape is [3 3], want 2 rows or 2 columns: the two nodes of each edge`},
		{"edges of one axis", withShape(t, shaped("edges", []int32{0, 1}, 2)), `x.npz: array "edges": its shape is [2], want 2 rows or 2 columns: the two nodes of each edge`},
		{"edge out of range", withShape(t, shaped("edges", []int32{0, 1, 2, 3}, 2, 2)), `x.npz: array "edges": edge 1 is 2 to 3; the nodes are 0 to 2`},
		{"edges from 1", withShape(t, shaped("edges", []int32{1, 2, 2, 3}, 2, 2)), `x.npz: array "edges": edge 1 is 2 to 3; the nodes are 0 to 2. Indices seem to begin at 1: subtract 1 from all ends of edges`},
		{"edge_index from 1", archiveOf(t, shaped("edge_index", []int32{1, 2, 2, 1}, 2, 2), shaped("num_nodes", []int32{2}, 1)), `x.npz: array "edge_index": edge 0 is 1 to 2; the nodes are 0 to 1. Indices seem to begin at 1: subtract 1 from all ends of edges`},
		{"edge below zero", withShape(t, shaped("edges", []int32{0, -1}, 1, 2)), `x.npz: array "edges": edge 0 is 0 to -1; the nodes are 0 to 2`},
		{"edges are words", withShape(t, shaped("edges", []string{"a", "b"}, 1, 2)), `x.npz: array "edges": npy: elements of type "<U1", want whole numbers`},
		{"negative num_nodes", archiveOf(t, index, shaped("num_nodes", []int32{-1}, 1)), `x.npz: array "num_nodes": it holds [-1], want one number`},
		{"NaN weight", archiveOf(t, index, shaped("edge_weight", []float64{1, math.NaN()}, 2)), `x.npz: array "edge_weight": element 1 is NaN`},
		{"weights of other edges", archiveOf(t, index, shaped("edge_weight", []float64{1}, 1)), `x.npz: array "edge_weight": 1 weights for 2 edges`},
		{"labels of other nodes", withShape(t, shaped("node_labels", []int32{0, 1}, 2)), "x.npz: 2 labels for 3 nodes"},
		{"masks of other nodes", withShape(t, shaped("val_masks", make([]bool, 8), 4, 2)), `x.npz: array "val_masks": its shape is [4 2], want 1 to 100 splits of 3 nodes`},
		{"masks of other splits", withShape(t, shaped("val_masks", make([]bool, 6), 2, 3)), `x.npz: array "val_masks": it has 2 splits, "train_masks" has 3`},
		{"second split overlaps", withShape(t, shaped("val_masks", []bool{false, true, false, false, true, true, true, false, false}, 3, 3)), "x.npz: split 1: node 1 is in two parts of the split, train and val"},
		{"mask of two", withShape(t, shaped("test_masks", []int32{0, 0, 2, 1, 0, 0, 0, 1, 0}, 3, 3)), `x.npz: array "test_masks": element 2 is 2, want 0 or 1: nodes themselves go into "test"`},
		{"labels of nodes and edges", archiveOf(t, index, shaped("y", []int32{0, 1}, 2), shaped("edge_label", []int32{0, 1}, 2)), `x.npz: array "edge_label": there are labels of nodes, too: leave one of them out`},
		{"nothing known of edges", archiveOf(t, index, shaped("edge_targets", []float32{float32(math.NaN()), float32(math.NaN())}, 2, 1)), `x.npz: array "edge_targets": nothing is known of what is to be learnt: all numbers are missing`},
		{"kinds of other edges", archiveOf(t, index, shaped("edge_type", []int32{0}, 1)), `x.npz: array "edge_type": 1 kinds for 2 edges`},
		{"huge kind", archiveOf(t, index, shaped("node_type", []int32{0, 65536}, 2)), `x.npz: array "node_type": there is kind 65536; without node_kind_names kinds are at most 65535: number them from 0 without gaps`},
		{"times as floats", archiveOf(t, index, shaped("node_columns", []string{"born"}, 1), shaped("node_column_dated", []bool{true}, 1), shaped("node_column_0", []float64{1, 2}, 2)), `x.npz: array "node_column_0": its type is <f8, and times are whole numbers of microseconds since 1970: save them as int64`},
		{"names of other features", npzWith(t, "feature_names", []string{"a"}), "x.npz: 1 names for 3 features"},
		{"names of no classes", archiveOf(t, index, shaped("class_names", []string{"a"}, 1)), "x.npz: 1 names for 0 classes"},
		{"names of other classes", npzWith(t, "class_names", []string{"a"}), "x.npz: 1 names for 2 classes"},
	} {
		if _, err := readOne("x.npz", c.b); err == nil || err.Error() != c.want {
			t.Errorf("%s: error\n%v, want\n%s", c.name, err, c.want)
		}
	}
	for n := len(whole) - 1; n > 0; n -= 97 {
		if _, err := readOne("x.npz", whole[:n]); err == nil {
			t.Errorf("no error for %d of %d bytes", n, len(whole))
		}
	}
	if _, err := readOne("x.npz.gz", whole); err == nil || err.Error() != "x.npz.gz: only texts are read in gzip or zstd: unpack it first" {
		t.Errorf("error %v", err)
	}
}

func FuzzNPZ(f *testing.F) {
	f.Add(archiveOf(f, shchur()...))
	f.Add(archiveOf(f, arrays("indptr", []int64{0, 1, 1}, "indices", []int32{1}, "labels", []int32{0, 5}, "train", []int32{0})...))
	f.Add(archiveOf(f, arrays("adj_matrix", object(inner(words(2, []int{1}, nil))), "targets", []float32{1, 2})...))
	f.Add(archiveOf(f, heterophilous()...))
	f.Add(archiveOf(f, shaped("edge_index", []int32{0, 1}, 2, 1), shaped("edge_attr", []float32{1, 2}, 1, 2), shaped("edge_labels", []int64{0}, 1)))
	f.Add(archiveOf(f, shaped("edge_index", []int32{0, 1}, 2, 1), shaped("edge_type", []int32{1}, 1), shaped("node_kinds", []int32{0, -1}, 2), npy.Named{Name: "node_kind_names", Data: []string{"a"}}))
	f.Fuzz(func(t *testing.T, b []byte) { holds(t, fileOf("x.npz", b), "x.npz") })
}

// FuzzMembers changes what is in a member, which fuzzing the whole archive
// hardly does: its checksums would be wrong.
func FuzzMembers(f *testing.F) {
	f.Add("labels", "\x00\x00\x00\x00\x01\x00\x00\x00", uint8(2))
	f.Add("adj_indptr", "\x00\x00\x00\x00\xff\x00\x00\x00", uint8(2))
	f.Add("train", "\x00\x00\x00\x00", uint8(1))
	f.Fuzz(func(t *testing.T, name, data string, n uint8) {
		if name == "" || strings.ContainsAny(name, "/\\\x00") || len(data) < 4*int(n) {
			return
		}
		x := make([]int32, n)
		for i := range x {
			x[i] = int32(binary.LittleEndian.Uint32([]byte(data[4*i:])))
		}
		holds(t, fileOf("x.npz", archiveOf(t, with(shchur(), name, x)...)), "x.npz")
	})
}

// FuzzSplits reads splits of ten nodes.
func FuzzSplits(f *testing.F) {
	f.Add("train", "<i8", "(3,)", []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"))
	f.Add("train_mask", "|b1", "(10,)", []byte("\x01\x00\x01\x00\x00\x00\x00\x00\x00\x01"))
	f.Add("train_masks", "|b1", "(10, 2)", []byte("\x01\x00\x01\x00\x00\x00\x00\x00\x00\x01\x01\x00\x01\x00\x00\x00\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, name, kind, shape string, data []byte) {
		head := "{'descr': '" + kind + "', 'fortran_order': False, 'shape': " + shape + ", }\n"
		array := "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), byte(len(head) >> 8)}) + head + string(data)
		files, _, err := OpenFS(fileOf("s.npz", zipOf(t, map[string]string{name + ".npy": array})), "s.npz")
		if err != nil {
			t.Fatal(err)
		}
		splits, err := readSplits(files, "s.npz", 10)
		for i := range splits {
			if bad := splits[i].check(10); err == nil && bad != nil {
				t.Fatal(bad)
			}
		}
	})
}
