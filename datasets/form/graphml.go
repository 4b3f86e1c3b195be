package form

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cells"
	"github.com/edgewise-ml/edgewise/internal/table"
	"github.com/edgewise-ml/edgewise/internal/unpack"
)

// graphmlForm is GraphML, as networkx, igraph and Gephi write it. The attributes of nodes and edges are columns, of the
// type that their key has; of a key without a type, of the type that the cells have. What a node or an edge does not
// say is its key's default, or else empty. One graph is read, without nested graphs, ports and hyperedges.
var graphmlForm = Form{
	Name: "graphml", Endings: []string{".graphml"}, Says: "GraphML, as networkx, igraph and Gephi write it",
	Opens: one(".graphml"),
	Read: func(f *Files, main string, _ Options) (*Raw, error) {
		return opened(f, main, graphML)
	},
}

// graphMLKey is an attribute as a file declares it.
type graphMLKey struct {
	id, name        string
	number, ofEdges bool   // its type is of numbers
	kind, unset     string // its type, and the default
	column          int
}

// graphMLReader reads a file token by token.
type graphMLReader struct {
	dec      *xml.Decoder
	path     string
	nodes    attributes
	ids      idents
	edges    edgeList
	back     []int32                  // edges that are meant in both directions, if not all are
	some     bool                     // not all edges are undirected
	names    chunkedSlice[string]     // of edges
	keys     map[string][]*graphMLKey // by id; one of all is of nodes and of edges
	unset    [2][][]byte              // the defaults of nodes' columns, and of edges'
	directed bool                     // edges that do not say so
	graphs   int
}

// graphML reads a text.
func graphML(r io.Reader, path string) (*Raw, error) {
	budget := unpack.BudgetOf(r)
	g := &graphMLReader{path: path, keys: map[string][]*graphMLKey{}, nodes: attributes{budget: budget}, ids: idents{budget: budget}}
	g.edges.attributes.budget, g.edges.ends.budget = budget, budget
	g.dec = xml.NewDecoder(&boundedTags{r: bufio.NewReader(table.Text(r))})
	g.dec.CharsetReader = func(encoding string, r io.Reader) (io.Reader, error) {
		if strings.EqualFold(encoding, "us-ascii") || strings.EqualFold(encoding, "ascii") {
			return r, nil
		}
		return nil, &encodingError{encoding}
	}
	err := g.all()
	if err == nil && g.graphs == 0 {
		err = errors.New("there is no graph in it")
	}
	if err != nil {
		line, _ := g.dec.InputPos()
		if bad := (*xml.SyntaxError)(nil); errors.As(err, &bad) {
			if line, err = bad.Line, errors.New(bad.Msg); bad.Msg == "unexpected EOF" {
				err = errors.New("it ends before its elements do: is it cut?")
			}
		} else if bad := (*encodingError)(nil); errors.As(err, &bad) {
			err = bad
		} else if errors.Is(err, io.EOF) {
			err = errors.New("it ends before its elements do: is it cut?")
		}
		if text := err.Error(); strings.HasPrefix(text, ",") || strings.HasPrefix(text, ":") {
			return nil, fmt.Errorf("%s: line %d%w", path, line, err)
		}
		return nil, fmt.Errorf("%s: line %d: %w", path, line, err)
	}
	if len(g.ids.list) == 0 && g.edges.src.n == 0 {
		return nil, fmt.Errorf("%s: there are no edges in it", path)
	}
	return g.raw()
}

// raw returns what was read.
func (g *graphMLReader) raw() (*Raw, error) {
	edges, err := g.edges.finish(originOf(g.path, g.edges.lines.join()), "line", &g.ids)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.path, err)
	}
	edges.Undirected, edges.Back = !g.some && !g.directed, g.back
	edges.IDs = different(g.names.join())
	nodes := Nodes{Table: g.nodes.table(originOf(g.path, g.ids.at)), Listed: len(g.ids.list)}
	nodes.IDs = &Words{Texts: g.ids.list}
	return &Raw{Nodes: []Nodes{nodes}, Edges: []Edges{edges}}, nil
}

// different returns texts as ids, nil if there are none, or one is empty or stands there twice.
func different(texts []string) *Words {
	if len(texts) == 0 {
		return nil
	}
	known := make(map[string]bool, len(texts))
	for _, text := range texts {
		if text == "" || known[text] {
			return nil
		}
		known[text] = true
	}
	return &Words{Texts: texts}
}

// encodingError is a text that is not UTF-8.
type encodingError struct{ encoding string }

func (e *encodingError) Error() string {
	return fmt.Sprintf("its encoding is %.40q: save it as UTF-8", e.encoding)
}

// all reads the file.
func (g *graphMLReader) all() error {
	for begun := false; ; {
		t, err := g.dec.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		start, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case !begun && start.Name.Local == "graphml":
			begun = true
		case begun && start.Name.Local == "key":
			err = g.key(start)
		case begun && start.Name.Local == "graph":
			err = g.graph(start)
		case begun && (start.Name.Local == "data" || start.Name.Local == "desc"):
			err = g.skip(0)
		default:
			err = fmt.Errorf("<%.40s> stands there, want <graphml>, and in it keys and a graph", start.Name.Local)
		}
		if err != nil {
			return err
		}
	}
}

// attributeOf returns the value of an attribute of an element, "" if there is none.
func attributeOf(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// key reads the declaration of an attribute.
func (g *graphMLReader) key(e xml.StartElement) error {
	id, name, of := attributeOf(e, "id"), attributeOf(e, "attr.name"), attributeOf(e, "for")
	if name == "" {
		name = id
	}
	kind := attributeOf(e, "attr.type")
	unset := ""
	err := g.children(func(child xml.StartElement) (err error) {
		if child.Name.Local == "default" {
			unset, err = g.text()
			return err
		}
		return g.skip(0)
	})
	switch {
	case err != nil:
		return err
	case g.graphs > 0:
		return errors.New("a <key> stands behind the graph, whose attributes it declares: put it before")
	case id == "" || g.keys[id] != nil:
		return fmt.Errorf("the key %.40q has no id, or that of another", id)
	case len(g.nodes.columns) == keysMost || len(g.edges.columns) == keysMost:
		return fmt.Errorf("there are more than %d keys", keysMost)
	}
	number := false
	switch kind {
	case "int", "long", "float", "double", "boolean":
		number = true
	case "string", "":
	default:
		return fmt.Errorf("the type of key %.40q is %.40q; want boolean, int, long, float, double or string", id, kind)
	}
	add := func(of *attributes, ofEdges bool) {
		k := &graphMLKey{id: id, name: name, number: number, ofEdges: ofEdges, kind: kind, unset: unset, column: len(of.columns)}
		of.columns = append(of.columns, attribute{name: name, words: kind == "string"})
		g.keys[id] = append(g.keys[id], k)
	}
	if of == "node" || of == "all" || of == "" {
		add(&g.nodes, false)
	}
	if of == "edge" || of == "all" || of == "" {
		add(&g.edges.attributes, true)
	}
	if g.keys[id] == nil { // of the graph itself, or of ports
		g.keys[id] = []*graphMLKey{}
	}
	return nil
}

// graph reads the graph.
func (g *graphMLReader) graph(e xml.StartElement) error {
	if g.graphs++; g.graphs > 1 {
		return errors.New("a second graph begins, and one is read: write each to a file of its own")
	}
	switch text := attributeOf(e, "edgedefault"); text {
	case "directed", "":
		g.directed = true
	case "undirected":
	default:
		return fmt.Errorf("edgedefault is %.40q, want directed or undirected", text)
	}
	g.unset = [2][][]byte{make([][]byte, len(g.nodes.columns)), make([][]byte, len(g.edges.columns))}
	for _, list := range g.keys {
		for _, k := range list {
			g.unset[btoi(k.ofEdges)][k.column] = []byte(k.unset)
		}
	}
	return g.children(func(child xml.StartElement) error {
		switch name := child.Name.Local; name {
		case "node":
			return g.node(child)
		case "edge":
			return g.edge(child)
		case "hyperedge":
			return errors.New("a hyperedge joins several nodes, and edges of two are read: write an edge for each pair")
		}
		return g.skip(0)
	})
}

// node reads a node.
func (g *graphMLReader) node(e xml.StartElement) error {
	line, _ := g.dec.InputPos()
	id := attributeOf(e, "id")
	if id == "" {
		return errors.New(`, column "id": it is empty`)
	}
	k, known, err := g.ids.number(id, line)
	if err != nil {
		return err
	}
	if known {
		return fmt.Errorf(`, column "id": node %.40q stands in line %d already`, id, g.ids.at[k])
	}
	fields := slices.Clone(g.unset[0])
	if err := g.data(fields, false); err != nil {
		return err
	}
	return g.nodes.row(fields)
}

// edge reads an edge.
func (g *graphMLReader) edge(e xml.StartElement) error {
	line, _ := g.dec.InputPos()
	directed := g.directed
	switch text := attributeOf(e, "directed"); text {
	case "":
	case "true", "false":
		directed = text == "true"
	default:
		return fmt.Errorf("directed is %.40q, want true or false", text)
	}
	source, target, id := attributeOf(e, "source"), attributeOf(e, "target"), attributeOf(e, "id")
	fields := slices.Clone(g.unset[1])
	if err := g.data(fields, true); err != nil {
		return err
	}
	if err := g.edges.add(source, target, line); err != nil {
		return err
	}
	g.edges.lines.add(int32(line))
	g.names.add(id)
	if n := int32(g.edges.src.n); directed && !g.directed && !g.some {
		g.some = true // one edge is directed: of the others both are meant one by one
		for k := range n - 1 {
			g.back = append(g.back, k)
		}
	} else if !directed && (g.some || g.directed) {
		g.some, g.back = true, append(g.back, n-1)
	}
	return g.edges.row(fields)
}

// data reads the attributes of a node or an edge into its columns.
func (g *graphMLReader) data(fields [][]byte, ofEdge bool) error {
	return g.children(func(child xml.StartElement) error {
		switch child.Name.Local {
		case "graph":
			return errors.New("a graph within a node is not read: write it to a file of its own")
		case "data":
		default:
			return g.skip(0)
		}
		id := attributeOf(child, "key")
		list, declared := g.keys[id]
		if !declared {
			return fmt.Errorf("there is no <key> %.40q before the graph, which would say what that data are", id)
		}
		text, err := g.text()
		if err != nil {
			return err
		}
		for _, k := range list {
			if k.ofEdges != ofEdge {
				continue
			}
			fields[k.column] = []byte(text)
			if !k.number || cells.IsEmpty(fields[k.column]) {
				continue
			}
			if _, ok := cells.NumberOf(fields[k.column]); !ok {
				return fmt.Errorf(", key %.40q (%.40s): %.40q is no %s", id, k.name, text, k.kind)
			}
		}
		return nil
	})
}

// children calls f for each element within the one that has begun; f reads it to its end.
func (g *graphMLReader) children(f func(child xml.StartElement) error) error {
	for {
		t, err := g.dec.Token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			if err := f(t); err != nil {
				return err
			}
		}
	}
}

// text reads the text of the element that has begun.
func (g *graphMLReader) text() (string, error) {
	text := ""
	for {
		t, err := g.dec.Token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.EndElement:
			return strings.TrimSpace(text), nil
		case xml.CharData:
			if text += string(t); len(text) > tagMost {
				return "", errTag
			}
		case xml.StartElement:
			return "", fmt.Errorf("<%.40s> stands there, want a value", t.Name.Local)
		}
	}
}

// skip reads the element that has begun, of which nobody asks.
func (g *graphMLReader) skip(depth int) error {
	const most = 100
	if depth > most {
		return fmt.Errorf("elements are nested deeper than %d", most)
	}
	return g.children(func(xml.StartElement) error { return g.skip(depth + 1) })
}

// tagMost is the most bytes from one tag to the next: a tag becomes many times as much memory.
const tagMost = 1 << 18

var errTag = fmt.Errorf("more than %d bytes are without the end of a tag", tagMost)

// boundedTags is a text whose tags have a bound.
type boundedTags struct {
	r     *bufio.Reader
	since int // the last end of a tag
}

// ReadByte reads a byte. As the decoder finds it, it puts no buffer of its own before.
func (b *boundedTags) ReadByte() (byte, error) {
	c, err := b.r.ReadByte()
	if b.since++; c == '>' {
		b.since = 0
	}
	if b.since > tagMost {
		return 0, errTag
	}
	return c, err
}

// Read reads some bytes, of which the decoder asks none.
func (b *boundedTags) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.since += n
	return n, err
}
