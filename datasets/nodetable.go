package datasets

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
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
	columns  []string
	plain    []bool // columns whose numbers are words, too; nil: none
	roles    []role
	masks    []uint8 // the part that a mask is of
	features *columns
	answers  chunkedSlice[tensor.Float] // of the nodes, where several columns are to be learnt
}

// nodeTable reads a table of nodes; bare says that another file has their features, so
// that columns which are no labels, parts or names are left out.
func nodeTable(r io.Reader, path string, bare bool, o *chosen) (*namedNodes, error) {
	t, err := table.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	n := &nodeReader{namedNodes: &namedNodes{path: path, names: names{budget: unpack.BudgetOf(r)}}, columns: t.Columns}
	if err = n.assign(bare, o); err != nil {
		return nil, fmt.Errorf("%s: line %d: %w", path, t.Line(), err)
	}
	for t.Next() {
		if err := n.row(t.Fields(), t.Line()); err != nil {
			return nil, fmt.Errorf("%s: line %d, %w", path, t.Line(), err)
		}
	}
	if err := t.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(n.names.list) == 0 {
		return nil, fmt.Errorf("%s: there is no line below its names", path)
	}
	return n.finish()
}

// finish returns what was read.
func (n *nodeReader) finish() (*namedNodes, error) {
	if err := n.gathered(); err != nil {
		return nil, fmt.Errorf("%s: %w", n.path, err)
	}
	return n.namedNodes, nil
}

// gathered makes arrays of the features and of what is to be learnt.
func (n *nodeReader) gathered() (err error) {
	if n.x, err = n.features.matrix(); err != nil {
		return err
	}
	n.kinds = n.features.kinds(n.x, nodeKindColumns)
	if n.x != nil {
		n.called, err = n.features.called(n.x.NumCols)
	}
	if len(n.learnt) > 1 {
		n.targets = tensor.Of(n.answers.join(), len(n.names.list), len(n.learnt))
	}
	return err
}

// assign says what each column is.
func (n *nodeReader) assign(bare bool, o *chosen) error {
	columns := n.columns
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
	labels, without := o.of(columns)
	for _, one := range []struct {
		role  role
		names []string
	}{{aTitle, titleColumns}, {aPart, splitColumns}, {aLabel, labelColumns}, {anID, idColumns}} {
		i := column(columns, one.names...)
		if n.plain != nil && one.role == anID { // the file does not call it by a name
			i = 0
		}
		switch {
		case i >= 0 && one.role == aLabel && len(o.labels) > 0: // another is
		case i >= 0:
			n.roles[i] = one.role
		case one.role == anID:
			return fmt.Errorf("of the columns %s none names the nodes: call one id", listed(columns))
		}
	}
	for i, c := range columns {
		if n.roles[i] == aFeature && plainColumn(c) == "id" {
			n.roles[i] = nothing // beside new_id
		}
	}
	for _, i := range without {
		if n.roles[i] == anID {
			return fmt.Errorf("the column %.40q is the node's id, which cannot be left out", columns[i])
		}
		n.roles[i] = nothing
	}
	for _, i := range labels {
		if n.roles[i] == anID {
			return fmt.Errorf("the column %.40q is the node's id, which is not to be learnt", columns[i])
		}
		n.roles[i] = aLabel
		n.learnt = append(n.learnt, columns[i])
	}
	return n.assignFeatures()
}

// assignFeatures makes features of the columns that are nothing else.
func (n *nodeReader) assignFeatures() (err error) {
	var features []string
	for i, r := range n.roles {
		if r == aFeature {
			features = append(features, n.columns[i])
		}
	}
	n.moments = newMoments(n.columns, func(i int) bool { return n.roles[i] == aFeature || n.roles[i] == nothing }, n.names.budget)
	if n.features, err = newColumns(features, n.names.budget); err != nil {
		return err
	}
	k := 0
	for i, r := range n.roles {
		if r == aFeature {
			n.features.list[k].says(n.moments.of(i))
			n.features.list[k].plain = n.plain != nil && n.plain[i]
			k++
		}
	}
	return nil
}

// row takes the fields of a row.
func (n *nodeReader) row(f [][]byte, line int) error {
	for i, text := range f {
		if n.roles[i] == anID {
			if len(text) == 0 {
				return fmt.Errorf("column %.40q: it is empty", n.columns[i])
			}
			k, known, err := n.names.number(text, line)
			if err != nil {
				return err
			}
			if known {
				return fmt.Errorf("column %.40q: node %.40q stands in line %d already", n.columns[i], text, n.names.at[k])
			}
		}
	}
	part, err := n.fields(f, line)
	if err != nil {
		return err
	}
	if n.parts != nil || n.hasPart() {
		n.parts = append(n.parts, part)
	}
	return nil
}

// fields takes what the fields of a row say beside its id, and returns the part of the split.
func (n *nodeReader) fields(f [][]byte, line int) (part uint8, err error) {
	feature := 0
	for i, text := range f {
		var err error
		switch n.roles[i] {
		case aLabel:
			if len(n.learnt) > 1 {
				err = n.answer(text)
				break
			}
			n.labels = append(n.labels, string(text))
			err = n.names.budget.Keep(len(text))
		case aTitle:
			n.titles = append(n.titles, string(text))
			err = n.names.budget.Keep(len(text))
		case aPart:
			ok := false
			if part, ok = partOf(string(text)); !ok {
				err = noPart(text)
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
			err = n.features.cell(feature, text, line)
			feature++
		}
		if err != nil {
			return part, fmt.Errorf("column %.40q: %w", n.columns[i], err)
		}
	}
	n.features.endRow()
	return part, n.moments.row(f, line)
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

// answer takes the number of one of several columns that are to be learnt.
func (n *nodeReader) answer(text []byte) error {
	v, err := answerOf(text)
	if err != nil {
		return err
	}
	n.answers.add(v)
	return n.names.budget.Keep(8)
}

// answerOf returns the number of a cell of one of several columns that are to be learnt: NaN if it
// is empty.
func answerOf(text []byte) (tensor.Float, error) {
	v, ok := math.NaN(), true
	if len(text) > 0 {
		v, ok = numberOf(text)
	}
	if f := tensor.Float(v); !ok || math.IsInf(float64(f), 0) {
		return 0, fmt.Errorf("%.40q is not a number: if several columns are to be learnt, all of their cells must be numbers or empty", text)
	}
	return tensor.Float(v), nil
}

// cellOf returns the number of a mask, of which true is 1.
func cellOf(text []byte) (float64, error) {
	if v, ok := numberOf(text); ok && v-v == 0 {
		return v, nil
	}
	return 0, fmt.Errorf("%.40q is neither true nor false, nor 1 or 0", text)
}
