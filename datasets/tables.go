package datasets

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/edgelist"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// nodeFiles are what files of nodes are called beside one of edges: of NAME_edges.csv
// NAME_nodes.csv and so on.
var nodeFiles = []string{"nodes", "target", "targets", "labels", "node_features", "features"}

// tableEndings are those of tables.
var tableEndings = []string{".csv", ".tsv", ".txt"}

// Tables reads a table of edges, and those of nodes that belong to it: edges.csv and
// nodes.csv, or NAME_edges.csv with NAME_nodes.csv, NAME_target.csv, NAME_labels.csv or
// NAME_features.csv or .json, each perhaps in gzip or zstd; path is any of them. Each
// table has a first line that names its columns, as docs/use/datasets.md lists them: the ends
// of an edge (source and target) and perhaps its weight; a node's id, and perhaps its
// label, the part of the split that it is in, and its name. Other columns are features, of
// nodes and of edges: numbers as they are; of words, of which a column may have 100, a
// feature each; times as days since the earliest. Ids are any words. Nodes are in the order
// of their numbers, or else of their table; edges keep their direction.
//
// What follows a # says more, between commas: the column that is to be learnt, of nodes or
// of edges, or several of nodes, which are numbers or 0 and 1; columns that are left out,
// after a hyphen; and undirected, if both directions of each edge are meant:
//
//	d, err := datasets.Tables("people_edges.csv#churned,-phone,undirected")
func Tables(path string) (*Dataset, error) {
	file, o := cutChosen(path)
	return readTables(shelf{dir: filepath.Dir(file)}, unpack.Plain(filepath.Base(file)), o)
}

// shelf is where files lie side by side: a folder of the disk, or of an archive.
type shelf struct {
	dir     string
	archive *unpack.Folder // nil: the disk's
}

// find returns the name of a file, which may be in gzip or zstd; "" if it is not there.
func (s shelf) find(name string) string {
	if s.archive != nil {
		if slices.ContainsFunc(s.archive.All(name), func(n string) bool { return unpack.Plain(n) == name }) {
			return name
		}
		return ""
	}
	for _, packed := range []string{"", ".gz", ".zst"} {
		if info, err := os.Stat(filepath.Join(s.dir, name+packed)); err == nil && info.Mode().IsRegular() {
			return name + packed
		}
	}
	return ""
}

// open opens a file, which find has found.
func (s shelf) open(name string) (io.ReadCloser, error) {
	if s.archive != nil {
		return s.archive.Open(name)
	}
	return unpack.Open(filepath.Join(s.dir, name))
}

// edgesPrefix returns the prefix of a file's name if it is one of edges.
func edgesPrefix(name string) (prefix string, ok bool) {
	ext := filepath.Ext(name)
	if !slices.Contains(tableEndings, ext) && ext != ".json" {
		return "", false
	}
	prefix, ok = strings.CutSuffix(strings.TrimSuffix(name, ext), "edges")
	return prefix, ok && (prefix == "" || strings.ContainsAny(prefix[len(prefix)-1:], "_-./"))
}

// besides returns the files of nodes beside that of edges.
func (s shelf) besides(prefix string) (files []string) {
	for _, kind := range nodeFiles {
		endings := tableEndings
		if strings.HasSuffix(kind, "features") {
			endings = append(slices.Clone(endings), ".json")
		}
		for _, ext := range endings {
			if name := s.find(prefix + kind + ext); name != "" {
				files = append(files, name)
				break
			}
		}
	}
	return files
}

// family returns the table of edges that a file is, or belongs to, and those of nodes.
func (s shelf) family(name string) (edges string, nodes []string) {
	if prefix, ok := edgesPrefix(name); ok {
		return name, s.besides(prefix)
	}
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	for _, kind := range nodeFiles {
		prefix, ok := strings.CutSuffix(stem, kind)
		for _, ext := range append(slices.Clone(tableEndings), ".json") {
			if _, known := edgesPrefix(prefix + "edges" + ext); ok && known && s.find(prefix+"edges"+ext) != "" {
				return prefix + "edges" + ext, s.besides(prefix)
			}
		}
	}
	return name, nil
}

// readTables reads a family of tables.
func readTables(s shelf, name string, o *chosen) (*Dataset, error) {
	edges, nodes := s.family(name)
	e, tables, err := read(s, edges, func(r io.Reader, path string) (*namedEdges, []*namedNodes, error) {
		return edgesOrJSON(r, path, o)
	})
	if err != nil {
		return nil, err
	}
	bare := len(nodes) > 1 && strings.Contains(nodes[len(nodes)-1], "features")
	for i, name := range nodes {
		t, _, err := read(s, name, func(r io.Reader, path string) (*namedNodes, []*namedNodes, error) {
			if strings.HasSuffix(unpack.Plain(path), ".json") {
				t, err := featuresJSON(r, path)
				return t, nil, err
			}
			t, err := nodeTable(r, path, bare && i < len(nodes)-1, o)
			return t, nil, err
		})
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	if err := o.check(filepath.Join(s.dir, name)); err != nil {
		return nil, err
	}
	d, err := e.dataset(tables)
	if err == nil {
		d.Name = titleOf(familyName(s.dir, edges))
	}
	return d, err
}

// familyName returns what the files of a family have in common, or else their folder.
func familyName(dir, edges string) string {
	prefix, ok := edgesPrefix(filepath.Base(edges))
	if prefix = strings.TrimRight(prefix, "_-."); ok && prefix != "" {
		return prefix
	} else if ok {
		if whole, err := filepath.Abs(dir); err == nil {
			return stem(whole)
		}
	}
	return stem(edges)
}

// read opens a file of a shelf and reads it.
func read[T any](s shelf, name string, from func(io.Reader, string) (T, []*namedNodes, error)) (out T, also []*namedNodes, err error) {
	found := s.find(name)
	if found == "" {
		found = name
	}
	path := filepath.Join(s.dir, filepath.FromSlash(found))
	r, err := s.open(found)
	if err != nil {
		return out, nil, err
	}
	defer r.Close()
	return from(r, path)
}

// edgesOrJSON reads edges as a table, or a list of numbers, or JSON, which may say more.
func edgesOrJSON(r io.Reader, path string, o *chosen) (*namedEdges, []*namedNodes, error) {
	if strings.HasSuffix(unpack.Plain(path), ".json") {
		return graphJSON(r, path, o)
	}
	b, budget := bufio.NewReaderSize(table.Text(r), peeked), unpack.BudgetOf(r)
	if isTable(b) {
		e, err := edgeTable(b, path, budget, o)
		return e, nil, err
	}
	e, number := &namedEdges{path: path, unit: "edge", names: names{budget: budget}, both: o.undirected}, []byte(nil)
	err := edgelist.Read(b, func(u, v int64) error {
		number = strconv.AppendInt(number[:0], u, 10)
		middle := len(number)
		number = strconv.AppendInt(number, v, 10)
		return e.add(number[:middle], number[middle:], e.src.n+1)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil, nil
}

// peeked is how much of a text is looked at to tell a table from a list.
const peeked = 1 << 16

// isTable reports whether a text begins with a line that names columns.
func isTable(b *bufio.Reader) bool {
	start, _ := b.Peek(peeked) // an error comes again as it is read
	return table.Named(start)
}

// tablesIn returns the only table of edges of some files that has one of nodes beside
// it, "" if there is none.
func (s shelf) tablesIn(names []string) (edges string, err error) {
	for _, name := range names {
		name = unpack.Plain(name)
		prefix, ok := edgesPrefix(name)
		if !ok || len(s.besides(prefix)) == 0 {
			continue
		}
		if edges != "" {
			return "", fmt.Errorf("%s: there are several datasets in it: name one of %s, %s", s.dir, edges, name)
		}
		edges = name
	}
	return edges, nil
}

// edgeJSON is [JSON] of a text, without the files beside it.
func edgeJSON(r io.Reader, path string) (*Dataset, error) {
	e, nodes, err := graphJSON(r, path, new(chosen))
	if err != nil {
		return nil, err
	}
	d, err := e.dataset(nodes)
	if err == nil {
		d.Name = titleOf(stem(path))
	}
	return d, err
}
