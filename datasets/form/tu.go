package form

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/tensor"
)

// tuIndicator ends the name of the file that every dataset of that form has.
const tuIndicator = "_graph_indicator.txt"

// tuParts end the names of the files of a dataset.
var tuParts = []string{
	tuIndicator, "_A.txt", "_graph_labels.txt", "_graph_attributes.txt", "_node_labels.txt", "_node_attributes.txt", "_edge_labels.txt", "_edge_attributes.txt",
}

// tuForm is graphs as Morris and others (2020) publish them, in a folder or an
// archive of NAME_A.txt (edges), NAME_graph_indicator.txt (the graph of each node) and
// perhaps NAME_graph_labels.txt, NAME_graph_attributes.txt, NAME_node_labels.txt,
// NAME_node_attributes.txt, NAME_edge_labels.txt and NAME_edge_attributes.txt.
//
// Labels of nodes and edges are words: one for each whole number from the least to the largest, whether it occurs or
// not, as PyG has columns for them. Labels of graphs, which may be words, are classes in their order; without, attributes of graphs are
// targets, of which nan is not known. Nodes and graphs are numbered from 1, or from 0 if one has that number. Edges
// keep their direction.
var tuForm = Form{
	Name: "tu", Endings: []string{".txt"}, Says: "many graphs as TUDataset publishes them: NAME_A.txt, NAME_graph_indicator.txt and others",
	Opens: func(names []string) (main string, err error) {
		if main, err = theOne(names, tuIndicator); main == "" && err == nil && slices.ContainsFunc(names, func(name string) bool {
			return strings.HasSuffix(unpack.Plain(name), "_graph_labels.txt") || strings.HasSuffix(unpack.Plain(name), "_graph_attributes.txt")
		}) {
			err = fmt.Errorf("there is no file NAME%s in it, which says which graph a node is in", tuIndicator)
		}
		return main, err
	},
	Belongs: func(names []string, main string) (all []string) {
		prefix := strings.TrimSuffix(unpack.Plain(main), tuIndicator)
		for _, name := range names {
			if part, ok := strings.CutPrefix(unpack.Plain(name), prefix); ok && slices.Contains(tuParts, part) {
				all = append(all, name)
			}
		}
		return all
	},
	Read: func(f *Files, main string, _ Options) (*Raw, error) {
		prefix := strings.TrimSuffix(unpack.Plain(main), tuIndicator)
		t := &tu{numberFiles: numberFiles{files: f, prefix: prefix}}
		for _, step := range []func() error{t.readNodes, t.readGraphs, t.readEdges, t.readFeatures} {
			if err := step(); err != nil {
				return nil, err
			}
		}
		t.raw.Name, t.raw.Size = path.Base(prefix), f.Size()
		return &t.raw, nil
	},
}

// theOne returns the one name that has an ending, or an error if several have.
func theOne(names []string, ending string) (main string, err error) {
	for _, name := range names {
		switch {
		case !strings.HasSuffix(unpack.Plain(name), ending) || strings.HasPrefix(path.Base(name), "."):
		case main != "":
			return "", fmt.Errorf("there are several datasets in it, %s and %s among them: unpack it, and name the folder of one", main, name)
		default:
			main = name
		}
	}
	return main, nil
}

// tu is a dataset while it is read, the files first by whose lengths others are checked.
type tu struct {
	numberFiles
	of  []int32 // the graph of each node
	raw Raw
}

// readNodes reads the graph of each node.
func (t *tu) readNodes() error {
	var of chunkedSlice[int32]
	last := int32(0)
	err := t.lines(tuIndicator, func(fields [][]byte, budget *unpack.Budget) error {
		if len(fields) != 1 {
			return fmt.Errorf("%d fields, want the number of a graph", len(fields))
		}
		g, err := wholeNumber(fields[0])
		switch {
		case err != nil:
			return err
		case g < last:
			return fmt.Errorf("graph %d, after %d; the nodes of a graph stand together, and graphs ascend", g, last)
		case of.n == math.MaxInt32/2:
			return fmt.Errorf("there are more than 2³⁰ nodes")
		}
		last = g
		of.add(g)
		return budget.Keep(8)
	})
	if err != nil {
		return err
	}
	if t.of = of.join(); len(t.of) == 0 {
		return fmt.Errorf("%s: there are no nodes in %s%s", t.files.Path, t.prefix, tuIndicator)
	}
	if t.of[0] > 0 { // numbered from 1
		for v := range t.of {
			t.of[v]--
		}
	}
	t.raw.Nodes = []Nodes{{Listed: len(t.of), Table: Table{Rows: len(t.of), Origin: Origin{File: t.at(tuIndicator), First: 1}}}}
	return nil
}

// readGraphs reads what is to be learnt, and how many graphs there are.
func (t *tu) readGraphs() error {
	n := int(t.of[len(t.of)-1]) + 1
	g := &Graphs{Table: Table{Rows: n, Origin: Origin{File: t.at(tuIndicator), Unit: "graph", First: 1}}}
	switch {
	case t.has("_graph_labels.txt"):
		var labels wordList
		err := t.lines("_graph_labels.txt", func(fields [][]byte, budget *unpack.Budget) error {
			if len(fields) != 1 {
				return fmt.Errorf("%d fields, want one label", len(fields))
			}
			labels.budget = budget
			return labels.add(fields[0])
		})
		if err != nil {
			return err
		}
		g.Rows, g.Origin = labels.codes.n, Origin{File: t.at("_graph_labels.txt"), First: 1}
		c, err := labels.classes("graph_labels", "graph", "numbers to be learnt go into NAME_graph_attributes.txt")
		if err != nil {
			return t.wrong("_graph_labels.txt", "%w", err)
		}
		g.Columns = []Column{c}
	case t.has("_graph_attributes.txt"):
		x, err := t.numbers("_graph_attributes.txt", true)
		if err != nil {
			return err
		}
		g.Rows, g.Origin = x.rows, Origin{File: t.at("_graph_attributes.txt"), First: 1}
		c := x.column("graph_attributes", AsTarget)
		if !slices.ContainsFunc(c.Matrix.Values, func(v tensor.Float) bool { return v == v }) {
			return t.wrong("_graph_attributes.txt", "nothing is known of what is to be learnt: all numbers are missing")
		}
		g.Columns = []Column{c}
	case int64(n) > 1<<16+min(t.files.Size(), 1<<48): // as many as there may be without a byte for each
		return fmt.Errorf("%s: %s%s: graph %d, in files of %d bytes", t.files.Path, t.prefix, tuIndicator, n, t.files.Size())
	}
	if n > g.Rows {
		return fmt.Errorf("%s: %s%s names graph %d, and there are labels of %d", t.files.Path, t.prefix, tuIndicator, n, g.Rows)
	}
	g.Offsets = make([]int, g.Rows+1)
	for _, k := range t.of {
		g.Offsets[k+1]++
	}
	for i := range g.Rows {
		g.Offsets[i+1] += g.Offsets[i]
	}
	t.raw.Graphs = g
	return nil
}

// readEdges reads the edges, whose ends are counted from 1, or from 0 if there is a 0.
func (t *tu) readEdges() error {
	var src, dst chunkedSlice[int32]
	n, base, largest := int32(len(t.of)), int32(1), int32(0)
	err := t.lines("_A.txt", func(fields [][]byte, budget *unpack.Budget) error {
		if len(fields) != 2 {
			return fmt.Errorf("%d fields, want the two nodes of an edge", len(fields))
		}
		u, err := wholeNumber(fields[0])
		if err != nil {
			return err
		}
		v, err := wholeNumber(fields[1])
		if err != nil {
			return err
		}
		if u == 0 || v == 0 {
			base = 0
		}
		if largest = max(largest, u, v); largest >= n+base {
			return fmt.Errorf("with this the nodes go from %d to %d, and there are %d", base, largest, n)
		}
		src.add(u)
		dst.add(v)
		return budget.Keep(16)
	})
	if err != nil {
		return err
	}
	e := Edges{Source: src.join(), Target: dst.join()}
	e.Table = Table{Rows: len(e.Source), Origin: Origin{File: t.at("_A.txt"), First: 1}}
	for i := range e.Source {
		e.Source[i] -= base
		e.Target[i] -= base
		if a, b := t.of[e.Source[i]], t.of[e.Target[i]]; a != b {
			return fmt.Errorf("%s: %s_A.txt: edge %d leads from graph %d to graph %d", t.files.Path, t.prefix, i+1, a+1, b+1)
		}
	}
	t.raw.Edges = []Edges{e}
	return nil
}

// readFeatures reads the attributes and labels of nodes and of edges.
func (t *tu) readFeatures() error {
	if err := t.features(&t.raw.Nodes[0].Table, "node"); err != nil {
		return err
	}
	return t.features(&t.raw.Edges[0].Table, "edge")
}

// features reads the attributes and labels of the rows of a table.
func (t *tu) features(of *Table, noun string) error {
	for _, kind := range []string{"_attributes", "_labels"} {
		name := noun + kind
		ending := "_" + name + ".txt"
		if !t.has(ending) {
			continue
		}
		x, err := t.numbers(ending, false)
		switch {
		case err != nil:
			return err
		case x.rows != of.Rows:
			return t.wrong(ending, "%d lines for %d %ss", x.rows, of.Rows, noun)
		case x.rows == 0:
		case kind == "_attributes":
			of.Columns = append(of.Columns, x.column(name, AsFeature))
		default:
			columns, err := labelsOf(name, x, t.files.Size())
			if err != nil {
				return t.wrong(ending, "%w", err)
			}
			of.Columns = append(of.Columns, columns...)
		}
	}
	return nil
}

// gapsMost is how many words labels may have for each value that there is: beyond, only
// these have one.
const gapsMost = 8

// labelsOf returns the columns of x as words, each with a word for each whole number from its least
// to its largest, as PyG has it, or, where these leave too many out or are no whole numbers,
// for each value that it has. Files of that many bytes are believed to mean so many words, which become features.
func labelsOf(name string, x *wide, bytes int64) (columns []Column, err error) {
	all, width := x.column(name, AsFeature).Matrix, 0
	for c := range all.Cols {
		seen := map[tensor.Float]bool{}
		for at := c; at < len(all.Values); at += all.Cols {
			seen[all.Values[at]] = true
		}
		set := make([]tensor.Float, 0, len(seen))
		for f := range seen {
			set = append(set, f)
		}
		slices.Sort(set)
		set = withGaps(set)
		if width += len(set); int64(width)*int64(all.Rows) > 1<<23+64*min(bytes, 1<<48) {
			return nil, fmt.Errorf("%d different labels in %d lines are too many to have a column each, in files of %d bytes", width, all.Rows, bytes)
		}
		w := &Words{Codes: make([]int32, 0, all.Rows), Ordered: true}
		for _, v := range set {
			w.Texts = append(w.Texts, strconv.FormatFloat(float64(v), 'f', -1, 64))
		}
		for at := c; at < len(all.Values); at += all.Cols {
			k, _ := slices.BinarySearch(set, all.Values[at])
			w.Codes = append(w.Codes, int32(k))
		}
		columns = append(columns, Column{Name: numbered(name, c, all.Cols), Type: Word, Role: AsFeature, Words: w})
	}
	return columns, nil
}

// numbered returns the name of column c of as many that have one name.
func numbered(name string, c, of int) string {
	if of == 1 {
		return name
	}
	return name + "_" + strconv.Itoa(c)
}

// withGaps returns the whole numbers from the first to the last of a set that ascends, or the
// set if they are too many or others are among it.
func withGaps(set []tensor.Float) []tensor.Float {
	if len(set) == 0 || slices.ContainsFunc(set, func(v tensor.Float) bool { return v != tensor.Float(int64(v)) }) {
		return set
	}
	least, largest := set[0], set[len(set)-1]
	if largest-least >= tensor.Float(gapsMost*len(set)) || least <= -1<<24 || largest >= 1<<24 { // beyond, one more is the same
		return set
	}
	var all []tensor.Float
	for v := least; v <= largest; v++ {
		all = append(all, v)
	}
	return all
}
