package datasets

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// lists are the endings of lists of edges in folders and archives, where other
// files may lie beside them. Named itself, a list may be called anything.
var lists = []string{".txt", ".csv", ".tsv", ".edges", ".edgelist"}

// Read reads the dataset at path, whose form its name says: NAME.npz, NAME.mtx,
// a Planetoid file ind.NAME.PART, NAME.content, NAME.json, NAME.graphml, NAME.dot, or else a list or a table of
// edges, with those of nodes that are beside it; texts perhaps in gzip or zstd. A folder
// is read if one of these is in it, and a zip or tar archive if that is NAME.content,
// NAME.mtx, tables, NAME.json or a list, or if they are OGB's. Of tables what follows a # says which columns to
// learn, as [Tables] has it.
func Read(path string) (*Dataset, error) {
	path, o := cutChosen(path)
	return readPath(path, o)
}

// readPath is Read of a path, of whose columns o says more.
func readPath(path string, o *chosen) (*Dataset, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return readFolder(path, o)
	}
	if err := regular.File(path); err != nil {
		return nil, err
	}
	base := filepath.Base(path)
	plain := unpack.Plain(base)
	dir := filepath.Dir(path)
	name, planetoid := strings.CutPrefix(strings.TrimSuffix(plain, filepath.Ext(plain)), "ind.")
	archived := strings.HasSuffix(base, ".zip") || strings.HasSuffix(plain, ".tar") || strings.HasSuffix(base, ".tgz")
	if !archived && slices.Contains([]string{".npz", ".mtx", ".content", ".cites", ".mat"}, filepath.Ext(plain)) || planetoid || base == webPages || base == webLinks {
		if err := o.notChosen(path); err != nil {
			return nil, err
		}
	}
	switch {
	case plain != base && (planetoid || strings.HasSuffix(plain, ".npz")):
		return nil, fmt.Errorf("%s: only texts are read in gzip or zstd: unpack it first", path)
	case planetoid:
		return Planetoid(dir, strings.TrimSuffix(name, ".test")) // of the part test.index
	case strings.HasSuffix(base, ".npz"):
		return NPZ(path)
	case strings.HasSuffix(plain, ".mtx"):
		return MatrixMarket(path)
	case strings.HasSuffix(plain, ".content"), strings.HasSuffix(plain, ".cites"):
		return LINQS(path)
	case base == webPages, base == webLinks:
		return WebKB(dir)
	case archived:
		return readArchive(path, o)
	case strings.HasSuffix(plain, ".mat"):
		return nil, matlab(path)
	}
	if why := unread(plain); why != "" {
		return nil, fmt.Errorf("%s: %s", path, why)
	}
	if read := drawn(plain); read != nil {
		return opened(path, func(r io.Reader, path string) (*Dataset, error) { return read(r, path, o) })
	}
	edges, nodes := (shelf{dir: dir}).family(plain)
	if edges != plain || len(nodes) > 0 || strings.HasSuffix(plain, ".json") {
		return readTables(shelf{dir: dir}, plain, o)
	}
	return opened(path, func(r io.Reader, path string) (*Dataset, error) { return edgeList(r, path, o) })
}

// drawings are the endings of graphs whose nodes and edges have attributes by name.
var drawings = []string{".graphml", ".dot", ".gv"}

// drawn returns what reads a file of one of these endings, nil of another.
func drawn(name string) func(r io.Reader, path string, o *chosen) (*Dataset, error) {
	switch filepath.Ext(name) {
	case ".graphml":
		return graphML
	case ".dot", ".gv":
		return dot
	}
	return nil
}

// unread says of a file that is often met and not read here what to do; "" of another.
func unread(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson":
		return "lines of JSON are many graphs, for ReadGraphs and --task graph"
	case ".gexf", ".gml":
		return "its form is not read: write GraphML, as networkx.write_graphml does"
	case ".pt", ".pth", ".pkl", ".pickle", ".gpickle":
		return "objects of Python are not read: write the arrays, numpy.savez(path, edge_index=…, x=…, y=…)"
	case ".xlsx", ".xls", ".ods", ".parquet", ".feather":
		return "such tables are not read: save them as CSV, NAME_nodes.csv and NAME_edges.csv"
	}
	return ""
}

// forms are what a folder is searched for, one after the other.
var forms = [][]string{{"ind.*.allx"}, {webLinks}, {"*.content"}, {"*.npz"}, {"*.mtx"}, tables, drawings, lists, {".json"}, {".mat"}}

// isArchive reports whether a file is called like an archive of files.
func isArchive(path string) bool {
	return slices.Contains([]string{".zip", ".tar", ".tgz"}, filepath.Ext(unpack.Plain(path)))
}

// foldersAndArchives returns the paths of what in a folder may have a dataset inside, the first few of many.
func foldersAndArchives(dir string) (found []string) {
	all, _ := os.ReadDir(dir) // a folder that cannot be read has failed before
	for _, e := range all {
		if hidden := strings.HasPrefix(e.Name(), "."); !hidden && (e.IsDir() || isArchive(e.Name())) && len(found) < namesMost {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found
}

// readFolder reads the one dataset whose files are in a folder.
func readFolder(dir string, o *chosen) (*Dataset, error) {
	if isOGB(dir) {
		return readOGB(dir, o)
	}
	for _, patterns := range forms {
		names, err := entries(dir, patterns)
		if err != nil {
			return nil, err
		}
		if slices.Equal(patterns, tables) {
			edges, err := shelf{dir: dir}.tablesIn(names)
			if err != nil || edges != "" {
				return tablesOr(edges, shelf{dir: dir}, o, err)
			}
			continue
		}
		switch n := len(names); {
		case n > 0 && slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(unpack.Plain(name), tuIndicator) }):
			return nil, fmt.Errorf("%s: it has many graphs in it, for ReadGraphs and --task graph", dir)
		case n == 1:
			return readPath(filepath.Join(dir, names[0]), o)
		case n > namesMost:
			names = append(names[:namesMost:namesMost], fmt.Sprintf("or %d more", n-namesMost))
			fallthrough
		case n > 1:
			return nil, fmt.Errorf("%s: there are several datasets in it: name one of %s", dir, strings.Join(names, ", "))
		}
	}
	if inside := foldersAndArchives(dir); len(inside) > 0 {
		return nil, fmt.Errorf("%s: there is no dataset in it, but there may be one inside of %s: name that", dir, strings.Join(inside, ", "))
	}
	return nil, fmt.Errorf("%s: there is no dataset in it that is known: no ind.NAME.allx, NAME.content, NAME.npz, NAME.mtx, NAME.graphml, NAME.dot, NAME.json or list of edges (%s)", dir, strings.Join(lists, ", "))
}

// tables are the endings of files that may be a family of tables.
var tables = append(slices.Clone(tableEndings), ".json")

// tablesOr reads tables unless there is an error already.
func tablesOr(edges string, s shelf, o *chosen, err error) (*Dataset, error) {
	if err != nil {
		return nil, err
	}
	return readTables(s, edges, o)
}

// namesMost is how many names an error lists.
const namesMost = 10

// readArchive reads the dataset in a zip or tar archive: of LINQS, or one matrix
// or one list of edges.
func readArchive(path string, o *chosen) (*Dataset, error) {
	f, err := unpack.OpenFolder(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Find(".content") != "" {
		if err := o.notChosen(path); err != nil {
			return nil, err
		}
		return linqs(f, path, "")
	}
	if hasOGB(f) {
		return readOGB(path, o)
	}
	s := shelf{dir: path, archive: f}
	if edges, err := s.tablesIn(f.All("")); err != nil || edges != "" {
		return tablesOr(edges, s, o, err)
	}
	for _, form := range []struct {
		endings []string
		read    func(r io.Reader, path string, o *chosen) (*Dataset, error)
	}{{[]string{".graphml"}, graphML}, {[]string{".dot", ".gv"}, dot}, {[]string{".mtx"}, unchosen(matrixMarket)}, {lists, edgeList}, {[]string{".json"}, unchosen(edgeJSON)}} {
		var names []string
		for _, ending := range form.endings {
			names = append(names, f.All(ending)...)
		}
		if names = slices.DeleteFunc(names, isReadme); len(names) != 1 {
			continue
		}
		r, err := f.Open(names[0])
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return form.read(r, filepath.Join(path, names[0]), o)
	}
	return nil, fmt.Errorf("%s: there is no file NAME.content in it, and not one NAME.mtx, NAME.graphml, NAME.dot, NAME.json or list of edges (%s): unpack it, and name the file that you want", path, strings.Join(lists, ", "))
}

// unchosen is read of files that have no columns to say anything of.
func unchosen(read func(r io.Reader, path string) (*Dataset, error)) func(io.Reader, string, *chosen) (*Dataset, error) {
	return func(r io.Reader, path string, o *chosen) (*Dataset, error) {
		if err := o.notChosen(path); err != nil {
			return nil, err
		}
		return read(r, path)
	}
}

// isReadme reports whether a file is a README or a licence, and so no data.
func isReadme(name string) bool {
	name = strings.ToLower(filepath.Base(name))
	return strings.HasPrefix(name, "readme") || strings.HasPrefix(name, "license")
}

// entries returns the files of a folder that match one of the patterns, which may
// be endings, perhaps in gzip or zstd.
func entries(dir string, patterns []string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range list {
		if e.IsDir() || isReadme(e.Name()) {
			continue
		}
		for _, p := range patterns {
			if p[0] == '.' {
				p = "*" + p
			}
			if ok, err := filepath.Match(p, unpack.Plain(e.Name())); err == nil && ok {
				names = append(names, e.Name())
				break
			}
		}
	}
	return names, nil
}
