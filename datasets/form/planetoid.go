package form

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/pickle"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// maxVal is how many nodes after the training nodes are for validation.
const maxVal = 500

var classNames = map[string][]string{
	"cora":     {"Theory", "Reinforcement_Learning", "Genetic_Algorithms", "Neural_Networks", "Probabilistic_Methods", "Case_Based", "Rule_Learning"},
	"citeseer": {"AI", "ML", "IR", "DB", "Agents", "HCI"},
	"pubmed":   {"Diabetes Mellitus, Experimental", "Diabetes Mellitus Type 1", "Diabetes Mellitus Type 2"},
}

// titles are what the datasets of those names are called.
var titles = map[string]string{"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}

// planetoidParts are the endings of the eight files.
var planetoidParts = []string{"x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"}

// planetoidForm is Cora, CiteSeer, PubMed or a dataset of your own as Planetoid publishes them: the files
// ind.NAME.x, y, tx, ty, allx, ally, graph and test.index.
//
// The split is the standard one: the rows of x train, the up to 500 after them
// validate, and test.index tests. Both directions of each edge are meant. The
// graph may leave nodes out that have no neighbours. A node that is in no file but the graph has no features, is in no part of the
// split, and has class 0, as in DGL and PyG: CiteSeer has 15 of these.
var planetoidForm = Form{
	Name:    "planetoid",
	Endings: []string{"ind.NAME.allx"},
	Says:    "the eight files ind.NAME.x, y, tx, ty, allx, ally, graph and test.index of Planetoid",
	Opens: func(names []string) (string, error) {
		return only(slices.DeleteFunc(ending(names, ".allx"), func(n string) bool { return !strings.HasPrefix(path.Base(n), "ind.") }))
	},
	Takes: func(_ *Files, name string) string {
		if _, ok := planetoidPrefix(unpack.Plain(name)); ok {
			return name
		}
		return ""
	},
	Read: func(f *Files, main string, _ Options) (*Raw, error) {
		prefix, ok := planetoidPrefix(main)
		if !ok {
			return nil, fmt.Errorf("%s: only texts are read in gzip or zstd: unpack it first", f.At(main))
		}
		return readPlanetoid(&planetoid{files: f, prefix: prefix})
	},
	Belongs: func(names []string, main string) (all []string) {
		prefix, _ := planetoidPrefix(unpack.Plain(main))
		for _, name := range names {
			if strings.HasPrefix(name, prefix) {
				all = append(all, name)
			}
		}
		return all
	},
}

// planetoidPrefix returns what the names of all parts begin with, such as "planetoid/ind.cora.", and whether a name is that of one.
func planetoidPrefix(name string) (prefix string, ok bool) {
	if !strings.HasPrefix(path.Base(name), "ind.") {
		return "", false
	}
	for _, part := range planetoidParts {
		if prefix, ok := strings.CutSuffix(name, "."+part); ok && path.Base(prefix) != "ind" {
			return prefix + ".", true
		}
	}
	return "", false
}

// planetoid is what the eight files of a dataset hold.
type planetoid struct {
	files       *Files
	prefix      string // of their names
	x, allx, tx *sparse.CSR
	y, ally, ty []int32 // a class a row
	classes     int
	links       *adjacency
	nodes       int
	test        []int32 // the node of each row of tx
	size        int64   // bytes of allx
}

// name returns the dataset's name.
func (p *planetoid) name() string {
	return strings.TrimSuffix(strings.TrimPrefix(path.Base(p.prefix), "ind."), ".")
}

func (p *planetoid) path(part string) string { return p.files.At(p.prefix + part) }

// wrong returns an error about one of the files.
func (p *planetoid) wrong(part, format string, args ...any) error {
	return fmt.Errorf("%s: %w", p.path(part), fmt.Errorf(format, args...))
}

// read reads all files and compares their lengths. The graph is decoded beside the
// matrices: these two take the time.
func (p *planetoid) read() error {
	graph, err := p.bytes("graph")
	if err != nil {
		return err
	}
	var linksErr error
	var side sync.WaitGroup
	side.Go(func() { p.links, linksErr = decode(p, "graph", graph, adjacencyOf) })
	for _, read := range []func() error{p.readMatrices, p.readLabels, p.readIndex} {
		if err == nil {
			err = read()
		}
	}
	side.Wait()
	if err == nil {
		err = linksErr
	}
	if err == nil {
		err = p.check(len(p.links.keys))
	}
	if err != nil {
		return err
	}
	if err := p.links.check(p.nodes); err != nil {
		return p.wrong("graph", "%w", err)
	}
	return nil
}

func (p *planetoid) readMatrices() (err error) {
	for _, m := range []struct {
		part string
		into **sparse.CSR
	}{{"allx", &p.allx}, {"x", &p.x}, {"tx", &p.tx}} {
		if *m.into, err = parse(p, m.part, matrix); err != nil {
			return err
		}
	}
	return nil
}

func (p *planetoid) readLabels() error {
	for _, l := range []struct {
		part string
		into *[]int32
		x    *sparse.CSR
	}{{"ally", &p.ally, p.allx}, {"y", &p.y, p.x}, {"ty", &p.ty, p.tx}} {
		v, err := parse(p, l.part, classesIn)
		if err != nil {
			return err
		}
		if p.classes == 0 {
			p.classes = v.count
		}
		if v.count != p.classes || len(v.labels) != l.x.NumRows || l.x.NumCols != p.allx.NumCols {
			return p.wrong(l.part, "%d rows of %d classes, for %d rows of %d features; ally has %d classes, allx %d features",
				len(v.labels), v.count, l.x.NumRows, l.x.NumCols, p.classes, p.allx.NumCols)
		}
		*l.into = v.labels
	}
	return nil
}

// parse reads one pickled file and turns its value into a T.
func parse[T any](p *planetoid, part string, convert func(any) (T, error)) (out T, err error) {
	b, err := p.bytes(part)
	if err != nil {
		return out, err
	}
	if part == "allx" {
		p.size = int64(len(b))
	}
	return decode(p, part, b, convert)
}

// decode is parse of what the file holds.
func decode[T any](p *planetoid, part string, b []byte, convert func(any) (T, error)) (out T, err error) {
	v, err := pickle.Decode(b)
	if err == nil {
		out, err = convert(v)
	}
	if err != nil {
		return out, p.wrong(part, "%w", err)
	}
	return out, nil
}

// bytes returns what a part holds.
func (p *planetoid) bytes(part string) ([]byte, error) {
	r, size, closeAt, err := p.files.OpenAt(p.prefix + part)
	if err != nil {
		return nil, err
	}
	defer closeAt()
	if size > pickle.MaxInput {
		return nil, p.wrong(part, "%d bytes are too many; the limit is %d", size, pickle.MaxInput)
	}
	b := make([]byte, size)
	if n, err := r.ReadAt(b, 0); n < len(b) {
		return nil, p.wrong(part, "%w", err)
	}
	return b, nil
}

// check compares the files with each other and counts the nodes, of which some are
// listed in the graph. As in DGL and PyG there are as many as the features or the
// test nodes say if these are more: nodes without edges may be missing in the graph.
func (p *planetoid) check(listed int) error {
	train, known := p.x.NumRows, p.allx.NumRows
	if train > known {
		return p.wrong("x", "%d rows, more than the %d of allx, whose first ones they are", train, known)
	}
	if i := mismatch(p.y, p.ally[:train]); i >= 0 {
		return p.wrong("y", "row %d has class %d, the same row of ally %d", i, p.y[i], p.ally[i])
	}
	if len(p.test) != p.tx.NumRows {
		return p.wrong("test.index", "%d nodes for the %d rows of tx", len(p.test), p.tx.NumRows)
	}
	p.nodes = max(listed, known+p.tx.NumRows)
	most := max(p.nodes, 2*(known+p.tx.NumRows)) // or else most of them would have no features
	seen := map[int32]int{}
	for i, v := range p.test {
		if int(v) < known || int(v) >= most {
			return p.wrong("test.index", "line %d: node %d; test nodes are %d to %d", i+1, v, known, most-1)
		}
		p.nodes = max(p.nodes, int(v)+1)
		if j, ok := seen[v]; ok {
			return p.wrong("test.index", "line %d: node %d stands in line %d already", i+1, v, j+1)
		}
		seen[v] = i
	}
	return nil
}

// mismatch returns where a differs from b, −1 if it does not.
func mismatch(a, b []int32) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// readPlanetoid reads the files and puts the parts together.
func readPlanetoid(p *planetoid) (*Raw, error) {
	if err := p.read(); err != nil {
		return nil, err
	}
	row := make([]int32, p.nodes) // of each node, its row of allx and tx; -1: none
	labels := make([]int32, p.nodes)
	known := copy(labels, p.ally)
	for i := range row {
		row[i] = -1
		if i < known {
			row[i] = int32(i)
		}
	}
	for i, v := range p.test {
		row[v], labels[v] = int32(known+i), p.ty[i]
	}
	x, err := stack(row, p.allx, p.tx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path("allx"), err)
	}
	name := p.name()
	if lower := strings.ToLower(name); titles[lower] != "" {
		name = lower
	}
	label := answer{of: OfNodes, name: "class", labels: labels, classes: p.classes}
	column, err := label.column(namesFor(name, p.classes))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path("ally"), err)
	}
	if titles[name] != "" {
		name = titles[name]
	}
	train := p.x.NumRows
	return &Raw{
		Name: name, Size: p.size,
		Nodes: []Nodes{{Listed: p.nodes, Table: Table{Rows: p.nodes, Origin: Origin{File: p.path("allx"), Unit: "node"},
			Columns: []Column{{Name: "x", Type: Many, Matrix: MatrixOf(x), Role: AsFeature}, column}}}},
		Edges: []Edges{{Undirected: true, Neighbours: true, Source: p.links.source, Target: p.links.target,
			Table: Table{Rows: len(p.links.source), Origin: Origin{File: p.path("graph"), Unit: "edge"}}}},
		Splits: []Split{{Of: OfNodes, Train: span(0, train), Val: span(train, min(train+maxVal, known)), Test: slices.Sorted(slices.Values(p.test))}},
	}, nil
}

// namesFor returns the names of the classes if their number is the known one.
func namesFor(name string, n int) []string {
	if c := classNames[name]; len(c) == n {
		return slices.Clone(c)
	}
	return nil
}

// span returns the numbers from lo to hi, without hi.
func span(lo, hi int) []int32 {
	ids := make([]int32, 0, hi-lo)
	for i := lo; i < hi; i++ {
		ids = append(ids, int32(i))
	}
	return ids
}

// stack returns the matrix whose row i is row rows[i] of a above b; −1 stands
// for a row of zeros.
func stack(rows []int32, a, b *sparse.CSR) (*sparse.CSR, error) {
	rowOf := func(r int32) ([]int32, []tensor.Float) {
		switch i := int(r); {
		case i < 0:
			return nil, nil
		case i < a.NumRows:
			return a.Row(i)
		default:
			return b.Row(i - a.NumRows)
		}
	}
	offsets := make([]int64, len(rows)+1)
	for i, r := range rows {
		cols, _ := rowOf(r)
		offsets[i+1] = offsets[i] + int64(len(cols))
	}
	cols := make([]int32, offsets[len(rows)])
	values := make([]tensor.Float, len(cols))
	par.For(len(rows), 512, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c, v := rowOf(rows[i])
			copy(cols[offsets[i]:], c)
			copy(values[offsets[i]:], v)
		}
	})
	return sparse.New(len(rows), a.NumCols, offsets, cols, values)
}
