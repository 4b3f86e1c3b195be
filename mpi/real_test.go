package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// job is the variable by which a test says to its ranks what to do: they are the test's own program,
// started by mpiexec.
const job = "EDGEWISE_MPI_TEST_JOB"

func TestMain(m *testing.M) {
	name := os.Getenv(job)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := rank(name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// jobs are what a rank can do.
var jobs = map[string]func(c *Comm) error{
	"formulas": func(c *Comm) error {
		for _, n := range []int{0, 1, 1000} {
			if err := everything(c, n); err != nil {
				return err
			}
		}
		return nil
	},
	"pieces": func(c *Comm) error {
		c.e.lib.limit = 7 // as if a C int were so small
		return errors.Join(everything(c, 20), everything(c, 100))
	},
	"long": func(c *Comm) error {
		const n = 3_000_000
		return errors.Join(checkReduce[float32](c, n, false), checkReduce[float32](c, n, true), checkReduce[int64](c, n, true), checkBcast(c, n, 0),
			checkAlltoall[float32](c, n, false), checkAlltoall[uint8](c, n, true), checkGatherings(c, n, true), checkMessages(c, n, true))
	},
	"error": func(c *Comm) error { // which the functions of this package do not let happen
		err := c.call(func() error {
			l := c.e.lib
			return l.check("MPI_Bcast", l.Bcast(unsafe.Pointer(&nothing[0]), 1, l.abi.types[kindInt8], 99, c.handle))
		})
		var e *Error
		if !errors.As(err, &e) || e.Code == 0 || !strings.Contains(strings.ToLower(e.Text), "root") {
			return fmt.Errorf("a root that is no rank is the error %v", err)
		}
		return c.Barrier()
	},
	"abort": func(c *Comm) error {
		if c.Rank() == 1 {
			c.Abort(7)
		}
		return c.Barrier()
	},
	"panic": func(c *Comm) error { // Go's handler of signals is still there
		defer func() {
			if recover() == nil {
				panic("a nil pointer is none")
			}
		}()
		var none *int
		*none = 1
		return nil
	},
}

// rank is a rank of a job.
func rank(name string) error {
	c, err := Init()
	if err != nil {
		return err
	}
	if err := jobs[name](c); err != nil {
		return fmt.Errorf("rank %d of %d, %s: %w", c.Rank(), c.Size(), Version(), err)
	}
	if err := Finalize(); err != nil {
		return err
	}
	if c.Rank() == 0 {
		time.Sleep(100 * time.Millisecond) // a launcher must not end this rank because others have ended
		fmt.Printf("%s did the job with %s on %d ranks\n", name, Version(), c.Size())
	}
	return nil
}

// mpiexec returns the launcher of a family from the folders of PATH.
func mpiexec(f family) string {
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		for _, name := range []string{"mpiexec", "mpirun"} {
			program := filepath.Join(folder, name)
			out, err := exec.Command(program, "--version").CombinedOutput()
			if err == nil && bytes.Contains(out, []byte(map[family]string{mpich: "HYDRA", openmpi: "Open"}[f])) {
				return program
			}
		}
	}
	return ""
}

// launch runs a job on some ranks and returns what they print.
func launch(t *testing.T, program, name string, ranks int, env ...string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-n", fmt.Sprint(ranks), self)
	cmd.Env = append(os.Environ(), job+"="+name, "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%s hangs:\n%s", name, out)
	}
	return string(out), err
}

// The binding and real libraries, by the launchers of PATH. They run only if EDGEWISE_FULL is set.
func TestLibraries(t *testing.T) {
	if os.Getenv("EDGEWISE_FULL") == "" {
		t.Skip("EDGEWISE_FULL is not set: real MPI libraries are not tested")
	}
	for _, f := range []family{mpich, openmpi} {
		t.Run(string(f), func(t *testing.T) {
			program := mpiexec(f)
			if program == "" {
				t.Skipf("LEFT OUT: PATH has no mpiexec of %s", f)
			}
			for _, name := range []string{"formulas", "pieces", "long", "error", "panic"} {
				for _, ranks := range []int{2, 3} {
					out, err := launch(t, program, name, ranks)
					if done := fmt.Sprintf("%s did the job with %s", name, f); err != nil || !strings.Contains(out, done) {
						t.Fatalf("%s of %d ranks: %v\n%s", name, ranks, err, out)
					}
					t.Log(strings.TrimSpace(out))
				}
			}
			out, err := launch(t, program, "abort", 2)
			var status *exec.ExitError
			if !errors.As(err, &status) || status.ExitCode() != 7 {
				t.Errorf("after Abort(7): %v\n%s", err, out)
			}
		})
	}
	t.Run("the other's launcher", otherLauncher)
}

// otherLauncher has a launcher start ranks that are told to load the other's library.
func otherLauncher(t *testing.T) {
	of := map[family]string{mpich: mpiexec(mpich), openmpi: mpiexec(openmpi)}
	if of[mpich] == "" || of[openmpi] == "" {
		t.Skip("LEFT OUT: this needs both MPICH and Open MPI")
	}
	for f, other := range map[family]family{mpich: openmpi, openmpi: mpich} {
		out, err := launch(t, of[other], "formulas", 2)
		_, file, _ := strings.Cut(out, "(")
		file, _, _ = strings.Cut(file, ")")
		if err != nil || file == "" {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err = launch(t, of[f], "formulas", 2, variable+"="+file)
		if want := fmt.Sprintf("starts programs of %s", f); err == nil || !strings.Contains(out, want) {
			t.Errorf("%s with %s: %v, want %q in\n%s", of[f], file, err, want, out)
		}
	}
}
