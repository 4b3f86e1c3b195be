//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A rank that is killed says nothing itself, and not every launcher says which it was. So each rank has a small process beside it, this
// program again, that reads from a pipe: when the rank ends, the pipe does, and if the rank has not said that all is well
// the process says that it has died. The launcher then kills the other ranks, whose watchers stay silent: the first
// of a host to speak leaves a mark.

// The environment variables that make this program the watcher of a rank: the rank's name, and its launcher's process.
const (
	watcher  = "GATBENCH_WATCHES"
	launcher = "GATBENCH_LAUNCHER"
)

// allIsWell is what a rank says before it ends.
const allIsWell = "."

// watch starts the watcher of this rank, and returns what tells it that the rank ends as it should. Without one the job runs as well.
func watch(name string) (done func()) {
	none := func() {}
	path, err := os.Executable()
	if err != nil {
		return none
	}
	r, w, err := os.Pipe()
	if err != nil {
		return none
	}
	cmd := exec.Command(path)
	cmd.Stdin, cmd.Stderr = r, os.Stderr
	cmd.Env = []string{watcher + "=" + name, launcher + "=" + fmt.Sprint(os.Getppid()), "TMPDIR=" + os.TempDir()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what ends the rank's group does not end it
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		_ = r.Close()
		return none
	}
	_ = r.Close()
	return func() {
		_, _ = io.WriteString(w, allIsWell)
		_ = w.Close()
		_ = cmd.Wait()
	}
}

// watched is the work of a watcher. It reports whether this process is one.
func watched() bool {
	name := os.Getenv(watcher)
	if name == "" {
		return false
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	said, err := io.ReadAll(os.Stdin)
	if err == nil && strings.Contains(string(said), allIsWell) {
		return true
	}
	if mark, first := speak(); first {
		fmt.Fprintf(os.Stderr, "gatbench-mpi: %s has died; was it killed, or out of memory? The job ends\n", name)
		time.Sleep(2 * time.Second) // until the others have died
		_ = os.Remove(mark)
	}
	return true
}

// speak reports whether this is the first watcher to speak for a dead rank of the job on this host, and the file that says so.
func speak() (mark string, first bool) {
	mark = filepath.Join(os.TempDir(), fmt.Sprintf("gatbench-mpi-%d-%s", os.Getuid(), os.Getenv(launcher)))
	f, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return mark, !os.IsExist(err)
	}
	_ = f.Close()
	return mark, true
}
