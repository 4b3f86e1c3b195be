package datasets

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What the columns of a table of nodes are called. An unnamed one is the row's number,
// as pandas writes it.
var (
	idColumns    = []string{"new_id", "id", "node_id", "nodeid", "node", "index", ""} // new_id: MUSAE's edges have it, not its id
	labelColumns = []string{"label", "labels", "class", "classes", "category", "target", "y", "group", "ml_target", "page_type", "mature"}
	splitColumns = []string{"split", "set", "subset", "partition"}
	titleColumns = []string{"name", "title", "node_name", "page_name"}
	maskColumns  = []string{"", "train_mask", "val_mask", "test_mask"} // by inTrain and so on
)

// role is what a column of a table of nodes is.
type role uint8

const (
	aFeature role = iota
	anID
	aLabel
	aPart
	aMask
	aTitle
	nothing
)

// nodeReader reads a table of nodes.
type nodeReader struct {
	*namedNodes
	t      *table.Reader
	roles  []role
	masks  []uint8 // the part that a mask is of
	values chunkedSlice[tensor.Float]
	cols   chunkedSlice[int32]
	ends   []int64 // where each row's features end
	width  int     // features
}

// nodeTable reads a table of nodes; bare says that another file has their features, so
// that columns which are no labels, parts or names are left out.
func nodeTable(r io.Reader, path string, bare bool) (*namedNodes, error) {
	t, err := table.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	n := &nodeReader{namedNodes: &namedNodes{path: path, names: names{budget: unpack.BudgetOf(r)}}, t: t, ends: []int64{0}}
	if err = n.assign(bare); err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", path, t.Line(), err)
	}
	for t.Next() {
		if err := n.row(); err != nil {
			return nil, fmt.Errorf("%s: line %d, %w", path, t.Line(), err)
		}
	}
	if err := t.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(n.names.list) == 0 {
		return nil, fmt.Errorf("%s: there is no line below its names", path)
	}
	if n.width > 0 {
		n.x, err = sparse.New(len(n.names.list), n.width, n.ends, n.cols.join(), n.values.join())
	}
	return n.namedNodes, err
}

// assign says what each column is.
func (n *nodeReader) assign(bare bool) error {
	columns := n.t.Columns
	n.roles, n.masks = make([]role, len(columns)), make([]uint8, len(columns))
	for i, c := range columns {
		if bare || c == "" {
			n.roles[i] = nothing
		}
	}
	for part, name := range maskColumns {
		if i := column(columns, name); part > 0 && i >= 0 {
			n.roles[i], n.masks[i] = aMask, uint8(part)
			n.parts = []uint8{}
		}
	}
	for _, one := range []struct {
		role  role
		names []string
	}{{aTitle, titleColumns}, {aPart, splitColumns}, {aLabel, labelColumns}, {anID, idColumns}} {
		i := column(columns, one.names...)
		switch {
		case i >= 0:
			n.roles[i] = one.role
		case one.role == anID:
			return fmt.Errorf("of the columns %s none is the node's: call it id", listed(columns))
		}
	}
	if i := column(columns, "id"); i >= 0 && n.roles[i] == aFeature {
		n.roles[i] = nothing // beside new_id
	}
	for _, r := range n.roles {
		if r == aFeature {
			n.width++
		}
	}
	return nil
}

// row reads a row.
func (n *nodeReader) row() error {
	part, feature, f := uint8(inNone), int32(0), n.t.Fields()
	for i, text := range f {
		if n.roles[i] == anID {
			if len(text) == 0 {
				return fmt.Errorf("column %.40q: it is empty", n.t.Columns[i])
			}
			k, known, err := n.names.number(text, n.t.Line())
			if err != nil {
				return err
			}
			if known {
				return fmt.Errorf("column %.40q: node %.40q stands in line %d already", n.t.Columns[i], text, n.names.at[k])
			}
		}
	}
	for i, text := range f {
		var err error
		switch n.roles[i] {
		case aLabel:
			n.labels = append(n.labels, string(text))
			err = n.names.budget.Keep(len(text))
		case aTitle:
			n.titles = append(n.titles, string(text))
			err = n.names.budget.Keep(len(text))
		case aPart:
			ok := false
			if part, ok = partOf(string(text)); !ok {
				err = fmt.Errorf("%.40q is no part of a split: want train, val or test, or nothing", text)
			}
		case aMask:
			var in float64
			if in, err = cellOf(text); err == nil && in != 0 {
				if part != inNone {
					err = errors.New("the node is in two parts of the split")
				}
				part = n.masks[i]
			}
		case aFeature:
			var v float64
			if v, err = cellOf(text); err == nil && v != 0 {
				n.cols.add(feature)
				n.values.add(tensor.Float(v))
			}
			feature++
		}
		if err != nil {
			return fmt.Errorf("column %.40q: %w", n.t.Columns[i], err)
		}
	}
	if err := n.names.budget.Keep(wordTakes * (n.cols.n - int(n.ends[len(n.ends)-1]))); err != nil {
		return err
	}
	n.ends = append(n.ends, int64(n.cols.n))
	if n.parts != nil || n.hasPart() {
		n.parts = append(n.parts, part)
	}
	return nil
}

// hasPart reports whether there is a column of the parts of a split.
func (n *nodeReader) hasPart() bool {
	for _, r := range n.roles {
		if r == aPart {
			return true
		}
	}
	return false
}

// cellOf returns the number of a feature, of which true is 1.
func cellOf(text []byte) (float64, error) {
	v, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err == nil && !math.IsNaN(v) && !math.IsInf(float64(tensor.Float(v)), 0):
		return v, nil
	case strings.EqualFold(string(text), "true"):
		return 1, nil
	case strings.EqualFold(string(text), "false"):
		return 0, nil
	case len(text) == 0:
		return 0, errors.New("it is empty, and features are finite numbers: fill it, with 0 perhaps")
	}
	return 0, fmt.Errorf("%.40q is no finite number, as features are: make a column of 0 and 1 for each word, call the column name, or leave it out", text)
}
