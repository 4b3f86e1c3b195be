package datasets

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// jsonMembers is what nodes or links in JSON say beside what every reader knows, while they are
// read: a table whose columns turn up as they are met.
type jsonMembers struct {
	noun    string // node or link
	columns []string
	of      map[string]int32
	cells   chunkedSlice[jsonCell]
}

// jsonCell is what an object says in a column.
type jsonCell struct {
	row, column int32
	text        string
}

// jsonNothings are members that say nothing: networkx numbers parallel edges so, and the graph
// as a whole has these.
var jsonNothings = []string{"key", "graph", "multigraph"}

// member reads a member of the object that is a row. A list or an object is not read, which is
// noted.
func (j *jsonReader) member(m *jsonMembers, key string, row int) error {
	first, err := j.Token()
	if err != nil {
		return err
	}
	return j.begun(m, key, row, first)
}

// begun is member of which the first token is read.
func (j *jsonReader) begun(m *jsonMembers, key string, row int, first jsonread.Token) error {
	text := first.Text
	switch first.Kind {
	case '[', '{':
		j.edges.note(key)
		return j.Rest()
	case 'n':
		return nil
	}
	if text == "" || slices.Contains(jsonNothings, plainColumn(key)) {
		return nil
	}
	k, known := m.of[key]
	if !known {
		if len(m.columns) == keysMost {
			return fmt.Errorf("%ss have more than %d attributes", m.noun, keysMost)
		}
		if m.of == nil {
			m.of = map[string]int32{}
		}
		k = int32(len(m.columns))
		m.of[key], m.columns = k, append(m.columns, key)
	}
	m.cells.add(jsonCell{int32(row), k, text})
	return j.budget.Keep(jsonCellTakes + len(key) + len(text))
}

// jsonCellTakes is what a cell takes beside its text, in bytes.
const jsonCellTakes = 64

// rows calls f with the fields of each of n rows, the first of which are left to f.
func (m *jsonMembers) rows(n, before int, f func(fields [][]byte, row int) error) error {
	cells, next, fields := m.cells.join(), 0, make([][]byte, before+len(m.columns))
	for row := range n {
		clear(fields)
		for ; next < len(cells) && int(cells[next].row) == row; next++ {
			fields[before+int(cells[next].column)] = []byte(cells[next].text)
		}
		if err := f(fields, row); err != nil {
			return fmt.Errorf("%s %d%w", m.noun, row+1, err)
		}
	}
	return nil
}

// ofEdges gives the edges what their links say: as the columns of a table of edges.
func (m *jsonMembers) ofEdges(e *namedEdges, o *chosen) error {
	if len(m.columns) == 0 {
		return nil
	}
	r := &edgeReader{namedEdges: e, columns: append([]string{"source", "target"}, m.columns...)}
	if err := r.assign(o); err != nil {
		return err
	}
	e.cells.unit, e.moments.unit = m.noun, m.noun
	return m.rows(e.src.n, 2, func(fields [][]byte, row int) error { return r.described(fields, row+1) })
}

// ofNodes gives nodes what else they say: as the columns of a table of nodes. known are the
// members that were read as what their names say.
func (m *jsonMembers) ofNodes(n *jsonNodes, known []string, o *chosen) error {
	columns := slices.Concat(known, m.columns)
	labels, without := o.of(columns)
	r := &nodeReader{namedNodes: &n.namedNodes, columns: columns, roles: make([]role, len(columns))}
	for i := range r.roles {
		if i < len(known) || slices.Contains(without, i) {
			r.roles[i] = nothing
		}
	}
	for _, i := range labels {
		if i < len(known) {
			return fmt.Errorf("the member %.40q is the node's id, which is not to be learnt", columns[i])
		}
		r.roles[i], r.learnt = aLabel, append(r.learnt, columns[i])
	}
	if err := r.assignFeatures(); err != nil {
		return err
	}
	r.features.unit, r.moments.unit = m.noun, m.noun
	err := m.rows(len(n.names.list), len(known), func(fields [][]byte, row int) error {
		_, err := r.fields(fields, row+1)
		if err != nil {
			err = fmt.Errorf(", %w", err)
		}
		return err
	})
	if err != nil {
		return err
	}
	listed := n.x
	if err := r.gathered(); err != nil || listed == nil {
		return err
	}
	if n.x != nil {
		listed, n.called = besideSparse(listed, n.x), nil
	}
	n.x = listed
	return nil
}

// besideSparse returns a matrix whose rows are those of a and then those of b.
func besideSparse(a, b *sparse.CSR) *sparse.CSR {
	y := &sparse.CSR{NumRows: a.NumRows, NumCols: a.NumCols + b.NumCols, Offsets: make([]int64, 1, a.NumRows+1)}
	for v := range a.NumRows {
		for k, part := range []*sparse.CSR{a, b} {
			cols, values := part.Row(v)
			for i, c := range cols {
				w := tensor.Float(1)
				if values != nil {
					w = values[i]
				}
				y.Cols, y.Values = append(y.Cols, c+int32(k*a.NumCols)), append(y.Values, w)
			}
		}
		y.Offsets = append(y.Offsets, int64(len(y.Cols)))
	}
	return y
}
