package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Dir returns the directory of all golden files: $EDGEWISE_GOLDEN, else
// ../shared/golden beside the module's root. It skips the test where there is
// none.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := locate()
	if err != nil {
		t.Skip(err)
	}
	return dir
}

func locate() (string, error) {
	dir := os.Getenv("EDGEWISE_GOLDEN")
	if dir == "" {
		root, err := moduleRoot()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "..", "shared", "golden")
	}
	if s, err := os.Stat(dir); err != nil || !s.IsDir() {
		return "", fmt.Errorf("no golden files at %s; set EDGEWISE_GOLDEN to their folder", dir)
	}
	return dir, nil
}

// moduleRoot returns the nearest folder above the current one that has a go.mod.
func moduleRoot() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("no golden files: %w", err)
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no golden files: no go.mod at or above %s; set EDGEWISE_GOLDEN", wd)
		}
	}
}
