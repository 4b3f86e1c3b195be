package form

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/tensor"
)

// jsonForm is a graph in JSON: a list of edges, each
// [source, target], [source, target, weight] or an object of these; or an object of
// edges (or links, as networkx calls them in its node-link form) and perhaps of
//
//   - nodes: ids, or objects of an id and perhaps a list of features; what else they say are columns;
//   - labels: a list in the order of the nodes, or an object of them by id;
//   - features: a list of lists in the order of the nodes, or an object that says by id
//     which features are 1, as MUSAE has it;
//   - directed: false says that both directions of each edge are meant.
//
// What an edge says as an object beside its ends is columns. Lists and objects that nothing reads are left out.
// Ids are numbers or texts.
var jsonForm = Form{
	Name: "json", Endings: []string{".json"}, Says: `a list of edges, or an object of "edges" or "links" and perhaps "nodes", "labels" and "features"`,
	Opens: one(".json"),
	Read:  graphJSON,
}

// graphJSON reads edges and what is said of their nodes.
func graphJSON(f *Files, name string, o Options) (*Raw, error) {
	return opened(f, name, func(r io.Reader, at string) (*Raw, error) { return readJSON(r, at, o) })
}

// featuresJSON reads an object of the features that are 1 by node.
func featuresJSON(f *Files, name string, _ Options) (*Table, error) {
	r, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	j := newJSONReader(r, f.At(name), Options{})
	n, err := j.perNode("features", j.feature)
	if err == nil {
		err = j.End()
	}
	if err != nil {
		return nil, j.wrong(err)
	}
	t := n.table(j.path)
	return &t, nil
}

// jsonReader reads a file token by token: only what is asked for stays in memory.
type jsonReader struct {
	*jsonread.Reader
	path   string
	budget *unpack.Budget
	o      Options

	edges    edgeList
	edgeIDs  chunkedSlice[string]
	weight   string // the column of the weights that follow two ends
	both     bool   // both directions of each edge are meant
	nodes    *jsonRows
	labels   *jsonRows
	features *jsonRows
	fields   [][]byte // of the row that is read
	unread   []string
}

func newJSONReader(r io.Reader, path string, o Options) *jsonReader {
	j := &jsonReader{Reader: jsonread.New(r), path: path, budget: unpack.BudgetOf(r), o: o}
	j.edges.budget, j.edges.ends.budget = j.budget, j.budget
	return j
}

// wrong puts the file and the place before an error.
func (j *jsonReader) wrong(err error) error {
	line, column := j.Place()
	return fmt.Errorf("%s: line %d, column %d: %w", j.path, line, column, err)
}

// readJSON reads a text.
func readJSON(r io.Reader, path string, o Options) (*Raw, error) {
	j := newJSONReader(r, path, o)
	if err := j.all(); err != nil {
		return nil, j.wrong(err)
	}
	if j.edges.src.n == 0 && j.nodes == nil {
		return nil, fmt.Errorf(`%s: there are no edges in it: want a list [[source, target], …], or an object that has one as "edges" or "links"`, path)
	}
	raw, err := j.raw()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return raw, nil
}

// all reads the whole file.
func (j *jsonReader) all() error {
	first, err := j.Token()
	switch {
	case err != nil:
		return err
	case first.Kind == '[':
		err = j.list(j.edge)
	case first.Kind == '{':
		err = j.object(j.top)
	default:
		err = fmt.Errorf("%s stands there, want a list of edges or an object", first.Found())
	}
	if err != nil {
		return err
	}
	return j.End()
}

// top reads a member of the object that the file is.
func (j *jsonReader) top(key string) (err error) {
	switch name := Plain(key); name {
	case "edges", "links", "edge_list", "edgelist":
		return j.opened(func() error { return j.list(j.edge) })
	case "nodes":
		j.nodes = j.newRows()
		return j.opened(func() error { return j.list(j.node) })
	case "labels", "label", "y", "classes":
		j.labels, err = j.perNode(key, j.label)
	case "features", "x", "node_features":
		j.features, err = j.perNode(key, j.feature)
	case "directed":
		var text string
		text, err = j.scalar()
		j.both = text == "false"
	default:
		if !slices.Contains(jsonNothings, name) {
			j.note(key)
		}
		err = j.Skip()
	}
	return err
}

// jsonNothings are members that say nothing: networkx numbers parallel edges so, and the graph
// as a whole has these.
var jsonNothings = []string{"key", "graph", "multigraph"}

// note remembers a member that nothing reads.
func (j *jsonReader) note(key string) {
	if len(j.unread) < unreadMost && !slices.Contains(j.unread, key) {
		j.unread = append(j.unread, key)
	}
}

// opened reads what begins a list, and the rest of it by f.
func (j *jsonReader) opened(f func() error) error {
	first, err := j.Token()
	if err != nil {
		return err
	}
	if first.Kind != '[' {
		return fmt.Errorf("%s stands there, want a list", first.Found())
	}
	return f()
}

// list calls f for each element of a list that has begun.
func (j *jsonReader) list(f func() error) error {
	for j.More() {
		if err := f(); err != nil {
			return err
		}
	}
	_, err := j.Token()
	return err
}

// object calls f for each member of an object that has begun, which f reads.
func (j *jsonReader) object(f func(key string) error) error {
	for j.More() {
		key, err := j.Token()
		if err != nil {
			return err
		}
		if err := f(key.Text); err != nil {
			return err
		}
	}
	_, err := j.Token()
	return err
}

// scalar reads a text, a number, true, false or null, which is empty.
func (j *jsonReader) scalar() (string, error) {
	v, err := j.Token()
	switch v.Kind {
	case '[', '{':
		return "", fmt.Errorf("%s stands there, want a number or a text", v.Found())
	case 'n':
		return "", nil
	}
	return v.Text, err
}

// number reads a finite number.
func (j *jsonReader) number() (v float64, text string, err error) {
	t, err := j.Token()
	if err != nil {
		return 0, "", err
	}
	v, err = strconv.ParseFloat(t.Text, 64)
	if t.Kind != '0' && t.Kind != '"' || err != nil || math.IsNaN(v) || math.IsInf(float64(tensor.Float(v)), 0) {
		return 0, "", fmt.Errorf("%s stands there, want a finite number", t.Found())
	}
	return v, t.Text, nil
}

// edge reads an edge.
func (j *jsonReader) edge() error {
	first, err := j.Token()
	switch {
	case err != nil:
		return err
	case first.Kind == '[':
		return j.pair()
	case first.Kind == '{':
		return j.link()
	}
	return fmt.Errorf("edge %d is %s, want [source, target], with a weight perhaps", j.edges.src.n, first.Found())
}

// pair reads [source, target] or [source, target, weight].
func (j *jsonReader) pair() error {
	var ends [2]string
	at := j.edges.src.n
	for i := range ends {
		if !j.More() {
			return fmt.Errorf("edge %d has %d ends, want two", at, i)
		}
		var err error
		if ends[i], err = j.scalar(); err != nil {
			return err
		}
	}
	if err := j.edges.add(ends[0], ends[1], at); err != nil {
		return err
	}
	j.begin()
	if j.More() {
		_, text, err := j.number()
		if err == nil {
			j.weight = "weight"
			err = j.cell(&j.edges.attributes, "link", j.weight, text)
		}
		if err != nil {
			return fmt.Errorf("edge %d: %w", at, err)
		}
	}
	if err := j.edges.row(j.fields); err != nil {
		return err
	}
	return j.list(func() error { return fmt.Errorf("edge %d has more than two ends and a weight", at) })
}

// link reads {"source": …, "target": …, "weight": …}.
func (j *jsonReader) link() error {
	var ends [2]string
	id, at := "", j.edges.src.n
	j.begin()
	err := j.object(func(key string) (err error) {
		name := Plain(key)
		if i := j.endOf(name); i >= 0 {
			ends[i], err = j.scalar()
			return err
		}
		if j.o.EdgeID != "" && name == Plain(j.o.EdgeID) {
			id, err = j.scalar()
			return err
		}
		return j.member(&j.edges.attributes, "link", key)
	})
	if err == nil && (ends[0] == "" || ends[1] == "") {
		err = errors.New(`want its ends as "source" and "target"`)
	}
	if err == nil {
		err = j.edges.add(ends[0], ends[1], at)
	}
	if err == nil {
		err = j.edges.row(j.fields)
	}
	if err == nil && j.o.EdgeID != "" {
		for j.edgeIDs.n < at {
			j.edgeIDs.add("")
		}
		j.edgeIDs.add(id)
	}
	if err != nil {
		return fmt.Errorf("edge %d: %w", at, err)
	}
	return nil
}

// endOf returns which end of an edge a member is, −1: none.
func (j *jsonReader) endOf(name string) int {
	if j.o.Source != "" || j.o.Target != "" {
		return slices.Index([]string{Plain(j.o.Source), Plain(j.o.Target)}, name)
	}
	for _, pair := range EndNames {
		if i := slices.Index(pair[:], name); i >= 0 {
			return i
		}
	}
	return -1
}

// begin begins a row.
func (j *jsonReader) begin() { clear(j.fields); j.fields = j.fields[:0] }

// member reads a member of the object that is a row of a: a cell of its column. A list or an object is not read, which is
// noted.
func (j *jsonReader) member(a *attributes, noun, key string) error {
	first, err := j.Token()
	if err != nil {
		return err
	}
	return j.begun(a, noun, key, first)
}

// begun is member of which the first token is read.
func (j *jsonReader) begun(a *attributes, noun, key string, first jsonread.Token) error {
	switch first.Kind {
	case '[', '{':
		j.note(key)
		return j.Rest()
	case 'n':
		return nil
	}
	if first.Text == "" || slices.Contains(jsonNothings, Plain(key)) {
		return nil
	}
	return j.cell(a, noun, key, first.Text)
}

// cell takes a cell of the row that is read.
func (j *jsonReader) cell(a *attributes, noun, key, text string) error {
	k, err := a.column(key)
	if err != nil {
		return fmt.Errorf("%ss have more than %d attributes", noun, keysMost)
	}
	for len(j.fields) <= k {
		j.fields = append(j.fields, nil)
	}
	j.fields[k] = []byte(text)
	return nil
}

// raw makes tables of what was read: the nodes are those that are listed first, or else the ends of the edges.
func (j *jsonReader) raw() (*Raw, error) {
	var nodes Nodes
	var ids *idents
	for _, n := range []*jsonRows{j.nodes, j.labels, j.features} {
		if n == nil {
			continue
		}
		count := len(n.ids.list)
		if n.byPlace && j.nodes != nil {
			if count != nodes.Rows {
				return nil, fmt.Errorf("a list of %d nodes, and what is said of %d in their order", nodes.Rows, count)
			}
			n.ids = *ids
		}
		if ids == nil {
			if ids = &n.ids; n.byPlace {
				if err := j.placed(count); err != nil {
					return nil, err
				}
			}
			nodes.Table, nodes.Listed = n.table(j.path), count
			continue
		}
		rows, err := n.ids.rowsOf(ids)
		if err != nil {
			return nil, err
		}
		more := n.table(j.path)
		more.pick(rows)
		nodes.Columns = append(nodes.Columns, more.Columns...)
	}
	both, edgeIDs := j.both, j.edgeIDs.join()
	if ids == nil {
		ends := j.edges.ends
		ids = &ends
		nodes.Table = Table{Rows: len(ids.list), IDs: &Words{Texts: ids.list}, Origin: Origin{File: j.path, Unit: "edge", Lines: ids.at}}
	}
	edges, err := j.edges.finish(Origin{File: j.path, Unit: "link", First: 1}, "edge", ids)
	if err != nil {
		return nil, err
	}
	edges.Undirected = both
	if len(edgeIDs) == edges.Rows {
		edges.IDs = different(edgeIDs)
	}
	for _, name := range append([]string{j.weight}, WeightNames...) {
		if c := edges.Column(name); name != "" && c != nil {
			c.asWeight(name)
			break
		}
	}
	return &Raw{Nodes: []Nodes{nodes}, Edges: []Edges{edges}, Unread: j.unread}, nil
}

// asWeight makes c the weights of edges if it is of that name, which are 1 where an edge does not say its own.
func (c *Column) asWeight(name string) {
	if name == "" || Plain(c.Name) != name || c.Type != Number {
		return
	}
	c.Role = AsWeight
	for k, w := range c.Numbers {
		if w != w {
			c.Numbers[k] = 1
		}
	}
}

// placed returns an error if edges between nodes that are the places of a list of n number
// them from 1.
func (j *jsonReader) placed(n int) error {
	least, largest := n, 0
	for _, id := range j.edges.ends.list {
		v, err := strconv.Atoi(id)
		if err != nil {
			return nil
		}
		least, largest = min(least, v), max(largest, v)
	}
	if least < 1 || largest != n {
		return nil
	}
	return fmt.Errorf("an edge has an end %d, and there are labels or features of %d nodes, numbered from 0. Indices seem to begin at 1: subtract 1 from all ends of edges", largest, n)
}
