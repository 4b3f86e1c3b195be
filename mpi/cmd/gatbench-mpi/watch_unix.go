//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
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

// What a rank says before it ends: that all is well, or that it ends the job and has said why.
const (
	allIsWell  = "."
	endsTheJob = "!"
)

// silence is how long, at most, a mark keeps other watchers of the host silent. It goes with the launcher, before which the ranks die that
// the launcher kills.
const silence = 30 * time.Second

// watch starts the watcher of this rank, and returns what tells it that the rank is about to end. Without one the job runs as well.
func watch(name string) (done func(ends bool)) {
	none := func(bool) {}
	path, err := os.Executable()
	if err != nil {
		return none
	}
	r, w, err := os.Pipe()
	if err != nil {
		return none
	}
	for fd := 3; fd < 1024; fd++ { // MPICH's launcher takes a rank for alive as long as somebody holds its pipes
		syscall.CloseOnExec(fd)
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
	return func(ends bool) {
		if ends { // this process will be killed, and does not see the watcher's end
			_, _ = io.WriteString(w, endsTheJob)
			time.Sleep(50 * time.Millisecond) // until the mark is there
			return
		}
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
	said := make([]byte, 1)
	n, err := io.ReadFull(os.Stdin, said)
	if err != nil && err != io.EOF || string(said[:n]) == allIsWell {
		return true
	}
	mark, first := speak()
	if n == 0 && first {
		fmt.Fprintf(os.Stderr, "gatbench-mpi: %s has died; was it killed, or out of memory? The job ends\n", name)
	}
	_ = os.Stderr.Close() // a launcher may wait for the end of what is written
	if first {
		by, _ := strconv.Atoi(os.Getenv(launcher))
		for began := time.Now(); by > 1 && syscall.Kill(by, 0) == nil && time.Since(began) < silence; {
			time.Sleep(50 * time.Millisecond)
		}
		_ = os.Remove(mark)
	}
	return true
}

// speak reports whether this is the first watcher of the job on this host whose rank ends the job or has died, and the file that says so.
func speak() (mark string, first bool) {
	mark = filepath.Join(os.TempDir(), fmt.Sprintf("gatbench-mpi-%d-%s", os.Getuid(), os.Getenv(launcher)))
	f, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return mark, !os.IsExist(err)
	}
	_ = f.Close()
	return mark, true
}
