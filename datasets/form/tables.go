package form

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cells"
	"github.com/edgewise-ml/edgewise/internal/edgelist"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// tablesForm is tables of nodes and of edges, as programs export them: each with a line that names the columns, and then
// a row a line. NAME_edges.csv belongs with NAME_nodes.csv, NAME_target.csv, NAME_labels.csv or NAME_features.csv or
// .json; of several types nodes_TYPE.csv belong with edges_FROM_KIND_TO.csv. NAME_ may be left out.
var tablesForm = Form{
	Name:    "tables",
	Endings: tableEndings,
	Says:    "tables whose first lines name the columns: NAME_nodes.csv and NAME_edges.csv, or nodes_TYPE.csv and edges_FROM_KIND_TO.csv",
	Opens:   tablesIn,
	Takes: func(f *Files, name string) string {
		if len(Family(f.Names(), name, familyEndings)) > 1 {
			return name
		}
		return ""
	},
	Read: readTables,
	Belongs: func(names []string, main string) (all []string) {
		for _, m := range Family(names, main, familyEndings) {
			all = append(all, m.File)
		}
		return all
	},
}

// tableEndings are those of tables, and familyEndings of all that may belong to them.
var (
	tableEndings  = []string{".csv", ".tsv", ".txt"}
	familyEndings = append(slices.Clone(tableEndings), ".json")
)

// tablesIn returns the main table of the one family of some files, "" if there is none: that of edges which has one of
// nodes beside it; or else of nodes alone, if there are no other files.
func tablesIn(names []string) (main string, err error) {
	whole, alone := familiesIn(names, familyEndings)
	if len(whole) > 0 {
		return only(whole)
	}
	if len(alone) != 1 {
		return "", nil
	}
	members := Family(names, alone[0], familyEndings)
	if _, rest, _ := partOfName(alone[0], tableEndings); len(members) == len(names) && strings.HasPrefix(rest, "nodes") {
		return alone[0], nil
	}
	return "", nil
}

// readTables reads a family of tables.
func readTables(f *Files, main string, o Options) (*Raw, error) {
	r := &tableReader{files: f, options: o}
	raw, err := f.ReadFamily(main, familyEndings, o, r.read)
	if err == nil {
		raw.Unread = r.unread
	}
	return raw, err
}

// tableReader reads a family of tables.
type tableReader struct {
	files   *Files
	options Options
	unread  []string
}

// read reads a table of the family.
func (r *tableReader) read(m Member) ([]Named, error) {
	at := r.files.At(m.File)
	if path.Ext(unpack.Plain(m.File)) == ".json" {
		return r.json(m)
	}
	file, err := r.files.Open(m.File)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b := bufio.NewReaderSize(table.Text(file), peeked)
	if start, _ := b.Peek(peeked); m.Of != OfNodes && !table.Named(start) { // an error comes again as it is read
		list := &numberedEdges{budget: unpack.BudgetOf(file)}
		if err := edgelist.Read(b, list.add); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		ids, src, dst := list.number()
		return []Named{r.edges(m, &Table{Rows: len(src), Origin: Origin{File: at, Unit: "edge", First: 1}}, ids.Texts, src, dst)}, nil
	}
	n := m.Named(Table{})
	t, err := readCSV(b, unpack.BudgetOf(file), at, func(names []string) (cells.Plan, error) { return n.plan(names, r.options) })
	if err != nil {
		return nil, err
	}
	n.Table = *t
	return []Named{n}, nil
}

// plan says how the columns of a text are read.
func (t *Named) plan(names []string, o Options) (p cells.Plan, err error) {
	p.As = make([]cells.As, len(names))
	k, err := t.keys(names, o)
	switch none := (*noEnds)(nil); {
	case errors.As(err, &none):
		err = fmt.Errorf("%w, or, if the first line is an edge itself, write source,target above it; a table of nodes goes beside that of its edges, NAME_nodes.csv beside NAME_edges.csv", err)
		if _, _, other := usersAndItems(names, o); other == nil {
			err = fmt.Errorf("%w; users and items are read by the form %s, with --task link", err, interactionsForm.Name)
		}
		return p, err
	case err != nil:
		return p, err
	case k.of == OfEdges:
		p.As[k.from], p.As[k.to] = cells.AsEnds, cells.AsEnds
	default:
		for i, name := range names {
			if name := Plain(name); name != "" && slices.Contains(IDNames, name) || slices.Contains(TitleNames, name) {
				p.As[i] = cells.AsWords
			}
		}
	}
	if k.id >= 0 {
		p.As[k.id] = cells.AsIDs
	}
	return p, nil
}

// edges returns edges between nodes of which each has an id.
func (r *tableReader) edges(m Member, t *Table, ids []string, source, target []int32) Named {
	column := func(name string, codes []int32) Column {
		return Column{Name: name, Type: Word, Words: &Words{Texts: ids, Codes: codes}}
	}
	t.Columns = append([]Column{
		column(cmp.Or(r.options.Source, EndNames[0][0]), source), column(cmp.Or(r.options.Target, EndNames[0][1]), target),
	}, t.Columns...)
	n := m.Named(*t)
	n.Of = OfEdges
	return n
}

// json reads edges, and perhaps nodes, of JSON, or what it says of nodes.
func (r *tableReader) json(m Member) ([]Named, error) {
	if m.Of == OfNodes {
		t, err := featuresJSON(r.files, m.File, r.options)
		if err != nil {
			return nil, err
		}
		return []Named{m.Named(*t)}, nil
	}
	raw, err := graphJSON(r.files, m.File, r.options)
	if err != nil {
		return nil, err
	}
	if len(raw.Edges) != 1 || len(raw.Nodes) != 1 || raw.Nodes[0].IDs == nil {
		return nil, fmt.Errorf("%s: it is no list of edges between nodes of one type, to which other tables may belong", r.files.At(m.File))
	}
	r.unread = raw.Unread
	e, nodes := &raw.Edges[0], &raw.Nodes[0]
	tables := []Named{r.edges(m, &e.Table, nodes.IDs.Texts, e.Source, e.Target)}
	if nodes.Listed > 0 {
		nodes.pick(span(0, nodes.Listed))
		tables = append(tables, Named{Table: nodes.Table, Of: OfNodes})
	}
	return tables, nil
}

// listed returns the columns' names for a message, in quotes and not too many.
func listed(columns []string) string {
	const most = 10
	var out []string
	for _, c := range columns[:min(most, len(columns))] {
		out = append(out, fmt.Sprintf("%.40q", c))
	}
	if more := len(columns) - most; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

// likelyID returns the column that may name the rows, as a shell takes it: the first whose name ends in id, or else the first.
func likelyID(columns []string) string {
	for _, c := range columns {
		if strings.HasSuffix(strings.ToLower(c), "id") {
			columns = []string{c}
			break
		}
	}
	if len(columns) == 0 {
		return "COLUMN"
	}
	if name := columns[0]; !strings.ContainsAny(name, " \t'\"$`\\;&|<>()*?[]#~") {
		return name
	}
	return "'" + strings.ReplaceAll(columns[0], "'", `'\''`) + "'"
}

// columnOf returns where a column is: the one that was chosen, or the first of the usual names that is there, −1 if
// none is.
func columnOf(columns []string, chosen string, usual ...string) (int, error) {
	if chosen != "" {
		if i := cmp.Or(slices.Index(columns, chosen), -1); i >= 0 {
			return i, nil
		}
		usual = []string{Plain(chosen)}
	}
	for _, name := range usual {
		if i := slices.IndexFunc(columns, func(c string) bool { return Plain(c) == name }); i >= 0 {
			return i, nil
		}
	}
	if chosen != "" {
		return -1, fmt.Errorf("there is no column %.40q; there are %s", chosen, listed(columns))
	}
	return -1, nil
}
