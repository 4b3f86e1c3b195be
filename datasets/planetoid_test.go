package datasets

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/sparse"
)

// The pickles below are put together by hand, as Python 2 would write them.

func le4(vs ...int) string {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return string(b)
}

func str2(s string) string { return "T" + le4(len(s)) + s }

func num(v int) string { return "J" + le4(v) }

func array(code, data string, shape ...int) string {
	s := "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01("
	for _, n := range shape {
		s += num(n)
	}
	return s + "tcnumpy\ndtype\n" + str2(code) + "K\x00K\x01\x87R(K\x03U\x01<NNNtb\x89" + str2(data) + "tb"
}

// words is a matrix of ones; each row is the columns of its ones.
func words(cols int, rows ...[]int) string {
	offsets, columns, ones := []int{0}, []int{}, []int{}
	for _, r := range rows {
		for _, c := range r {
			columns, ones = append(columns, c), append(ones, int(math.Float32bits(1)))
		}
		offsets = append(offsets, len(columns))
	}
	return "\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(" + str2("_shape") + num(len(rows)) + num(cols) + "\x86" +
		str2("indptr") + array("i4", le4(offsets...), len(offsets)) +
		str2("indices") + array("i4", le4(columns...), len(columns)) +
		str2("data") + array("f4", le4(ones...), len(ones)) + "ub."
}

// onehots is labels of two classes; −1 is a row of zeros.
func onehots(labels ...int) string {
	var x []int
	for _, l := range labels {
		row := []int{0, 0}
		if l >= 0 {
			row[l] = 1
		}
		x = append(x, row...)
	}
	return "\x80\x02" + array("i4", le4(x...), len(labels), 2) + "."
}

func neighbours(lists ...[]int) string {
	s := "\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R("
	for u, list := range lists {
		s += num(u) + "]("
		for _, v := range list {
			s += num(v)
		}
		s += "e"
	}
	return s + "u."
}

// small is a dataset of seven nodes: 0 trains, 1 and 2 validate, 5 and 3 test,
// 4 and 6 are in the graph alone. Edge 1–2 stands there twice, 2–3 in one
// direction, and 3 has a loop.
func small() map[string]string {
	return map[string]string{
		"x":          words(3, []int{1}),
		"allx":       words(3, []int{1}, []int{2, 0}, []int{}),
		"tx":         words(3, []int{0, 1, 2}, []int{0}),
		"y":          onehots(1),
		"ally":       onehots(1, 0, 1),
		"ty":         onehots(1, 1),
		"graph":      neighbours([]int{1}, []int{0, 2, 2}, []int{1, 3}, []int{3}, []int{5}, []int{4}, nil),
		"test.index": "5\n3\n",
	}
}

func write(t testing.TB, dir string, parts map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for part, s := range parts {
		if err := os.WriteFile(filepath.Join(dir, "ind.citeseer."+part), []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// altered is a folder of the small dataset, which is written once: a test that alters one part
// after another would write all eight of them for each.
type altered string

func newAltered(t testing.TB) altered {
	dir := filepath.Join(t.TempDir(), "small")
	write(t, dir, small())
	return altered(dir)
}

// read reads the folder while the part has another content.
func (dir altered) read(t testing.TB, part, content string) (*Dataset, error) {
	t.Helper()
	path := filepath.Join(string(dir), "ind.citeseer."+part)
	whole := string(dir) + "." + part // beside the folder
	if err := os.Rename(path, whole); err != nil {
		t.Fatal(err)
	}
	defer os.Rename(whole, path)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return planetoid(string(dir), "citeseer")
}

// Files of another name than the three are read too, whatever its case and with dots.
func TestPlanetoidOwn(t *testing.T) {
	from, dir := t.TempDir(), t.TempDir()
	write(t, from, small())
	for part := range small() {
		if err := os.Rename(filepath.Join(from, "ind.citeseer."+part), filepath.Join(dir, "ind.Mine.v1.2."+part)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "ind.Mine.v1.2.graph"), filepath.Join(dir, "ind.Mine.v1.2.test.index")} {
		d, err := readWith(path)
		if err != nil {
			t.Fatal(err)
		}
		if d.Name != "Mine.v1.2" || d.Graph.NumNodes() != 7 || d.Classes != 2 || d.ClassNames != nil || !slices.Equal(d.Split.Test, []int32{3, 5}) {
			t.Errorf("%s: %s of %d nodes, %d classes %q, split %v", path, d.Name, d.Graph.NumNodes(), d.Classes, d.ClassNames, d.Split)
		}
	}
	for _, data := range []string{dir, t.TempDir()} {
		sub := filepath.Join(data, "planetoid")
		if data != dir {
			if err := os.CopyFS(sub, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
		}
		if d, err := Open(data, "Mine.v1.2"); err != nil || d.Name != "Mine.v1.2" {
			t.Errorf("by its name it is %v, error %v", d, err)
		}
		for _, name := range []string{"mine.v1.3", "../" + filepath.Base(dir) + "/Mine.v1.2", "", "."} {
			if d, err := Open(data, name); !errors.As(err, new(*UnknownError)) {
				t.Errorf("%q is %v, error %v", name, d, err)
			}
		}
	}
}

func TestPlanetoidSmall(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "planetoid"), small())
	d, err := Open(dir, "CiteSeer")
	if err != nil {
		t.Fatal(err)
	}
	if want := []int32{1, 0, 1, 1, 0, 1, 0}; !slices.Equal(d.Labels, want) {
		t.Errorf("labels %v, want %v", d.Labels, want)
	}
	if s := d.Split; !slices.Equal(s.Train, []int32{0}) || !slices.Equal(s.Val, []int32{1, 2}) || !slices.Equal(s.Test, []int32{3, 5}) {
		t.Errorf("split %v", s)
	}
	x := d.Features.(*sparse.CSR)
	if !slices.Equal(x.Offsets, []int64{0, 1, 3, 3, 4, 4, 7, 7}) || !slices.Equal(x.Cols, []int32{1, 0, 2, 0, 0, 1, 2}) {
		t.Errorf("features: offsets %v, columns %v", x.Offsets, x.Cols)
	}
	in := d.Graph.In()
	if !slices.Equal(in.Offsets, []int64{0, 1, 3, 5, 6, 7, 8, 8}) || !slices.Equal(in.Cols, []int32{1, 0, 2, 1, 3, 2, 5, 4}) || d.loops != 1 {
		t.Errorf("graph: offsets %v, sources %v, %d loops", in.Offsets, in.Cols, d.loops)
	}
	if d.ClassNames != nil {
		t.Errorf("two classes are called %v", d.ClassNames)
	}
}

func TestPlanetoidErrorsNameFileAndPlace(t *testing.T) {
	dir := newAltered(t)
	for _, c := range []struct{ part, content, want string }{
		{"test.index", "5\nx\n", `line 2: "x"`},
		{"test.index", "5\n\n3\n", "line 2"},
		{"test.index", "5\n5\n", "line 2: node 5 stands in line 1"},
		{"test.index", "5\n10\n", "line 2: node 10; test nodes are 3 to 9"},
		{"test.index", "\n5\n3\n", "line 1: it is empty, and line 2 is not"},
		{"test.index", "5\n2\n", "line 2: node 2"},
		{"test.index", "5\n-1\n", "line 2: node -1"},
		{"test.index", "5\n", "1 nodes for the 2 rows"},
		{"test.index", strings.Repeat("5\n", 9), "line 3: more lines than the 2 rows of tx"},
		{"test.index", "99999999999999999999", "line 1"},
		{"test.index", strings.Repeat("1", 1<<17), "ind.citeseer.test.index: line 1: it is longer than 65536 bytes"},
		{"x", words(3, []int{1}, []int{1}), "ind.citeseer.y"},
		{"x", words(4, []int{1}), "4 features"},
		{"x", words(3, []int{3}), "has column 3"},
		{"x", onehots(1), "not a csr_matrix"},
		{"allx", words(3), "0 rows"},
		{"y", onehots(0), "row 0 has class 0"},
		{"y", words(3), "not an array"},
		{"ty", onehots(1), "1 rows of 2 classes"},
		{"ty", "\x80\x02" + array("i4", le4(1, 1, 0, 1), 2, 2) + ".", "row 0 has 2 classes"},
		{"ty", "\x80\x02" + array("i4", le4(1, 0, 0, 7), 2, 2) + ".", "row 1, column 1 is 7"},
		{"ty", "\x80\x02" + array("i4", "", 0, 1<<30) + ".", "not one of labels"},
		{"graph", neighbours([]int{7}, nil, nil, nil, nil, nil, nil), "neighbour 0 of node 0 is 7"},
		{"graph", neighbours([]int{1, 9}, []int{8, 3}), "neighbour 1 of node 0 is 9; the nodes are 0 to 5"},
		{"graph", "\x80\x02}K\x06]s.", "key 0 of the graph is 6, or is repeated; its nodes are 0 to 5"},
		{"graph", "\x80\x02}J\xff\xff\xff\xff]s.", "key 0 of the graph is -1, want the number of a node"},
		{"graph", "\x80\x02}Ns.", "no value"},
		{"graph", "\x80\x02}K\x00(K\x01X\x01\x00\x00\x002ts.", "neighbour 1 of node 0 is a string, want the number of a node"},
		{"graph", "\x80\x02}(K\x00K\x02\x85q\x00K\x01h\x00u.", "node 1 has a tuple, or another node's"},
		{"graph", "\x80\x04}(K\x00\x8f\x94(K\x02\x90K\x01h\x00u.", "node 1 has a list, or another node's"},
		{"graph", onehots(1), "not a dictionary"},
		{"graph", "\x80\x02}(K\x00]K\x00]u.", "key 1"},
		{"graph", "\x80\x02}(K\x00]q\x00K\x02aK\x01h\x00u.", "another node's"},
		{"graph", "\x80\x02}(K\x00](]eu.", "is a list"},
		{"graph", "cos\nsystem\n(U\x02lst R.", `"system" of "os"`},
		{"allx", "\x80\x02", "byte 2"},
	} {
		d, err := dir.read(t, c.part, c.content)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "ind.citeseer.") {
			t.Errorf("%s %.40q: %v, error %v; want one with %q", c.part, c.content, d, err, c.want)
		}
	}
}

// Nodes without edges may be missing in the graph, whose numbers may be NumPy's, and
// whose neighbours sets or tuples. The last lines of test.index may be empty.
func TestPlanetoidForms(t *testing.T) {
	dir := newAltered(t)
	scalar := func(v int) string { // a numpy.int64
		return "cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nU\x02i8K\x00K\x01\x87R(K\x03U\x01<NNNtbU\x08" + le4(v, 0) + "\x86R"
	}
	for name, c := range map[string]struct {
		part, content string
		nodes, edges  int
	}{
		"empty lines":        {"test.index", "5\n3\n\n \r\n", 7, 8},
		"a mark":             {"test.index", mark + "5\n3\n", 7, 8},
		"no keys":            {"graph", neighbours([]int{1}, []int{0, 2, 2}, []int{1, 3}, []int{3, 5}), 6, 8},
		"test nodes beyond":  {"test.index", "5\n8\n", 9, 8},
		"numbers of NumPy's": {"graph", "\x80\x02}(" + scalar(0) + "](" + scalar(1) + "K\x03e" + scalar(2) + "]" + scalar(3) + "aK\x01](K\x02K\x05eu.", 6, 10},
		"sets":               {"graph", "\x80\x02}(K\x00c__builtin__\nset\n](K\x01K\x03e\x85RK\x02\x8f(K\x03\x90K\x01\x8f(K\x02K\x05\x90u.", 6, 10},
		"tuples":             {"graph", "\x80\x02}(K\x00K\x01K\x03\x86K\x02K\x03\x85K\x03)K\x04)K\x01K\x02K\x05\x86u.", 6, 10},
		"no edges":           {"graph", "\x80\x02}(K\x01]q\x00K\x00h\x00u.", 6, 0},
	} {
		d, err := dir.read(t, c.part, c.content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d.Graph.NumNodes() != c.nodes || d.Graph.NumEdges() != c.edges || len(d.Labels) != c.nodes || d.Features.Shape()[0] != c.nodes || d.Check() != nil {
			t.Errorf("%s: %d nodes, %d edges, want %d, %d; %v", name, d.Graph.NumNodes(), d.Graph.NumEdges(), c.nodes, c.edges, d.Check())
		}
	}
}

func TestMissingAndTruncatedFiles(t *testing.T) {
	dir := newAltered(t)
	for part, whole := range small() {
		for _, n := range []int{0, 1, len(whole) / 2, len(whole) - 2} {
			if _, err := dir.read(t, part, whole[:n]); err == nil {
				t.Errorf("no error for %d of the %d bytes of %s", n, len(whole), part)
			}
		}
		path := filepath.Join(string(dir), "ind.citeseer."+part)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := planetoid(string(dir), "citeseer"); err == nil || !strings.Contains(err.Error(), "ind.citeseer."+part) {
			t.Errorf("without %s: error %v", part, err)
		}
		if err := os.WriteFile(path, []byte(whole), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBoth compares with every pair put into a set.
func TestBoth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 30; n++ {
		ends := make([]int32, 2*rng.IntN(3*n))
		set, loops := map[[2]int32]bool{}, map[int32]bool{}
		for i := range ends {
			ends[i] = rng.Int32N(int32(n))
		}
		for i := 0; i < len(ends); i += 2 {
			if u, v := ends[i], ends[i+1]; u == v {
				loops[u] = true
			} else {
				set[[2]int32{u, v}], set[[2]int32{v, u}] = true, true
			}
		}
		e := bothDirections(n, ends)
		if err := e.in.Validate(); err != nil {
			t.Fatal(err)
		}
		if e.in.NNZ() != len(set) || e.loops != len(loops) {
			t.Errorf("%v: %d edges, %d loops; want %d, %d", ends, e.in.NNZ(), e.loops, len(set), len(loops))
		}
		for v := range n {
			cols, _ := e.in.Row(v)
			for k, u := range cols {
				if !set[[2]int32{u, int32(v)}] || k > 0 && cols[k-1] >= u {
					t.Fatalf("%v: the sources of %d are %v", ends, v, cols)
				}
			}
		}
	}
}
