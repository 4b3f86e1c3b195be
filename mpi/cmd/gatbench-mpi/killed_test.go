//go:build linux

package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endless is a training that goes on until something happens to it.
const endless = sampled + " --epochs 1000000 --checkpoint c --every 1"

func kill(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

// whole fails the test unless the checkpoint of a run that was cut short is whole: one process goes on with it. The temporary files of
// dead processes are then gone.
func whole(t *testing.T, dir string) {
	t.Helper()
	_, stderr, status := start(t, dir, nil, alone(t, "train --resume c --epochs 1")...).end()
	_, has, _ := strings.Cut(stderr, "the run of c has ")
	n := 0
	if _, err := fmt.Sscanf(has, "%d already", &n); err != nil {
		t.Errorf("the checkpoint: status %d, %v\n%s", status, err, stderr)
		return
	}
	must(t, dir, alone(t, fmt.Sprintf("train --resume c --epochs %d --checkpoint c", n+1))...)
	only(t, dir, "c")
}

// TestKilled: a rank that is killed ends the job, and is named.
func TestKilled(t *testing.T) {
	eachMPI(t, func(t *testing.T, launcher string) {
		for rank := range 2 {
			dir := t.TempDir()
			j := start(t, dir, nil, byRanks(t, launcher, 2, endless)...)
			pids := j.after(3)
			kill(t, pids[rank], syscall.SIGKILL)
			_, stderr, status := j.end()
			if want := fmt.Sprintf("gatbench-mpi: rank %d of 2 (process %d on ", rank, pids[rank]); status == 0 || strings.Count(stderr, want) != 1 || strings.Count(stderr, "has died") != 1 {
				t.Errorf("status %d\n%s\nwant\n%s", status, stderr, want)
			}
			only(t, place, "gatbench-mpi", "other")
			whole(t, dir)
		}
	})
}

// TestStopped: a rank that is stopped, or hangs in an exchange, is named once the limit is over.
func TestStopped(t *testing.T) {
	eachMPI(t, func(t *testing.T, launcher string) {
		for rank := range 2 {
			dir := t.TempDir()
			j := start(t, dir, nil, byRanks(t, launcher, 2, endless+" --limit 2s")...)
			pids := j.after(3)
			kill(t, pids[rank], syscall.SIGSTOP)
			_, stderr, status := j.end()
			missing(t, rank, pids[rank], stderr, status)
			whole(t, dir)

			dir = t.TempDir()
			j = start(t, dir, []string{stalling + "=" + fmt.Sprint(rank)}, byRanks(t, launcher, 2, endless+" --limit 2s")...)
			pids = j.after(1)
			_, stderr, status = j.end()
			missing(t, rank, pids[rank], stderr, status)
			if want := fmt.Sprintf("rank %d of 2 (process %d on ", rank, pids[rank]); !strings.Contains(stderr, want) {
				t.Errorf("the rank does not say where it is:\n%s\nwant\n%s", stderr, want)
			}
			whole(t, dir)
		}
		only(t, place, "gatbench-mpi", "other")
	})
}

// missing fails the test unless a rank that did not come to an exchange is named.
func missing(t *testing.T, rank, pid int, stderr string, status int) {
	t.Helper()
	want := fmt.Sprintf("rank %d did not come to the exchange after ", rank)
	process := fmt.Sprintf(" within 2s, and does not answer: process %d on ", pid)
	if status == 0 || strings.Count(stderr, want) != 1 || !strings.Contains(stderr, process) || strings.Contains(stderr, "has died") {
		t.Errorf("status %d\n%s\nwant\n%s…%s", status, stderr, want, process)
	}
}

// TestInterrupted: a signal to one rank ends the training of all after a step, with a checkpoint that says how to go on. So does Ctrl-C
// if the launcher waits for the ranks, which MPICH's does, and Open MPI's for a moment.
func TestInterrupted(t *testing.T) {
	eachMPI(t, func(t *testing.T, launcher string) {
		for _, rank := range []int{0, 1, -1} {
			dir := t.TempDir()
			j := start(t, dir, nil, byRanks(t, launcher, 2, endless)...)
			if pids := j.after(3); rank >= 0 {
				kill(t, pids[rank], syscall.SIGTERM)
			} else {
				kill(t, j.Process.Pid, syscall.SIGINT)
			}
			stdout, stderr, status := j.end()
			says := strings.Contains(stderr, "gatbench: interrupted after ") && strings.Contains(stderr, "; to continue: ") && strings.Contains(stderr, " train --resume c\n")
			if waits := rank >= 0 || strings.HasSuffix(t.Name(), "MPICH"); status == 0 || waits && !says {
				t.Errorf("rank %d: status %d\n%s\n%s", rank, status, stdout, stderr)
			}
			whole(t, dir)
		}
	})
}

var kills = flag.Int("kills", 4, "at how many random moments a training is killed")

// TestGoesOn: of a training that is killed at any moment nothing half-written is accepted, and it ends with the bits of one that was
// left alone.
func TestGoesOn(t *testing.T) {
	eachMPI(t, func(t *testing.T, launcher string) {
		// With more columns, a checkpoint takes a part of the time that is worth being killed in.
		line := "train --json --dataset cora --splits 60/20/20 --model sage --batch 128 --fanout 10,10 --hidden 64 --patience 0 --no-baseline --threads 1 --epochs 12 --checkpoint c --every 1 --save m"
		dir := t.TempDir()
		began := time.Now()
		must(t, dir, byRanks(t, launcher, 2, line)...)
		took := time.Since(began)
		want := sum(t, dir)
		seed := uint64(began.UnixNano())
		rng := rand.New(rand.NewPCG(seed, 0))
		for done, try := 0, 0; done < *kills && try < 5**kills; try++ {
			dir := t.TempDir()
			moment, rank := time.Duration(rng.Int64N(int64(took))), rng.IntN(2)
			what := fmt.Sprintf("kill %d of rank %d after %v of %v, seed %d", done+1, rank, moment, took, seed)
			if killedAt(t, dir, byRanks(t, launcher, 2, line), moment, rank) {
				done++
			} else {
				what += " (too late: the run had ended)"
			}
			rest := byRanks(t, launcher, 2, line)
			if _, err := os.Stat(filepath.Join(dir, "c")); err == nil {
				rest = byRanks(t, launcher, 2, "train --json --resume c --epochs 12 --threads 1 --checkpoint c --every 1 --save m")
				what += ", a checkpoint"
			}
			must(t, dir, rest...)
			if got := sum(t, dir); got != want {
				t.Errorf("%s: the model has other bits: %s, want %s", what, got, want)
			}
			t.Log(what)
			only(t, dir, "c", "m")
		}
	})
}

// killedAt starts a job and kills a rank of it at a moment, or as soon as it is there. It reports whether the rank was killed before its end.
func killedAt(t *testing.T, dir string, command []string, moment time.Duration, rank int) bool {
	t.Helper()
	j := start(t, dir, nil, command...)
	time.Sleep(moment)
	for range 200 {
		for _, pid := range running(t) {
			env, err := os.ReadFile(filepath.Join("/proc", pid, "environ"))
			if err != nil || rankIn(string(env)) != rank {
				continue
			}
			if n, err := strconv.Atoi(pid); err == nil && syscall.Kill(n, syscall.SIGKILL) == nil {
				_, _, status := j.end()
				return status != 0
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "m")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	j.end()
	return false
}

// rankIn returns the rank of a process by its environment, −1 if it has none.
func rankIn(env string) int {
	for v := range strings.SplitSeq(env, "\x00") {
		for _, name := range []string{"PMI_RANK=", "OMPI_COMM_WORLD_RANK="} {
			rank := -1
			if value, ok := strings.CutPrefix(v, name); ok {
				if _, err := fmt.Sscan(value, &rank); err == nil {
					return rank
				}
			}
		}
	}
	return -1
}

// sum is the digest of the model.
func sum(t *testing.T, dir string) string {
	t.Helper()
	return fmt.Sprintf("%x", sha256.Sum256([]byte(bytesOf(t, dir, "m"))))
}
