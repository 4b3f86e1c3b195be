package gatbench

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/atomicfile"
	"github.com/edgewise-ml/edgewise/internal/regular"
)

// file is one that a command reads or writes.
type file struct {
	flag string // that names it, with its dashes; of an argument what it is
	path string // empty: it was not asked for
}

// apart returns an error if a command would write two things into one file, or
// over a file that it reads, whatever links the names go through. A run may go on
// in its own checkpoint.
func apart(in, out []file) error {
	var before []named
	for _, f := range out {
		if f.path == "" {
			continue
		}
		n := name(f)
		for _, b := range before {
			if n.is(b) {
				return misuse("%s %s: %s has that name too", f.flag, f.path, b.flag)
			}
		}
		before = append(before, n)
	}
	for _, f := range in {
		if f.path == "" {
			continue
		}
		n := name(f)
		for _, b := range before {
			if n.is(b) && !(f.flag == "--resume" && b.flag == "--checkpoint") {
				return misuse("%s %s: it would be written over the file that %s reads: name another", b.flag, b.path, f.flag)
			}
		}
	}
	return nil
}

// named is a file and what its path means.
type named struct {
	file
	place string      // without links
	info  fs.FileInfo // nil: it is not there yet
}

func name(f file) named {
	n := named{file: f}
	var err error
	if n.place, err = atomicfile.Resolve(f.path); err != nil {
		n.place, _ = filepath.Abs(f.path)
	}
	if info, err := os.Stat(f.path); err == nil {
		n.info = info
	}
	return n
}

// is reports whether two paths mean one file. Some systems tell upper from lower
// case and some do not, which only the files that are there show.
func (n named) is(other named) bool {
	return n.place == other.place || n.info != nil && other.info != nil && os.SameFile(n.info, other.info)
}

// datasetFiles returns the files of a dataset, as far as there are any.
func datasetFiles(flag, dir, name string) []file {
	var fs []file
	for _, path := range datasets.Files(where(dir, name)) {
		fs = append(fs, file{flag, path})
	}
	return fs
}

// splitsFile returns the file that --splits names, if it names one.
func splitsFile(name string) file {
	if noFile(name) {
		return file{}
	}
	return file{"--splits", name}
}

// ordinary returns an error for an input that is there and no ordinary file.
func ordinary(in ...file) error {
	for _, f := range in {
		if f.path == "" {
			continue
		}
		if err := regular.File(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return misuse("%s %w", f.flag, err)
		}
	}
	return nil
}
