package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CutColumns cuts a path as [Read] takes it, such as people_edges.csv#churned, into that of
// the file or folder and what is said of its columns. Where a file has the whole name, that
// is meant.
func CutColumns(path string) (file, columns string) {
	at := strings.LastIndexByte(path, '#')
	if at < 0 {
		return path, ""
	}
	if _, err := os.Stat(path); err == nil {
		return path, ""
	}
	return path[:at], path[at+1:]
}

// chosen is what was said of a file's columns.
type chosen struct {
	labels     []string // columns that are to be learnt; none: those that are called so
	without    []string // columns that are left out
	undirected bool     // both directions of each edge are meant
	found      []string // those of labels and without that there are
	all        []string // columns of the tables
}

// cutChosen is CutColumns of which the columns are read.
func cutChosen(path string) (file string, o *chosen) {
	file, text := CutColumns(path)
	o = new(chosen)
	if text == "" {
		return file, o
	}
	for _, name := range strings.Split(text, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case name == "undirected":
			o.undirected = true
		case name[0] == '-':
			o.without = append(o.without, plainColumn(name[1:]))
		default:
			o.labels = append(o.labels, plainColumn(name))
		}
	}
	return file, o
}

// any reports whether anything was said.
func (o *chosen) any() bool { return o.undirected || len(o.labels)+len(o.without) > 0 }

// of returns which of a table's columns are to be learnt and which are left out.
func (o *chosen) of(columns []string) (labels, without []int) {
	if len(o.labels)+len(o.without) == 0 {
		return nil, nil
	}
	for i, c := range columns {
		c = plainColumn(c)
		o.all = append(o.all, c)
		if k := slices.Index(o.labels, c); k >= 0 {
			labels = append(labels, i)
			o.found = append(o.found, c)
		}
		if slices.Contains(o.without, c) {
			without = append(without, i)
			o.found = append(o.found, c)
		}
	}
	return labels, without
}

// check returns an error if a column is in no table.
func (o *chosen) check(path string) error {
	for _, name := range slices.Concat(o.labels, o.without) {
		switch {
		case slices.Contains(o.found, name):
		case len(o.all) == 0:
			return fmt.Errorf("%s: there is no column %.40q: columns of tables, GraphML and DOT have names, and nothing else does", path, name)
		default:
			return fmt.Errorf("%s: there is no column %.40q; there are %s", path, name, listed(o.all))
		}
	}
	return nil
}

// notChosen returns an error if something was said of columns of a file that has none.
func (o *chosen) notChosen(path string) error {
	if !o.any() {
		return nil
	}
	return fmt.Errorf("%s: what follows # says which columns of a table to learn, and %s is read as another form", path, filepath.Base(path))
}
