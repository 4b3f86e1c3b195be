package bench

import (
	"os"
	"path/filepath"
	"testing"
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
	if err := w.failed(); err != nil {
		t.Errorf("before a call: %v", err)
	}
	w.call()
	b := Benchmark{open: func() (workload, error) { return prepareReading(dir, "cora") }}
	if _, err := NewTimer("test", quick).Time(t.Context(), &b); err == nil || w.failed() == nil {
		t.Errorf("a broken file was read: %v", err)
	}
}
