package datasets

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

// JSON reads a graph from JSON, which may be in gzip or zstd: a list of edges, each
// [source, target], [source, target, weight] or an object of these; or an object of
// edges (or links, as networkx calls them in its node-link form) and perhaps of
//
//   - nodes: ids, or objects of an id and perhaps a label, the part of the split that
//     the node is in, a name, and a list of features; what else they say is read as the columns
//     of a table of nodes are: features, after those of the list;
//   - labels: a list in the order of the nodes, or an object of them by id;
//   - features: a list of lists in the order of the nodes, or an object that says by id
//     which features are 1, as MUSAE has it;
//   - directed: false says that both directions of each edge are meant.
//
// What an edge says as an object beside its ends and weight is read as the columns of a table
// of edges are: features, or what follows a # after the path is to be learnt. Lists and objects
// that nothing reads are left out, and [Dataset.Describe] says which.
//
// Ids are numbers or texts. Files of nodes may lie beside, as [Tables] says.
func JSON(path string) (*Dataset, error) { return Tables(path) }

// jsonReader reads a file token by token: only what is asked for stays in memory.
type jsonReader struct {
	*jsonread.Reader
	path     string
	budget   *unpack.Budget
	edges    *namedEdges
	nodes    *jsonNodes
	labels   *jsonNodes
	features *jsonNodes
	o        *chosen
	of       jsonMembers // what nodes say
	known    []string    // members of nodes that were read as what they are called
	links    jsonMembers
}

func newJSONReader(r io.Reader, path string, o *chosen) *jsonReader {
	j := &jsonReader{Reader: jsonread.New(r), path: path, budget: unpack.BudgetOf(r), o: o, of: jsonMembers{noun: "node"}, links: jsonMembers{noun: "link"}}
	j.edges = &namedEdges{path: path, unit: "edge", names: names{budget: j.budget}}
	return j
}

// wrong puts the file and the place before an error.
func (j *jsonReader) wrong(err error) error {
	if err == nil {
		return nil
	}
	line, column := j.Place()
	return fmt.Errorf("%s: line %d, column %d: %w", j.path, line, column, err)
}

// graphJSON reads edges and what is said of their nodes.
func graphJSON(r io.Reader, path string, o *chosen) (*namedEdges, []*namedNodes, error) {
	j := newJSONReader(r, path, o)
	if err := j.all(); err != nil {
		return nil, nil, j.wrong(err)
	}
	if j.edges.src.n == 0 {
		return nil, nil, fmt.Errorf(`%s: there are no edges in it: want a list [[source, target], …], or an object that has one as "edges" or "links"`, path)
	}
	j.edges.both = j.edges.both || o.undirected
	tables, err := j.tables()
	if err == nil {
		err = j.links.ofEdges(j.edges, o)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return j.edges, tables, nil
}

// featuresJSON reads an object of the features that are 1 by node.
func featuresJSON(r io.Reader, path string) (*namedNodes, error) {
	j := newJSONReader(r, path, new(chosen))
	n, err := j.perNode(j.feature)
	if err == nil {
		err = j.End()
	}
	if err != nil {
		return nil, j.wrong(err)
	}
	if err := n.finish(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &n.namedNodes, nil
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
	switch plainColumn(key) {
	case "edges", "links", "edge_list", "edgelist":
		return j.opened(func() error { return j.list(j.edge) })
	case "nodes":
		j.nodes = &jsonNodes{namedNodes: namedNodes{names: names{budget: j.budget}}}
		return j.opened(func() error { return j.list(j.node) })
	case "labels", "label", "y", "classes":
		j.labels, err = j.perNode(j.label)
	case "features", "x", "node_features":
		j.features, err = j.perNode(j.feature)
	case "directed":
		var text string
		text, err = j.scalar()
		j.edges.both = text == "false"
	default:
		if !slices.Contains(jsonNothings, plainColumn(key)) {
			j.edges.note(key)
		}
		err = j.Skip()
	}
	return err
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
func (j *jsonReader) number() (float64, error) {
	t, err := j.Token()
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(t.Text, 64)
	if t.Kind != '0' && t.Kind != '"' || err != nil || math.IsNaN(v) || math.IsInf(float64(tensor.Float(v)), 0) {
		return 0, fmt.Errorf("%s stands there, want a finite number", t.Found())
	}
	return v, nil
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
	for i := range ends {
		if !j.More() {
			return fmt.Errorf("edge %d has %d ends, want two", j.edges.src.n, i)
		}
		var err error
		if ends[i], err = j.scalar(); err != nil {
			return err
		}
	}
	at := j.edges.src.n
	if err := j.edges.add([]byte(ends[0]), []byte(ends[1]), at); err != nil {
		return err
	}
	if j.More() {
		w, err := j.number()
		if err == nil {
			err = j.edges.weigh(w)
		}
		if err != nil {
			return fmt.Errorf("edge %d: %w", at, err)
		}
	}
	return j.list(func() error { return fmt.Errorf("edge %d has more than two ends and a weight", at) })
}

// link reads {"source": …, "target": …, "weight": …}.
func (j *jsonReader) link() error {
	var ends [2]string
	weight, at := math.NaN(), j.edges.src.n
	err := j.object(func(key string) (err error) {
		name := plainColumn(key)
		for _, pair := range endColumns {
			for i := range ends {
				if name == pair[i] {
					ends[i], err = j.scalar()
					return err
				}
			}
		}
		if slices.Contains(weightColumns, name) && !slices.Contains(j.o.without, name) && !slices.Contains(j.o.labels, name) {
			weight, err = j.number()
			return err
		}
		return j.member(&j.links, key, at)
	})
	if err == nil && (ends[0] == "" || ends[1] == "") {
		err = errors.New(`want its ends as "source" and "target"`)
	}
	if err == nil {
		err = j.edges.add([]byte(ends[0]), []byte(ends[1]), at)
	}
	if err == nil && !math.IsNaN(weight) {
		err = j.edges.weigh(weight)
	}
	if err != nil {
		return fmt.Errorf("edge %d: %w", at, err)
	}
	return nil
}

// tables returns what is said of the nodes, those that list them first.
func (j *jsonReader) tables() (out []*namedNodes, err error) {
	for _, n := range []*jsonNodes{j.nodes, j.labels, j.features} {
		if n == nil {
			continue
		}
		if err := n.finish(j.path); err != nil {
			return nil, err
		}
		if n == j.nodes {
			if err := j.of.ofNodes(n, j.known, j.o); err != nil {
				return nil, err
			}
		}
		if n.byPlace && j.nodes != nil && n != j.nodes {
			if len(n.names.list) != len(j.nodes.names.list) {
				return nil, fmt.Errorf("a list of %d nodes, and what is said of %d in their order", len(j.nodes.names.list), len(n.names.list))
			}
			n.names = j.nodes.names
		}
		if n.byPlace && len(out) == 0 {
			if err := j.placed(len(n.names.list)); err != nil {
				return nil, err
			}
		}
		out = append(out, &n.namedNodes)
	}
	return out, nil
}

// placed returns an error if edges between nodes that are the places of a list of n number
// them from 1.
func (j *jsonReader) placed(n int) error {
	least, largest := n, 0
	for _, id := range j.edges.names.list {
		v, err := strconv.Atoi(id)
		if err != nil {
			return nil
		}
		least, largest = min(least, v), max(largest, v)
	}
	if hint := fromOne(n, least, largest); hint != "" {
		return fmt.Errorf("an edge has an end %d, and there are labels or features of %d nodes, numbered from 0%s", largest, n, hint)
	}
	return nil
}
