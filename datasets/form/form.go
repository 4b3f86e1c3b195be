package form

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cells"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// Form is a way in which graphs lie in files: a row of the table of forms.
type Form struct {
	Name    string   // such as "npz"; Options and errors say it
	Endings []string // of the files that it is read from, such as ".csv", without those of gzip and zstd; or whole names, such as "ind.NAME.allx"
	Says    string   // what it is, in a line for docs and errors
	Under   []string // the folders beside the main file in which others of its files lie; "*" is any

	// Opens reports whether the files of a folder or archive are of this form, of which names holds the paths (slashes, in
	// order, as they lie there: perhaps ending in .gz or .zst). It returns the main file of what it would read: what Read is called with. An error
	// says why it cannot be told, such as several datasets side by side. "" means that the form is not there. Without it the form is read only if it is named.
	Opens func(names []string) (main string, err error)
	// Takes reports whether a file that is named is of this form, and returns what Read is called with. Without it a
	// form takes what Opens says of the file alone.
	Takes func(f *Files, name string) (main string)
	// Read reads the files of a folder or archive, beginning with main.
	Read func(f *Files, main string, o Options) (*Raw, error)
	// Belongs returns those of names that Read reads with main, main among them. Without it main is alone.
	Belongs func(names []string, main string) []string
}

// main returns the main file of the form among some of a folder or an archive, "" if it is not there.
func (form *Form) main(names []string) (string, error) {
	if form.Opens == nil {
		return "", nil
	}
	return form.Opens(names)
}

// takes returns the main file of the form if it reads the file of that name, "" if it does not.
func (form *Form) takes(f *Files, name string) string {
	if form.Takes != nil {
		return form.Takes(f, name)
	}
	main, err := form.main([]string{name})
	if err != nil {
		return ""
	}
	return main
}

// belongs returns the files that are read with main.
func (form *Form) belongs(names []string, main string) []string {
	if form.Belongs == nil {
		return []string{main}
	}
	return form.Belongs(names, main)
}

// candidates returns those of a folder's files in which the form is looked for: those at the top, and those in the
// folders under which the form has others.
func (form *Form) candidates(names []string) (some []string) {
	for _, name := range names {
		dir, _, inner := strings.Cut(name, "/")
		if !inner || slices.Contains(form.Under, dir) || slices.Contains(form.Under, "*") {
			some = append(some, name)
		}
	}
	return some
}

// namesMost is how many names an error lists.
const namesMost = 10

// several is the error for a folder or archive in which several files could be what is meant.
type several struct{ names []string }

func (s *several) Error() string {
	names := s.names
	if n := len(names); n > namesMost {
		names = append(names[:namesMost:namesMost], fmt.Sprintf("or %d more", n-namesMost))
	}
	return "there are several datasets in it: name one of " + strings.Join(names, ", ")
}

// only returns the one of some names, "" if there is none.
func only(names []string) (string, error) {
	switch len(names) {
	case 0:
		return "", nil
	case 1:
		return names[0], nil
	}
	return "", &several{names}
}

// ending returns those of names whose plain names end in one of the endings.
func ending(names []string, endings ...string) (some []string) {
	for _, name := range names {
		plain := path.Base(unpack.Plain(name))
		if slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(plain, e) }) {
			some = append(some, name)
		}
	}
	return some
}

// one returns an Opens that looks for a single file of some endings.
func one(endings ...string) func(names []string) (string, error) {
	return func(names []string) (string, error) { return only(ending(names, endings...)) }
}

// Options say what the columns of tables are called that say which row is which. A field that is empty
// stands for the usual names.
type Options struct {
	ID             string // of a table of nodes: the column that names each node
	Source, Target string // of a table of edges: the columns of an edge's ends
	EdgeID         string // of a table of edges: the column that names each edge; empty: none
	As             string // the form to read the files in, by its name in the table of forms; empty: as their names and contents say
	Others         []Form // forms beside those of this package, such as Parquet's
}

// What the columns are usually called. Names are compared by [Plain].
var (
	IDNames     = []string{"new_id", "id", "node_id", "nodeid", "node", "index", ""} // new_id: MUSAE's edges have it, not its id
	LabelNames  = []string{"label", "labels", "class", "classes", "category", "target", "y", "group", "ml_target", "page_type", "mature"}
	PartNames   = []string{"split", "set", "subset", "partition"}
	TitleNames  = []string{"name", "title", "node_name", "page_name"}
	WeightNames = []string{"weight", "weights", "edge_weight", "value", "w"}
	EndNames    = [][2]string{
		{"source", "target"}, {"src", "dst"}, {"from", "to"}, {"u", "v"}, {"node1", "node2"}, {"node_1", "node_2"}, {"id1", "id2"}, {"id_1", "id_2"},
		{"source_id", "target_id"}, {"src_id", "dst_id"}, {"from_id", "to_id"}, {"fromnodeid", "tonodeid"}, {"from_node", "to_node"}, {"source_node", "target_node"},
	}
	NodeKindNames = []string{"kind", "node_type", "node_kind", "type"}
	EdgeKindNames = []string{"relation", "rel", "edge_type", "edge_kind", "kind", "type"}
)

// Plain returns a column's name as names are compared: in lower case, with underscores for blanks, dots and
// hyphens.
func Plain(name string) string { return cells.Plain(name) }

// TimeOf returns the moment that a text means as a cell of a column of times: one that is written out, the digits of a date,
// or a number of seconds since 1970 or what is finer.
func TimeOf(text string) (micros int64, ok bool) { return cells.TimeOf(text) }

// WholeOf returns the largest whole number that is not above the number that a text is. Those of 64 bits are exact.
func WholeOf(text string) (n int64, ok bool) { return cells.WholeOf(text) }
