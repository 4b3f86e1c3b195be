package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Read reads the dataset at path, whose form its name says: NAME.npz, NAME.mtx,
// a Planetoid file ind.NAME.PART, NAME.content, a zip or tar archive of one, a
// folder of any of these, or else a list of edges, each perhaps in gzip or zstd.
func Read(path string) (*Dataset, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return readFolder(path)
	}
	base := filepath.Base(path)
	plain := strings.TrimSuffix(strings.TrimSuffix(base, ".gz"), ".zst")
	dir := filepath.Dir(path)
	if name, ok := strings.CutPrefix(strings.TrimSuffix(plain, filepath.Ext(plain)), "ind."); ok {
		return Planetoid(dir, strings.TrimSuffix(name, ".test")) // of the part test.index
	}
	switch {
	case strings.HasSuffix(base, ".npz"):
		return NPZ(path)
	case strings.HasSuffix(plain, ".mtx"):
		return MatrixMarket(path)
	case strings.HasSuffix(base, ".content"), strings.HasSuffix(base, ".cites"):
		return LINQS(dir)
	case base == webPages, base == webLinks:
		return WebKB(dir)
	case strings.HasSuffix(base, ".zip"), strings.HasSuffix(plain, ".tar"), strings.HasSuffix(base, ".tgz"):
		return LINQS(path)
	}
	return EdgeList(path)
}

// readFolder reads the one dataset whose files are in a folder.
func readFolder(dir string) (*Dataset, error) {
	for _, pattern := range []string{"ind.*.allx", webLinks, "*.content", "*.npz", "*.mtx"} {
		names, err := entries(dir, pattern)
		if err != nil {
			return nil, err
		}
		switch len(names) {
		case 0:
		case 1:
			return Read(filepath.Join(dir, names[0]))
		default:
			return nil, fmt.Errorf("%s: there are several datasets in it: name one of %s", dir, strings.Join(names, ", "))
		}
	}
	return nil, fmt.Errorf("%s: there is no dataset in it that is known: no ind.NAME.allx, NAME.content, NAME.npz or NAME.mtx", dir)
}

// entries returns the files of a folder that match.
func entries(dir, pattern string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range list {
		if ok, err := filepath.Match(pattern, e.Name()); err == nil && ok && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
