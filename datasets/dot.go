package datasets

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// DOT reads a graph in Graphviz' language, which may be in gzip or zstd. The attributes of
// nodes and edges are as the columns of [Tables]: their names say which is the label, the
// weight or the part of the split, or what follows a # after the path; others are features.
// Attributes of looks, such as shape and color, are left out, and so are those that node […]
// and edge […] give to all; Graphviz' label is the node's name, unless it is chosen. Edges of a
// graph are meant in both directions, those of a digraph in one. An edge of subgraphs joins
// each node of one with each of the other. Of a strict graph a pair has one edge, which has the
// attributes of all that name it. In quotes \" is a quote and \\ a backslash; other backslashes
// stay.
func DOT(path string) (*Dataset, error) { return openedWith(path, dot) }

// looks are the attributes of Graphviz that say what a drawing looks like.
var looks = strings.Fields(`URL arrowhead arrowsize arrowtail bb bgcolor color colorscheme comment constraint decorate dir distortion edgeURL
	edgehref edgetarget edgetooltip fillcolor fixedsize fontcolor fontname fontsize gradientangle headURL head_lp headclip headhref
	headlabel headport headtarget headtooltip height href image imagepos imagescale labelURL labelangle labeldistance labelfloat
	labelfontcolor labelfontname labelfontsize labelhref labeljust labelloc labeltarget labeltooltip layer len lhead lp ltail margin minlen
	nojustify ordering orientation penwidth peripheries pin pos rank rects regular root samehead sametail samplepoints shape shapefile
	showboxes sides skew sortv style tailURL tail_lp tailclip tailhref taillabel tailport tailtarget tailtooltip tooltip vertices
	width xlabel xlp z`)

// dotValue is an attribute of a node or an edge.
type dotValue struct {
	key  int32
	text string
}

// dotEdges are the edges of a statement, which share attributes.
type dotEdges struct {
	src, dst []int32
	line     int
	values   [][]dotValue // of a strict graph: of each statement that names the edge
}

// dotKeys numbers attributes by name.
type dotKeys struct {
	of   map[string]int32
	list []key
}

// dotReader reads a file token by token.
type dotReader struct {
	*dotLexer
	budget           *unpack.Budget
	o                *chosen
	names            names
	directed         bool
	strict           map[[2]int32]int // where each pair's edge is, of a graph that says so; nil: edges may be parallel
	values           [][]dotValue     // of the nodes
	edges            []dotEdges
	count            int // of edges
	ofNodes, ofEdges dotKeys
}

// dot is [DOT] of a text.
func dot(r io.Reader, path string, o *chosen) (*Dataset, error) {
	g := &dotReader{dotLexer: newDotLexer(r), budget: unpack.BudgetOf(r), o: o}
	g.names.budget = g.budget
	err := g.file()
	if err == nil && len(g.names.list) == 0 {
		err = errors.New("there are no nodes in it")
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it ends before its graph does: is it cut?")
		}
		return nil, fmt.Errorf("%s: line %d: %w", path, g.line, err)
	}
	return g.dataset(path)
}

// file reads the one graph of the file.
func (g *dotReader) file() error {
	if err := g.next(); err != nil {
		return err
	}
	if g.isWord("strict") {
		g.strict = map[[2]int32]int{}
		if err := g.next(); err != nil {
			return err
		}
	}
	switch {
	case g.isWord("digraph"):
		g.directed = true
	case !g.isWord("graph"):
		return g.want("graph or digraph")
	}
	if err := g.next(); err != nil {
		return err
	}
	if g.kind == dotID {
		if err := g.next(); err != nil {
			return err
		}
	}
	if _, err := g.block(0, false); err != nil {
		return err
	}
	switch err := g.next(); {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	}
	return errors.New("something follows the graph, and one is read: write each to a file of its own")
}

// block reads statements in braces, of which the first is read. It returns the nodes in it, if
// they are asked for. The brace that ends it is the last that it reads.
func (g *dotReader) block(depth int, asked bool) (nodes []int32, err error) {
	const most = 100
	if depth > most {
		return nil, fmt.Errorf("subgraphs are nested deeper than %d", most)
	}
	if g.kind != '{' {
		return nil, g.want("{")
	}
	if err := g.next(); err != nil {
		return nil, err
	}
	for g.kind != '}' {
		if g.kind == ';' || g.kind == ',' {
			if err := g.next(); err != nil {
				return nil, err
			}
			continue
		}
		of, err := g.statement(depth, asked)
		if err != nil {
			return nil, err
		}
		if nodes = append(nodes, of...); asked {
			if err := g.budget.Keep(4 * len(of)); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), nil
}

// statement reads a statement and what begins the next. It returns its nodes if they are asked
// for.
func (g *dotReader) statement(depth int, asked bool) ([]int32, error) {
	if g.isWord("node") || g.isWord("edge") || g.isWord("graph") {
		if err := g.next(); err != nil {
			return nil, err
		}
		_, err := g.attributes(nil)
		return nil, err
	}
	first, setting, err := g.end(depth, true)
	if err != nil || setting {
		return nil, err
	}
	if g.kind != dotEdge {
		if first.of == nil {
			return first.nodes, nil
		}
		values, err := g.attributes(&g.ofNodes)
		v := first.nodes[0]
		g.values[v] = append(g.values[v], values...)
		return keptIf(asked, first.nodes), err
	}
	line, from := g.line, first
	var joined []int // of g.edges
	nodes := slices.Clone(keptIf(asked, first.nodes))
	for g.kind == dotEdge {
		if g.text == "->" != g.directed {
			return nil, fmt.Errorf("%s stands there; edges of a digraph are ->, and those of a graph --", g.text)
		}
		if err := g.next(); err != nil {
			return nil, err
		}
		to, _, err := g.end(depth, false)
		if err != nil {
			return nil, err
		}
		edges, err := g.join(from.nodes, to.nodes, line)
		if err != nil {
			return nil, err
		}
		joined = append(joined, edges...)
		nodes = append(nodes, keptIf(asked, to.nodes)...)
		from = to
	}
	values, err := g.attributes(&g.ofEdges)
	for _, i := range joined { // an edge that is there already gets them too
		g.edges[i].values = append(g.edges[i].values, values)
	}
	return nodes, err
}

func keptIf(asked bool, nodes []int32) []int32 {
	if asked {
		return nodes
	}
	return nil
}

// dotEnd is an end of edges: a node, or those of a subgraph.
type dotEnd struct {
	nodes []int32
	of    *int32 // the node, if it is one
}

// end reads an end of edges. If it may be a setting such as rankdir=LR, it says so.
func (g *dotReader) end(depth int, may bool) (end dotEnd, setting bool, err error) {
	sub := g.isWord("subgraph")
	if sub {
		if err := g.next(); err != nil {
			return end, false, err
		}
		if g.kind == dotID {
			if err := g.next(); err != nil {
				return end, false, err
			}
		}
	}
	if sub || g.kind == '{' {
		if end.nodes, err = g.block(depth+1, true); err == nil {
			err = g.next()
		}
		return end, false, err
	}
	if g.kind != dotID {
		return end, false, g.want("a node, an edge or }")
	}
	id, line := g.text, g.line
	if err := g.next(); err != nil {
		return end, false, err
	}
	if may && g.kind == '=' {
		if err := g.next(); err != nil {
			return end, false, err
		}
		if g.kind != dotID {
			return end, false, g.want("a value")
		}
		return end, true, g.next()
	}
	for g.kind == ':' { // the place on a node where the edge is drawn
		for range 2 {
			if err := g.next(); err != nil {
				return end, false, err
			}
		}
	}
	if id == "" {
		return end, false, errors.New("the name of a node is empty")
	}
	k, known, err := g.names.number([]byte(id), line)
	if err != nil {
		return end, false, err
	}
	if !known {
		g.values = append(g.values, nil)
	}
	return dotEnd{[]int32{k}, &k}, false, nil
}

// edgesMostPer is how many edges subgraphs may make of each byte, beside a million.
const edgesMostPer = 16

// join adds edges from each of some nodes to each of others, and returns where in g.edges they
// are. Of a strict graph an edge that is there already is not added again.
func (g *dotReader) join(from, to []int32, line int) (edges []int, err error) {
	n := len(from) * len(to)
	if g.count += n; g.count > 1<<20+edgesMostPer*g.read {
		return nil, fmt.Errorf("subgraphs of %d and %d nodes make so many edges, %d, that they are not believed of %d bytes", len(from), len(to), g.count, g.read)
	}
	each := 8
	if g.strict != nil {
		each = 200
	}
	if err := g.budget.Keep(100 + each*n); err != nil {
		return nil, err
	}
	if g.strict != nil {
		return g.joinOnce(from, to, line), nil
	}
	e := dotEdges{line: line, src: make([]int32, 0, n), dst: make([]int32, 0, n)}
	for _, u := range from {
		for _, v := range to {
			e.src, e.dst = append(e.src, u), append(e.dst, v)
		}
	}
	g.edges = append(g.edges, e)
	return []int{len(g.edges) - 1}, nil
}

// joinOnce is join of a strict graph.
func (g *dotReader) joinOnce(from, to []int32, line int) (edges []int) {
	for _, u := range from {
		for _, v := range to {
			pair := [2]int32{u, v}
			if !g.directed {
				pair = [2]int32{min(u, v), max(u, v)}
			}
			i, known := g.strict[pair]
			if !known {
				i = len(g.edges)
				g.strict[pair] = i
				g.edges = append(g.edges, dotEdges{line: line, src: []int32{u}, dst: []int32{v}})
			}
			edges = append(edges, i)
		}
	}
	return edges
}

// attributes reads lists in brackets, if there are any, and what begins the next statement.
// Without keys they are read over.
func (g *dotReader) attributes(keys *dotKeys) (values []dotValue, err error) {
	for g.kind == '[' {
		if err := g.next(); err != nil {
			return nil, err
		}
		for g.kind != ']' {
			if g.kind == ';' || g.kind == ',' {
				if err := g.next(); err != nil {
					return nil, err
				}
				continue
			}
			if g.kind != dotID {
				return nil, g.want("an attribute or ]")
			}
			name, text := g.text, "true"
			if err := g.next(); err != nil {
				return nil, err
			}
			if g.kind == '=' {
				if err := g.next(); err != nil {
					return nil, err
				}
				if g.kind != dotID {
					return nil, g.want("a value")
				}
				text = g.text
				if err := g.next(); err != nil {
					return nil, err
				}
			}
			if keys == nil || slices.Contains(looks, name) && !slices.Contains(g.o.labels, plainColumn(name)) && !slices.Contains(g.o.without, plainColumn(name)) {
				continue
			}
			k, err := keys.number(name)
			if err != nil {
				return nil, err
			}
			if err := g.budget.Keep(50 + len(text)); err != nil {
				return nil, err
			}
			values = append(values, dotValue{k, text})
		}
		if err := g.next(); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// number returns the number of an attribute.
func (d *dotKeys) number(name string) (int32, error) {
	if k, ok := d.of[name]; ok {
		return k, nil
	}
	if len(d.list) == keysMost {
		return 0, fmt.Errorf("%.40q is one more attribute than the %d that are read", name, keysMost)
	}
	if d.of == nil {
		d.of = map[string]int32{}
	}
	k := int32(len(d.list))
	d.of[name], d.list = k, append(d.list, key{name: name})
	return k, nil
}

// dataset makes rows of what was read.
func (g *dotReader) dataset(path string) (*Dataset, error) {
	o := g.o
	o.undirected = o.undirected || !g.directed
	if i, ok := g.ofNodes.of["label"]; ok && !slices.Contains(o.labels, "label") && !slices.Contains(o.without, "label") {
		g.ofNodes.list[i].name = "name"
	}
	if _, ok := g.ofEdges.of["label"]; ok && !slices.Contains(o.labels, "label") {
		o.without = append(o.without, "label")
	}
	a, err := newAttributed(path, g.budget, g.ofNodes.list, g.ofEdges.list, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	fields := make([][]byte, len(a.nodes.columns))
	for v, id := range g.names.list {
		clear(fields)
		fields[0] = []byte(id)
		for _, x := range g.values[v] {
			fields[1+x.key] = []byte(x.text)
		}
		if err := a.nodes.row(fields, g.names.at[v]); err != nil {
			return nil, fmt.Errorf("%s: line %d, %w", path, g.names.at[v], err)
		}
	}
	fields = make([][]byte, len(a.edges.columns))
	for _, e := range g.edges {
		clear(fields)
		for _, values := range e.values {
			for _, x := range values {
				fields[2+x.key] = []byte(x.text)
			}
		}
		for k, u := range e.src {
			fields[0], fields[1] = []byte(g.names.list[u]), []byte(g.names.list[e.dst[k]])
			if err := a.edges.row(fields, e.line); err != nil {
				return nil, fmt.Errorf("%s: line %d%w", path, e.line, err)
			}
		}
	}
	return a.dataset(o)
}
