package mpi

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestLaunchedBy(t *testing.T) {
	tests := []struct {
		env  string
		want launcher
	}{
		{"", launcher{}},
		{"SLURM_NTASKS=4 SLURM_PROCID=0", launcher{}}, // the shell of a batch script
		{"OMPI_COMM_WORLD_SIZE=3 PMIX_RANK=0", launcher{"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE=3", 3, openmpi}},
		{"OMPI_COMM_WORLD_SIZE=3 SLURM_STEP_NUM_TASKS=2", launcher{"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE=3", 3, openmpi}},
		{"PMI_FD=9 PMI_RANK=0 PMI_SIZE=2 HYDI_CONTROL_FD=7", launcher{"MPICH's mpiexec", "PMI_SIZE=2", 2, mpich}},
		{"PMI_RANK=0 PMI_SIZE=2", launcher{"MPICH's mpiexec", "PMI_SIZE=2", 2, mpich}},
		{"PMI_FD=9", launcher{"MPICH's mpiexec", "PMI_FD=9", 0, mpich}},
		{"PMI_RANK=1 PMI_SIZE=8 PMI_FD=9 SLURM_STEP_NUM_TASKS=8", launcher{"Slurm's srun", "SLURM_STEP_NUM_TASKS=8", 8, anyOther}},
		{"HYDI_CONTROL_FD=7 PMI_SIZE=2 SLURM_STEP_NUM_TASKS=1", launcher{"MPICH's mpiexec", "PMI_SIZE=2", 2, mpich}},
		{"PMIX_RANK=1", launcher{"a launcher that serves PMIx", "PMIX_RANK=1", 0, anyOther}},
		{"PMI_SIZE=many", launcher{"MPICH's mpiexec", "PMI_SIZE=many", 0, mpich}},
	}
	for _, tt := range tests {
		if got := launchedBy(environment(tt.env)); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.env, got, tt.want)
		}
	}
}

// environment makes one of NAME=value words.
func environment(words string) func(string) string {
	return func(name string) string {
		for _, w := range strings.Fields(words) {
			if v, ok := strings.CutPrefix(w, name+"="); ok && name != "" {
				return v
			}
		}
		return ""
	}
}

func TestReadVersion(t *testing.T) {
	tests := []struct {
		text, want string
		family     family
	}{
		{"MPICH Version:      5.0.2\nMPICH Release date: today\n", "MPICH 5.0.2", mpich},
		{"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "Open MPI 4.1.4", openmpi},
		{"Intel(R) MPI Library 2021.11 for Linux* OS\n", "Intel(R) MPI Library 2021.11 for Linux* OS", anyOther},
		{"", "", anyOther},
	}
	for _, tt := range tests {
		if got, by := readVersion(tt.text); got != tt.want || by != tt.family {
			t.Errorf("%q: %q of %q, want %q of %q", tt.text, got, by, tt.want, tt.family)
		}
	}
}

// machine has files that are libraries. A file's content is its version.
func machine(t *testing.T, files map[string]string) (dir string, open func(string) (*library, error)) {
	dir = t.TempDir()
	for name, version := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(version), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, func(file string) (*library, error) {
		text, err := os.ReadFile(file)
		switch {
		case err != nil:
			return nil, err
		case string(text) == "broken":
			return nil, errors.New("libucp.so.0 is missing")
		}
		l := &library{file: file, close: func() error { return nil }}
		if l.version, l.family = readVersion(string(text)); strings.HasSuffix(file, "12") {
			return nil, &otherABI{l.version}
		}
		return l, nil
	}
}

// The library that fits the launcher is taken, and what does not fit is said.
func TestFind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the names of the files are those of Linux")
	}
	const m5, o4, o6 = "MPICH Version: 5.0.2", "Open MPI v4.1.4,", "Open MPI v6.0.0,"
	underMPICH, underOpen := "PMI_SIZE=2", "OMPI_COMM_WORLD_SIZE=2"
	tests := []struct {
		name  string
		files map[string]string
		env   string
		want  string // the end of the file, or the words of an error after "! "
	}{
		{"alone: the standard ABI first", map[string]string{"a/libmpi.so.40": o4, "b/libmpi_abi.so.1": m5}, "", "b/libmpi_abi.so.1"},
		{"alone: else Open MPI", map[string]string{"b/libmpi.so.40": o4}, "", "b/libmpi.so.40"},
		{"MPICH's launcher", map[string]string{"a/libmpi.so.40": o4, "b/libmpi_abi.so.1": m5}, underMPICH, "b/libmpi_abi.so.1"},
		{"Open MPI's launcher", map[string]string{"a/libmpi_abi.so.1": m5, "b/libmpi.so.40": o4}, underOpen, "b/libmpi.so.40"},
		{"the folders in order", map[string]string{"a/libmpi_abi.so": m5, "b/libmpi_abi.so": m5}, underMPICH, "a/libmpi_abi.so"},
		{"the standard ABI of another family", map[string]string{"a/libmpi_abi.so.1": o6, "b/libmpi_abi.so.1": m5}, underMPICH, "b/libmpi_abi.so.1"},
		{"the standard ABI of Open MPI", map[string]string{"a/libmpi_abi.so.1": m5, "b/libmpi_abi.so.1": o6}, underOpen, "b/libmpi_abi.so.1"},
		{"a broken one", map[string]string{"a/libmpi_abi.so.1": "broken", "b/libmpi_abi.so.1": m5}, "", "b/libmpi_abi.so.1"},
		{"only another's", map[string]string{"a/libmpi.so.40": o4}, underMPICH, "! no MPI library|MPICH's mpiexec started (PMI_SIZE=2)|a/libmpi.so.40: it is Open MPI 4.1.4, and|programs of MPICH|pip install mpich|EDGEWISE_MPI"},
		{"MPICH 4", map[string]string{"a/libmpi.so.12": "MPICH Version: 4.0.2"}, "", "! a/libmpi.so.12: it is MPICH 4.0.2 with an ABI of its own|since version 5"},
		{"only a broken one", map[string]string{"a/libmpi_abi.so.1": "broken"}, "", "! a/libmpi_abi.so.1: libucp.so.0 is missing"},
		{"none", nil, "", "! no MPI library found for this program\nLooked for|libmpi_abi.so.1|libmpi.so.40|apt install openmpi-bin"},
		{"named", map[string]string{"a/libmpi_abi.so.1": m5, "x/mine.so": o4}, "EDGEWISE_MPI=x/mine.so", "x/mine.so"},
		{"named, of the other launcher", map[string]string{"x/mine.so": o4}, underMPICH + " EDGEWISE_MPI=x/mine.so", "! EDGEWISE_MPI names|it is Open MPI 4.1.4, and MPICH's mpiexec (PMI_SIZE=2) starts programs of MPICH"},
		{"named, not there", nil, "EDGEWISE_MPI=x/mine.so", "! the library that EDGEWISE_MPI names|x/mine.so"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, open := machine(t, tt.files)
			env := environment(strings.ReplaceAll(tt.env, "=x/", "="+dir+"/x/"))
			in := []string{filepath.Join(dir, "a"), "", filepath.Join(dir, "b")}
			l, err := find(env, launchedBy(env), in, open)
			if words, bad := strings.CutPrefix(tt.want, "! "); bad {
				if err := says(err, strings.Split(words, "|")...); err != nil {
					t.Error(err)
				}
				return
			}
			if err != nil || !strings.HasSuffix(l.file, tt.want) {
				t.Errorf("found %v, %v, want %s", l, err, tt.want)
			}
		})
	}
}

// Libraries are looked for beside mpiexec, also where PATH has a link to it.
func TestFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no links")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"real/bin", "bin"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "real", "bin", "mpiexec")
	if err := errors.Join(os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755), os.Symlink(program, filepath.Join(dir, "bin", "mpiexec"))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	got := folders(environment("LD_LIBRARY_PATH=/one:/two"))
	for _, pair := range [][2]string{{dir + "/lib", dir + "/real/lib"}, {dir + "/real/lib", "/one"}, {"/one", "/two"}, {"/two", ""}, {"", usual(runtime.GOOS)[0]}} {
		if a, b := slices.Index(got, pair[0]), slices.Index(got, pair[1]); a < 0 || b < a {
			t.Errorf("%q and %q are not in this order in %q", pair[0], pair[1], got)
		}
	}
}

// On Linux the programs of the processes above this one are known: the first is the go command, or
// whatever started the test.
func TestAncestors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /proc")
	}
	parent, err := os.Readlink("/proc/" + strconv.Itoa(os.Getppid()) + "/exe")
	if err != nil {
		t.Skip(err) // of another user
	}
	if got := ancestors(); len(got) == 0 || got[0] != parent {
		t.Errorf("the ancestors are %q, want %q first", got, parent)
	}
}

// Open MPI's ABI is made of its symbols, and one that is missing is an error.
func TestOpenMPISymbols(t *testing.T) {
	seen := map[uintptr]bool{}
	a, err := openMPI(func(string) (uintptr, error) { at := uintptr(len(seen) + 1); seen[at] = true; return at, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range slices.Concat([]uintptr{a.world, a.errorsReturn}, a.types[:], a.ops[:]) {
		if !seen[h] {
			t.Errorf("a handle is %d, which is no symbol's or another's too", h)
		}
		delete(seen, h)
	}
	if a.statusBytes > 8*statusWords || standard.statusBytes > 8*statusWords {
		t.Error("a status is larger than the room for it")
	}
	_, err = openMPI(func(symbol string) (uintptr, error) { return 0, errors.New("no " + symbol) })
	if err == nil {
		t.Error("a library without the symbols is taken")
	}
}
