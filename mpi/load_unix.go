//go:build (linux && !android && (amd64 || arm64)) || (darwin && !ios && (amd64 || arm64))

package mpi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/ebitengine/purego"
)

// supported returns why no MPI can be loaded on this system, or nil.
func supported() error { return nil }

// open loads the library of a file. A library that this package cannot call is an error that says why.
func open(file string) (*library, error) {
	handle, err := purego.Dlopen(file, purego.RTLD_LAZY|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	l, err := fill(handle, file)
	if err != nil {
		return nil, errors.Join(err, purego.Dlclose(handle))
	}
	l.file = loadedFrom(file)
	l.close = func() error { return purego.Dlclose(handle) }
	l.share = func() error { // components that Open MPI loads later look for its symbols among the global ones
		_, err := purego.Dlopen(file, purego.RTLD_LAZY|purego.RTLD_GLOBAL)
		return err
	}
	return l, nil
}

// loadedFrom returns the file that the dynamic linker has found by a name, where the system shows it: on
// Linux.
func loadedFrom(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return name
	}
	for line := range strings.Lines(string(maps)) {
		if i := strings.IndexByte(line, '/'); i >= 0 && strings.HasPrefix(filepath.Base(line[i:]), name) { // libmpi.so.40 is a link to libmpi.so.40.30.4
			return strings.TrimSpace(line[i:])
		}
	}
	return name
}

// fill makes a library of what has been loaded.
func fill(handle uintptr, file string) (*library, error) {
	has := func(symbol string) bool {
		_, err := purego.Dlsym(handle, symbol)
		return err == nil
	}
	l := &library{file: file, limit: maxCount}
	var err error
	switch forum := strings.HasPrefix(filepath.Base(file), "libmpi_abi"); {
	case !has("MPI_Init_thread"):
		return nil, errors.New("it is no MPI library: it has no function MPI_Init_thread")
	case !forum && has("ompi_mpi_comm_world"):
		l.abi, err = openMPI(func(symbol string) (uintptr, error) { return purego.Dlsym(handle, symbol) })
	case has("MPI_Abi_get_version") && !has("MPIR_Dup_fn"): // which the header of MPICH's own ABI needs
		l.abi = standard
	default:
		purego.RegisterLibFunc(&l.GetVersion, handle, "MPI_Get_library_version")
		if err := l.askVersion(); err != nil {
			return nil, err
		}
		return nil, &otherABI{l.version}
	}
	if err != nil {
		return nil, err
	}
	if l.pause, err = sleeper(); err != nil {
		return nil, err
	}
	l.atExit = exitHandlers()
	if err := register(&l.functions, handle); err != nil {
		return nil, err
	}
	if err := l.askVersion(); err != nil || l.abi.name != standard.name {
		return l, err
	}
	return l, askABI(l, handle)
}

// askVersion sets version and family by what the library says of itself. MPI allows this before
// MPI_Init.
func (l *library) askVersion() error {
	text, n := make([]byte, max(l.abi.versionBytes, standard.versionBytes)), int32(0)
	if code := l.GetVersion(&text[0], &n); code != 0 {
		return fmt.Errorf("MPI_Get_library_version fails with code %d", code)
	}
	l.version, l.family = readVersion(cut(text, n))
	return nil
}

// askABI notes the version of the standard ABI. Only the first is known here.
func askABI(l *library, handle uintptr) error {
	var version func(major, minor *int32) int32
	purego.RegisterLibFunc(&version, handle, "MPI_Abi_get_version")
	var major, minor int32
	if code := version(&major, &minor); code != 0 {
		return fmt.Errorf("MPI_Abi_get_version fails with code %d", code)
	}
	l.version += fmt.Sprintf(", ABI %d.%d", major, minor)
	if major != 1 {
		return fmt.Errorf("it is %s, and only version 1 of the standard ABI is known here", l.version)
	}
	return nil
}

// register fills in the functions by the names in their tags.
func register(f *functions, handle uintptr) error {
	v := reflect.ValueOf(f).Elem()
	for field := range v.Type().Fields() {
		name := field.Tag.Get("mpi")
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			return fmt.Errorf("it has no function %s, which MPI 3 has", name)
		}
		purego.RegisterFunc(v.FieldByIndex(field.Index).Addr().Interface(), address)
	}
	return nil
}

// sleeper returns usleep of the C library.
func sleeper() (func(time.Duration), error) {
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, "usleep")
	if err != nil {
		return nil, err
	}
	var usleep func(microseconds uint32) int32
	purego.RegisterFunc(&usleep, address)
	return func(d time.Duration) { usleep(uint32(d.Microseconds())) }, nil
}

// exitHandlers returns the function that runs the handlers of atexit, once. On macOS, Go ends a process
// as C does.
func exitHandlers() func() {
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, "__cxa_finalize")
	if runtime.GOOS == "darwin" || err != nil {
		return func() {}
	}
	var finalize func(library uintptr)
	purego.RegisterFunc(&finalize, address)
	return func() { finalize(0) } // of all libraries
}
