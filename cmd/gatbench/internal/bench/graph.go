package bench

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
)

// Graph is a graph that kernels are timed on. It is made when it is first
// needed, and once.
type Graph struct {
	name         string
	nodes, edges int
	get          func() *graph.Graph
}

// graphSize is a graph of a known kind and size: no data of the set whose name
// it has.
type graphSize struct {
	name         string
	citation     bool // with communities and loops, and symmetric; else a power law
	nodes, edges int
}

// graphSizes are those of the peers' figures.
var graphSizes = []graphSize{
	{"cora", true, 2708, 13264},
	{"pubmed", true, 19717, 108365},
	{"arxiv", false, 169343, 1166243},
	{"reddit-tenth", false, 232965, 11461589},
}

// powerLawExponent is that of the peers' graphs of this kind.
const powerLawExponent = 0.75

// GraphOfSize returns the graph of a name in graphSizes, or a power law of
// NODESxEDGES.
func GraphOfSize(name string) (*Graph, error) {
	for _, s := range graphSizes {
		if s.name == name {
			return s.graph(), nil
		}
	}
	nodes, edges, ok := strings.Cut(name, "x")
	n, err := strconv.Atoi(nodes)
	m, err2 := strconv.Atoi(edges)
	if !ok || err != nil || err2 != nil || n < 1 || m < 0 || n > 1<<30 || m > 1<<30 {
		var names []string
		for _, s := range graphSizes {
			names = append(names, s.name)
		}
		return nil, fmt.Errorf("it must be %s or NODESxEDGES, such as 100000x1000000", strings.Join(names, ", "))
	}
	return graphSize{name: name, nodes: n, edges: m}.graph(), nil
}

// graph returns the graph of a size, which is always the same one.
func (s graphSize) graph() *Graph {
	return &Graph{name: s.name, nodes: s.nodes, edges: s.edges, get: sync.OnceValue(func() *graph.Graph {
		rng := rand.New(rand.NewPCG(0, 0))
		if s.citation {
			return graph.Must(graph.Citation(rng, s.nodes, s.edges))
		}
		return graph.Must(graph.PowerLaw(rng, s.nodes, s.edges, powerLawExponent))
	})}
}

// ReadGraph returns the graph of an .npz, whose name is the file's stem.
func ReadGraph(path string) (*Graph, error) {
	g, err := datasets.ReadGraph(path)
	if err != nil {
		return nil, err
	}
	stem := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return &Graph{name: stem, nodes: g.NumSrc(), edges: g.NumEdges(), get: func() *graph.Graph { return g }}, nil
}

// sparseShape is the width of a kernel's rows: heads of some columns each.
type sparseShape struct{ heads, dim int }

// width is that of all heads together.
func (s sparseShape) width() int { return s.heads * s.dim }

func (s sparseShape) String() string {
	if s.heads == 1 {
		return strconv.Itoa(s.dim)
	}
	return fmt.Sprintf("%dx%d", s.heads, s.dim)
}
