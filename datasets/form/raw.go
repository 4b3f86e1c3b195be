package form

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/cells"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Raw is what files, an archive or a database say of a graph, or of many, before anything is
// computed from it. Cells are as they were written: no column has been chosen, scaled or encoded.
type Raw struct {
	Name   string
	Nodes  []Nodes // a table for each type of nodes; most data have one, whose Type is empty
	Edges  []Edges // a table for each kind of edges between two types; may be empty
	Graphs *Graphs // of many graphs, each an example; nil: there is one graph
	Splits []Split // those that are published as lists of rows, the usual one first; a column may hold another

	// Unlisted says of the first edge whose node no table lists which it is, if there is a table of its type. Its
	// rows are there nevertheless, after Nodes.Listed: whether that is an error, the caller knows.
	Unlisted error

	Doubt  string   // what is legal and yet often a mistake, and what to do about it
	Unread []string // what the files say and nothing reads
	Size   int64    // bytes of the files as they lie on the disk: so much is believed of them; 0: any
}

// Table is rows that have columns, and perhaps ids.
type Table struct {
	Rows    int
	IDs     *Words // a text a row, all different; nil: rows are known by their numbers
	Columns []Column
	Origin  Origin // where the rows come from, for errors
}

// Nodes is a table of nodes of one type.
type Nodes struct {
	Type string
	Table
	// Listed is how many of the first rows the files list. The rows after these are known from the ends of edges
	// alone, and all their cells are empty. It is Rows where all are listed, and 0 where no table lists nodes.
	Listed int
}

// Edges is a table of edges from nodes of one type to nodes of one type. Edges may be repeated, and loops.
type Edges struct {
	Kind, From, To string // From and To are types of Raw.Nodes
	Table
	Source, Target []int32 // rows of the tables of nodes
	Undirected     bool    // the files mean both directions of each edge
	Back           []int32 // of an edge list that is not Undirected as a whole: edges that are meant in both directions
	Neighbours     bool    // they are lists of the neighbours of each node, whose order says nothing: in a graph neighbours ascend
	Saved          bool    // they are a graph's, as a program saved it, by Target: loops and repeated edges are meant
	Dangling       int     // edges that were left out, since the files do not list both of their nodes
}

// Graphs is a table of graphs, whose nodes are consecutive rows of Raw.Nodes[0].
type Graphs struct {
	Table
	Offsets []int // where each graph's nodes begin, and where the last one's end
}

// Split is a published division of rows. Of says of which.
type Split struct {
	Name             string
	Of               Of
	Train, Val, Test []int32 // ascending
}

// Of says which rows of Raw something is of.
type Of string

// The rows that may be learnt from.
const (
	OfNodes  Of = "node"
	OfEdges  Of = "edge"
	OfGraphs Of = "graph"
)

// Type says which of a Column's fields holds its cells.
type Type string

// The types of columns.
const (
	Empty  Type = "empty"  // no cell has anything
	Number Type = "number" // Numbers
	Time   Type = "time"   // Times
	Word   Type = "word"   // Words
	Many   Type = "matrix" // Matrix: several numbers a row
)

// Column is a cell for each row of a table.
type Column struct {
	Name string
	Type Type

	Numbers []float64 // NaN: the cell is empty; true is 1 and false 0
	Truth   bool      // all Numbers were written as true and false
	Times   []int64   // microseconds since 1970 in UTC if Dated, or else whole numbers such as years; NoTime: the cell is empty
	Dated   bool
	Words   *Words
	Matrix  *Matrix

	// Role is what the form itself says the column is for, as the arrays of an .npz do. Where it is
	// empty, the column's name and the user decide.
	Role Role

	// Classes is how many classes a column of Role AsLabel has whose classes are numbers; 0: one more than the largest.
	Classes int

	// Mixed says of a Word column why its cells do not go together, naming the first that differs: a
	// number written for people, "NA" among numbers, a time among numbers. It is nil where the cells are simply words. It is
	// an error only for those who make numbers or categories of the column.
	Mixed error

	// Origin says where the cells stand, of a column from another table that was joined; nil: where the rows do.
	Origin *Origin
}

// Role is what a column is for.
type Role string

// The roles of columns.
const (
	AsFeature Role = "feature"
	AsLabel   Role = "label"  // a class, or several as a matrix of 0 and 1, or numbers
	AsTarget  Role = "target" // a label whose numbers are to be predicted as numbers, whole or not
	AsWeight  Role = "weight" // of edges
	AsPart    Role = "part"   // train, val, test, or nothing
	AsTitle   Role = "title"  // what people call the row, beside its id
	AsKind    Role = "kind"   // which of several kinds the row is of
	AsTime    Role = "time"   // to divide rows by, and no feature
	Unused    Role = "unused"
)

// NoTime stands in Times where a cell is empty. It is NumPy's NaT.
const NoTime = -1 << 63

// Words are texts. Texts that are repeated are kept once.
type Words struct {
	Texts []string // each different text once, in the order of their first rows; or, without Codes, the text of each row
	Codes []int32  // of each row the number of its text, -1 where the cell is empty; nil: Texts has a text a row, empty ones too

	// Ordered says that the order of Texts means something: it is that of the classes, or of the features that the
	// words become. There may be texts that no row has.
	Ordered bool
}

// Len returns the number of rows.
func (w *Words) Len() int {
	if w.Codes != nil {
		return len(w.Codes)
	}
	return len(w.Texts)
}

// At returns the text of a row, "" where the cell is empty.
func (w *Words) At(row int) string {
	if w.Codes == nil {
		return w.Texts[row]
	}
	if c := w.Codes[row]; c >= 0 {
		return w.Texts[c]
	}
	return ""
}

// Matrix is several numbers a row: dense, row after row, or sparse if Offsets is set.
type Matrix struct {
	Rows, Cols int
	Offsets    []int64        // of a sparse one where each row begins, and where the last ends
	Columns    []int32        // of a sparse one the column of each element, ascending in each row
	Values     []tensor.Float // nil of a sparse one: all elements are 1
	Names      []string       // of the columns; empty: they have none
	Codes      [][2]int       // the columns that hold numbers of words, ascending, and how many words each has; 0 is none
}

// MatrixOf returns a Matrix that shares the elements of an array.
func MatrixOf(x tensor.Array) *Matrix {
	if a, ok := x.(*sparse.CSR); ok {
		return &Matrix{Rows: a.NumRows, Cols: a.NumCols, Offsets: a.Offsets, Columns: a.Cols, Values: a.Values}
	}
	d := x.(*tensor.Dense)
	return &Matrix{Rows: d.Dim(0), Cols: d.Dim(1), Values: d.Data}
}

// Array returns the array that shares m's elements: *sparse.CSR or *tensor.Dense.
func (m *Matrix) Array() tensor.Array {
	if m.Offsets != nil {
		return &sparse.CSR{NumRows: m.Rows, NumCols: m.Cols, Offsets: m.Offsets, Cols: m.Columns, Values: m.Values}
	}
	return tensor.Of(m.Values, m.Rows, m.Cols)
}

// Origin says where the rows of a table come from.
type Origin struct {
	File  string  // its path, with the member of an archive after it
	Unit  string  // what a row is called there, such as element; empty: line
	First int     // the number of the first row
	Lines []int32 // the number of each row, where they do not simply ascend from First; nil: they do
}

// At names a row for an error, such as "shop_nodes.csv: line 17".
func (o *Origin) At(row int) string { return (*cells.Origin)(o).At(row) }

// row is At without the file.
func (o *Origin) row(row int) string { return (*cells.Origin)(o).Row(row) }

// line returns the number of a row.
func (o *Origin) line(row int) int { return (*cells.Origin)(o).Line(row) }

func (o *Origin) unit() string { return cmp.Or(o.Unit, "line") }

// At names a cell for an error, by where its column comes from.
func (t *Table) At(c *Column, row int) string {
	if c.Origin != nil && row < len(c.Origin.Lines) {
		return c.Origin.At(row)
	}
	return t.Origin.At(row)
}

// Column returns the column of that very name, or else the first whose name is the same as names are compared by [Plain];
// nil if there is none.
func (t *Table) Column(name string) *Column {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		plain := Plain(name)
		i = slices.IndexFunc(t.Columns, func(c Column) bool { return Plain(c.Name) == plain })
	}
	if i < 0 {
		return nil
	}
	return &t.Columns[i]
}

// Check returns an error that names the first thing that is wrong with the shape of r: a column without a cell for each
// row, an edge whose ends are no rows, a split that names a row twice. What the readers of this package return
// has been checked.
func (r *Raw) Check() error {
	rows := map[Of]int{}
	types := map[string]int{}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if _, twice := types[n.Type]; twice {
			return fmt.Errorf("there are two tables of nodes of type %.40q", n.Type)
		}
		if types[n.Type] = n.Rows; n.Listed < 0 || n.Listed > n.Rows {
			return fmt.Errorf("%d of %d nodes are listed", n.Listed, n.Rows)
		}
		if err := n.check(OfNodes); err != nil {
			return err
		}
		rows[OfNodes] += n.Rows
	}
	for i := range r.Edges {
		if err := r.Edges[i].check(types); err != nil {
			return err
		}
		rows[OfEdges] += r.Edges[i].Rows
	}
	if r.Graphs != nil {
		if err := r.Graphs.check(types); err != nil {
			return err
		}
		rows[OfGraphs] = r.Graphs.Rows
	}
	for i := range r.Splits {
		s := &r.Splits[i]
		if err := s.check(rows[s.Of]); err != nil {
			return fmt.Errorf("split %d: %w", i, err)
		}
	}
	return nil
}

// UnlistedOf returns an error about the first edge whose end is of a table of nodes that lists some and not that one; nil if there is none.
func (r *Raw) UnlistedOf(table int) error {
	t := &r.Nodes[table]
	if t.Listed == 0 || t.Listed == t.Rows {
		return nil
	}
	for k := range r.Edges {
		e := &r.Edges[k]
		for row := range e.Source {
			for _, end := range []struct {
				of string
				v  int32
			}{{e.From, e.Source[row]}, {e.To, e.Target[row]}} {
				if end.of == t.Type && int(end.v) >= t.Listed {
					return fmt.Errorf("%s: node %.40q is not in %s: add it there, or leave its edges out", e.Origin.At(row), t.IDs.At(int(end.v)), t.Origin.File)
				}
			}
		}
	}
	return fmt.Errorf("%s: node %.40q is not in the table that lists the nodes", t.Origin.File, t.IDs.At(t.Listed))
}

// check checks a table of edges between types of nodes, of which there are so many each.
func (e *Edges) check(types map[string]int) error {
	from, ok1 := types[e.From]
	to, ok2 := types[e.To]
	if !ok1 || !ok2 {
		return fmt.Errorf("edges of kind %.40q lead from %.40q to %.40q, and there are no such types of nodes", e.Kind, e.From, e.To)
	}
	if len(e.Source) != e.Rows || len(e.Target) != e.Rows {
		return fmt.Errorf("%d sources and %d targets for %d edges", len(e.Source), len(e.Target), e.Rows)
	}
	for k, u := range e.Source {
		if v := e.Target[k]; u < 0 || int(u) >= from || v < 0 || int(v) >= to {
			return fmt.Errorf("edge %d is %d to %d; the nodes are 0 to %d, and 0 to %d", k, u, v, from-1, to-1)
		}
	}
	for _, k := range e.Back {
		if k < 0 || int(k) >= e.Rows {
			return fmt.Errorf("edge %d is meant in both directions; the edges are 0 to %d", k, e.Rows-1)
		}
	}
	return e.Table.check(OfEdges)
}

// check checks a table of graphs, whose nodes are all of one type.
func (g *Graphs) check(types map[string]int) error {
	n := types[""]
	if len(g.Offsets) != g.Rows+1 || g.Offsets[0] != 0 || g.Offsets[g.Rows] != n || !slices.IsSorted(g.Offsets) {
		return fmt.Errorf("the offsets of %d graphs are %d numbers, want one more, ascending from 0 to the %d nodes", g.Rows, len(g.Offsets), n)
	}
	return g.Table.check(OfGraphs)
}

// check checks that ids and columns have a cell for each row.
func (t *Table) check(of Of) error {
	if t.Rows < 0 {
		return fmt.Errorf("%d %ss", t.Rows, of)
	}
	if t.IDs != nil {
		if err := t.IDs.check(t.Rows); err != nil {
			return fmt.Errorf("the ids of %ss: %w", of, err)
		}
	}
	for i := range t.Columns {
		if err := t.Columns[i].check(t.Rows); err != nil {
			return fmt.Errorf("column %.40q of %ss: %w", t.Columns[i].Name, of, err)
		}
	}
	return nil
}

// check checks that a column has a cell for each row, of its type.
func (c *Column) check(rows int) error {
	cells := rows
	switch c.Type {
	case Empty:
	case Number:
		cells = len(c.Numbers)
	case Time:
		cells = len(c.Times)
	case Word:
		if c.Words == nil {
			return errors.New("it has no words")
		}
		return c.Words.check(rows)
	case Many:
		if c.Matrix == nil {
			return errors.New("it has no matrix")
		}
		return c.Matrix.check(rows)
	default:
		return fmt.Errorf("there is no type %.40q", c.Type)
	}
	if cells != rows {
		return fmt.Errorf("%d cells for %d rows", cells, rows)
	}
	return nil
}

// check checks that there is a text for each row.
func (w *Words) check(rows int) error {
	if w.Len() != rows {
		return fmt.Errorf("%d texts for %d rows", w.Len(), rows)
	}
	for i, c := range w.Codes {
		if c < -1 || int(c) >= len(w.Texts) {
			return fmt.Errorf("row %d has text %d, and there are %d", i, c, len(w.Texts))
		}
	}
	return nil
}

// check checks that there is a row for each row.
func (m *Matrix) check(rows int) error {
	if m.Rows != rows {
		return fmt.Errorf("%d rows of a matrix for %d rows", m.Rows, rows)
	}
	if len(m.Names) > 0 && len(m.Names) != m.Cols {
		return fmt.Errorf("%d names for %d columns of a matrix", len(m.Names), m.Cols)
	}
	if m.Offsets == nil {
		if m.Cols < 0 || len(m.Values) != m.Rows*m.Cols {
			return fmt.Errorf("%d numbers for a matrix of %d × %d", len(m.Values), m.Rows, m.Cols)
		}
		return nil
	}
	_, err := sparse.New(m.Rows, m.Cols, m.Offsets, m.Columns, m.Values)
	return err
}

// Gather returns the table of the given rows, in their order; row -1 is an empty one. Texts are shared.
func (t *Table) Gather(rows []int32) Table {
	out := Table{Rows: len(rows), IDs: t.IDs.Gather(rows), Origin: t.Origin.gather(rows)}
	joined := map[*Origin]*Origin{}
	for _, c := range t.Columns {
		of := c.Origin
		if joined[of] != nil { // columns of one table share where they stand
			c.Origin = nil
		}
		if c = c.Gather(rows); joined[of] == nil {
			joined[of] = c.Origin
		}
		c.Origin = joined[of]
		out.Columns = append(out.Columns, c)
	}
	return out
}

// gather returns where the given rows stand; that of row -1 is 0.
func (o Origin) gather(rows []int32) Origin {
	lines := make([]int32, len(rows))
	for i, r := range rows {
		if r >= 0 {
			lines[i] = int32(o.line(int(r)))
		}
	}
	o.Lines = lines
	return o
}

// Gather returns the column of the given rows, in their order; that of row -1 is empty.
func (c Column) Gather(rows []int32) Column {
	c.Numbers, c.Times = gathered(c.Numbers, rows, math.NaN()), gathered(c.Times, rows, NoTime)
	c.Words, c.Matrix = c.Words.Gather(rows), c.Matrix.gather(rows)
	if c.Origin != nil {
		o := c.Origin.gather(rows)
		c.Origin = &o
	}
	return c
}

// Gather returns the words of the given rows, in their order; that of row -1 is empty. Texts are shared.
func (w *Words) Gather(rows []int32) *Words {
	if w == nil {
		return nil
	}
	if w.Codes == nil {
		return &Words{Texts: gathered(w.Texts, rows, "")}
	}
	return &Words{Texts: w.Texts, Codes: gathered(w.Codes, rows, -1), Ordered: w.Ordered}
}

// gather returns the given rows of m. Of a dense matrix the numbers of row -1 are NaN.
func (m *Matrix) gather(rows []int32) *Matrix {
	if m == nil {
		return nil
	}
	out := &Matrix{Rows: len(rows), Cols: m.Cols, Names: m.Names, Codes: m.Codes}
	if m.Offsets == nil {
		out.Values = make([]tensor.Float, len(rows)*m.Cols)
		for i, row := range rows {
			to := out.Values[i*m.Cols:][:m.Cols]
			if row >= 0 {
				copy(to, m.Values[int(row)*m.Cols:])
				continue
			}
			for j := range to {
				to[j] = tensor.Float(math.NaN())
			}
		}
		return out
	}
	out.Offsets = make([]int64, 1, len(rows)+1)
	for _, row := range rows {
		if row >= 0 {
			from, to := m.Offsets[row], m.Offsets[row+1]
			out.Columns = append(out.Columns, m.Columns[from:to]...)
			if m.Values != nil {
				out.Values = append(out.Values, m.Values[from:to]...)
			}
		}
		out.Offsets = append(out.Offsets, int64(len(out.Columns)))
	}
	return out
}

func gathered[T any](x []T, rows []int32, empty T) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(rows))
	for i, r := range rows {
		if out[i] = empty; r >= 0 {
			out[i] = x[r]
		}
	}
	return out
}

// pick makes t of other rows of itself, of which -1 is an empty one. Words that mean nothing by their order are again in that of
// their first rows.
func (t *Table) pick(rows []int32) {
	*t = t.Gather(rows)
	for _, c := range t.Columns {
		if c.Words != nil && !c.Words.Ordered {
			c.Words.inOrder()
		}
	}
}

// inOrder brings the texts of words into the order of their first rows, and leaves out those that no row has.
func (w *Words) inOrder() {
	if w.Codes == nil {
		return
	}
	place := make([]int32, len(w.Texts))
	texts := make([]string, 0, len(w.Texts))
	for row, c := range w.Codes {
		if c < 0 {
			continue
		}
		if place[c] == 0 {
			texts = append(texts, w.Texts[c])
			place[c] = int32(len(texts))
		}
		w.Codes[row] = place[c] - 1
	}
	w.Texts = texts
}
