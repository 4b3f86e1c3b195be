package mpi

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// variable names the library to load, and no other is tried.
const variable = "EDGEWISE_MPI"

// names are the files that a library may have, by the family whose launcher it most likely fits. The
// standard ABI comes first where nothing is known of the launcher.
func names(goos string, first family) []string {
	forum, own := []string{"libmpi_abi.so.1", "libmpi_abi.so"}, []string{"libmpi.so.40"}
	if goos == "darwin" {
		forum, own = []string{"libmpi_abi.1.dylib", "libmpi_abi.dylib", "libmpi_abi.so.1"}, []string{"libmpi.40.dylib"}
	}
	if first == openmpi {
		return slices.Concat(own, forum)
	}
	return slices.Concat(forum, own)
}

// unusable are names of libraries that have another ABI. They are looked for only to say so.
func unusable(goos string) []string {
	if goos == "darwin" {
		return []string{"libmpi.12.dylib"}
	}
	return []string{"libmpi.so.12"}
}

// usual are the folders where packages and people install an MPI.
func usual(goos string) []string {
	if goos == "darwin" {
		return []string{"/opt/homebrew/lib", "/usr/local/lib", "/opt/local/lib"}
	}
	machine := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	return []string{
		"/usr/lib/" + machine, "/usr/lib/" + machine + "/openmpi/lib",
		"/usr/lib64/mpich/lib", "/usr/lib64/openmpi/lib", "/usr/lib64", "/usr/lib",
		"/usr/local/lib", "/opt/openmpi/lib", "/opt/mpich/lib",
	}
}

// folders returns where to look, in order: beside the launcher that started this process, beside the
// mpiexec and mpirun of PATH, what the user's variables say, the dynamic linker's own places (""), and the
// usual folders.
func folders(env func(string) string) []string {
	var out []string
	add := func(folder string) {
		if !slices.Contains(out, folder) {
			out = append(out, folder)
		}
	}
	beside := func(program string) {
		for _, p := range []string{program, resolved(program)} {
			if p != "" {
				add(filepath.Join(filepath.Dir(filepath.Dir(p)), "lib"))
				add(filepath.Join(filepath.Dir(filepath.Dir(p)), "lib64"))
			}
		}
	}
	for _, program := range ancestors() {
		beside(program)
	}
	for _, name := range []string{"mpiexec", "mpirun"} {
		if program, err := exec.LookPath(name); err == nil {
			beside(program)
		}
	}
	for _, list := range []string{"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		for _, folder := range filepath.SplitList(env(list)) {
			if folder != "" {
				add(folder)
			}
		}
	}
	add("")
	for _, folder := range usual(runtime.GOOS) {
		add(folder)
	}
	return out
}

// resolved returns a path without links, or "".
func resolved(path string) string {
	out, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return out
}

// ancestors returns the programs of the processes that started this one, the nearest first, where the
// system shows them: on Linux, of the same user. One of them is the launcher.
func ancestors() (programs []string) {
	for pid, left := os.Getppid(), 6; pid > 1 && left > 0; left-- {
		dir := filepath.Join("/proc", strconv.Itoa(pid))
		if program, err := os.Readlink(filepath.Join(dir, "exe")); err == nil {
			programs = append(programs, program)
		}
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if err != nil {
			break
		}
		_, rest, _ := strings.Cut(string(status), "\nPPid:")
		line, _, _ := strings.Cut(rest, "\n")
		if pid, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
			break
		}
	}
	return programs
}

// An otherABI is the error of a library whose functions cannot be called: MPICH before 5, and what is
// made of it, has handles of its own.
type otherABI struct{ version string }

func (e *otherABI) Error() string {
	return "it is " + e.version + " with an ABI of its own"
}

// find loads the library that fits the launcher, from one of the folders in, unless the environment
// names a file. Open loads a file.
func find(env func(string) string, by launcher, in []string, open func(file string) (*library, error)) (*library, error) {
	if file := env(variable); file != "" {
		l, err := open(file)
		if err == nil {
			err = by.fits(l)
		}
		if err != nil {
			return nil, fmt.Errorf("mpi: the library that %s names cannot be used: %s: %w%s", variable, file, err, advice(err))
		}
		return l, nil
	}
	var refused []error
	for _, name := range names(runtime.GOOS, by.family) {
		for _, folder := range in {
			l, err := try(folder, name, open)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				refused = append(refused, err)
			case by.fits(l) != nil:
				refused = append(refused, fmt.Errorf("%s: %w", l.file, by.fits(l)))
				_ = l.close() // it is another library's turn
			default:
				return l, nil
			}
		}
	}
	for _, name := range unusable(runtime.GOOS) {
		for _, folder := range in {
			if _, err := try(folder, name, open); err != nil && !errors.Is(err, fs.ErrNotExist) {
				refused = append(refused, err)
			}
		}
	}
	return nil, notFound(by, in, refused)
}

// fits reports why a library does not belong to the launcher. MPI_Init would start a rank alone, or end
// the process: MPICH does so under Open MPI's mpirun.
func (by launcher) fits(l *library) error {
	if by.family == anyOther || l.family == anyOther || l.family == by.family {
		return nil
	}
	return fmt.Errorf("it is %s, and %s (%s) starts programs of %s", l.version, by.name, by.sign, by.family)
}

// try opens a library in a folder, or by its name alone where the dynamic linker finds it.
func try(folder, name string, open func(file string) (*library, error)) (*library, error) {
	file := filepath.Join(folder, name)
	if folder != "" {
		if _, err := os.Stat(file); err != nil {
			return nil, fs.ErrNotExist
		}
	}
	l, err := open(file)
	if err != nil && folder == "" && !errors.As(err, new(*otherABI)) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w%s", file, err, advice(err))
	}
	return l, nil
}

// advice says what helps against an error of a library, if anything is known.
func advice(err error) string {
	if errors.As(err, new(*otherABI)) {
		return ", which cannot be called from here: MPICH has had the standard ABI (libmpi_abi) since version 5, and Open MPI can be called as it is"
	}
	return ""
}

// notFound is the error of a machine without a library that can be used.
func notFound(by launcher, in []string, refused []error) error {
	var b strings.Builder
	fmt.Fprintf(&b, "mpi: no MPI library found for this program")
	if by.name != "" {
		fmt.Fprintf(&b, ", which %s started (%s)", by.name, by.sign)
	}
	for i, err := range refused {
		if i == 0 || err.Error() != refused[i-1].Error() {
			fmt.Fprintf(&b, "\n  %v", err)
		}
	}
	in = slices.DeleteFunc(slices.Clone(in), func(folder string) bool { return folder == "" })
	fmt.Fprintf(&b, "\nLooked for %s in %s, and where the dynamic linker looks.", strings.Join(names(runtime.GOOS, by.family), ", "), strings.Join(in, ", "))
	b.WriteString("\nInstall one: apt install openmpi-bin (Debian, Ubuntu), dnf install openmpi (Fedora), pip install mpich (in a virtual environment), brew install open-mpi (macOS), or module load openmpi on a cluster." +
		"\nIf one is installed elsewhere, set " + variable + " to its file, such as /opt/mpi/lib/libmpi_abi.so.1 or libmpi.so.40.")
	return errors.New(b.String())
}
