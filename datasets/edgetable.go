package datasets

import (
	"fmt"
	"io"
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

// edgeTable reads a table of edges.
func edgeTable(r io.Reader, path string, budget *unpack.Budget) (*namedEdges, error) {
	e := &namedEdges{path: path, unit: "line", names: names{budget: budget}}
	t, err := table.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	from, to := -1, -1
	for _, pair := range endColumns {
		if from, to = column(t.Columns, pair[0]), column(t.Columns, pair[1]); from >= 0 && to >= 0 {
			break
		}
	}
	if from < 0 || to < 0 {
		return nil, fmt.Errorf("%s: line %d: of the columns %s no two are the ends of an edge: call them source and target; a table of nodes goes beside that of its edges, NAME_nodes.csv beside NAME_edges.csv", path, t.Line(), listed(t.Columns))
	}
	weight := column(t.Columns, weightColumns...)
	for t.Next() {
		f := t.Fields()
		if err := e.add(f[from], f[to], t.Line()); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, t.Line(), err)
		}
		if weight < 0 {
			continue
		}
		w, err := strconv.ParseFloat(string(f[weight]), 64)
		if err == nil {
			err = e.weigh(w)
		} else {
			err = fmt.Errorf("the weight is %.40q, want a finite number", f[weight])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d, column %.40q: %w", path, t.Line(), t.Columns[weight], err)
		}
	}
	if err := t.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}
