package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// File returns an error unless there is an ordinary file at path.
func File(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return opening(err)
	case info.IsDir():
		return fmt.Errorf("%s: it is a folder: name a file", path)
	}
	return check(path, info)
}

// Read opens the ordinary file at path for read, which gets its size, too. An error of read is put behind the path.
func Read(path string, read func(r io.ReaderAt, size int64) error) error {
	if err := File(path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = read(f, info.Size())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// FileOrFolder returns an error unless there is an ordinary file or a folder at
// path.
func FileOrFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return opening(err)
	}
	return check(path, info)
}

// opening says of an error of the look that the file cannot be opened.
func opening(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return &fs.PathError{Op: "open", Path: p.Path, Err: p.Err}
	}
	return err
}

func check(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s: it is %s, and only ordinary files are read: write what it gives to a file, and name that", path, kind(info.Mode()))
}

// kind says what a file is that is not an ordinary one.
func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "no ordinary file"
}
