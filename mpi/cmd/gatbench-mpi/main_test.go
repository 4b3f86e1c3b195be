//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/edgewise-ml/edgewise/internal/gatbench"
	"github.com/edgewise-ml/edgewise/mpi"
	"github.com/edgewise-ml/edgewise/ranks"
)

// The tests start copies of their own program, which is gatbench-mpi if the first of these variables is set. The value of
// stalling is the rank that hangs in the middle of its training. With asking a rank says which MPI it uses.
const (
	child    = "EDGEWISE_TEST_GATBENCH_MPI"
	stalling = "EDGEWISE_TEST_STALLS"
	asking   = "EDGEWISE_TEST_ASKS"
)

// place is a folder for the copies and for the temporary files of launchers. Its name is short: Open MPI makes sockets in it.
var place string

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(watcher) != "":
		main()
		return
	case os.Getenv(stalling) != "":
		os.Exit(gatbench.MainOf(gatbench.Job{Join: joinStalling, Watch: watch, End: mpi.Finalize}))
	case os.Getenv(asking) != "":
		_, err := mpi.Init()
		fmt.Println(mpi.Version())
		if err := errors.Join(err, mpi.Finalize()); err != nil {
			fmt.Println(err)
		}
		return
	case os.Getenv(child) != "":
		main()
		return
	}
	dir, err := os.MkdirTemp("", "gm")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	place = dir
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// joinStalling is join, but one of the ranks never comes to its hundredth exchange.
func joinStalling() (ranks.Comm, error) {
	c, err := join()
	if err != nil || c == nil || os.Getenv(stalling) != fmt.Sprint(c.Rank()) {
		return c, err
	}
	return &stalled{Comm: c}, nil
}

type stalled struct {
	ranks.Comm
	calls int
}

func (s *stalled) Allgather(send, recv []byte, from []int) (ranks.Request, error) {
	if s.calls++; s.calls == 100 {
		time.Sleep(time.Hour)
	}
	return s.Comm.Allgather(send, recv, from)
}

// copyOf makes a copy of the test's program that ends with more bytes.
func copyOf(name, more string) (file string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	file = filepath.Join(place, name)
	return file, os.WriteFile(file, append(text, more...), 0o777)
}

// program is what the tests start.
var program = sync.OnceValues(func() (string, error) { return copyOf("gatbench-mpi", "") })

func binary(t *testing.T) string {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// launchers are the MPIs that are tested, and what their mpiexec says of itself.
var launchers = []struct{ name, says string }{{"MPICH", "HYDRA"}, {"Open MPI", "Open"}}

// mpiexec returns the launcher of an MPI from the folders of PATH, "" if there is none.
func mpiexec(says string) string {
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		for _, name := range []string{"mpiexec", "mpirun"} {
			file := filepath.Join(folder, name)
			if out, err := exec.Command(file, "--version").CombinedOutput(); err == nil && bytes.Contains(out, []byte(says)) {
				return file
			}
		}
	}
	return ""
}

// eachMPI runs a test with the launcher of each MPI. It runs only if EDGEWISE_FULL is set.
func eachMPI(t *testing.T, test func(t *testing.T, launcher string)) {
	t.Helper()
	if os.Getenv("EDGEWISE_FULL") == "" {
		t.Skip("EDGEWISE_FULL is not set: no real ranks are started")
	}
	for _, l := range launchers {
		t.Run(l.name, func(t *testing.T) {
			file := mpiexec(l.says)
			if file == "" {
				t.Skipf("LEFT OUT: PATH has no mpiexec of %s", l.name)
			}
			test(t, file)
		})
	}
}

// job is a launcher and the ranks that it has started.
type job struct {
	*exec.Cmd
	t      *testing.T
	lines  *bufio.Reader
	out    strings.Builder // what was read of the lines
	errOut lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start starts a command in a folder. What it starts in turn is gatbench-mpi. After two minutes it is killed, and the test fails.
func start(t *testing.T, dir string, env []string, command ...string) *job {
	t.Helper()
	j := &job{Cmd: exec.Command(command[0], command[1:]...), t: t}
	j.Dir, j.Stderr = dir, &j.errOut
	j.Env = append(os.Environ(), child+"=1", "TMPDIR="+place,
		"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	j.Env = append(j.Env, env...)
	out, err := j.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	j.lines = bufio.NewReader(out)
	if err := j.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if j.ProcessState == nil {
			_ = j.Process.Kill()
		}
	})
	return j
}

// event is what the tests read of a line of --json.
type event struct {
	Event     string
	Epoch     int
	Processes []string
}

// after reads lines until that of an epoch has come, and returns the processes of the ranks.
func (j *job) after(epoch int) (pids []int) {
	j.t.Helper()
	for {
		line, err := j.lines.ReadString('\n')
		j.out.WriteString(line)
		if err != nil {
			j.t.Fatalf("%v after\n%s\n%s", err, j.out.String(), &j.errOut)
		}
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			j.t.Fatalf("%v: %q", err, line)
		}
		if e.Event == "ranks" {
			pids = nil
			for _, name := range e.Processes {
				pid := 0
				if _, err := fmt.Sscanf(name, "process %d on ", &pid); err != nil {
					j.t.Fatalf("%v: %q", err, name)
				}
				pids = append(pids, pid)
			}
		}
		if e.Event == "epoch" && e.Epoch >= epoch && pids != nil {
			return pids
		}
	}
}

// end waits for the end, and returns what was printed and the exit status. No process of the ranks is left.
func (j *job) end() (stdout, stderr string, status int) {
	j.t.Helper()
	late := time.AfterFunc(2*time.Minute, func() { _ = j.Process.Kill() })
	rest, err := io.ReadAll(j.lines)
	j.out.Write(rest)
	failed := j.Wait()
	if err != nil || !late.Stop() {
		j.t.Fatalf("%s hangs: %v\n%s\n%s", strings.Join(j.Args, " "), err, j.out.String(), &j.errOut)
	}
	if failed != nil && !errors.As(failed, new(*exec.ExitError)) {
		j.t.Fatal(failed)
	}
	for try := 0; ; try++ {
		left := running(j.t)
		if len(left) == 0 {
			break
		}
		if time.Sleep(50 * time.Millisecond); try > 100 {
			j.t.Fatalf("%s has ended, and these processes have not: %v", strings.Join(j.Args, " "), left)
		}
	}
	return j.out.String(), j.errOut.String(), j.ProcessState.ExitCode()
}

// running returns the processes of the programs in place, watchers among them.
func running(t *testing.T) (pids []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if file, err := os.Readlink(link); err == nil && filepath.Dir(file) == place {
			pids = append(pids, filepath.Base(filepath.Dir(link)))
		}
	}
	return pids
}

// must runs a command that succeeds, and returns its standard output.
func must(t *testing.T, dir string, command ...string) string {
	t.Helper()
	stdout, stderr, status := start(t, dir, nil, command...).end()
	if status != 0 {
		t.Fatalf("%s: status %d\n%s\n%s", strings.Join(command, " "), status, stdout, stderr)
	}
	return stdout
}

// byRanks is the command line that starts ranks.
func byRanks(t *testing.T, launcher string, size int, line string) []string {
	t.Helper()
	return append([]string{launcher, "-n", fmt.Sprint(size), binary(t)}, strings.Fields(line)...)
}

// alone is the command line of one process without a launcher.
func alone(t *testing.T, line string) []string {
	t.Helper()
	return append([]string{binary(t)}, strings.Fields(line)...)
}

// said returns what the lines of --json say, without times, files and what only ranks say.
func said(t *testing.T, lines string) string {
	t.Helper()
	var all strings.Builder
	for line := range strings.Lines(lines) {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if m["event"] == "ranks" {
			continue
		}
		for _, key := range []string{"ms", "epoch_ms", "total_ms", "peak_rss_mib", "job", "saved", "checkpoint", "batch"} {
			delete(m, key)
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(append(text, '\n'))
	}
	return all.String()
}

// bytesOf returns the content of a file.
func bytesOf(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// only fails the test if a folder holds other files than these.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Join(names, "\n") + "\n"
	for _, e := range entries {
		if !strings.Contains(known, e.Name()+"\n") {
			t.Errorf("%s is left", e.Name())
		}
	}
}
