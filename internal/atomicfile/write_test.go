package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// holds fails the test unless dir holds exactly one file, of that content.
func holds(t *testing.T, dir, name, content string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || string(b) != content {
		t.Errorf("file holds %q, error %v; want %q", b, err, content)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("directory holds %v, error %v; want %s alone", left, err, name)
	}
}

func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, s := range []string{"one", "", strings.Repeat("long ", 1<<16)} {
		if err := Write(path, text(s)); err != nil {
			t.Fatal(err)
		}
		holds(t, dir, "a", s)
	}
}

func TestFailureKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err := Write(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v", err)
	}
	holds(t, dir, "a", "old")
}

func TestPanicKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic was swallowed")
			}
		}()
		_ = Write(path, func(io.Writer) error { panic("boom") })
	}()
	holds(t, dir, "a", "old")
}

func TestTargetIsADirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	called := false
	err := Write(filepath.Join(dir, "a"), func(io.Writer) error { called = true; return nil })
	if err == nil || called || !strings.Contains(err.Error(), "directory") {
		t.Errorf("error %v, called %v", err, called)
	}
}

func TestMissingAndUnwritableDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "no", "a"), text("x")); err == nil {
		t.Error("wrote into a directory that is not there")
	}
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("permissions do not bind this user")
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if err := Write(filepath.Join(dir, "a"), text("x")); err == nil {
		t.Error("wrote into a read-only directory")
	}
}

func TestPermissionsAndLinksAreKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions or links to keep")
	}
	dir, other := t.TempDir(), t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(other, "link")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, text("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, "a", "new")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, error %v", info.Mode(), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is now %v, error %v", info.Mode(), err)
	}
}

func TestWritersInParallelLeaveOneWholeFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	body := strings.Repeat("x", 1<<17)
	errs := make(chan error)
	for range 8 {
		go func() { errs <- Write(path, text(body)) }()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	holds(t, dir, "a", body)
}
