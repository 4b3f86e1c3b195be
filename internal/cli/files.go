package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/regular"
)

// File is one that a command reads or writes.
type File struct {
	Flag string // that names it, with its dashes; of an argument what it is
	Path string // empty: it was not asked for
}

// Apart returns an error if a command would write two things into one file, or
// over a file that it reads, whatever links the names go through. A run may go on
// in its own checkpoint.
func Apart(in, out []File) error {
	var before []Located
	for _, f := range out {
		if f.Path == "" {
			continue
		}
		n := Locate(f)
		for _, b := range before {
			if n.Is(b) {
				return Misuse("%s %s: %s has that name too", f.Flag, f.Path, b.Flag)
			}
		}
		before = append(before, n)
	}
	for _, f := range in {
		if f.Path == "" {
			continue
		}
		n := Locate(f)
		for _, b := range before {
			if n.Is(b) && !(f.Flag == "--resume" && b.Flag == "--checkpoint") {
				return Misuse("%s %s: it would be written over the file that %s reads: name another", b.Flag, b.Path, f.Flag)
			}
		}
	}
	return nil
}

// Located is a file and what its path means.
type Located struct {
	File
	place string      // without links
	Info  fs.FileInfo // nil: it is not there yet
}

// Locate finds what the path of a file means.
func Locate(f File) Located {
	n := Located{File: f}
	var err error
	if n.place, err = atomicfile.Resolve(f.Path); err != nil {
		n.place, _ = filepath.Abs(f.Path)
	}
	if info, err := os.Stat(f.Path); err == nil {
		n.Info = info
	}
	return n
}

// Is reports whether two paths mean one file. Some systems tell upper from lower
// case and some do not, which only the files that are there show.
func (n Located) Is(other Located) bool {
	return n.place == other.place || n.Info != nil && other.Info != nil && os.SameFile(n.Info, other.Info)
}

// Ordinary returns an error for an input that is there and no ordinary file.
func Ordinary(in ...File) error {
	for _, f := range in {
		if f.Path == "" {
			continue
		}
		if err := regular.File(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Misuse("%s %w", f.Flag, err)
		}
	}
	return nil
}

// Target returns an error if a file cannot be written at path, before any work
// is done.
func Target(flag, path string) error {
	if path == "" {
		return nil
	}
	if IsFolder(path) {
		return Misuse("--%s %s: it is a folder; name a file", flag, path)
	}
	if isDevice(path) { // files are written beside their place and moved there
		return Misuse("--%s %s: it is not a regular file; name one that is", flag, path)
	}
	dir := filepath.Dir(path)
	if !IsFolder(dir) {
		return Misuse("--%s %s: there is no folder %s to put it in", flag, path, dir)
	}
	err := atomicfile.Probe(path)
	if e := (*atomicfile.Error)(nil); errors.As(err, &e) {
		return fmt.Errorf("--%s %s: %w", flag, path, e.Err)
	}
	return err
}

// isDevice reports whether a path is there and no ordinary file, or stands for one
// that the system hands out, such as what is printed to.
func isDevice(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() || strings.HasPrefix(filepath.ToSlash(filepath.Clean(path)), "/dev/")
}

// IsFolder reports whether a path is that of a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// IsPicture reports whether a path is that of a picture that can be drawn.
func IsPicture(path string) bool {
	return slices.Contains([]string{".svg", ".png"}, filepath.Ext(path))
}
