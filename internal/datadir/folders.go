package datadir

import (
	"os"
	"path/filepath"
)

// Folders returns where datasets may be, in the order of preference: first, unless it
// is empty, $EDGEWISE_DATA, and [Cache].
func Folders(first string) []string {
	var dirs []string
	for _, dir := range []string{first, os.Getenv("EDGEWISE_DATA")} {
		if dir != "" {
			dirs = append(dirs, dir)
		}
	}
	if cache, err := Cache(); err == nil {
		dirs = append(dirs, cache)
	}
	return dirs
}

// Cache returns the folder for datasets that are fetched: edgewise in the user's
// cache.
func Cache() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "edgewise"), nil
}
