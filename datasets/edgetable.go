package datasets

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// endColumns are what the columns of an edge's ends are called.
var endColumns = [][2]string{
	{"source", "target"}, {"src", "dst"}, {"from", "to"}, {"u", "v"}, {"node1", "node2"}, {"node_1", "node_2"}, {"id1", "id2"}, {"id_1", "id_2"},
	{"source_id", "target_id"}, {"src_id", "dst_id"}, {"from_id", "to_id"}, {"fromnodeid", "tonodeid"}, {"from_node", "to_node"}, {"source_node", "target_node"},
}

// weightColumns are what the column of their weights is called.
var weightColumns = []string{"weight", "weights", "edge_weight", "value", "w"}

// column returns where the first of the names is among a table's columns, −1 if none
// is there. Case does not count, and blanks, dots and hyphens are as underscores.
func column(columns []string, names ...string) int {
	for _, name := range names {
		for i, c := range columns {
			if plainColumn(c) == name {
				return i
			}
		}
	}
	return -1
}

var toUnderscores = strings.NewReplacer(" ", "_", "-", "_", ".", "_")

func plainColumn(c string) string { return toUnderscores.Replace(strings.ToLower(c)) }

// listed returns the columns' names for a message, in quotes and not too many.
func listed(columns []string) string {
	var out []string
	for i, c := range columns {
		if i == namesMost {
			out = append(out, fmt.Sprintf("and %d more", len(columns)-i))
			break
		}
		out = append(out, fmt.Sprintf("%.40q", c))
	}
	return strings.Join(out, ", ")
}

// edgeNothings are columns of edges that say nothing: their numbers.
var edgeNothings = []string{"", "id", "edge_id", "edgeid", "index"}

// edgeReader reads a table of edges.
type edgeReader struct {
	*namedEdges
	columns               []string
	plain                 []bool // columns whose numbers are words, too; nil: none
	from, to, weight, set int    // columns, −1: none
	features, labelled    []int
}

// edgeTable reads a table of edges.
func edgeTable(r io.Reader, path string, budget *unpack.Budget, o *chosen) (*namedEdges, error) {
	t, err := table.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	e := &edgeReader{namedEdges: &namedEdges{path: path, unit: "line", names: names{budget: budget}, both: o.undirected}, columns: t.Columns}
	if err := e.assign(o); err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", path, t.Line(), err)
	}
	for t.Next() {
		if err := e.row(t.Fields(), t.Line()); err != nil {
			return nil, fmt.Errorf("%s: line %d%w", path, t.Line(), err)
		}
	}
	if err := t.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e.namedEdges, nil
}

// assign says what each column is.
func (e *edgeReader) assign(o *chosen) (err error) {
	columns := e.columns
	for _, pair := range endColumns {
		if e.from, e.to = column(columns, pair[0]), column(columns, pair[1]); e.from >= 0 && e.to >= 0 {
			break
		}
	}
	if e.from < 0 || e.to < 0 {
		return fmt.Errorf("of the columns %s no two are the ends of an edge: call them source and target, or, if the first line is an edge itself, write source,target above it; a table of nodes goes beside that of its edges, NAME_nodes.csv beside NAME_edges.csv", listed(columns))
	}
	labels, without := o.of(columns)
	e.weight, e.set = column(columns, weightColumns...), column(columns, splitColumns...)
	for _, i := range labels {
		e.learnt = append(e.learnt, columns[i])
	}
	if e.labelled = labels; len(labels) == 0 {
		e.set = -1
	}
	for _, i := range slices.Concat(labels, without) {
		if e.weight == i {
			e.weight = -1
		}
		if e.set == i {
			e.set = -1
		}
	}
	for _, i := range slices.Concat(labels, without) {
		if i == e.from || i == e.to {
			return fmt.Errorf("the column %.40q is an end of the edges, which is neither to be learnt nor left out", columns[i])
		}
	}
	var features []string
	used := append([]int{e.from, e.to, e.weight, e.set, column(columns, splitColumns...)}, labels...)
	for i, c := range columns {
		if !slices.Contains(used, i) && !slices.Contains(without, i) && !slices.Contains(edgeNothings, plainColumn(c)) {
			e.features, features = append(e.features, i), append(features, c)
		}
	}
	e.moments = newMoments(columns, func(i int) bool { return i != e.from && i != e.to && !slices.Contains(labels, i) }, e.names.budget)
	if e.cells, err = newColumns(features, e.names.budget); err != nil {
		return err
	}
	for k, i := range e.features {
		e.cells.list[k].says(e.moments.of(i))
		e.cells.list[k].plain = e.plain != nil && e.plain[i]
	}
	return nil
}

// row takes the fields of a row. Its errors begin with what follows the line's number.
func (e *edgeReader) row(f [][]byte, line int) error {
	if err := e.add(f[e.from], f[e.to], line); err != nil {
		return fmt.Errorf(": %w", err)
	}
	if e.weight >= 0 {
		w, err := strconv.ParseFloat(string(f[e.weight]), 64)
		if err == nil {
			err = e.weigh(w)
		} else {
			err = fmt.Errorf("the weight is %.40q, want a finite number", f[e.weight])
			if len(f[e.weight]) == 0 {
				err = errors.New("the edge has no weight, and others have one: write it, 1 perhaps, or leave the column out with #- and its name after the file's")
			}
		}
		if err != nil {
			return e.inColumn(e.weight, err)
		}
	}
	return e.described(f, line)
}

// described takes what the fields of a row say beside the ends and the weight.
func (e *edgeReader) described(f [][]byte, line int) error {
	for _, i := range e.labelled {
		if err := e.answer(f[i]); err != nil {
			return e.inColumn(i, err)
		}
	}
	if e.set >= 0 {
		part, ok := partOf(string(f[e.set]))
		if !ok {
			return e.inColumn(e.set, noPart(f[e.set]))
		}
		e.parts = append(e.parts, part)
	}
	for k, i := range e.features {
		if err := e.cells.cell(k, f[i], line); err != nil {
			return e.inColumn(i, err)
		}
	}
	e.cells.endRow()
	return e.moments.row(f, line)
}

// answer takes what is to be learnt of the last edge, or one of several numbers of it.
func (e *edgeReader) answer(text []byte) error {
	if len(e.labelled) == 1 {
		e.labels = append(e.labels, string(text))
		return e.names.budget.Keep(nameTakes / 4)
	}
	v, err := answerOf(text)
	if err != nil {
		return err
	}
	e.answers.add(v)
	return e.names.budget.Keep(8)
}

func (e *edgeReader) inColumn(i int, err error) error {
	return fmt.Errorf(", column %.40q: %w", e.columns[i], err)
}

// noPart is the error for a word that is no part of a split.
func noPart[T string | []byte](text T) error {
	return fmt.Errorf("%.40q is no part of a split: want train, val or test, or nothing", text)
}
