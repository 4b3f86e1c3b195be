package runs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
	out, err := benched(t, Settings{Graph: path})
	if err != nil || !strings.HasPrefix(out, "own: 2 × 3, 2 elements; u_mul_e_sum multiplies by its values\n\nkernel        graph columns ") || !strings.Contains(out, "\ncopy_u_sum    own       128 ") || !strings.Contains(out, "\ngat_attention own       8x8 ") || strings.Contains(out, "gemm") {
		t.Errorf("%v, table\n%s", err, out)
	}
}
