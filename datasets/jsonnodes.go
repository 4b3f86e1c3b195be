package datasets

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// jsonNodes is a namedNodes while it is read.
type jsonNodes struct {
	namedNodes
	byPlace bool    // the ids are the places in a list
	width   int     // features
	ends    []int64 // where the features of each node end
	cols    chunkedSlice[int32]
	values  chunkedSlice[tensor.Float]
	seen    map[int32]bool // features of the node that is read
}

// begin adds a node.
func (n *jsonNodes) begin(id string) error {
	if id == "" {
		return errors.New(`it has no "id"`)
	}
	if _, known, err := n.names.number([]byte(id), len(n.names.list)); err != nil {
		return err
	} else if known {
		return fmt.Errorf("node %.40q stands there already", id)
	}
	n.ends = append(n.ends, int64(n.cols.n))
	return nil
}

// placed returns x with v at a place, which may be beyond its end.
func placed[T any](x []T, i int, v T) []T {
	if len(x) <= i {
		x = append(x, make([]T, i+1-len(x))...)
	}
	x[i] = v
	return x
}

// finish makes a table of what was said.
func (n *jsonNodes) finish(path string) error {
	n.path = path
	if count := len(n.names.list); count > 0 { // what was said of some is said of all
		if n.labels != nil {
			n.labels = append(n.labels, make([]string, count-len(n.labels))...)
		}
		if n.titles != nil {
			n.titles = append(n.titles, make([]string, count-len(n.titles))...)
		}
		if n.parts != nil {
			n.parts = append(n.parts, make([]uint8, count-len(n.parts))...)
		}
	}
	if n.width == 0 {
		return nil
	}
	x, err := sparse.New(len(n.names.list), n.width, append([]int64{0}, n.ends...), n.cols.join(), n.values.join())
	if err == nil {
		sortRows(x)
		n.x = x
	}
	return err
}

// node reads an id, or an object of what is said of a node.
func (j *jsonReader) node() error {
	n, at := j.nodes, len(j.nodes.names.list)
	first, err := j.Token()
	if err != nil {
		return err
	}
	id := ""
	switch first.Kind {
	case '"', '0':
		id = first.Text
	case '[':
		return fmt.Errorf("node %d: a list stands there, want an id or an object", at)
	case '{':
		if id, err = j.nodeObject(at); err != nil {
			return fmt.Errorf("node %d: %w", at, err)
		}
	}
	if err := n.begin(id); err != nil {
		return fmt.Errorf("node %d: %w", at, err)
	}
	return nil
}

// nodeObject reads what is said of the node that is at a place of the list.
func (j *jsonReader) nodeObject(at int) (id string, err error) {
	n := j.nodes
	return id, j.object(func(key string) (err error) {
		text, name := "", plainColumn(key)
		switch {
		case slices.Contains(idColumns, name):
			j.know(key)
			id, err = j.scalar()
		case slices.Contains(j.o.without, name):
			j.know(key)
			err = j.Skip()
		case slices.Contains(j.o.labels, name):
			err = j.member(&j.of, key, at)
		case slices.Contains(labelColumns, name) && len(j.o.labels) == 0:
			if text, err = j.scalar(); err == nil {
				n.labels = placed(n.labels, at, text)
			}
		case slices.Contains(titleColumns, name):
			j.know(key)
			if text, err = j.scalar(); err == nil {
				n.titles = placed(n.titles, at, text)
			}
		case slices.Contains(splitColumns, name):
			j.know(key)
			if text, err = j.scalar(); err == nil {
				part, ok := partOf(text)
				if !ok {
					err = noPart(text)
				}
				n.parts = placed(n.parts, at, part)
			}
		case name == "features" || name == "x" || name == "feat":
			err = j.featuresOf(n, key, at)
		default:
			err = j.member(&j.of, key, at)
		}
		return err
	})
}

// featuresOf reads the list of a node's features, or a member of that name which is no list.
func (j *jsonReader) featuresOf(n *jsonNodes, key string, at int) error {
	first, err := j.Token()
	switch {
	case err != nil:
		return err
	case first.Kind == '[':
		return j.numbers(n)
	}
	return j.begun(&j.of, key, at, first)
}

// know remembers a member of nodes that is none of their columns.
func (j *jsonReader) know(key string) {
	if !slices.Contains(j.known, key) && len(j.known) < keysMost {
		j.known = append(j.known, key)
	}
}

// perNode reads what is said of each node, with read: a list in the nodes' order, or an
// object by their ids.
func (j *jsonReader) perNode(read func(n *jsonNodes, byPlace bool) error) (*jsonNodes, error) {
	n := &jsonNodes{namedNodes: namedNodes{names: names{budget: j.budget}}, seen: map[int32]bool{}}
	first, err := j.Token()
	if err != nil {
		return nil, err
	}
	one := func(id string) error {
		err := read(n, n.byPlace)
		if err == nil {
			err = n.begin(id)
		}
		if err != nil {
			return fmt.Errorf("of node %.40q: %w", id, err)
		}
		return nil
	}
	switch first.Kind {
	case '[':
		n.byPlace = true
		return n, j.list(func() error { return one(strconv.Itoa(len(n.names.list))) })
	case '{':
		return n, j.object(one)
	}
	return nil, fmt.Errorf("%s stands there, want a list or an object of what is said of each node", first.Found())
}

// label reads the label of the next node.
func (j *jsonReader) label(n *jsonNodes, _ bool) error {
	text, err := j.scalar()
	if err != nil {
		return err
	}
	n.labels = append(n.labels, text)
	return j.budget.Keep(len(text))
}

// feature reads the features of the next node: numbers, or by id those that are 1. Of these, published
// lists, such as Twitch's of MUSAE, name some twice: they are there or not.
func (j *jsonReader) feature(n *jsonNodes, byPlace bool) error {
	return j.opened(func() error {
		if byPlace {
			return j.numbers(n)
		}
		clear(n.seen)
		return j.list(func() error {
			v, err := j.number()
			if err == nil && (v != math.Trunc(v) || v < 0 || v >= math.MaxInt32) {
				err = fmt.Errorf("%v is not the number of a feature", v)
			}
			if err == nil && !n.seen[int32(v)] {
				n.seen[int32(v)] = true
				n.cols.add(int32(v))
				n.values.add(1)
				n.width = max(n.width, int(v)+1)
				err = j.budget.Keep(wordTakes)
			}
			return err
		})
	})
}

// numbers reads the features of the next node, as many as others have.
func (j *jsonReader) numbers(n *jsonNodes) error {
	count := 0
	err := j.list(func() error {
		v, err := j.number()
		if err == nil && v != 0 {
			n.cols.add(int32(count))
			n.values.add(tensor.Float(v))
			err = j.budget.Keep(wordTakes)
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
