//go:build unix

package form

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipesAreRefused: no reader waits for somebody who writes into a pipe. Without the check each of these blocks for
// ever.
func TestPipesAreRefused(t *testing.T) {
	dir := folderOf(t, map[string]string{"of/ind.a.allx": "", "pages/" + webLinks: ""})
	for _, name := range []string{"a.npz", "a.mtx", "a.txt", "a.txt.gz", "a.zip", "a.tar", "a.content", "pages/" + webPages, "of/ind.a.graph"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Fatal(err)
		}
		paths := []string{path}
		if sub := filepath.Dir(path); sub != dir {
			paths = append(paths, sub)
		}
		for _, path := range paths {
			if _, err := Load(path, Options{}); err == nil || !strings.Contains(err.Error(), "it is a pipe, and only ordinary files are read: write what it gives to a file") {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
}
