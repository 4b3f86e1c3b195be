//go:build unix

package datasets

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipesAreRefused: no reader waits for somebody who writes into a pipe.
// Without the check each of these blocks for ever.
func TestPipesAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{"a.npz", "a.mtx", "a.txt", "a.txt.gz", "a.zip", "a.tar", "papers/a.content", "of/ind.a.allx", "pages/" + webPages} {
		refused(t, name)(readWith(pipe(name)))
	}
	for _, part := range []string{"ind.a.x", "ind.a.graph", "ind.a.test.index"} {
		pipe("of/" + part)
	}
	refused(t, "Planetoid")(planetoid(filepath.Join(dir, "of"), "a"))
	path := filepath.Join(dir, "a.npz")
	refused(t, "NPZ")(readWith(path))
	refused(t, "EdgeList")(readWith(path))
	refused(t, "MatrixMarket")(readWith(path))
	refused(t, "LINQS")(readWith(path))
	if _, err := LoadSplit(path, 3); err == nil || !strings.Contains(err.Error(), "it is a pipe") {
		t.Errorf("LoadSplit: error %v", err)
	}
}

// refused fails the test unless the error says what is wrong and what to do.
func refused(t *testing.T, name string) func(*Dataset, error) {
	return func(_ *Dataset, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "it is a pipe, and only ordinary files are read: write what it gives to a file") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
