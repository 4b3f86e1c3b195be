package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a child process does, by the variable that says so.
const (
	childTask = "EDGEWISE_TEST_TASK"
	childPath = "EDGEWISE_TEST_PATH"
)

// TestMain does what a test asks of a child.
func TestMain(m *testing.M) {
	path := os.Getenv(childPath)
	switch os.Getenv(childTask) {
	case "":
		os.Exit(m.Run())
	case "killed while writing":
		_ = Write(path, func(w io.Writer) error {
			_, _ = w.Write(make([]byte, 1<<20))
			die()
			return nil
		})
	case "killed with a lock":
		if _, err := Lock(path); err == nil {
			die()
		}
	case "abandons":
		if _, err := Lock(path + "3"); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			os.Exit(5)
		}
		done := make(chan error)
		err := Write(path, func(io.Writer) error {
			Abandon()
			go func() { done <- Write(path+"2", text("late")) }()
			if err := <-done; err == nil {
				os.Exit(3)
			}
			return nil
		})
		if err == nil {
			os.Exit(4)
		}
	case "writes until told":
		err := Write(path, func(w io.Writer) error {
			_, _ = os.Stdout.WriteString("begun\n")
			_, _ = io.Copy(io.Discard, os.Stdin)
			_, err := io.WriteString(w, "child")
			return err
		})
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			os.Exit(3)
		}
	}
	os.Exit(0)
}

// die ends the process as kill -9 does.
func die() {
	p, _ := os.FindProcess(os.Getpid())
	_ = p.Kill()
	select {}
}

// child returns a process that does a task.
func child(task, path string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childTask+"="+task, childPath+"="+path)
	return c
}

// names returns the files of a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// TestLeftoversAreRemoved: of a killed process, and no other files.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := child("killed while writing", path).Run(); err == nil {
		t.Fatal("the child was not killed")
	}
	if left := names(t, dir); len(left) != 1 || !leftover.MatchString(strings.TrimPrefix(left[0], ".a.")) {
		t.Fatalf("the child leaves %q, want one temporary file", left)
	}
	others := []string{".a.1-2.tmp.x", ".a.b.1-2.tmp", ".a.note.tmp", ".aa.1-2.tmp", "a.1-2.tmp"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".a.3-4.tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, text("new")); err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(others), ".a.3-4.tmp", "a")
	if slices.Sort(want); !slices.Equal(names(t, dir), want) {
		t.Errorf("there are %q, want %q", names(t, dir), want)
	}
}

// TestLivingKeepTheirs: what another process is writing is not taken from it.
func TestLivingKeepTheirs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	c := child("writes until told", path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
		t.Fatal(line, err)
	}
	if err := Write(path, text("parent")); err != nil {
		t.Fatal(err)
	}
	if left := names(t, dir); len(left) != 2 {
		t.Errorf("there are %q, want what the child writes beside a", left)
	}
	in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	holds(t, dir, "a", "child")
}

func TestAbandon(t *testing.T) {
	dir := t.TempDir()
	if out, err := child("abandons", filepath.Join(dir, "a")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
