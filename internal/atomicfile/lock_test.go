package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLock(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	unlock, err := Lock(path)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(path, text("x")); err != nil { // the holder replaces it
		t.Fatal(err)
	}
	_, err = Lock(path)
	var held *HeldError
	if want := fmt.Sprintf("process %d", os.Getpid()); !errors.As(err, &held) || held.Path != path || !strings.HasPrefix(held.By, want) {
		t.Errorf("error %v, want one that names %s", err, want)
	}
	unlock()
	unlock()
	holds(t, dir, "a", "x")
	again, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	again()
	holds(t, dir, "a", "x")
}

// TestLockOfTheDead: a killed process keeps nobody out.
func TestLockOfTheDead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := child("killed with a lock", path).Run(); err == nil {
		t.Skip("there are no locks here")
	}
	if left := names(t, dir); len(left) != 1 {
		t.Fatalf("the child leaves %q, want its lock", left)
	}
	unlock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if unlock(); len(names(t, dir)) != 0 {
		t.Errorf("left behind: %q", names(t, dir))
	}
}

// TestLockThroughLinks: two names of one file have one lock.
func TestLockThroughLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(other, "b")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	unlock, err := Lock(path)
	if err != nil {
		t.Skip(err)
	}
	defer unlock()
	if _, err := Lock(link); !errors.As(err, new(*HeldError)) {
		t.Errorf("error %v", err)
	}
}
