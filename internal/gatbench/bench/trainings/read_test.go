package trainings

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
)

// Reading says that files went while it was timed.
func TestReadingFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ind.cora.allx"), []byte("no pickle"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := prepareReading(dir, "cora")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Failed(); err != nil {
		t.Errorf("before a call: %v", err)
	}
	w.Call()
	b := bench.Benchmark{Open: func() (bench.Work, error) { return prepareReading(dir, "cora") }}
	if _, err := bench.NewTimer("test", quick).Time(t.Context(), &b); err == nil || w.Failed() == nil {
		t.Errorf("a broken file was read: %v", err)
	}
}
