package form

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/edgewise-ml/edgewise/internal/pickle"
)

// partsOf is the eight files of a dataset of that name.
func partsOf(name string, parts map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for part, text := range parts {
		fsys["ind."+name+"."+part] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// readParts reads the small dataset, one of whose parts is another.
func readParts(part, content string) (*Raw, error) {
	parts := small()
	parts[part] = content
	return ReadFS(partsOf("citeseer", parts), ".", Options{})
}

func TestPlanetoid(t *testing.T) {
	r, err := readParts("test.index", small()["test.index"])
	if err != nil {
		t.Fatal(err)
	}
	same(t, "small", told(r), `
		7 nodes, 7 listed; x matrix feature7x3[1 1 1 1 1 1 1][][0 1 3 3 4 4 7 7][1 0 2 0 0 1 2]; class number label[1 0 1 1 0 1 0] of 2
		edges [0 1 1 1 2 2 3 4 5] to [1 0 2 2 1 3 3 5 4] undirected
		split  of nodes [0] [1 2] [3 5]`)
	if r.Name != "CiteSeer" || r.Size != int64(len(small()["allx"])) || r.Check() != nil {
		t.Errorf("%s of %d bytes, %v", r.Name, r.Size, r.Check())
	}
	for _, main := range []string{".", "ind.Mine.v1.2.graph", "ind.Mine.v1.2.test.index"} {
		if r, err := ReadFS(partsOf("Mine.v1.2", small()), main, Options{}); err != nil || r.Name != "Mine.v1.2" {
			t.Errorf("%s: %v, error %v", main, r, err)
		}
	}
	six := small() // the names of the classes of CiteSeer are known
	for part, text := range map[string]string{"y": six["y"], "ally": six["ally"], "ty": six["ty"]} {
		six[part] = wideRows(t, text, 6)
	}
	r, err = ReadFS(partsOf("CITESEER", six), ".", Options{})
	if err != nil || r.Name != "CiteSeer" || !slices.Equal(r.Nodes[0].Columns[1].Words.Texts, classNames["citeseer"]) || !r.Nodes[0].Columns[1].Words.Ordered {
		t.Errorf("%v, error %v", r, err)
	}
}

// wideRows is labels of two classes as those of more.
func wideRows(t *testing.T, text string, classes int) string {
	t.Helper()
	v, err := pickle.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	ones, err := classesIn(v)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]int, len(ones.labels)*classes)
	for i, c := range ones.labels {
		x[i*classes+int(c)] = 1
	}
	return "\x80\x02" + array("i4", le4(x...), len(ones.labels), classes) + "."
}

func TestPlanetoidErrorsNameFileAndPlace(t *testing.T) {
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
		{"allx", "", "ind.citeseer.allx: pickle: byte 0: 1 bytes are wanted at byte 0, 0 are left: it is cut or damaged"},
		{"allx", small()["allx"][:100], "ind.citeseer.allx: pickle: byte 68: a name has no end"},
		{"ty", small()["ty"] + "more", "ind.citeseer.ty: pickle: byte 137: 4 bytes follow the end of the pickle"},
		{"graph", "cos\nsystem\n(U\x02lst R.", `ind.citeseer.graph: pickle: byte 0: it asks for "system" of "os", which is not data that can be read`},
		{"x", "\x80\x02c__builtin__\neval\nU\x011\x85R.", `ind.citeseer.x: pickle: byte 2: it asks for "eval" of "__builtin__", which is not data that can be read`},
		{"x", "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.", `ind.citeseer.x: pickle: byte 2: it asks for "_rebuild_tensor_v2" of "torch._utils", which is not data that can be read`},
		{"graph", "(dp0\nI0\n(lp1\nI1\nas.", "ind.citeseer.graph: pickle: byte 1: opcode 'd' is of protocol 0, which is text: save it again with protocol=2 to 5"},
		{"graph", "\x80\x02" + strings.Repeat("(", 5000), "ind.citeseer.graph: pickle: byte 1002: values are nested deeper than 1000"},
		{"graph", "\x80\x02X\xff\xff\xff\xff", "ind.citeseer.graph: pickle: byte 2: 4294967295 bytes are wanted at byte 7, 0 are left: it is cut or damaged"},
		{"graph", "\x80\x02]q\x00(h\x00h\x00e(h\x00h\x00e.", "ind.citeseer.graph: it holds a list, not a dictionary of neighbours"},
		{"graph", "\x80\x02}(K\x00]q\x00K\x02aK\x01h\x00u.", "ind.citeseer.graph: node 1 has a list, or another node's; it needs a list of neighbours of its own"},
		{"ty", "\x80\x02" + array("i4", le4(1), 2, 2) + ".", "ind.citeseer.ty: pickle: byte 124: an array has 4 bytes for [2 2] elements of type i4"},
		{"graph", neighbours([]int{7}, nil, nil, nil, nil, nil, nil), "ind.citeseer.graph: neighbour 0 of node 0 is 7; the nodes are 0 to 6"},
		{"ty", "\x80\x02" + array("i4", le4(1, 1, 0, 1), 2, 2) + ".", "ind.citeseer.ty: row 0 has 2 classes, want one"},
		{"test.index", "5\n5\n", "ind.citeseer.test.index: line 2: node 5 stands in line 1 already"},
		{"test.index", "5\n0\n", "ind.citeseer.test.index: line 2: node 0; test nodes are 3 to 9"},
		{"test.index", "5\n", "ind.citeseer.test.index: 1 nodes for the 2 rows of tx"},
		{"test.index", "5\nsix\n", `ind.citeseer.test.index: line 2: "six" is not the number of a node`},
		{"x", words(4, []int{1}), "ind.citeseer.y: 1 rows of 2 classes, for 1 rows of 4 features; ally has 2 classes, allx 3 features"},
	} {
		_, err := readParts(c.part, c.content)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "ind.citeseer.") {
			t.Errorf("%s %.40q: error %v; want one with %q", c.part, c.content, err, c.want)
		}
	}
	for part, whole := range small() {
		for _, n := range []int{0, 1, len(whole) / 2, len(whole) - 2} {
			if _, err := readParts(part, whole[:n]); err == nil {
				t.Errorf("no error for %d of the %d bytes of %s", n, len(whole), part)
			}
		}
		parts := small()
		delete(parts, part)
		if _, err := ReadFS(partsOf("citeseer", parts), "ind.citeseer."+otherThan(part), Options{}); err == nil || !strings.Contains(err.Error(), "ind.citeseer."+part) {
			t.Errorf("without %s: error %v", part, err)
		}
	}
	if _, err := readOne("ind.x.graph.zst", nil); err == nil || err.Error() != "ind.x.graph.zst: only texts are read in gzip or zstd: unpack it first" {
		t.Errorf("error %v", err)
	}
}

// otherThan is a part that is another.
func otherThan(part string) string {
	if part == "x" {
		return "y"
	}
	return "x"
}

// Nodes without edges may be missing in the graph, whose numbers may be NumPy's, and
// whose neighbours sets or tuples. The last lines of test.index may be empty.
func TestPlanetoidForms(t *testing.T) {
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
		r, err := readParts(c.part, c.content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		set := map[[2]int32]bool{}
		for k, u := range r.Edges[0].Source {
			if v := r.Edges[0].Target[k]; u != v {
				set[[2]int32{u, v}], set[[2]int32{v, u}] = true, true
			}
		}
		if r.Nodes[0].Rows != c.nodes || len(set) != c.edges || r.Check() != nil {
			t.Errorf("%s: %d nodes, %d edges, want %d, %d; %v", name, r.Nodes[0].Rows, len(set), c.nodes, c.edges, r.Check())
		}
	}
}

func FuzzParts(f *testing.F) {
	for _, s := range small() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ids, err := nodeList(strings.NewReader(string(b)), 10)
		if err == nil && len(ids) > 10 {
			t.Fatalf("%d nodes", len(ids))
		}
		v, err := pickle.Decode(b)
		if err != nil {
			return
		}
		if x, err := matrix(v); err == nil && x.Validate() != nil {
			t.Fatal(x.Validate())
		}
		if l, err := classesIn(v); err == nil {
			for i, c := range l.labels {
				if c < 0 || int(c) >= l.count {
					t.Fatalf("row %d has class %d of %d", i, c, l.count)
				}
			}
		}
		if l, err := adjacencyOf(v); err == nil && l.check(1000) == nil {
			for k, u := range l.source {
				if v := l.target[k]; u < 0 || u >= 1000 || v < 0 || v >= 1000 {
					t.Fatalf("edge %d is %d to %d", k, u, v)
				}
			}
		}
	})
}

// The eight files of a dataset, which are read as one.
func FuzzPlanetoid(f *testing.F) {
	s := small()
	f.Add(s["x"], s["allx"], s["tx"], s["y"], s["ally"], s["ty"], s["graph"], s["test.index"])
	f.Add(s["x"], s["allx"], s["tx"], s["y"], s["ally"], s["ty"], neighbours([]int{1}, []int{0}, nil, []int{3}), "3\n4\n")
	f.Fuzz(func(t *testing.T, x, allx, tx, y, ally, ty, graph, index string) {
		fsys := partsOf("citeseer", map[string]string{"x": x, "allx": allx, "tx": tx, "y": y, "ally": ally, "ty": ty, "graph": graph, "test.index": index})
		r, err := ReadFS(fsys, ".", Options{})
		if err == nil {
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
		} else if !strings.Contains(err.Error(), "ind.citeseer.") {
			t.Fatal(err)
		}
	})
}
