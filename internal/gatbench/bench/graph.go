package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/plain"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Graph is a graph that kernels are timed on, or a matrix. It is made when it is
// first needed, and once.
type Graph struct {
	Name    string
	Nodes   int // that edges come from: the columns of a matrix
	Rows    int // that edges go to
	Edges   int
	Sources int // nodes that have edges from them; of a generated graph that many at most
	Targets int // the same of those into them
	Get     func() *graph.Graph
	Weights []tensor.Float // of each edge; nil: it has none of its own
	matrix  bool
}

// graphSize is a graph of a known kind and size: no data of the set whose name
// it has.
type graphSize struct {
	name         string
	kind         graphKind
	nodes, edges int
}

// graphKind is how the edges of a generated graph are drawn.
type graphKind int

const (
	powerLaw graphKind = iota // few nodes have most of them
	citation                  // with communities and loops, and symmetric
	uniform                   // any two nodes
	grid                      // each node with itself and the four beside it
)

// graphSizes are those of the peers' figures.
var graphSizes = []graphSize{
	{"cora", citation, 2708, 13264},
	{"pubmed", citation, 19717, 108365},
	{"arxiv", powerLaw, 169343, 1166243},
	gridSize("grid", 1000),
	{"reddit-tenth", powerLaw, 232965, 11461589},
	{"reddit-small", powerLaw, 23297, 11461589},
	{"reddit", powerLaw, 232965, 57307946},
	{"proteins-small", uniform, 13000, 4000000},
	{"ogbn-proteins", uniform, 132534, 79122504},
}

// gridSize is the grid of a side.
func gridSize(name string, side int) graphSize {
	return graphSize{name, grid, side * side, 5*side*side - 4*side}
}

// powerLawExponent is that of the peers' graphs of this kind.
const powerLawExponent = 0.75

// mostSide is how long the side of a grid may be, and mostEnds how many nodes or edges a
// generated graph may have.
const mostSide, mostEnds = 1 << 14, 1 << 30

// known are the graphs of graphSizes, each of which is made at most once.
var known = func() map[string]*Graph {
	out := map[string]*Graph{}
	for _, s := range graphSizes {
		out[s.name] = s.graph()
	}
	return out
}()

// GraphOfSize returns the graph of a name in graphSizes, or one of a size that the name says:
// NODESxEDGES is a power law, uniform:NODESxEDGES joins any two nodes and grid:SIDE is a square
// with five points.
func GraphOfSize(name string) (*Graph, error) {
	if g := known[name]; g != nil {
		return g, nil
	}
	if side, ok := strings.CutPrefix(name, "grid:"); ok {
		if n, err := strconv.Atoi(side); err == nil && n >= 1 && n <= mostSide {
			return gridSize(name, n).graph(), nil
		}
		return nil, fmt.Errorf("the side of a grid must be from 1 to %d, such as grid:1000", mostSide)
	}
	s := graphSize{name: name}
	size, ok := strings.CutPrefix(name, "uniform:")
	if ok {
		s.kind = uniform
	}
	nodes, edges, _ := strings.Cut(size, "x")
	var err, err2 error
	s.nodes, err = strconv.Atoi(nodes)
	s.edges, err2 = strconv.Atoi(edges)
	if err != nil || err2 != nil || min(s.nodes, s.edges) < 1 || max(s.nodes, s.edges) > mostEnds {
		var names []string
		for _, s := range graphSizes {
			names = append(names, s.name)
		}
		return nil, fmt.Errorf("it must be %s, grid:SIDE, uniform:NODESxEDGES or NODESxEDGES, such as 100000x1000000", strings.Join(names, ", "))
	}
	return s.graph(), nil
}

// graph returns the graph of a size, which is always the same one.
func (s graphSize) graph() *Graph {
	ends := min(s.nodes, s.edges)
	return &Graph{Name: s.name, Nodes: s.nodes, Rows: s.nodes, Edges: s.edges, Sources: ends, Targets: ends, Get: sync.OnceValue(func() *graph.Graph {
		rng := rand.New(rand.NewPCG(0, 0))
		switch s.kind {
		case citation:
			return random.Citation(rng, s.nodes, s.edges)
		case uniform:
			return random.Uniform(rng, s.nodes, s.edges)
		case grid:
			return fivePoints(int(math.Sqrt(float64(s.nodes))))
		}
		return random.PowerLaw(rng, s.nodes, s.edges, powerLawExponent)
	})}
}

// fivePoints is the grid of a side in which each node hears itself and the four beside it, as
// the finite differences of the second order have it. Sources ascend.
func fivePoints(side int) *graph.Graph {
	size := gridSize("", side)
	offsets, src := make([]int64, 1, size.nodes+1), make([]int32, 0, size.edges)
	for v := range size.nodes {
		r, c := v/side, v%side
		for _, u := range [5]struct {
			there bool
			step  int
		}{{r > 0, -side}, {c > 0, -1}, {true, 0}, {c < side-1, 1}, {r < side-1, side}} {
			if u.there {
				src = append(src, int32(v+u.step))
			}
		}
		offsets = append(offsets, int64(len(src)))
	}
	return graph.Must(graph.FromCSR(&sparse.CSR{NumRows: size.nodes, NumCols: size.nodes, Offsets: offsets, Cols: src}))
}

// GraphOf returns a graph under a name, with the weight of each edge or nil.
func GraphOf(name string, g *graph.Graph, weights []tensor.Float) (*Graph, error) {
	if g.NumEdges() == 0 {
		return nil, fmt.Errorf("it has %s and no edges: the kernels need at least one", plural(g.NumSrc(), "node"))
	}
	out := &Graph{Name: name, Nodes: g.NumSrc(), Rows: g.NumDst(), Edges: g.NumEdges(), Get: func() *graph.Graph { return g }, Weights: weights}
	met := make([]bool, g.NumSrc())
	for _, u := range g.In().Cols {
		if !met[u] {
			met[u] = true
			out.Sources++
		}
	}
	for v := range g.NumDst() {
		if g.InDegree(v) > 0 {
			out.Targets++
		}
	}
	return out, nil
}

// GraphOfMatrix returns a matrix as a graph under a name: element (i, j) is the edge
// from j into i, with its value for a weight, so that a sum over edges is a product
// with the matrix. Its diagonal stays, and it need not be square.
func GraphOfMatrix(name string, a *sparse.CSR) (*Graph, error) {
	if a.NNZ() == 0 {
		return nil, fmt.Errorf("it is %d × %d and has no elements that are not zero: the kernels need at least one", a.NumRows, a.NumCols)
	}
	structure, err := sparse.New(a.NumRows, a.NumCols, a.Offsets, a.Cols, nil)
	if err != nil {
		return nil, err
	}
	g, err := graph.FromCSR(structure)
	if err != nil {
		return nil, err
	}
	out, err := GraphOf(name, g, a.Values)
	if err == nil {
		out.matrix = true
	}
	return out, err
}

// String says what g is, and whether u_mul_e_sum multiplies by what is its own.
func (g *Graph) String() string {
	name, by := plain.Text(g.Name), "weights"
	text := fmt.Sprintf("%s: %s, %s", name, plural(g.Nodes, "node"), plural(g.Edges, "edge"))
	switch {
	case g.matrix:
		text, by = fmt.Sprintf("%s: %d × %d, %s", name, g.Rows, g.Nodes, plural(g.Edges, "element")), "values"
	case g.Rows != g.Nodes:
		text = fmt.Sprintf("%s: %s from %s to %s", name, plural(g.Edges, "edge"), plural(g.Nodes, "node"), plural(g.Rows, "other"))
	}
	if g.Weights != nil {
		text += "; u_mul_e_sum multiplies by its " + by
	}
	return text
}

// Only returns b, or if g is not square, which b needs, what says so instead.
func (g *Graph) Only(b Benchmark) Benchmark {
	if g.Rows != g.Nodes {
		b.Prepare, b.Open = nil, func() (Work, error) {
			return Work{}, fmt.Errorf("%s is %d × %d, and this needs a square matrix; the kernels do not: name sparse", g.Name, g.Rows, g.Nodes)
		}
	}
	return b
}
