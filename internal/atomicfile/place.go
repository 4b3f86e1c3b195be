package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

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
