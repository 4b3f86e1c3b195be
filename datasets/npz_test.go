package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zip"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// pickled is an array of objects as a member of an archive: the pickle.
type pickled string

// object is an array of objects that is the one object given by its opcodes.
func object(opcodes string) pickled {
	return pickled("\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01)cnumpy\ndtype\n" +
		str2("O8") + "K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb\x89](" + opcodes + "etb.")
}

// inner is a pickle without its first two bytes and its last.
func inner(pickle string) string { return pickle[2 : len(pickle)-1] }

// archiveOf returns an archive of arrays by name; a value of another type than
// pickled is as npy.Named has it.
func archiveOf(t testing.TB, arrays ...npy.Named) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, a := range arrays {
		m, err := z.Create(a.Name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := a.Data.(pickled); ok {
			head := "{'descr': '|O', 'fortran_order': False, 'shape': (), }\n"
			m.Write([]byte("\x93NUMPY\x01\x00"))
			binary.Write(m, binary.LittleEndian, uint16(len(head)))
			m.Write([]byte(head + string(p)))
			continue
		}
		var one bytes.Buffer
		if err := npy.WriteArchive(&one, a); err != nil {
			t.Fatal(err)
		}
		r, err := zip.NewReader(bytes.NewReader(one.Bytes()), int64(one.Len()))
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.File[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		var raw bytes.Buffer
		raw.ReadFrom(f)
		m.Write(raw.Bytes())
	}
	z.Close()
	return b.Bytes()
}

// put writes a file and returns its path.
func put(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// arrays returns npy.Named of names and elements, alternating.
func arrays(parts ...any) []npy.Named {
	var out []npy.Named
	for i := 0; i < len(parts); i += 2 {
		out = append(out, npy.Named{Name: parts[i].(string), Data: parts[i+1]})
	}
	return out
}

// with returns the arrays with some replaced, added, or (nil) taken out.
func with(base []npy.Named, parts ...any) []npy.Named {
	out := slices.Clone(base)
	for _, a := range arrays(parts...) {
		out = slices.DeleteFunc(out, func(b npy.Named) bool { return b.Name == a.Name })
		if a.Data != nil {
			out = append(out, a)
		}
	}
	return out
}

// shchur is a graph of four nodes in the plain form: 0→1, 1→2, 2→2.
func shchur() []npy.Named {
	return arrays(
		"adj_data", []float32{1, 1, 1}, "adj_indices", []int32{1, 2, 2}, "adj_indptr", []int32{0, 1, 2, 3, 3}, "adj_shape", []int64{4, 4},
		"attr_data", []float32{3, 1}, "attr_indices", []int32{2, 0}, "attr_indptr", []int32{0, 2, 2, 2, 2}, "attr_shape", []int64{4, 3},
		"labels", []int64{1, 0, -1, 1}, "class_names", []string{"A", "B"}, "node_names", []string{"a", "b", "c", "d"},
		"train_mask", []bool{true, false, false, false}, "val", []int32{3, 1}, "test_mask", []int32{0, 0, 1, 0})
}

func TestNPZPlain(t *testing.T) {
	d, err := readWith(put(t, "some.npz", archiveOf(t, shchur()...)))
	if err != nil {
		t.Fatal(err)
	}
	in := d.Graph.In()
	if d.Name != "some" || !slices.Equal(in.Offsets, []int64{0, 1, 3, 4, 4}) || !slices.Equal(in.Cols, []int32{1, 0, 2, 1}) || d.loops != 1 {
		t.Errorf("%s: offsets %v, sources %v, %d loops", d.Name, in.Offsets, in.Cols, d.loops)
	}
	x := d.Features.(*sparse.CSR)
	if x.NumCols != 3 || !slices.Equal(x.Cols, []int32{0, 2}) || !slices.Equal(x.Values, []tensor.Float{1, 3}) {
		t.Errorf("features %v, columns %v, values %v", x.Shape(), x.Cols, x.Values)
	}
	if !slices.Equal(d.Labels, []int32{1, 0, -1, 1}) || d.Classes != 2 || !slices.Equal(d.ClassNames, []string{"A", "B"}) || len(d.NodeNames) != 4 {
		t.Errorf("labels %v of %d classes %q, nodes %q", d.Labels, d.Classes, d.ClassNames, d.NodeNames)
	}
	if want := (Split{[]int32{0}, []int32{1, 3}, []int32{2}}); !reflect.DeepEqual(d.Split, want) {
		t.Errorf("split %v", d.Split)
	}
}

// A row of zeros and ones a node is a class a node if there is a single one in each.
func TestNPZLabels(t *testing.T) {
	for name, c := range map[string]struct {
		ones   []int32
		cols   int
		labels []int32 // nil: several a node
	}{
		"one-hot":    {[]int32{0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0}, 3, []int32{1, 0, 2, 0}},
		"none":       {[]int32{0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0}, 3, nil},
		"two":        {[]int32{0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0}, 3, nil},
		"none, two":  {[]int32{0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0}, 3, nil},
		"one column": {[]int32{1, 1, 1, 1}, 1, nil},
	} {
		named := append(with(shchur(), "labels", nil, "class_names", nil), npy.Named{Name: "labels", Data: c.ones, Shape: []int{4, c.cols}})
		d, err := readWith(put(t, "x.npz", archiveOf(t, named...)))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Labels, c.labels) || (d.MultiLabels == nil) != (c.labels != nil) || d.Classes != c.cols {
			t.Errorf("%s: labels %v, several %v, %d classes", name, d.Labels, d.MultiLabels, d.Classes)
		}
	}
}

func TestNPZPickled(t *testing.T) {
	matrix := inner(words(4, []int{1}, []int{2}, []int{2}, nil))
	attributes := inner(words(3, []int{0, 2}, nil, nil, nil))
	names := "}" + str2("class_names") + "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K\x02\x85cnumpy\ndtype\n" +
		str2("S1") + "K\x00K\x01\x87R(K\x03U\x01|NNNtb\x89" + str2("AB") + "tbs"
	d, err := readWith(put(t, "p.npz", archiveOf(t, arrays("adj_matrix", object(matrix), "node_attr", object(attributes),
		"node_label", []int32{0, 1, 1, 0}, "metadata", object(names))...)))
	if err != nil {
		t.Fatal(err)
	}
	if d.Graph.NumEdges() != 4 || d.Features.(*sparse.CSR).NNZ() != 2 || !slices.Equal(d.ClassNames, []string{"A", "B"}) || d.Split.Train != nil {
		t.Errorf("%d edges, %d nonzeros, classes %q, split %v", d.Graph.NumEdges(), d.Features.(*sparse.CSR).NNZ(), d.ClassNames, d.Split)
	}
}

// samples are datasets of each kind.
func samples(t *testing.T) map[string]*Dataset {
	t.Helper()
	g := graph.Must(graph.New(3, []int32{0, 1, 1}, []int32{1, 2, 0}))
	bare := Dataset{Name: "d", Graph: g, Features: identity(3)}
	classes, weighted, multi, targets := bare, bare, bare, bare
	classes.Labels, classes.Classes, classes.ClassNames = []int32{0, -1, 1}, 2, []string{"ä", "b"}
	classes.Split, classes.NodeNames = Split{Train: []int32{0}, Test: []int32{2}}, []string{"x", "y", "z"}
	weighted.Weights, weighted.Features = []tensor.Float{0.5, 2, -1}, tensor.Of([]tensor.Float{1, 2, 3, 4, 5, 6}, 3, 2)
	multi.MultiLabels, multi.Classes = sparse.FromDense(tensor.Of([]tensor.Float{1, 1, 0, 0, 0, 1}, 3, 2)), 2
	targets.Targets = tensor.Of([]tensor.Float{0.25, -1, 3}, 3, 1)
	gaps, several, edges := targets, multi, bare
	gaps.Targets = tensor.Of([]tensor.Float{0.25, tensor.Float(nan()), 3, 1, 2, 3}, 3, 2)
	several.MultiLabels = sparse.FromDense(tensor.Of([]tensor.Float{1, tensor.Float(nan()), 0, 0, 0, 1}, 3, 2))
	edges.EdgeFeatures, edges.EdgeLabels, edges.Classes = tensor.Of([]tensor.Float{1, 2, 3, 4, 5, 6}, 3, 2), []int32{1, -1, 0}, 2
	edges.Split = Split{Train: []int32{0}, Test: []int32{2}}
	rated := edges
	rated.EdgeLabels, rated.Classes, rated.EdgeTargets = nil, 0, tensor.Of([]tensor.Float{0.5, tensor.Float(nan()), 2}, 3, 1)
	return map[string]*Dataset{"gaps": &gaps, "several": &several, "edges": &edges, "rated": &rated, "bare": &bare, "classes": &classes, "weighted": &weighted, "multi": &multi, "targets": &targets, "karate": Karate()}
}

func TestWriteNPZ(t *testing.T) {
	for name, d := range samples(t) {
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), d.Name+".npz")
		if err := d.SaveNPZ(path); err != nil {
			t.Fatal(err)
		}
		e, err := readWith(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		g, err := LoadGraph(path)
		if err != nil || !slices.Equal(g.In().Cols, d.Graph.In().Cols) || !slices.Equal(e.Graph.In().Cols, d.Graph.In().Cols) || !slices.Equal(g.In().Offsets, d.Graph.In().Offsets) {
			t.Errorf("%s: the graph is another, error %v", name, err)
		}
		for _, c := range []struct {
			what      string
			got, want any
		}{
			{"weights", e.Weights, d.Weights},
			{"edge features", plainOf(e.EdgeFeatures), plainOf(d.EdgeFeatures)},
			{"edge labels", e.EdgeLabels, d.EdgeLabels},
			{"edge targets", plainOf(e.EdgeTargets), plainOf(d.EdgeTargets)},
			{"features", plainOf(e.Features), plainOf(d.Features)},
			{"labels", e.Labels, d.Labels},
			{"multiple labels", plainOf(e.MultiLabels), plainOf(d.MultiLabels)},
			{"targets", plainOf(e.Targets), plainOf(d.Targets)},
			{"classes", e.Classes, d.Classes},
			{"split", e.Split, d.Split},
			{"class names", e.ClassNames, d.ClassNames},
			{"node names", e.NodeNames, d.NodeNames},
		} {
			if !reflect.DeepEqual(c.got, c.want) {
				t.Errorf("%s: %s %v, want %v", name, c.what, c.got, c.want)
			}
		}
		var b strings.Builder
		if err := e.Describe(&b); err != nil || !strings.Contains(b.String(), "\nnodes ") {
			t.Errorf("%s: described as %q, error %v", name, b.String(), err)
		}
	}
	if err := Karate().SaveNPZ(filepath.Join(t.TempDir(), "no", "x.npz")); err == nil {
		t.Error("written into a folder that is not there")
	}
}

// plainOf returns the numbers of a matrix for comparison.
func plainOf(x tensor.Array) string {
	switch x := x.(type) {
	case *sparse.CSR:
		if x != nil {
			return fmt.Sprint(x.Shape(), x.Offsets, x.Cols, x.Values)
		}
	case *tensor.Dense:
		if x != nil {
			return fmt.Sprint(x.Shape(), x.Data)
		}
	}
	return ""
}

func FuzzNPZ(f *testing.F) {
	f.Add(archiveOf(f, shchur()...))
	f.Add(archiveOf(f, arrays("indptr", []int64{0, 1, 1}, "indices", []int32{1}, "labels", []int32{0, 5}, "train", []int32{0})...))
	f.Add(archiveOf(f, arrays("adj_matrix", object(inner(words(2, []int{1}, nil))), "targets", []float32{1, 2})...))
	f.Add(archiveOf(f, heterophilous()...))
	f.Add(archiveOf(f, shaped("edge_index", []int32{0, 1}, 2, 1), shaped("edge_attr", []float32{1, 2}, 1, 2), shaped("edge_labels", []int64{0}, 1)))
	f.Add(archiveOf(f, shaped("edge_index", []int32{0, 1}, 2, 1), npy.Named{Name: "y", Data: []float32{0, 0.5}}, npy.Named{Name: "edge_weight", Data: []float32{2}}))
	f.Add(archiveOf(f, shaped("edge_index", []int32{0, 1}, 2, 1), shaped("edge_type", []int32{1}, 1), shaped("node_kinds", []int32{0, -1}, 2), npy.Named{Name: "node_kind_names", Data: []string{"a"}}))
	path := filepath.Join(f.TempDir(), "fuzz.npz")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if d, err := readWith(path); err == nil {
			if err := d.Check(); err != nil {
				t.Fatal(err)
			}
			d.LargestComponent()
		}
	})
}

// FuzzMembers changes what is in a member, which fuzzing the whole archive
// hardly does: its checksums would be wrong.
func FuzzMembers(f *testing.F) {
	f.Add("labels", "\x00\x00\x00\x00\x01\x00\x00\x00", uint8(2))
	f.Add("adj_indptr", "\x00\x00\x00\x00\xff\x00\x00\x00", uint8(2))
	f.Add("train", "\x00\x00\x00\x00", uint8(1))
	path := filepath.Join(f.TempDir(), "fuzz.npz")
	f.Fuzz(func(t *testing.T, name, data string, n uint8) {
		if name == "" || strings.ContainsAny(name, "/\\\x00") || len(data) < 4*int(n) {
			return
		}
		x := make([]int32, n)
		for i := range x {
			x[i] = int32(binary.LittleEndian.Uint32([]byte(data[4*i:])))
		}
		if err := os.WriteFile(path, archiveOf(t, with(shchur(), name, x)...), 0o666); err != nil {
			t.Fatal(err)
		}
		if d, err := readWith(path); err == nil {
			if err := d.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestRandomSplit(t *testing.T) {
	d := &Dataset{Name: "d", Labels: make([]int32, 100), Classes: 3}
	for v := range d.Labels {
		d.Labels[v] = int32(v%4) - 1
	}
	s, err := d.RandomSplit(rand.New(rand.NewPCG(1, 2)), 5, 20, -1)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Train) != 15 || len(s.Val) != 20 || len(s.Test) != 75-35 || s.Check(100) != nil {
		t.Errorf("%d, %d, %d: %v", len(s.Train), len(s.Val), len(s.Test), s.Check(100))
	}
	count := make([]int, 3)
	for _, v := range s.Train {
		count[d.Labels[v]]++
	}
	if !slices.Equal(count, []int{5, 5, 5}) {
		t.Errorf("%v training nodes a class", count)
	}
	again, _ := d.RandomSplit(rand.New(rand.NewPCG(1, 2)), 5, 20, -1)
	other, _ := d.RandomSplit(rand.New(rand.NewPCG(1, 3)), 5, 20, -1)
	if !reflect.DeepEqual(s, again) || reflect.DeepEqual(s, other) {
		t.Error("the split does not depend on the seed alone")
	}
	for want, args := range map[string][3]int{
		"class 0 of d has 25 nodes, fewer than the 26 a class that are to train":                                       {26, 0, 0},
		"d has 60 nodes left after training, fewer than the 30 to validate and the 31 to test with":                    {5, 30, 31},
		"a split of 0 nodes a class, 1 validation and 1 test nodes; want at least 1, 0 and 0 (or -1 for what is left)": {0, 1, 1},
	} {
		if _, err := d.RandomSplit(rand.New(rand.NewPCG(1, 2)), args[0], args[1], args[2]); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := (&Dataset{Name: "f"}).RandomSplit(rand.New(rand.NewPCG(1, 2)), 1, 1, 1); err == nil || err.Error() != "f has no classes to split by" {
		t.Errorf("error %v", err)
	}
}

func TestTransforms(t *testing.T) {
	// 0→1→2 and 3→4, apart; weights say which edge is which.
	src, dst := []int32{0, 1, 3}, []int32{1, 2, 4}
	d := &Dataset{
		Graph: graph.Must(graph.New(5, src, dst)), Weights: []tensor.Float{10, 20, 30}, Features: tensor.Of([]tensor.Float{0, 1, 2, 3, 4}, 5, 1),
		Labels: []int32{0, 1, 0, 1, 0}, Classes: 2, NodeNames: []string{"a", "b", "c", "d", "e"},
		Split: Split{Train: []int32{0, 3}, Val: []int32{2}, Test: []int32{4}},
	}
	weights := func(d *Dataset) string {
		var edges []string
		in := d.Graph.In()
		for v := range in.NumRows {
			for k := in.Offsets[v]; k < in.Offsets[v+1]; k++ {
				edges = append(edges, fmt.Sprintf("%d→%d:%v", in.Cols[k], v, d.Weights[k]))
			}
		}
		slices.Sort(edges)
		return strings.Join(edges, " ")
	}
	if got, want := weights(d.Undirected()), "0→1:10 1→0:10 1→2:20 2→1:20 3→4:30 4→3:30"; got != want {
		t.Errorf("undirected: %s, want %s", got, want)
	}
	if got, want := weights(d.WithSelfLoops()), "0→0:1 0→1:10 1→1:1 1→2:20 2→2:1 3→3:1 3→4:30 4→4:1"; got != want {
		t.Errorf("with loops: %s, want %s", got, want)
	}
	u := d.Undirected()
	if got := weights(u.Undirected()); got != weights(u) {
		t.Errorf("undirected twice: %s", got)
	}
	c := d.LargestComponent()
	if got, want := weights(c), "0→1:10 1→2:20"; got != want || c.Check() != nil {
		t.Errorf("largest component: %s, want %s; %v", got, want, c.Check())
	}
	if !slices.Equal(c.Features.(*tensor.Dense).Data, []tensor.Float{0, 1, 2}) || !slices.Equal(c.Labels, []int32{0, 1, 0}) || c.NodeNames[2] != "c" ||
		!reflect.DeepEqual(c.Split, Split{Train: []int32{0}, Val: []int32{2}}) {
		t.Errorf("features %v, labels %v, names %v, split %v", c.Features, c.Labels, c.NodeNames, c.Split)
	}
	if weights(d) != "0→1:10 1→2:20 3→4:30" || len(d.Labels) != 5 {
		t.Error("the dataset itself changed")
	}
	k := Karate()
	if l := k.LargestComponent(); l.Graph.NumNodes() != 34 || plainOf(l.Features) != plainOf(k.Features) {
		t.Error("the karate club is not connected")
	}
}

// FuzzSplits reads splits of ten nodes.
func FuzzSplits(f *testing.F) {
	f.Add("train", "<i8", "(3,)", []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"))
	f.Add("train_mask", "|b1", "(10,)", []byte("\x01\x00\x01\x00\x00\x00\x00\x00\x00\x01"))
	f.Add("train_masks", "|b1", "(10, 2)", []byte("\x01\x00\x01\x00\x00\x00\x00\x00\x00\x01\x01\x00\x01\x00\x00\x00\x00\x00\x00\x01"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name, kind, shape string, data []byte) {
		head := "{'descr': '" + kind + "', 'fortran_order': False, 'shape': " + shape + ", }\n"
		array := "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), byte(len(head) >> 8)}) + head + string(data)
		path := filepath.Join(saved(t, dir, "s.npz", string(zipOf(name+".npy", array))), "s.npz")
		splits, err := LoadSplits(path, 10)
		if err != nil {
			return
		}
		for _, s := range splits {
			if err := s.check(10, "node"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Which columns hold codes is kept in an archive, of nodes and of edges; an archive that says so of columns that there are not is an error.
// Features of other forms leave codes as they are, and they are not among what says of which kind features are.
func TestCodesAreKept(t *testing.T) {
	x := tensor.Of([]tensor.Float{0.5, 3, -1, 0.25, 0, 1, 0.5, 2, 0}, 3, 3)
	d := &Dataset{
		Name: "codes", Graph: graph.Must(graph.New(3, []int32{0, 1}, []int32{1, 2})), Features: x, Codes: []columns.Code{{At: 1, Words: 3}},
		EdgeFeatures: tensor.Of([]tensor.Float{2, 1}, 2, 1), EdgeCodes: []columns.Code{{At: 0, Words: 2}},
	}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "codes.npz")
	if err := d.SaveNPZ(path); err != nil {
		t.Fatal(err)
	}
	again, err := Load(path)
	if err != nil || !reflect.DeepEqual(again.Codes, d.Codes) || !reflect.DeepEqual(again.EdgeCodes, d.EdgeCodes) {
		t.Fatalf("the codes are %v and %v, error %v", again.Codes, again.EdgeCodes, err)
	}
	plain := *d
	plain.Codes = nil
	if again.Digest() == plain.Digest() || again.Digest() != d.Digest() {
		t.Error("the digest does not say which columns are codes")
	}
	if u := again.Undirected().WithSelfLoops().WithFeatures(tensor.New(3, 2)); len(u.Codes) != 1 || len(u.EdgeCodes) != 1 || u.Check() != nil {
		t.Errorf("with both directions, loops and more features the codes are %v and %v", u.Codes, u.EdgeCodes)
	}
	if k := d.FeatureKind(); !k.Negative || k.Counts {
		t.Errorf("the features are %+v", k)
	}
	must := func(x tensor.Array, err error) tensor.Array {
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for form, y := range map[string]tensor.Array{"binary": d.Binarised(), "standard": must(d.Standardised())} {
		for v := range 3 {
			if got := y.(*tensor.Dense).Row(v); got[1] != x.Row(v)[1] || got[0] == x.Row(v)[0] {
				t.Errorf("%s: row %d is %v, and was %v", form, v, got, x.Row(v))
			}
		}
	}
	d.Features = tensor.Of([]tensor.Float{1, 3, 1, 4, 0, 1, 0, 2, 0}, 3, 3)
	for _, y := range []tensor.Array{must(d.Normalised()), must((&Dataset{Graph: d.Graph, Features: sparse.FromDense(d.Features.(*tensor.Dense)), Codes: d.Codes}).Normalised())} {
		if a, ok := y.(*sparse.CSR); ok {
			y = a.Dense()
		}
		if got := y.(*tensor.Dense).Data; !slices.Equal(got, []tensor.Float{0.5, 3, 0.5, 0.8, 0, 0.2, 0, 2, 0}) {
			t.Errorf("by their sums the features are %v", got)
		}
	}
	for _, bad := range [][]int64{{3, 1}, {-1, 1}, {0, -1}, {1, 1, 1, 1}, {1, 1, 0, 1}} {
		archive := archiveOf(t, npy.Named{Name: "indptr", Data: []int64{0, 0, 1}}, npy.Named{Name: "indices", Data: []int32{0}},
			npy.Named{Name: "x", Data: []float32{1, 2, 3, 4, 5, 6}, Shape: []int{2, 3}}, npy.Named{Name: "feature_codes", Data: bad, Shape: []int{len(bad) / 2, 2}})
		if err := os.WriteFile(path, archive, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "feature_codes") {
			t.Errorf("codes %v: error %v", bad, err)
		}
	}
}
