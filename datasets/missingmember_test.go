package datasets

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where one file of a form is missing in an archive, the error names it, and not another form.
func TestMissingMember(t *testing.T) {
	for want, members := range map[string][]string{
		"no file NAME_graph_indicator.txt": {"T/T_A.txt", "T/T_graph_labels.txt"},
		"no file raw/num-node-list.csv.gz": {"mol/raw/edge.csv", "mol/raw/graph-label.csv"},
		"there is no \"mol/raw/edge.csv\"": {"mol/raw/num-node-list.csv", "mol/raw/num-edge-list.csv", "mol/raw/graph-label.csv"},
	} {
		path := filepath.Join(t.TempDir(), "x.zip")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w := zip.NewWriter(f)
		for _, name := range members {
			m, err := w.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Write([]byte("1\n")); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got := FindGraphs("", path); got != path {
			t.Errorf("%v: no graphs are found there", members)
		}
		if _, err := LoadGraphs(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", members, err, want)
		}
	}
}

// Python writes NaN and Infinity into JSON, which has none: the error says what to write.
func TestNaNInLines(t *testing.T) {
	for _, word := range []string{"NaN", "-Infinity"} {
		path := filepath.Join(t.TempDir(), "g.jsonl")
		if err := os.WriteFile(path, []byte("{\"x\": [[1]], \"edges\": [], \"y\": 1.5}\n{\"x\": [["+word+"]], \"edges\": [], \"y\": 1}\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadGraphs(path); err == nil || !strings.Contains(err.Error(), "line 2") || !strings.Contains(err.Error(), "write null") {
			t.Errorf("%s: %v", word, err)
		}
	}
}
