package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"
)

// temporary is what this process has begun to write and not ended, and its locks.
var temporary = struct {
	sync.Mutex
	files map[*os.File]bool
	swept map[string]bool // targets whose leftovers are removed
	over  bool            // Abandon was called
}{files: map[*os.File]bool{}, swept: map[string]bool{}}

// errOver is what a Write gets while the program ends.
var errOver = errors.New("the program is ending")

// Abandon removes the temporary files and the locks of this process. From now on nothing is
// written: every [Write] that is under way or begins fails. It is for a program
// that ends while goroutines of its may be writing.
func Abandon() {
	temporary.Lock()
	defer temporary.Unlock()
	temporary.over = true
	for f := range temporary.files {
		remove(f)
	}
}

// longest is how much of a name is in that of its temporary file: most systems
// allow 255 bytes, and what is added needs 21.
const longest = 230

// beside returns the front of the names that stand beside a file of that name.
func beside(name string) string {
	n := len(name)
	if n > longest {
		for n = longest; n > 0 && !utf8.RuneStart(name[n]); n-- { // not within a letter
		}
	}
	return "." + name[:n] + "."
}

// create makes a temporary file in dir and locks it. The mode 0 stands for what a
// new file usually has, which is the umask's business: os.CreateTemp is stricter.
func create(dir, name string, mode fs.FileMode) (*os.File, error) {
	temporary.Lock()
	defer temporary.Unlock()
	for try := 0; ; try++ {
		if temporary.over {
			return nil, errOver
		}
		temp := filepath.Join(dir, fmt.Sprintf("%s%d-%d.tmp", beside(name), os.Getpid(), try))
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && try < 1000 {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := tryLock(f); errors.Is(err, errHeld) || !stands(f) { // another process saw it before it was locked
			f.Close()
			continue
		}
		if mode != 0 {
			if err := f.Chmod(mode); err != nil {
				remove(f)
				return nil, err
			}
		}
		temporary.files[f] = true
		return f, nil
	}
}

// stands reports whether a file still has its name.
func stands(f *os.File) bool {
	own, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(own, there)
}

// remove removes a temporary file. The name goes first, while the lock is held,
// where the system allows it.
func remove(f *os.File) {
	if runtime.GOOS == "windows" {
		f.Close()
		os.Remove(f.Name())
		return
	}
	os.Remove(f.Name())
	f.Close()
}

// discard gives up a temporary file.
func discard(f *os.File) {
	temporary.Lock()
	defer temporary.Unlock()
	delete(temporary.files, f)
	if !temporary.over {
		remove(f)
	}
}

// keep gives a temporary file the name of its target.
func keep(f *os.File, place string) error {
	temporary.Lock()
	defer temporary.Unlock()
	if temporary.over {
		return errOver
	}
	if runtime.GOOS == "windows" { // where no open file gets another name
		if err := f.Close(); err != nil {
			return err
		}
		if err := os.Rename(f.Name(), place); err != nil {
			return err
		}
		delete(temporary.files, f)
		return nil
	}
	if err := os.Rename(f.Name(), place); err != nil {
		return err
	}
	delete(temporary.files, f)
	return f.Close()
}

// leftover is how a temporary file's name ends.
var leftover = regexp.MustCompile(`^([0-9]+)-[0-9]+\.tmp$`)

// sweep removes the temporary files of a target whose processes are dead, once in
// a process. What cannot be known to be one of these stays.
func sweep(dir, name string) {
	temporary.Lock()
	defer temporary.Unlock()
	at := filepath.Join(dir, name)
	if temporary.swept[at] || temporary.over {
		return
	}
	temporary.swept[at] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		end, ok := strings.CutPrefix(e.Name(), beside(name))
		if m := leftover.FindStringSubmatch(end); ok && m != nil && e.Type().IsRegular() && !running(m[1]) {
			removeDead(filepath.Join(dir, e.Name()))
		}
	}
}

// removeDead removes a file unless a process has locked it.
func removeDead(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	if tryLock(f) != nil || !stands(f) {
		f.Close()
		return
	}
	remove(f)
}

// mostLinks is how many symbolic links lead to a file at most.
const mostLinks = 40

// Resolve returns the absolute path of the file that [Write] writes for path: all
// symbolic links are followed, also one to a file that is not there yet. Two
// paths mean one file if these are equal. The folder must be there.
func Resolve(path string) (string, error) {
	for range mostLinks {
		dir, name := filepath.Split(path)
		if dir == "" {
			dir = "."
		}
		if name == "" || name == "." || name == ".." {
			return "", errors.New("it is a directory; give the name of a file")
		}
		folder, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return "", fmt.Errorf("its folder takes no file: %w", err)
		}
		place := filepath.Join(folder, name)
		info, err := os.Lstat(place)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return filepath.Abs(place)
		}
		if err != nil {
			return "", err
		}
		if path, err = os.Readlink(place); err != nil {
			return "", err
		}
		if !filepath.IsAbs(path) {
			path = folder + string(filepath.Separator) + path // not Join: what .. means depends on links
		}
	}
	return "", errors.New("it is one of a ring of symbolic links")
}

// Probe returns an [*Error] if [Write] could not write a file at path, for what
// can be known before there is anything to write: the folder takes no file, the
// name is too long, links lead in a ring. It leaves nothing behind.
func Probe(path string) error {
	place, _, err := target(path)
	if err != nil {
		return &Error{path, err}
	}
	dir, name := filepath.Split(place)
	f, err := create(dir, name, 0)
	if err != nil {
		return &Error{path, fmt.Errorf("its folder takes no file: %w", err)}
	}
	discard(f)
	return nil
}
