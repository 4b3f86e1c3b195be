package datasets

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// Files returns the files that [Read] reads for a path, as their names say: that
// file and those that belong to it; of a folder those of the datasets of the kind
// that is read. A program that writes beside a dataset asks so what it must leave
// alone.
func Files(path string) []string {
	path, _ = CutColumns(path)
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		return belonging(path)
	}
	var all []string
	if isOGB(path) {
		for _, pattern := range []string{"*.csv*", "raw/*.csv*", "split/*/*.csv*"} {
			if names, err := fs.Glob(os.DirFS(path), pattern); err == nil {
				for _, name := range names {
					all = append(all, filepath.Join(path, filepath.FromSlash(name)))
				}
			}
		}
		return all
	}
	for _, patterns := range forms {
		names, err := entries(path, patterns)
		if err != nil {
			return nil
		}
		for _, name := range names {
			all = append(all, belonging(filepath.Join(path, name))...)
		}
		if len(names) > 0 {
			break
		}
	}
	slices.Sort(all)
	return slices.Compact(all) // a table of nodes belongs to that of edges, and that to it
}

// belonging returns a file and those that are read with it.
func belonging(path string) []string {
	dir, base := filepath.Split(path)
	plain := unpack.Plain(base)
	same := func(string) bool { return false }
	switch rest, planetoid := strings.CutPrefix(plain, "ind."); {
	case planetoid:
		name, _, _ := strings.Cut(rest, ".")
		same = func(other string) bool { return strings.HasPrefix(other, "ind."+name+".") }
	case base == webPages, base == webLinks:
		same = func(other string) bool { return other == webPages || other == webLinks }
	case strings.HasSuffix(plain, ".content"), strings.HasSuffix(plain, ".cites"):
		stem := strings.TrimSuffix(plain, filepath.Ext(plain))
		same = func(other string) bool {
			other = unpack.Plain(other)
			return other == stem+".content" || other == stem+".cites"
		}
	}
	if dir == "" {
		dir = "."
	}
	all := []string{path}
	tables := shelf{dir: dir}
	edges, nodes := tables.family(plain)
	for _, other := range append(nodes, tables.find(edges)) {
		if other != "" && other != base {
			all = append(all, filepath.Join(dir, other))
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return all
	}
	for _, e := range list {
		if e.Name() != base && same(e.Name()) {
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	return all
}
