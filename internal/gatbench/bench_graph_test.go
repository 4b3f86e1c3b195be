package gatbench

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// graphForms writes a graph of three nodes in the forms that are read, and returns the path of
// each and how many edges it has.
func graphForms(t *testing.T) map[string]int {
	t.Helper()
	dir := t.TempDir()
	forms := map[string]int{"karate": 156}
	write := func(name, text string, edges int) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		forms[path] = edges
		return path
	}
	const matrix = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2.5\n2 1 -1\n3 2 4\n3 3 7\n"
	write("own.mtx", matrix, 6) // with its diagonal
	write("pattern.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n", 2)
	write("full.mtx", "%%MatrixMarket matrix array integer general\n2 2\n1\n0\n3\n4\n", 3)
	write("rows.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 0.5\n2 1 1e3\n", 2)
	write("a[b.txt", "0 1\n1 2\n", 2)
	write("named.csv", "source,target\na,b\nb,c\nc,a\n", 3)
	write("pair_edges.csv", "source,target\na,b\nb,c\n", 2)
	delete(forms, write("pair_nodes.csv", "id,label\na,x\nb,y\nc,x\n", 0))
	write("drawn.dot", "digraph { a -> b; b -> c; c -> a }\n", 3)
	write("drawn.graphml", `<graphml><graph edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>`, 1)
	write("shop.csv", "user,item\nann,tea\nbob,tea\nbob,cup\n", 3)
	write("facts/train.txt", "a\tlikes\tb\nb\tlikes\tc\n", 2)
	delete(forms, filepath.Join(dir, "facts", "train.txt"))
	write("facts/test.txt", "a\tlikes\tc\n", 1)
	delete(forms, filepath.Join(dir, "facts", "test.txt"))
	forms[filepath.Join(dir, "facts")] = 2
	write("folder/list.txt", "0 1\n1 2\n2 0\n", 3)
	forms[filepath.Join(dir, "folder")] = 3
	write("many.jsonl", `{"edges":[[0,1]],"label":0}`+"\n"+`{"edges":[[0,1],[1,2]],"label":1}`+"\n", 3) // one after the other

	var packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	_, err := gz.Write([]byte(matrix))
	if err == nil {
		err = gz.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	write("packed.mtx.gz", packed.String(), 6)
	packed.Reset()
	z := zip.NewWriter(&packed)
	w, err := z.Create("list.txt")
	if err == nil {
		_, err = w.Write([]byte("0 1\n1 2\n"))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	write("archive.zip", packed.String(), 2)
	saved := filepath.Join(dir, "saved.npz")
	if err := datasets.Karate().WriteNPZ(saved); err != nil {
		t.Fatal(err)
	}
	forms[saved] = 156
	return forms
}

// Kernels are timed on a graph in any form that is read, under the name of its file. A matrix
// keeps its diagonal.
func TestBenchGraph(t *testing.T) {
	tasktest.Nowhere(t)
	for path, edges := range graphForms(t) {
		name := graphName(path)
		out, err := benched(t, benchCommand{Graph: path, Patterns: []string{"u_mul_e_sum/" + name + "/64"}, JSON: true})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if l := Objects(t, out); len(l) != 1 || l[0]["params"].(map[string]any)["edges"] != float64(edges) || l[0]["params"].(map[string]any)["graph"] != name {
			t.Errorf("%s: want %d edges, got %s", path, edges, out)
		}
	}
}

func TestGraphName(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a.folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"x/bcsstk13.mtx": "bcsstk13", "a.b.mtx.gz": "a.b", "people_edges.csv": "people_edges", "cora": "cora",
		filepath.Join(dir, "a.folder"): "a.folder", filepath.Join(dir, "a.folder") + "/": "a.folder", "ind.cora.allx": "ind.cora", "g.npz": "g",
	} {
		if got := graphName(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// A graph alone asks for its kernels, and the table says first which it is.
func TestBenchGraphAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.mtx")
	if err := os.WriteFile(path, []byte("%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 0.5\n2 1 1e3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := benched(t, benchCommand{Graph: path})
	if err != nil || !strings.HasPrefix(out, "own: 2 × 3, 2 elements; u_mul_e_sum multiplies by its values\n\nkernel        graph columns ") || !strings.Contains(out, "\ncopy_u_sum    own       128 ") || !strings.Contains(out, "\ngat_attention own       8x8 ") || strings.Contains(out, "gemm") {
		t.Errorf("%v, table\n%s", err, out)
	}
}

// What is no graph, or has nothing to time, is refused with what to do.
func TestBenchGraphMisuse(t *testing.T) {
	tasktest.Nowhere(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty.mtx":   "%%MatrixMarket matrix coordinate real general\n3 4 0\n",
		"zeros.mtx":   "%%MatrixMarket matrix array real general\n1 2\n0\n0\n",
		"none.mtx":    "%%MatrixMarket matrix coordinate real general\n0 0 0\n",
		"huge.mtx":    "%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 0\n",
		"complex.mtx": "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n",
		"short.mtx":   "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 3.0\n",
		"loop.txt":    "1 1\n",
		"none.txt":    "",
		"bad.npz":     "PK",
		"odd.xlsx":    "x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "nothing"), 0o777); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		graph  string
		status int
		want   string
	}{
		{"empty.mtx", cli.Failed, "empty.mtx: it is 3 × 4 and has no elements that are not zero: the kernels need at least one"},
		{"zeros.mtx", cli.Failed, "zeros.mtx: it is 1 × 2 and has no elements that are not zero"},
		{"none.mtx", cli.Failed, "none.mtx: it is 0 × 0 and has no elements that are not zero"},
		{"huge.mtx", cli.Failed, "that is not believed"},
		{"complex.mtx", cli.Failed, "complex.mtx: line 1: its elements are complex"},
		{"short.mtx", cli.Failed, "short.mtx: line 3: the file ends after 1 of 3 elements"},
		{"loop.txt", cli.Failed, "loop.txt: it has 1 node and no edges: the kernels need at least one"},
		{"none.txt", cli.Failed, "none.txt: there are no edges in it"},
		{"bad.npz", cli.Failed, "bad.npz"},
		{"odd.xlsx", cli.Failed, "odd.xlsx: such tables are not read: save them as CSV"},
		{"nowhere.mtx", cli.Failed, "nowhere.mtx"},
		{"nothing", cli.Failed, "there is no dataset in it that is known"},
	}
	for _, tt := range tests {
		path := filepath.Join(dir, tt.graph)
		stdout, stderr, status := Gatbench(t, "bench", "spmm", "--graph", path)
		if status != tt.status || stdout != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: status %d, output %q, error\n%s", tt.graph, status, stdout, stderr)
		}
	}
	if _, stderr, status := Gatbench(t, "bench", "spmm", "--graph", "karat"); status != cli.Misused || !strings.Contains(stderr, `did you mean "karate"?`) {
		t.Errorf("a wrong name: status %d, error %q", status, stderr)
	}
	if _, stderr, status := Gatbench(t, "bench", "sprase", "--graph", "karate"); status != cli.Misused || !strings.Contains(stderr, `did you mean "sparse"?`) {
		t.Errorf("a wrong group: status %d, error %q", status, stderr)
	}
}
