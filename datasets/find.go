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

// Names returns the names that [Open] knows.
func Names() []string {
	names := append(planetoidNames(), "karate")
	slices.Sort(names)
	return names
}

// Open returns the dataset of that name, whatever its case: "karate", or a
// Planetoid dataset from the folder that [Find] finds. A name that is none is an
// [*UnknownError].
func Open(dataDir, name string) (*Dataset, error) {
	name = strings.ToLower(name)
	if name == "karate" {
		return Karate(), nil
	}
	dir, err := Find(dataDir, name)
	if err != nil {
		return nil, err
	}
	return Planetoid(dir, name)
}

// Find returns the folder that has the files of a Planetoid dataset. It looks in
// dataDir, unless that is empty, then in $EDGEWISE_DATA, then in edgewise in the
// user's cache; and of each in its subfolder planetoid.
func Find(dataDir, name string) (path string, err error) {
	name = strings.ToLower(name)
	if classNames[name] == nil {
		return "", unknown(name, Names())
	}
	var looked []string
	for _, dir := range folders(dataDir) {
		for _, d := range []string{dir, filepath.Join(dir, "planetoid")} {
			if holds(d, name) {
				return d, nil
			}
			looked = append(looked, d)
		}
	}
	return "", fmt.Errorf("no files of %s (ind.%s.allx and so on) in %s: run gatbench data fetch %s, or name the folder that has them with --data or EDGEWISE_DATA",
		name, name, strings.Join(looked, ", "), name)
}

// folders returns where datasets may be, in the order of preference.
func folders(dataDir string) []string {
	var dirs []string
	for _, dir := range []string{dataDir, os.Getenv("EDGEWISE_DATA")} {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "edgewise"))
	}
	return dirs
}
