//go:build unix

package gatbench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
)

// What a child process does: it is gatbench, or it hangs while it writes a file.
const (
	childMain = "EDGEWISE_TEST_GATBENCH"
	childHang = "EDGEWISE_TEST_HANGS"
)

// The tests themselves run on one processor: with two, much of their time is threads that
// wait for the next of many small loops, while go test has other packages to run. Those of
// threads ask for more. Their heaps are small, and collected less often.
func TestMain(m *testing.M) {
	switch path := os.Getenv(childHang); {
	case os.Getenv(childMain) != "":
		os.Exit(Main())
	case path != "":
		hang(path)
	case os.Getenv(bombIn) == "":
		runtime.GOMAXPROCS(1)
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}

// hang writes a file and does not end, whatever its context says.
func hang(path string) {
	ctx := cli.UntilSignal()
	err := atomicfile.Write(path, func(io.Writer) error {
		fmt.Println("begun")
		<-ctx.Done()
		fmt.Println("heard")
		select {}
	})
	fmt.Println(err)
}

// gatbenchChild is a process of gatbench, of which the first line is read.
type gatbenchChild struct {
	*exec.Cmd
	out    io.ReadCloser
	lines  *bufio.Reader
	errOut bytes.Buffer
}

// begin starts gatbench, in a shell that first does what setting says.
func begin(t *testing.T, setting string, args ...string) *gatbenchChild {
	t.Helper()
	c := &gatbenchChild{Cmd: exec.Command("/bin/sh", append([]string{"-c", setting + ` exec "$0" "$@"`, os.Args[0]}, args...)...)}
	c.Env = append(os.Environ(), childMain+"=1")
	return c.start(t)
}

func (c *gatbenchChild) start(t *testing.T) *gatbenchChild {
	t.Helper()
	var err error
	c.Stderr = &c.errOut
	if c.out, err = c.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	c.lines = bufio.NewReader(c.out)
	if line, err := c.lines.ReadString('\n'); err != nil {
		t.Fatalf("line %q, %v, error %s", line, err, &c.errOut)
	}
	return c
}

// end returns what is still printed and the exit status, −1 of a signal.
func (c *gatbenchChild) end() (string, int) {
	rest, _ := io.ReadAll(c.lines)
	_ = c.Wait()
	return string(rest), c.ProcessState.ExitCode()
}

// TestSignalsSave: each of the signals ends the training after its epoch, and what
// it has is saved.
func TestSignalsSave(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		if signal.Ignored(s) {
			t.Logf("%v is ignored here, as nohup has it, and so by what begins here", s)
			continue
		}
		file := filepath.Join(t.TempDir(), "m")
		c := begin(t, "", "train", "--model", "mlp", "--json", "--epochs", "1000000", "--save", file)
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		out, status := c.end()
		if status != cli.Failed || !strings.Contains(out, `"interrupted":true`) || !strings.HasPrefix(c.errOut.String(), "gatbench: interrupted after ") {
			t.Errorf("%v: status %d, error %q", s, status, &c.errOut)
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// TestIgnoredSignals: what was ignored when the program began stays ignored.
func TestIgnoredSignals(t *testing.T) {
	for name, s := range map[string]syscall.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT} {
		c := begin(t, "trap '' "+name+";", "train", "--model", "mlp", "--json", "--epochs", "100")
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if out, status := c.end(); status != cli.Succeeded || !strings.Contains(out, `"epochs":100,`) {
			t.Errorf("%v: status %d, error %q", s, status, &c.errOut)
		}
	}
}

// TestNobodyReads: a training that saves something goes on when its reader has
// gone; one that only prints ends as every program does.
func TestNobodyReads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m")
	args := []string{"train", "--dataset", "karate", "--splits", "random", "--model", "mlp", "--json", "--epochs"}
	c := begin(t, "", append(args, "100", "--save", file, "--csv", file+".csv")...)
	c.out.Close()
	if _, status := c.end(); status != cli.Succeeded || c.errOut.Len() > 0 {
		t.Errorf("status %d, error %q", status, &c.errOut)
	}
	if text, err := os.ReadFile(file + ".csv"); err != nil || bytes.Count(text, []byte("\n")) != 101 {
		t.Errorf("%d lines of epochs, %v", bytes.Count(text, []byte("\n")), err)
	}
	tasktest.OK(t, "eval", file)
	c = begin(t, "", append(args, "1000000", "--patience", "1000000")...)
	c.out.Close()
	if _, status := c.end(); status != -1 || c.errOut.Len() > 0 {
		t.Errorf("nothing is saved: status %d, error %q", status, &c.errOut)
	}
}

// TestSecondSignal ends a program that hangs, without what it was writing.
func TestSecondSignal(t *testing.T) {
	dir := t.TempDir()
	c := &gatbenchChild{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), childHang+"="+filepath.Join(dir, "a"))
	c.start(t)
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Fatalf("it writes %v", left)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if line, err := c.lines.ReadString('\n'); line != "heard\n" {
		t.Fatal(line, err)
	}
	ended := make(chan struct{})
	go func() { // until one comes late enough to be another
		for c.Process.Signal(syscall.SIGINT) == nil {
			select {
			case <-ended:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	if _, status := c.end(); status != cli.Failed {
		t.Errorf("status %d, error %q", status, &c.errOut)
	}
	close(ended)
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestPipesAreRefused: no input is waited for. Without the check each of these
// stands still.
func TestPipesAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.npz")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Skip(err)
	}
	for _, args := range []string{
		"train --dataset P", "train --resume P", "train --splits P", "eval P", "predict P", "table --resume P", "table --splits P",
		"table --datasets P", "data describe P", "data check P", "data convert P -o D/out.npz", "bench --graph P gemm",
	} {
		stdout, stderr, status := tasktest.Gatbench(t, strings.Fields(strings.NewReplacer("P", pipe, "D/", dir+"/").Replace(args))...)
		said := stdout + stderr
		refusal := "it is a pipe, and only ordinary files are read: write what it gives to a file, and name that"
		if args == "table --resume P" {
			refusal = "it is not a regular file; name one that is"
		}
		if status == cli.Succeeded || !strings.Contains(said, pipe+": "+refusal) {
			t.Errorf("gatbench %s: status %d, it says %q", args, status, said)
		}
	}
	for _, args := range []string{"train --resume D", "train --splits D"} {
		_, stderr, status := tasktest.Gatbench(t, strings.Fields(strings.ReplaceAll(args, "D", dir))...)
		if status == cli.Succeeded || !strings.Contains(stderr, dir+": it is a folder: name a file") {
			t.Errorf("gatbench %s: status %d, error %q", args, status, stderr)
		}
	}
}

// TestFullDiskIsSaidOnce, with all files that it concerns. A limit on the size of
// files stands for a disk that is full.
func TestFullDiskIsSaidOnce(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	cmd := exec.Command("/bin/sh", "-c", `ulimit -f 1; exec "$0" "$@"`, os.Args[0], "train", "--model", "mlp", "--epochs", "80",
		"--save", file("m"), "--checkpoint", file("c"), "--csv", file("e.csv"), "--every", "50")
	cmd.Env = append(os.Environ(), childMain+"=1")
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Run(); !errors.As(err, new(*exec.ExitError)) {
		t.Skip(err)
	}
	want := fmt.Sprintf("gatbench: %s, %s and %s could not be written: %v\n", file("c"), file("m"), file("e.csv"), syscall.EFBIG)
	if errOut.String() != want {
		t.Errorf("it says\n%swant\n%s", &errOut, want)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
