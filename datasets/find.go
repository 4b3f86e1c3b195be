package datasets

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/datadir"
	"github.com/edgewise-ml/edgewise/internal/spell"
)

// UnknownError reports a name that is no dataset's.
type UnknownError struct {
	Name    string
	Nearest string   // the most similar name there is; empty: none is like it
	Known   []string // all names there are
	Get     string   // what the name is and how to get it, if others publish it; else empty
}

func (e *UnknownError) Error() string {
	if e.Get != "" {
		return e.Get
	}
	if e.Nearest == "" {
		return fmt.Sprintf("there is no dataset %.60q; there are: %s", e.Name, strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("there is no dataset %.60q; did you mean %q? There are: %s", e.Name, e.Nearest, strings.Join(e.Known, ", "))
}

func unknown(name string, known []string) error {
	return &UnknownError{Name: name, Get: elsewhere(name), Nearest: spell.Meant(name, known), Known: known}
}

func planetoidNames() []string { return slices.Sorted(maps.Keys(classNames)) }

// folders returns where datasets may be, in the order of preference.
func folders(dataDir string) []string { return datadir.Folders(dataDir) }

// CacheDir returns the folder for datasets that are fetched: edgewise in the
// user's cache.
func CacheDir() (string, error) { return datadir.Cache() }
