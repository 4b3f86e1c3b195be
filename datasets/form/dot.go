package form

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// dotForm is Graphviz' language. The attributes of nodes and edges are columns. Those of looks, such as shape and color,
// are no features, and those that node […] and edge […] give to all are left out; Graphviz' label is the node's title, and of an
// edge no feature. Edges of a graph are meant in both directions, those of a digraph in one. An edge of subgraphs joins
// each node of one with each of the other. Of a strict graph a pair has one edge, which has the
// attributes of all that name it. In quotes \" is a quote and \\ a backslash; other backslashes
// stay.
var dotForm = Form{
	Name: "dot", Endings: []string{".dot", ".gv"}, Says: "Graphviz' language",
	Opens: one(".dot", ".gv"),
	Read: func(f *Files, main string, _ Options) (*Raw, error) {
		return opened(f, main, dot)
	},
}

// looks are the attributes of Graphviz that say what a drawing looks like.
var looks = strings.Fields(`URL arrowhead arrowsize arrowtail bb bgcolor color colorscheme comment constraint decorate dir distortion edgeURL
	edgehref edgetarget edgetooltip fillcolor fixedsize fontcolor fontname fontsize gradientangle headURL head_lp headclip headhref
	headlabel headport headtarget headtooltip height href image imagepos imagescale labelURL labelangle labeldistance labelfloat
	labelfontcolor labelfontname labelfontsize labelhref labeljust labelloc labeltarget labeltooltip layer len lhead lp ltail margin minlen
	nojustify ordering orientation penwidth peripheries pin pos rank rects regular root samehead sametail samplepoints shape shapefile
	showboxes sides skew sortv style tailURL tail_lp tailclip tailhref taillabel tailport tailtarget tailtooltip tooltip vertices
	width xlabel xlp z`)

// dotValues are attributes of a node or of edges, one behind another: the number of the column, the length of the text, the text.
type dotValues []byte

// with returns v and one more.
func (v dotValues) with(column int, text string) dotValues {
	v = binary.AppendUvarint(v, uint64(column))
	return append(binary.AppendUvarint(v, uint64(len(text))), text...)
}

// into sets the cells of a row, of which the last of a column counts.
func (v dotValues) into(fields [][]byte) {
	for len(v) > 0 {
		column, k := binary.Uvarint(v)
		n, m := binary.Uvarint(v[k:])
		v = v[k+m:]
		fields[column], v = v[:n], v[n:]
	}
}

// dotEdges are the edges of a statement, which share attributes.
type dotEdges struct {
	src, dst []int32
	line     int
	values   []dotValues // of a strict graph: of each statement that names the edge
}

// dotReader reads a file token by token.
type dotReader struct {
	*dotLexer
	budget           *unpack.Budget
	names            idents
	directed         bool
	strict           map[[2]int32]int // where each pair's edge is, of a graph that says so; nil: edges may be parallel
	values           []dotValues      // of the nodes
	edges            []dotEdges
	count            int // of edges
	ofNodes, ofEdges attributes
}

// dot reads a text.
func dot(r io.Reader, path string) (*Raw, error) {
	g := &dotReader{dotLexer: newDotLexer(r), budget: unpack.BudgetOf(r)}
	g.names.budget, g.ofNodes.budget, g.ofEdges.budget = g.budget, g.budget, g.budget
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
	return g.raw(path)
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
	k, known, err := g.names.number(id, line)
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
// Without columns they are read over.
func (g *dotReader) attributes(of *attributes) (values dotValues, err error) {
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
			if of == nil {
				continue
			}
			k, err := of.column(name)
			if err != nil {
				return nil, err
			}
			if err := g.budget.Keep(50 + len(text)); err != nil {
				return nil, err
			}
			values = values.with(k, text)
		}
		if err := g.next(); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// raw makes tables of what was read.
func (g *dotReader) raw(path string) (*Raw, error) {
	for i := range g.ofNodes.columns {
		g.ofNodes.columns[i].role = dotRole(g.ofNodes.columns[i].name, AsTitle)
	}
	for i := range g.ofEdges.columns {
		g.ofEdges.columns[i].role = dotRole(g.ofEdges.columns[i].name, Unused)
	}
	fields := make([][]byte, len(g.ofNodes.columns))
	for v := range g.values {
		clear(fields)
		g.values[v].into(fields)
		if err := g.ofNodes.row(fields); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		g.values[v] = nil
	}
	edges := edgeList{attributes: g.ofEdges}
	fields = make([][]byte, len(g.ofEdges.columns))
	for i, e := range g.edges {
		clear(fields)
		for _, values := range e.values {
			values.into(fields)
		}
		for k := range e.src {
			edges.src.add(e.src[k])
			edges.dst.add(e.dst[k])
			edges.lines.add(int32(e.line))
			if err := edges.row(fields); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		g.edges[i] = dotEdges{}
	}
	nodes := Nodes{Table: g.ofNodes.table(originOf(path, g.names.at)), Listed: len(g.names.list)}
	nodes.IDs = &Words{Texts: g.names.list}
	out := Edges{Table: edges.table(originOf(path, edges.lines.join())), Source: edges.src.join(), Target: edges.dst.join(), Undirected: !g.directed}
	return &Raw{Nodes: []Nodes{nodes}, Edges: []Edges{out}}, nil
}

// dotRole returns what an attribute is for by its name, which of label is given.
func dotRole(name string, label Role) Role {
	switch {
	case name == "label":
		return label
	case slices.Contains(looks, name):
		return Unused
	}
	return ""
}
