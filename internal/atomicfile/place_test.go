package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	if runtime.GOOS != "windows" {
		for link, to := range map[string]string{"one": "two", "two": "one"} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := len(names(t, dir))
	for name, ok := range map[string]bool{
		"a": true, strings.Repeat("a", 255): true, strings.Repeat("é", 127): true, strings.Repeat("a", 256): false,
		"no/a": false, ".": false, "a/": false, "one": runtime.GOOS == "windows",
	} {
		path := dir + "/" + name
		err := Probe(path)
		if (err == nil) != ok || err != nil && (!errors.As(err, new(*Error)) || strings.Count(err.Error(), path) < 1) {
			t.Errorf("%.20s (%d bytes): error %v, want none: %t", name, len(name), err, ok)
		}
		if failed := Write(path, text("x")); (failed == nil) != (err == nil) {
			t.Errorf("%.20s: Probe says %v, and Write %v", name, err, failed)
		} else if err == nil {
			os.Remove(path)
		}
	}
	if left := names(t, dir); len(left) != before {
		t.Errorf("left behind: %q", left)
	}
}

// TestResolve follows links, to what is not there too.
func TestResolve(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no links")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"far/deep", "near"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"near/folder": "../far/deep", "near/dangling": "folder/../a"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"near/x": "near/x", "near/folder/x": "far/deep/x", "near/dangling": "far/a"} {
		if got, err := Resolve(filepath.Join(dir, path)); err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%s is %s, error %v, want %s", path, got, err, want)
		}
	}
	if err := Write(filepath.Join(dir, "near/dangling"), text("x")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "far/a")); err != nil || string(b) != "x" {
		t.Errorf("the link's end holds %q, error %v", b, err)
	}
}

// TestErrorNamesTheFile, and not the temporary one beside it.
func TestErrorNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	err := Write(path, func(io.Writer) error { // as if the system had taken it away
		for f := range temporary.files {
			f.Close()
		}
		return nil
	})
	if want := "write " + path + ": file already closed"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestBeside(t *testing.T) {
	for name, want := range map[string]int{"a": 3, strings.Repeat("a", 300): 232, strings.Repeat("é", 200): 232, "x" + strings.Repeat("é", 200): 231} {
		if got := beside(name); len(got) != want || !utf8.ValidString(got) {
			t.Errorf("beside a name of %d bytes: %d bytes, want %d", len(name), len(got), want)
		}
	}
}
