package datasets

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// keysMost is how many attributes the nodes, or the edges, of a file may have by name.
const keysMost = 256

// key is an attribute that nodes or edges may have.
type key struct {
	name  string
	words bool // numbers are words, too
}

// attributed is a graph whose nodes and edges have attributes by name, while it is read from
// a file that is no table: each is a row of one.
type attributed struct {
	nodes *nodeReader
	edges *edgeReader
}

// newAttributed begins a graph whose nodes and edges have those attributes. As of tables their
// names say what they are, unless o does.
func newAttributed(path string, budget *unpack.Budget, ofNodes, ofEdges []key, o *chosen) (*attributed, error) {
	a := &attributed{
		nodes: &nodeReader{namedNodes: &namedNodes{path: path, names: names{budget: budget}}},
		edges: &edgeReader{namedEdges: &namedEdges{path: path, unit: "line", names: names{budget: budget}, both: o.undirected}},
	}
	a.nodes.columns, a.nodes.plain = columnsOf(ofNodes, "id")
	a.edges.columns, a.edges.plain = columnsOf(ofEdges, "source", "target")
	if len(ofNodes) > keysMost || len(ofEdges) > keysMost {
		return nil, fmt.Errorf("its nodes have %d attributes and its edges %d; at most %d are read", len(ofNodes), len(ofEdges), keysMost)
	}
	if err := a.nodes.assign(false, o); err != nil {
		return nil, err
	}
	return a, a.edges.assign(o)
}

// columnsOf returns columns of the given names and then those of keys.
func columnsOf(keys []key, names ...string) (columns []string, plain []bool) {
	columns, plain = names, make([]bool, len(names))
	for _, k := range keys {
		columns, plain = append(columns, k.name), append(plain, k.words)
	}
	return columns, plain
}

// dataset returns what was read.
func (a *attributed) dataset(o *chosen) (*Dataset, error) {
	path := a.nodes.path
	if err := o.check(path); err != nil {
		return nil, err
	}
	nodes, err := a.nodes.finish()
	if err != nil {
		return nil, err
	}
	d, err := a.edges.dataset([]*namedNodes{nodes})
	if err == nil {
		d.Name = titleOf(stem(path))
	}
	return d, err
}
