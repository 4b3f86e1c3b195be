package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Error is a file that could not be written.
type Error struct {
	Path string // as it was given
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("write %s: %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Write makes the file at path hold what write writes. A new file may be read
// by everyone (before the umask), an old one keeps its permissions; a symbolic
// link is followed. The error is an [*Error].
func Write(path string, write func(io.Writer) error) error {
	if err := replace(path, write); err != nil {
		return &Error{path, err}
	}
	return nil
}

func replace(path string, write func(io.Writer) error) error {
	place, mode, err := target(path)
	if err != nil {
		return err
	}
	dir, name := filepath.Split(place)
	sweep(dir, name)
	f, err := create(dir, name, mode)
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done { // write may have panicked
			discard(f)
		}
	}()
	if err := fill(f, write); err != nil {
		return reason(f, err)
	}
	if err := keep(f, place); err != nil {
		return reason(f, err)
	}
	done = true
	syncDir(dir)
	return nil
}

// target returns the file that path means, and its permissions.
func target(path string) (string, fs.FileMode, error) {
	place, err := Resolve(path)
	if err != nil {
		return "", 0, err
	}
	info, err := os.Stat(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return place, 0, nil
	case err != nil:
		return "", 0, err
	case info.IsDir():
		return "", 0, errors.New("it is a directory; give the name of a file")
	case !info.Mode().IsRegular():
		return "", 0, errors.New("it is not a regular file")
	}
	return place, info.Mode().Perm(), nil
}

// reason returns why a temporary file could not be written or kept, without its
// name, which says nothing to anybody.
func reason(f *os.File, err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) && p.Path == f.Name() {
		return p.Err
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) && l.Old == f.Name() {
		return l.Err
	}
	return err
}

// fill writes the content and brings it to the disk.
func fill(f *os.File, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(f, 1<<16)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes the new name survive a power cut. Not every system can do it,
// and the file is whole either way, so it cannot fail.
func syncDir(dir string) {
	if runtime.GOOS == "windows" {
		return
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
