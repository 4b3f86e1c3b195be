package datasets

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// UnknownError reports a name that is no dataset's.
type UnknownError struct {
	Name    string
	Nearest string   // the most similar name there is
	Known   []string // all names there are
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no dataset %.60q; did you mean %q? There are: %s", e.Name, e.Nearest, strings.Join(e.Known, ", "))
}

func unknown(name string, known []string) error {
	e := &UnknownError{Name: name, Known: known}
	best := -1
	for _, k := range known {
		if d := distance(strings.ToLower(name), k); best < 0 || d < best {
			best, e.Nearest = d, k
		}
	}
	return e
}

// distance returns how many letters have to be put in, taken out or replaced to
// make b of a. Only the first 64 letters of a count.
func distance(a, b string) int {
	a = a[:min(len(a), 64)]
	row := make([]int, len(b)+1) // of the letters of a so far, for each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

func planetoidNames() []string { return slices.Sorted(maps.Keys(classNames)) }

// folders returns where datasets may be, in the order of preference.
func folders(dataDir string) []string {
	var dirs []string
	for _, dir := range []string{dataDir, os.Getenv("EDGEWISE_DATA")} {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	if cache, err := CacheDir(); err == nil {
		dirs = append(dirs, cache)
	}
	return dirs
}

// CacheDir returns the folder for datasets that are fetched: edgewise in the
// user's cache.
func CacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "edgewise"), nil
}
