package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/tensor"
)

// JSONLines reads graphs from a text, perhaps in gzip or zstd, with a JSON object a line:
//
//		{"nodes": 3, "edges": [[0, 1], [1, 2]], "x": [[1, 0], [0, 1], [1, 1]], "label": "toxic"}
//
//	  - edges: [source, target] each, between nodes numbered from 0; or edge_index, a list of
//	    sources and one of targets, as PyG and OGB have it. "directed": false says that both
//	    directions are meant;
//	  - nodes (or num_nodes): how many there are, if neither x nor the edges say so;
//	  - x (or node_feat, features): a list of numbers a node, or a number;
//	  - edge_attr (or edge_feat): a list of numbers an edge of the list, or a number;
//	  - edge_weight: a number an edge of the list, which is one feature more;
//	  - edge_type: a whole number or a word an edge of the list, its kind: the features get a
//	    column for each kind after all others, as TUDataset's labels of edges do;
//	  - label: a number or a word, the class of the graph; or y (or targets): a number or a
//	    list of numbers to be learnt, or of labels, each 0 or 1; null: not known;
//	  - node_label: a number or a word a node, its class, or node_y: a number or a list a
//	    node, where nodes are to be told apart, for [Graphs.Nodes]; null: not known;
//	  - split: train, val or test; name: what the graph is called.
//
// Loops and repeated edges are left out, and so is what has another name, which [Graphs.Describe]
// lists. The error names the file, the line and the value.
func JSONLines(path string) (*Graphs, error) {
	if err := regular.File(path); err != nil {
		return nil, err
	}
	f, err := unpack.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	l := &graphLines{d: &Graphs{Name: name}, offsets: []int{0}, budget: f.Budget}
	l.y.gaps, l.nodeY.gaps = true, true
	if err := l.read(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := l.build(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := l.d.sound(f.Budget.Packed()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if says := l.least.doubt(); says != "" {
		l.d.doubt = path + ": " + says
	}
	return l.d, nil
}

// graphLine is a line of the file.
type graphLine struct {
	Nodes     *int       `json:"nodes"`
	NumNodes  *int       `json:"num_nodes"`
	Edges     [][]int    `json:"edges"`
	EdgeIndex [][]int    `json:"edge_index"`
	Directed  *bool      `json:"directed"`
	X         []vecOrNum `json:"x"`
	NodeFeat  []vecOrNum `json:"node_feat"`
	Features  []vecOrNum `json:"features"`
	EdgeAttr  []vecOrNum `json:"edge_attr"`
	EdgeFeat  []vecOrNum `json:"edge_feat"`
	Weights   []vecOrNum `json:"edge_weight"`
	EdgeType  []kindName `json:"edge_type"`
	Label     any        `json:"label"`
	Y         gaps       `json:"y"`
	Targets   gaps       `json:"targets"`
	NodeLabel []any      `json:"node_label"`
	NodeY     []gaps     `json:"node_y"`
	Split     string     `json:"split"`
	Name      string     `json:"name"`
}

// vecOrNum is a list of numbers, or a number, which is a list of one.
type vecOrNum []float64

// UnmarshalJSON reads either. By itself null would be read as zero.
func (x *vecOrNum) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	list, err := numbersOf(b)
	if err != nil {
		return err
	}
	*x = make([]float64, len(list))
	for i, v := range list {
		if v == nil {
			return fmt.Errorf("number %d of a list is null: fill it in", i)
		}
		(*x)[i] = *v
	}
	return nil
}

// gaps is vecOrNum of which some may be null: NaN. A null alone is a list of one.
type gaps []float64

// UnmarshalJSON reads either.
func (x *gaps) UnmarshalJSON(b []byte) error {
	list, err := numbersOf(b)
	if err != nil {
		return err
	}
	*x = make([]float64, len(list))
	for i, v := range list {
		if (*x)[i] = math.NaN(); v != nil {
			(*x)[i] = *v
		}
	}
	return nil
}

// numbersOf returns the numbers of a list, of which some may be null, or the one that stands there.
func numbersOf(b []byte) (list []*float64, err error) {
	if b[0] == '[' {
		err = jsonread.Unmarshal(b, &list)
		return list, err
	}
	list = make([]*float64, 1)
	if err = jsonread.Unmarshal(b, &list[0]); err != nil {
		if bad := (*jsonread.Error)(nil); errors.As(err, &bad) {
			bad.Err = fmt.Errorf("%w or a list of them", bad.Err)
		}
	}
	return list, err
}

// graphLines is the graphs while they are read.
type graphLines struct {
	d         *Graphs
	budget    *unpack.Budget
	offsets   []int
	src, dst  []int32
	x, attr   wide
	y, nodeY  wide
	kinds     []string // of each edge, as src
	labels    []string
	ofNodes   []string // labels of nodes; empty: not known
	names     []string
	named     bool
	described bool // the first graph has a label, or targets
	least     leastNumbers
}

// wide is rows of as many numbers each, while they are read.
type wide struct {
	gaps        bool // some may be NaN
	width, rows int
	values      []tensor.Float
}

// add adds a row.
func (w *wide) add(what string, row []float64) error {
	if w.rows++; w.rows == 1 {
		w.width = len(row)
	}
	if len(row) != w.width || w.width == 0 {
		return fmt.Errorf("%s has %d numbers, want %d as the first", what, len(row), max(1, w.width))
	}
	for k, f := range row {
		v := tensor.Float(f)
		if v-v != 0 && !(w.gaps && v != v) {
			return fmt.Errorf("number %d of %s is %v", k, what, f)
		}
		w.values = append(w.values, v)
	}
	return nil
}

// dense returns the rows, nil if there are none.
func (w *wide) dense() *tensor.Dense {
	if w.rows == 0 {
		return nil
	}
	return tensor.Of(w.values, w.rows, w.width)
}

// graphLineMost is the length of the longest line.
const graphLineMost = 1 << 24

func (l *graphLines) read(r io.Reader) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 1<<16), graphLineMost)
	line := 1
	for ; s.Scan(); line++ {
		text := bytes.TrimSpace(s.Bytes())
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte(mark))
		}
		if len(text) == 0 {
			continue
		}
		err := l.budget.Keep(16 * len(text))
		if err == nil {
			err = l.graph(text)
		}
		if cut := s.Err(); err != nil && cut != nil { // the rest of the line is missing
			err = cut
		}
		if bad := (*jsonread.Error)(nil); errors.As(err, &bad) {
			indent := len(s.Bytes()) - len(bytes.TrimLeft(s.Bytes(), " \t"))
			return fmt.Errorf("line %d, column %d: %s", line, indent+bad.Column, bad.What())
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	if err := tooLong(s.Err(), graphLineMost); err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	if len(l.offsets) == 1 {
		return errors.New("there are no graphs in it")
	}
	return nil
}

// graph reads a line.
func (l *graphLines) graph(text []byte) error {
	if text[0] == '[' {
		return errors.New("a list stands there, want a graph: an object in braces, one a line")
	}
	var g graphLine
	if err := jsonread.Unmarshal(text, &g); err != nil {
		return asLabel(err)
	}
	l.note(text)
	edges, err := g.edges()
	if err != nil {
		return err
	}
	x := firstOf(g.X, g.NodeFeat, g.Features)
	n, err := g.nodes(edges, len(x))
	if err != nil {
		return err
	}
	if g.Nodes == nil && len(x) == 0 {
		l.least.see(edges)
	}
	if int64(l.offsets[len(l.offsets)-1])+int64(n) > believed(l.budget.Packed()) {
		return fmt.Errorf("%d nodes, more than a file of that length is believed to have", n)
	}
	attr, err := weighted(firstOf(g.EdgeAttr, g.EdgeFeat), g.Weights)
	if err != nil {
		return err
	}
	both := g.Directed != nil && !*g.Directed
	if err := l.rows(x, attr, n, len(edges), both); err != nil {
		return err
	}
	if err := l.kindsOf(&g, len(edges), both); err != nil {
		return err
	}
	first := l.offsets[len(l.offsets)-1]
	for _, e := range edges {
		l.src, l.dst = append(l.src, int32(first+e[0])), append(l.dst, int32(first+e[1]))
		if both {
			l.src, l.dst = append(l.src, int32(first+e[1])), append(l.dst, int32(first+e[0]))
		}
	}
	l.offsets = append(l.offsets, first+n)
	if err := l.describeNodes(&g, n); err != nil {
		return err
	}
	return l.describe(&g, int32(len(l.offsets)-2))
}

// asLabel says of a word where numbers are wanted where it belongs.
func asLabel(err error) error {
	bad := (*jsonread.Error)(nil)
	if errors.As(err, &bad) && bad.Found.Kind == '"' && (bad.Path == `"y"` || bad.Path == `"targets"`) {
		bad.Err = fmt.Errorf(`%w; a class that is a word is the graph's "label"`, bad.Err)
	}
	return err
}

// weighted returns the features of edges with their weights as a column more.
func weighted(attr, weights []vecOrNum) ([]vecOrNum, error) {
	if weights == nil {
		return attr, nil
	}
	if attr != nil && len(attr) != len(weights) {
		return nil, fmt.Errorf("weights of %d edges, and features of %d", len(weights), len(attr))
	}
	out := make([]vecOrNum, len(weights))
	for e, w := range weights {
		if len(w) != 1 {
			return nil, fmt.Errorf("the weight of edge %d is %v, want one number", e, []float64(w))
		}
		if attr != nil {
			out[e] = append(out[e], attr[e]...)
		}
		out[e] = append(out[e], w[0])
	}
	return out, nil
}

// firstOf returns the first list that is there.
func firstOf(lists ...[]vecOrNum) []vecOrNum {
	for _, x := range lists {
		if x != nil {
			return x
		}
	}
	return nil
}

// edges returns the ends of each edge.
func (g *graphLine) edges() ([][2]int, error) {
	var out [][2]int
	for i, e := range g.Edges {
		if len(e) != 2 {
			return nil, fmt.Errorf("edge %d has %d ends, want [source, target]", i, len(e))
		}
		out = append(out, [2]int(e))
	}
	if g.EdgeIndex == nil {
		return out, nil
	}
	x := g.EdgeIndex
	if g.Edges != nil || len(x) != 2 || len(x[0]) != len(x[1]) {
		return nil, errors.New("want edges, or an edge_index of two lists as long as each other: sources and targets")
	}
	for i, u := range x[0] {
		out = append(out, [2]int{u, x[1][i]})
	}
	return out, nil
}

// nodes returns how many nodes a graph has, of which rows have features.
func (g *graphLine) nodes(edges [][2]int, rows int) (int, error) {
	n, says := rows, "features of"
	if g.Nodes == nil {
		g.Nodes = g.NumNodes
	}
	if g.Nodes != nil {
		if n = *g.Nodes; rows > 0 && n != rows || n < 0 {
			return 0, fmt.Errorf("nodes is %d, and there are features of %d", n, rows)
		}
		says = "there are"
	}
	for i, e := range edges {
		for _, v := range e {
			switch {
			case v < 0:
				return 0, fmt.Errorf("edge %d has an end %d; nodes are numbered from 0", i, v)
			case v >= n && (g.Nodes != nil || rows > 0):
				return 0, fmt.Errorf("edge %d has an end %d, and %s %d nodes, numbered from 0%s", i, v, says, n, fromOneOf(n, edges))
			}
		}
	}
	if g.Nodes == nil && rows == 0 {
		for _, e := range edges {
			n = max(n, e[0]+1, e[1]+1)
		}
	}
	return n, nil
}

// rows takes the features of a graph's n nodes and of its edges.
func (l *graphLines) rows(x, attr []vecOrNum, n, edges int, both bool) error {
	if before := l.offsets[len(l.offsets)-1]; n > 0 && before > 0 && (x == nil) != (l.x.rows == 0) {
		return errors.New("only some of the graphs have features of nodes")
	}
	for v, row := range x {
		if err := l.x.add(fmt.Sprintf("node %d", v), row); err != nil {
			return err
		}
	}
	if edges > 0 && len(l.src) > 0 && (attr == nil) != (l.attr.rows == 0) {
		return errors.New("only some of the graphs have features of edges")
	}
	if attr != nil && len(attr) != edges {
		return fmt.Errorf("features of %d edges, and there are %d", len(attr), edges)
	}
	for e, row := range attr {
		for range 1 + btoi(both) {
			if err := l.attr.add(fmt.Sprintf("edge %d", e), row); err != nil {
				return err
			}
		}
	}
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// describeNodes takes what is to be learnt of the n nodes of a graph.
func (l *graphLines) describeNodes(g *graphLine, n int) error {
	before := l.offsets[len(l.offsets)-1] - n
	switch {
	case g.NodeLabel != nil && g.NodeY != nil:
		return errors.New("it has node_label and node_y; want one of them")
	case before > 0 && n > 0 && ((g.NodeLabel != nil) != (len(l.ofNodes) > 0) || (g.NodeY != nil) != (l.nodeY.rows > 0)):
		return errors.New("only some of the graphs have node_label or node_y, or one has the other")
	case g.NodeLabel != nil && len(g.NodeLabel) != n || g.NodeY != nil && len(g.NodeY) != n:
		return fmt.Errorf("node_label or node_y is of %d nodes, and there are %d", max(len(g.NodeLabel), len(g.NodeY)), n)
	}
	for v, label := range g.NodeLabel {
		switch label := label.(type) {
		case nil:
			l.ofNodes = append(l.ofNodes, "")
		case string, float64, bool:
			l.ofNodes = append(l.ofNodes, fmt.Sprint(label))
		default:
			return fmt.Errorf("the label of node %d is %s, want a number or a word", v, partsOf(label))
		}
	}
	for v, y := range g.NodeY {
		if err := l.nodeY.add(fmt.Sprintf("node_y of node %d", v), y); err != nil {
			return err
		}
	}
	return nil
}

// describe takes what is to be learnt of graph i, its part and its name.
func (l *graphLines) describe(g *graphLine, i int32) error {
	y := g.Y
	if y == nil {
		y = g.Targets
	}
	label := ""
	switch v := g.Label.(type) {
	case nil:
	case string:
		label = v
	case float64, bool:
		label = fmt.Sprint(v)
	default:
		return fmt.Errorf("the label is %s, want a number or a word", partsOf(v))
	}
	switch described := g.Label != nil || y != nil; {
	case g.Label != nil && y != nil:
		return errors.New("it has a label and y; want one of them")
	case i == 0:
		l.described = described
	case described != l.described || g.Label != nil && l.y.rows > 0 || y != nil && l.labels != nil:
		return errors.New("its label or y is missing, or of another kind than those before: null is no value")
	}
	if g.Label != nil {
		l.labels = append(l.labels, label)
	}
	if y != nil {
		if err := l.y.add("y", y); err != nil {
			return err
		}
	}
	switch g.Split {
	case "":
	case "train":
		l.d.Split.Train = append(l.d.Split.Train, i)
	case "val", "valid", "validation":
		l.d.Split.Val = append(l.d.Split.Val, i)
	case "test":
		l.d.Split.Test = append(l.d.Split.Test, i)
	default:
		return fmt.Errorf("split is %.40q, want train, val or test", g.Split)
	}
	l.names = append(l.names, g.Name)
	l.named = l.named || g.Name != ""
	return nil
}

// partsOf says what a value of JSON is that has parts.
func partsOf(v any) string {
	if _, list := v.([]any); list {
		return "a list"
	}
	return "an object"
}

// build makes the graphs of what was read.
func (l *graphLines) build() error {
	g, kept, err := l.d.disjoint(l.src, l.dst, l.offsets)
	if err != nil {
		return err
	}
	l.d.Graph, l.d.Features, l.d.Targets, l.d.NodeTargets = g, l.x.dense(), l.y.dense(), l.nodeY.dense()
	if err := l.edgeFeatures(kept); err != nil {
		return err
	}
	if l.d.Features != nil {
		l.d.Attributes = l.x.width
	}
	if l.labels != nil {
		if l.d.Labels, l.d.ClassNames, err = classesOf(l.labels); err != nil {
			return err
		}
		l.d.Classes = len(l.d.ClassNames)
	}
	if err := l.classesOfNodes(); err != nil {
		return err
	}
	if l.named {
		l.d.GraphNames = slices.Clone(l.names)
	}
	return nil
}

// classesOfNodes makes classes of the labels of nodes.
func (l *graphLines) classesOfNodes() error {
	if l.ofNodes == nil {
		return nil
	}
	known := slices.DeleteFunc(slices.Clone(l.ofNodes), func(s string) bool { return s == "" })
	classes, names, err := classesOf(known)
	if err != nil {
		return err
	}
	l.d.NodeLabels = make([]int32, len(l.ofNodes))
	for v, s := range l.ofNodes {
		if l.d.NodeLabels[v] = -1; s != "" {
			l.d.NodeLabels[v], classes = classes[0], classes[1:]
		}
	}
	if l.d.Labels == nil {
		l.d.Classes, l.d.ClassNames = len(names), names
	}
	return nil
}
