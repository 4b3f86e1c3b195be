package form

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/edgewise-ml/edgewise/internal/jsonread"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// jsonLinesForm is graphs of a JSON object a line:
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
//	  - edge_type: a whole number or a word an edge of the list, its kind;
//	  - label: a number or a word, the class of the graph; or y (or targets): a number or a
//	    list of numbers to be learnt, or of labels, each 0 or 1; null: not known;
//	  - node_label: a number or a word a node, its class, or node_y: a number or a list a
//	    node, where nodes are to be told apart; null: not known;
//	  - split: train, val or test; name: what the graph is called.
//
// What has another name is left out. Numbers go straight from a line into columns: nothing else of it stays in memory.
var jsonLinesForm = Form{
	Name: "jsonl", Endings: []string{".jsonl", ".ndjson"}, Says: "many graphs, a JSON object a line",
	Opens: one(".jsonl", ".ndjson"),
	Read: func(f *Files, main string, _ Options) (*Raw, error) {
		return opened(f, main, graphsOfLines)
	},
}

// graphLines is the graphs while they are read.
type graphLines struct {
	budget     *unpack.Budget
	offsets    []int
	lines      []int32
	src, dst   chunkedSlice[int32]
	back       []int32 // edges that are meant in both directions
	x, attr    wide
	y, nodeY   wide
	weights    wide
	kinds      wordList // of edges
	numbered   bool     // all kinds are whole numbers
	labels     wordList
	nodeLabels wordList
	names      []string
	named      bool
	described  bool // the first graph has a label, or targets
	split      Split
	unread     []string

	least leastEnds
	line  graphLine
}

// graphLine is what a line says that its other members decide the meaning of.
type graphLine struct {
	scan     lineScanner
	n, count int // nodes and num_nodes, −1: neither
	src, dst []int32
	has      map[string]int // the members that are there, and how many rows they have
	directed bool
	label    []byte
	labelled bool
	y        bool
	part     *[]int32
	name     string
}

// graphsOfLines reads a text.
func graphsOfLines(r io.Reader, path string) (*Raw, error) {
	budget := unpack.BudgetOf(r)
	l := &graphLines{budget: budget, offsets: []int{0}, numbered: true, kinds: wordList{budget: budget}, labels: wordList{budget: budget}, nodeLabels: wordList{budget: budget}}
	l.y.gaps, l.nodeY.gaps = true, true
	err := l.read(r)
	var raw *Raw
	if err == nil {
		raw, err = l.raw(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if l.least.graphs > 0 && l.least.fromOne == l.least.graphs {
		raw.Doubt = path + `: in every graph no edge has an end 0, and nothing says how many nodes there are: node 0 has no edges. If the numbers begin at 1, subtract 1 from all; if they do not, give each its "num_nodes"`
	}
	return raw, nil
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
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if len(text) == 0 {
			continue
		}
		err := l.graph(text)
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
		l.lines = append(l.lines, int32(min(line, math.MaxInt32)))
	}
	if err := s.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("it is longer than %d bytes", graphLineMost)
		}
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
	if !utf8.Valid(text) {
		return jsonread.Unmarshal(text, new(any)) // which says where
	}
	g := &l.line
	*g = graphLine{scan: lineScanner{Reader: jsonread.Of(text)}, n: -1, count: -1, src: g.src[:0], dst: g.dst[:0], has: g.has, directed: true, label: g.label[:0]}
	if g.has == nil {
		g.has = map[string]int{}
	}
	clear(g.has)
	err := g.scan.object(l.member)
	if err == nil {
		err = g.scan.End()
	}
	if err != nil {
		if bad := jsonread.Check(text); bad != nil { // what is no JSON comes first
			return bad
		}
		return err
	}
	return l.take(g)
}

// take takes a line whose members have been read.
func (l *graphLines) take(g *graphLine) error {
	x, features := g.has["x"]
	n, err := g.nodes(x)
	if err != nil {
		return err
	}
	if g.n < 0 && x == 0 {
		l.least.see(g.src, g.dst)
	}
	before, edges := l.offsets[len(l.offsets)-1], len(g.src)
	if most := int64(1<<16) + min(l.budget.Packed(), math.MaxInt32-1<<17); int64(n) > most-int64(before) {
		return fmt.Errorf("%d nodes, more than a file of that length is believed to have", n)
	}
	if n > 0 && before > 0 && features == (l.x.rows == x) {
		return errors.New("only some of the graphs have features of nodes")
	}
	if err := l.takeEdges(g, before, edges); err != nil {
		return err
	}
	l.offsets = append(l.offsets, before+n)
	if err := l.takeNodes(g, before, n); err != nil {
		return err
	}
	if err := l.describe(g); err != nil {
		return err
	}
	return l.budget.Keep(64 + 12*edges + len(g.name))
}

// takeEdges takes the edges of a line, before which there are so many nodes.
func (l *graphLines) takeEdges(g *graphLine, before, edges int) error {
	attr, hasAttr := g.has["edge_attr"]
	weights, hasWeights := g.has["edge_weight"]
	kinds, hasKinds := g.has["edge_type"]
	switch first := l.src.n == 0 || edges == 0; {
	case hasAttr && hasWeights && attr != weights:
		return fmt.Errorf("weights of %d edges, and features of %d", weights, attr)
	case hasAttr && attr != edges || hasWeights && weights != edges:
		return fmt.Errorf("features of %d edges, and there are %d", max(attr, weights), edges)
	case !first && (hasAttr == (l.attr.rows == attr) || hasWeights == (l.weights.rows == weights)):
		return errors.New("only some of the graphs have features of edges")
	case !first && hasKinds == (l.kinds.codes.n == kinds):
		return errors.New("only some of the graphs have an edge_type")
	case hasKinds && kinds != edges:
		return fmt.Errorf("edge_type is of %d edges, and there are %d", kinds, edges)
	case l.src.n+edges > math.MaxInt32/2:
		return errors.New("there are more than 2³⁰ edges")
	}
	listed := l.src.n
	for e := range g.src {
		l.src.add(int32(before) + g.src[e])
		l.dst.add(int32(before) + g.dst[e])
		if !g.directed {
			l.back = append(l.back, int32(listed+e))
		}
	}
	return nil
}

// nodes returns how many nodes a graph has, of which rows have features.
func (g *graphLine) nodes(rows int) (int, error) {
	n, says := rows, "features of"
	if g.n < 0 {
		g.n = g.count
	}
	if g.n >= 0 {
		if n = g.n; rows > 0 && n != rows {
			return 0, fmt.Errorf("nodes is %d, and there are features of %d", n, rows)
		}
		says = "there are"
	}
	least, largest := int32(math.MaxInt32), int32(-1)
	for e := range g.src {
		least, largest = min(least, g.src[e], g.dst[e]), max(largest, g.src[e], g.dst[e])
	}
	if g.n < 0 && rows == 0 {
		return int(largest) + 1, nil
	}
	for e := range g.src {
		for _, v := range []int32{g.src[e], g.dst[e]} {
			if int(v) < n {
				continue
			}
			hint := ""
			if least > 0 && int(largest) == n {
				hint = ". Indices seem to begin at 1: subtract 1 from all ends of edges"
			}
			return 0, fmt.Errorf("edge %d has an end %d, and %s %d nodes, numbered from 0%s", e, v, says, n, hint)
		}
	}
	return n, nil
}

// takeNodes takes what is to be learnt of the n nodes of a graph, before which there are others.
func (l *graphLines) takeNodes(g *graphLine, before, n int) error {
	labels, hasLabels := g.has["node_label"]
	ys, hasY := g.has["node_y"]
	switch {
	case hasLabels && hasY:
		return errors.New("it has node_label and node_y; want one of them")
	case before > 0 && n > 0 && (hasLabels == (l.nodeLabels.codes.n == labels) || hasY == (l.nodeY.rows == ys)):
		return errors.New("only some of the graphs have node_label or node_y, or one has the other")
	case hasLabels && labels != n || hasY && ys != n:
		return fmt.Errorf("node_label or node_y is of %d nodes, and there are %d", max(labels, ys), n)
	}
	return nil
}

// describe takes what is to be learnt of a graph, its part and its name.
func (l *graphLines) describe(g *graphLine) error {
	first := len(l.offsets) == 2
	switch described := g.labelled || g.y; {
	case g.labelled && g.y:
		return errors.New("it has a label and y; want one of them")
	case first:
		l.described = described
	case described != l.described || g.labelled && l.y.rows > 0 || g.y && l.labels.codes.n > 0:
		return errors.New("its label or y is missing, or of another kind than those before: null is no value")
	}
	if g.labelled {
		if err := l.labels.add(g.label); err != nil {
			return err
		}
	}
	if g.part != nil {
		*g.part = append(*g.part, int32(len(l.offsets)-2))
	}
	if l.named = l.named || g.name != ""; l.named {
		l.names = append(l.names, make([]string, len(l.offsets)-2-len(l.names))...)
		l.names = append(l.names, g.name)
	}
	return nil
}

// leastEnds counts the graphs of a file whose edges alone say how many nodes there are, and those
// of them whose least end is 1 or more.
type leastEnds struct{ graphs, fromOne int }

// see takes the edges of a graph.
func (l *leastEnds) see(src, dst []int32) {
	if len(src) > 0 {
		l.graphs++
		l.fromOne += btoi(min(slices.Min(src), slices.Min(dst)) > 0)
	}
}

// raw makes tables of what was read, which is used up.
func (l *graphLines) raw(path string) (*Raw, error) {
	nodes := Nodes{Listed: l.offsets[len(l.offsets)-1], Table: Table{Rows: l.offsets[len(l.offsets)-1], Origin: Origin{File: path, Unit: "node"}}}
	edges := Edges{Table: Table{Rows: l.src.n, Origin: Origin{File: path, Unit: "edge"}}, Back: l.back}
	edges.Source, edges.Target = l.src.join(), l.dst.join()
	graphs := &Graphs{Offsets: l.offsets, Table: Table{Rows: len(l.offsets) - 1, Origin: originOf(path, l.lines)}}
	if l.x.rows > 0 {
		nodes.Columns = append(nodes.Columns, l.x.column("x", AsFeature))
	}
	if l.nodeY.rows > 0 {
		nodes.Columns = append(nodes.Columns, l.nodeY.column("node_y", AsTarget))
	}
	if l.nodeLabels.codes.n > 0 {
		c, err := l.nodeLabels.classes("node_label", "node", `numbers to be learnt are "node_y"`)
		if err != nil {
			return nil, err
		}
		nodes.Columns = append(nodes.Columns, c)
	}
	if l.attr.rows > 0 {
		edges.Columns = append(edges.Columns, l.attr.column("edge_attr", AsFeature))
	}
	if l.weights.rows > 0 {
		edges.Columns = append(edges.Columns, l.weights.column("edge_weight", AsFeature))
	}
	if l.kinds.codes.n > 0 {
		c, err := l.kindColumn()
		if err != nil {
			return nil, err
		}
		edges.Columns = append(edges.Columns, c)
	}
	switch {
	case l.y.rows > 0:
		graphs.Columns = append(graphs.Columns, l.y.column("y", AsTarget))
	case l.labels.codes.n > 0:
		c, err := l.labels.classes("label", "graph", `numbers to be learnt are "y"`)
		if err != nil {
			return nil, err
		}
		graphs.Columns = append(graphs.Columns, c)
	}
	if l.named {
		graphs.Columns = append(graphs.Columns, Column{Name: "name", Type: Word, Role: AsTitle, Words: &Words{Texts: l.names}})
	}
	raw := &Raw{Nodes: []Nodes{nodes}, Edges: []Edges{edges}, Graphs: graphs, Unread: l.unread}
	if s := l.split; len(s.Train)+len(s.Val)+len(s.Test) > 0 {
		s.Of = OfGraphs
		raw.Splits = []Split{s}
	}
	return raw, nil
}

// kindColumn returns the kinds of the edges: numbers if all are, words in their order otherwise.
func (l *graphLines) kindColumn() (Column, error) {
	w := l.kinds.words()
	c := Column{Name: "edge_type", Role: AsKind}
	if !l.numbered {
		order := slices.Sorted(slices.Values(w.Texts))
		place := make([]int32, len(order))
		for k, text := range w.Texts {
			at, _ := slices.BinarySearch(order, text)
			place[k] = int32(at)
		}
		for e, k := range w.Codes {
			w.Codes[e] = place[k]
		}
		w.Texts, w.Ordered = order, true
		c.Type, c.Words = Word, w
		return c, nil
	}
	numbers, n := make([]int32, len(w.Texts)), int32(0)
	for k, text := range w.Texts {
		v, _ := strconv.ParseInt(text, 10, 32)
		numbers[k] = int32(v)
		n = max(n, int32(v)+1)
	}
	if bytes := l.budget.Packed(); int64(n)*int64(len(w.Codes)) > 1<<23+64*min(bytes, 1<<48) {
		return c, fmt.Errorf("edge_type: %d different labels in %d lines are too many to have a column each, in files of %d bytes; numbers that are no kinds go into edge_attr", n, len(w.Codes), bytes)
	}
	for e, k := range w.Codes {
		w.Codes[e] = numbers[k]
	}
	w.Texts, w.Ordered = make([]string, n), true
	for k := range w.Texts {
		w.Texts[k] = strconv.Itoa(k)
	}
	c.Type, c.Words = Word, w
	return c, nil
}

// note remembers a member that nothing reads.
func (l *graphLines) note(key string) {
	if len(l.unread) < unreadMost && !slices.Contains(l.unread, key) {
		l.unread = append(l.unread, strings.Clone(key))
	}
}

// unreadMost is how many names of what nothing reads are remembered.
const unreadMost = 10
