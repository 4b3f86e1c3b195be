package form

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// jsonRows is what is said of nodes, while it is read.
type jsonRows struct {
	attributes
	ids     idents
	byPlace bool // the ids are the places in a list

	called string  // the member that lists features
	width  int     // of these
	ends   []int64 // where the features of each node end
	cols   chunkedSlice[int32]
	values chunkedSlice[tensor.Float]
	ones   bool           // features are named, and not listed
	seen   map[int32]bool // features of the node that is read
}

func (j *jsonReader) newRows() *jsonRows {
	return &jsonRows{attributes: attributes{budget: j.budget}, ids: idents{budget: j.budget}, seen: map[int32]bool{}}
}

// end ends the row of a node of that id.
func (n *jsonRows) end(id string, fields [][]byte) error {
	if id == "" {
		return errors.New(`it has no "id"`)
	}
	if _, known, err := n.ids.number(id, len(n.ids.list)); err != nil {
		return err
	} else if known {
		return fmt.Errorf("node %.40q stands there already", id)
	}
	n.ends = append(n.ends, int64(n.cols.n))
	return n.row(fields)
}

// node reads an id, or an object of what is said of a node.
func (j *jsonReader) node() error {
	at := len(j.nodes.ids.list)
	first, err := j.Token()
	if err != nil {
		return err
	}
	j.begin()
	id := ""
	switch first.Kind {
	case '"', '0':
		id = first.Text
	case '[':
		return fmt.Errorf("node %d: a list stands there, want an id or an object", at)
	case '{':
		if id, err = j.nodeObject(); err != nil {
			return fmt.Errorf("node %d: %w", at, err)
		}
	}
	if err := j.nodes.end(id, j.fields); err != nil {
		return fmt.Errorf("node %d: %w", at, err)
	}
	return nil
}

// nodeObject reads what is said of the next node.
func (j *jsonReader) nodeObject() (id string, err error) {
	best := len(IDNames)
	return id, j.object(func(key string) error {
		name := Plain(key)
		rank := slices.Index(IDNames, name)
		if j.o.ID != "" {
			rank = -1 + btoi(name == Plain(j.o.ID))
		}
		switch {
		case rank >= 0:
			text, err := j.scalar()
			if rank >= best { // an index beside an id
				j.note(key)
				return err
			}
			best, id = rank, text
			return err
		case name == "features" || name == "x" || name == "feat":
			first, err := j.Token()
			if err != nil || first.Kind != '[' {
				return errors.Join(err, j.begun(&j.nodes.attributes, "node", key, first))
			}
			if j.nodes.called == "" {
				j.nodes.called = key
			}
			return j.numbers(j.nodes)
		}
		return j.member(&j.nodes.attributes, "node", key)
	})
}

// perNode reads what is said of each node, with read: a list in the nodes' order, or an
// object by their ids.
func (j *jsonReader) perNode(key string, read func(n *jsonRows) error) (*jsonRows, error) {
	n := j.newRows()
	n.called = key
	first, err := j.Token()
	if err != nil {
		return nil, err
	}
	one := func(id string) error {
		j.begin()
		err := read(n)
		if err == nil {
			err = n.end(id, j.fields)
		}
		if err != nil {
			return fmt.Errorf("of node %.40q: %w", id, err)
		}
		return nil
	}
	switch first.Kind {
	case '[':
		n.byPlace = true
		return n, j.list(func() error { return one(strconv.Itoa(len(n.ids.list))) })
	case '{':
		return n, j.object(one)
	}
	return nil, fmt.Errorf("%s stands there, want a list or an object of what is said of each node", first.Found())
}

// label reads the label of the next node.
func (j *jsonReader) label(n *jsonRows) error {
	text, err := j.scalar()
	if err != nil {
		return err
	}
	err = j.cell(&n.attributes, "node", n.called, text)
	n.columns[0].role = AsLabel
	return err
}

// feature reads the features of the next node: numbers, or by id those that are 1. Of these, published
// lists, such as Twitch's of MUSAE, name some twice: they are there or not.
func (j *jsonReader) feature(n *jsonRows) error {
	return j.opened(func() error {
		if n.byPlace {
			return j.numbers(n)
		}
		n.ones = true
		clear(n.seen)
		return j.list(func() error {
			v, _, err := j.number()
			if err == nil && (v != math.Trunc(v) || v < 0 || v >= math.MaxInt32) {
				err = fmt.Errorf("%v is not the number of a feature", v)
			}
			if err == nil && !n.seen[int32(v)] {
				n.seen[int32(v)] = true
				n.cols.add(int32(v))
				n.width = max(n.width, int(v)+1)
				err = j.budget.Keep(8)
			}
			return err
		})
	})
}

// numbers reads the features of the next node, as many as others have.
func (j *jsonReader) numbers(n *jsonRows) error {
	count := 0
	err := j.list(func() error {
		v, _, err := j.number()
		if err == nil && v != 0 {
			n.cols.add(int32(count))
			n.values.add(tensor.Float(v))
			err = j.budget.Keep(16)
		}
		count++
		return err
	})
	if err == nil && n.width > 0 && count != n.width {
		err = fmt.Errorf("%d features, and %d of the nodes before", count, n.width)
	}
	n.width = count
	return err
}

// table returns what was said as a table, whose features come first. It uses n up.
func (n *jsonRows) table(path string) Table {
	t := n.attributes.table(Origin{File: path, Unit: "node", First: 1})
	t.IDs = &Words{Texts: n.ids.list}
	if n.width == 0 {
		return t
	}
	m := &Matrix{Rows: t.Rows, Cols: n.width, Offsets: append([]int64{0}, n.ends...), Columns: n.cols.join()}
	if !n.ones {
		m.Values = n.values.join()
	}
	for v := range t.Rows {
		if cols := m.Columns[m.Offsets[v]:m.Offsets[v+1]]; n.ones && !slices.IsSorted(cols) {
			sort.Slice(cols, func(a, b int) bool { return cols[a] < cols[b] })
		}
	}
	t.Columns = slices.Insert(t.Columns, 0, Column{Name: n.called, Type: Many, Role: AsFeature, Matrix: m.stored()})
	return t
}

// stored returns a sparse matrix in the storage that is trained on faster: dense if it is narrow or few of its elements are zero.
func (m *Matrix) stored() *Matrix {
	a := m.Array().(*sparse.CSR)
	if a.NumCols < 16 {
		return MatrixOf(a.Dense())
	}
	return MatrixOf(sparse.Features(a, sparse.DenseAbove))
}

// rowsOf returns the rows of n that say something of the nodes that list has, in its order.
func (n *idents) rowsOf(list *idents) ([]int32, error) {
	for i, id := range n.list {
		if _, ok := list.of[id]; !ok {
			return nil, fmt.Errorf("line or element %d: node %.40q is not in the table that lists the nodes", n.at[i], id)
		}
	}
	rows := make([]int32, len(list.list))
	for i, id := range list.list {
		row, ok := n.of[id]
		if !ok {
			return nil, fmt.Errorf("it says nothing of node %.40q", id)
		}
		rows[i] = row
	}
	return rows, nil
}
