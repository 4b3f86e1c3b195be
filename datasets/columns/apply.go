package columns

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Applied is what a Schema makes of a Raw. Rows of several tables stand one table after the other.
type Applied struct {
	Features     tensor.Array   // a row a node: *sparse.CSR or *tensor.Dense; nil: none
	Names        []string       // of the columns of Features; nil: they have none
	EdgeFeatures *tensor.Dense  // a row an edge; nil: none
	EdgeNames    []string       // of the columns of EdgeFeatures; nil: they have none
	Weights      []tensor.Float // of edges; nil: all are 1
	NodeKinds    *Kinds         // nil: nothing says which kinds nodes are of
	EdgeKinds    *Kinds         // and edges
	Titles       []string       // of nodes, "" where the id is the name; nil: none
	GraphTitles  []string       // of many graphs
	Split        *form.Split    // of the column of parts, of what is learnt; nil: there is none
	Answers      *Answers       // nil: nothing is to be learnt, or the columns are not there
	Numeric      [2]int         // how many of the first columns of Features and of EdgeFeatures are numbers, before those of words
	Warnings     []string       // what was read in a way that may not be meant, each with its number of cells
}

// Kinds says which of several kinds each row is of.
type Kinds struct {
	Names []string
	Of    []int32 // -1: none
}

// Apply reads raw as the Schema says, which has been fitted. Columns may stand in any order, and others beside them. The
// error names both sides where the data are not such as the Schema was fitted on: a column that is missing, or of another type or
// width, a category all of whose words are new, a type of nodes or a kind of edges that is not known.
func (s *Schema) Apply(raw *form.Raw) (*Applied, error) {
	if !s.Fitted {
		return nil, errors.New("columns: the Schema has not been fitted")
	}
	nodes, edges, err := s.match(raw)
	if err != nil {
		return nil, err
	}
	a := &applier{s: s, raw: raw, nodes: nodes, edges: edges, out: &Applied{}}
	for _, step := range []func() error{a.nodeFeatures, a.edgeFeatures, a.weights, a.kinds, a.titles, a.split, a.answers} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return a.out, nil
}

// applier is an Applied while it is made.
type applier struct {
	s            *Schema
	raw          *form.Raw
	nodes, edges []int // of each table of raw which of the Schema's it is
	out          *Applied
}

func (a *applier) warn(says string, args ...any) {
	a.out.Warnings = append(a.out.Warnings, fmt.Sprintf(says, args...))
}

// match returns which tables of the Schema those of raw are.
func (s *Schema) match(raw *form.Raw) (nodes, edges []int, err error) {
	for i := range raw.Nodes {
		t := &raw.Nodes[i]
		k := slices.IndexFunc(s.Nodes, func(own Table) bool { return own.Type == t.Type })
		if k < 0 && len(s.Nodes) == 1 && len(raw.Nodes) == 1 && (t.Type == "" || s.Nodes[0].Type == "") {
			k = 0
		}
		if k < 0 {
			return nil, nil, fmt.Errorf("%s: nodes of type %.40q are not known: the model knows %s", where(&t.Table), t.Type, listed(typesOf(s.Nodes)))
		}
		if slices.Contains(nodes, k) {
			return nil, nil, fmt.Errorf("%s: there are two tables of nodes of type %.40q", where(&t.Table), t.Type)
		}
		nodes = append(nodes, k)
	}
	for i := range raw.Edges {
		t := &raw.Edges[i]
		k := slices.IndexFunc(s.Edges, func(own Table) bool { return own.Type == t.Kind && own.From == t.From && own.To == t.To })
		if k < 0 && len(s.Edges) == 1 && len(raw.Edges) == 1 && len(s.Nodes) == 1 && (t.Kind == "" || s.Edges[0].Type == "") {
			k = 0
		}
		if k < 0 {
			return nil, nil, fmt.Errorf("%s: edges %s are not known: the model knows %s", where(&t.Table), kindOf(t.Kind, t.From, t.To), listed(typesOf(s.Edges)))
		}
		if slices.Contains(edges, k) {
			return nil, nil, fmt.Errorf("%s: there are two tables of edges %s", where(&t.Table), kindOf(t.Kind, t.From, t.To))
		}
		edges = append(edges, k)
	}
	return nodes, edges, nil
}

func typesOf(tables []Table) (out []string) {
	for _, t := range tables {
		if t.From+t.To != "" {
			out = append(out, t.Type+" from "+t.From+" to "+t.To)
		} else {
			out = append(out, t.Type)
		}
	}
	return out
}

func kindOf(kind, from, to string) string {
	if from+to == "" {
		return fmt.Sprintf("of kind %.40q", kind)
	}
	return fmt.Sprintf("of kind %.40q from %.40q to %.40q", kind, from, to)
}

// find returns the column of a table that the Schema's column is.
func (s *Table) find(t *form.Table, c *Column) (*form.Column, error) {
	if col := t.Column(c.Name); col != nil {
		for i := range t.Columns {
			if other := &t.Columns[i]; col.Name != c.Name && other != col && form.Plain(other.Name) == form.Plain(c.Name) {
				return nil, fmt.Errorf("%s: the columns %.40q and %.40q may both be the column %.40q, which the model reads as %s: give one another name", where(t), col.Name, other.Name, c.Name, c.says())
			}
		}
		return col, nil
	}
	var others, all []string
	for i := range t.Columns {
		name := t.Columns[i].Name
		if t.Columns[i].Role == form.Unused {
			continue
		}
		if all = append(all, name); !slices.ContainsFunc(s.Columns, func(c Column) bool { return form.Plain(c.Name) == form.Plain(name) }) {
			others = append(others, name)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there is no column %.40q, which the model reads as %s: the rows have no columns", where(t), c.Name, c.says())
	}
	return nil, fmt.Errorf("%s: there is no column %.40q, which the model reads as %s%s; there are %s", where(t), c.Name, c.says(), meant(c.Name, others), listed(all))
}

// says is what the model reads a column as.
func (c *Column) says() string {
	switch {
	case c.As == AsCategory && c.Words != nil:
		return fmt.Sprintf("a category of %d words", len(c.Words))
	case c.As == AsCategory:
		return "a category"
	case c.As == AsTime && c.Dated:
		return "a time"
	case c.As == AsMatrix:
		return fmt.Sprintf("%d numbers a row", c.Width)
	}
	return "a number"
}

// remedy says how cells have to be written.
func (c *Column) remedy() string {
	switch {
	case c.As == AsTime && c.Dated:
		return ": write times like 2024-03-01T12:30:00Z, or leave the cell empty"
	case c.As == AsNumber || c.As == AsTime:
		return ": write digits and a dot alone, as 1041.5, or leave the cell empty"
	}
	return ""
}

// encoder makes features of a column: one number a row, a word of several, or several numbers a row.
type encoder struct {
	at, width int
	number    func(row int) tensor.Float
	word      func(row int) int // -1: none
	matrix    tensor.Array
}

// encoders returns what makes features of the columns of a table, from the first feature on, and the names of
// these, nil where some have none.
func (a *applier) encoders(s *Table, t *form.Table, at int) (list []encoder, err error) {
	for i := range s.Columns {
		c := &s.Columns[i]
		e := encoder{at: at, width: c.width()}
		at += e.width
		col, err := s.find(t, c)
		if err == nil {
			err = c.same(t, col)
		}
		if err == nil {
			err = a.encode(&e, c, t, col)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	for i := range t.Columns {
		name := t.Columns[i].Name
		if !s.knows(name, a.s.Label) && name != "" && t.Columns[i].Role != form.Unused {
			a.warn("column %.40q (%s) is not read: the model does not know it", name, fileOf(t, name))
		}
	}
	return list, nil
}

// knows reports whether a column is one of the Schema's.
func (s *Table) knows(name string, label *Label) bool {
	plain := form.Plain(name)
	is := func(n string) bool { return form.Plain(n) == plain }
	return slices.ContainsFunc(s.Columns, func(c Column) bool { return is(c.Name) }) || slices.ContainsFunc(s.Unread, is) || slices.ContainsFunc(s.Times, is) || slices.ContainsFunc(s.Masks, is) ||
		is(s.Weight) || is(s.Part) || is(s.Title) || is(s.Kind) || label != nil && slices.ContainsFunc(label.Columns, is)
}

// width is how many features a column becomes.
func (c *Column) width() int {
	switch c.As {
	case AsCategory:
		return len(c.Words)
	case AsMatrix:
		return c.Width
	}
	return 1
}

// same returns an error that names both sides if a column is not such as was fitted.
func (c *Column) same(t *form.Table, col *form.Column) error {
	other := func(has string, as Encoding) error {
		row, text := firstNot(col, as)
		return c.at(t, row, "%.40q stands there, and the column has %s; the model reads it as %s%s", text, has, c.says(), c.remedy())
	}
	switch c.As {
	case AsNumber:
		if col.Type == form.Word || col.Type == form.Time && col.Dated {
			return other(map[form.Type]string{form.Word: "words", form.Time: "times"}[col.Type], AsNumber)
		}
	case AsTime:
		switch {
		case col.Type == form.Word || col.Type == form.Number && c.Dated:
			return other(map[form.Type]string{form.Word: "words", form.Number: "numbers"}[col.Type], AsTime)
		case col.Type == form.Time && col.Dated != c.Dated:
			return other(map[bool]string{true: "times", false: "numbers"}[col.Dated], AsTime)
		}
	}
	if many := col.Type == form.Many; many != (c.As == AsMatrix) && (many || col.Type != form.Empty) {
		if many {
			return fmt.Errorf("%s: the column %.40q has %d numbers a row; the model reads it as %s", where(t), c.Name, col.Matrix.Cols, c.says())
		}
		return other("a value a row", AsMatrix)
	}
	if c.As == AsMatrix && (col.Matrix == nil || col.Matrix.Cols != c.Width) {
		has := 0
		if col.Matrix != nil {
			has = col.Matrix.Cols
		}
		return fmt.Errorf("%s: the column %.40q has %d numbers a row; the model reads it as %s", where(t), c.Name, has, c.says())
	}
	return nil
}

// encode says how the cells of a column become features.
func (a *applier) encode(e *encoder, c *Column, t *form.Table, col *form.Column) error {
	switch c.As {
	case AsNumber:
		return a.encodeNumbers(e, c, t, col)
	case AsTime:
		return a.encodeTimes(e, c, t, col)
	case AsCategory:
		return a.encodeWords(e, c, t, col)
	}
	e.matrix = col.Matrix.Array()
	var values []tensor.Float
	if x, ok := e.matrix.(*sparse.CSR); ok {
		values = x.Values
	} else {
		values = e.matrix.(*tensor.Dense).Data
	}
	for k, v := range values {
		if v-v != 0 {
			row, j := k/max(1, c.Width), k%max(1, c.Width)
			if x, ok := e.matrix.(*sparse.CSR); ok {
				row, _ = slices.BinarySearch(x.Offsets, int64(k)+1)
				row, j = row-1, int(x.Cols[k])
			}
			return fmt.Errorf("feature %d of %s is %v", j, t.Origin.At(row), v)
		}
	}
	return nil
}

func (a *applier) encodeNumbers(e *encoder, c *Column, t *form.Table, col *form.Column) error {
	x, fill := numbersOf(col, t.Rows), 0.0
	if c.Fill != nil {
		fill = *c.Fill
	}
	empty, first := 0, 0
	for row := range t.Rows {
		if v := x.of(row); v != v {
			if empty++; empty == 1 {
				first = row
			}
		} else if !finite(v - c.Less) {
			return c.at(t, row, "%v is no finite number, as features are", v)
		}
	}
	a.filled(c, t, empty, first, wordOf(fill))
	e.number = func(row int) tensor.Float {
		v := x.of(row)
		if v != v {
			v = fill
		}
		return tensor.Float(v - c.Less)
	}
	return nil
}

// filled warns of empty cells.
func (a *applier) filled(c *Column, t *form.Table, empty, first int, as string) {
	if empty > 0 {
		a.warn("%s of column %.40q (%s) %s empty, the first in %s: %s as %s, the median of the rows that train", counted(empty, "cell"), c.Name, fileOf(t, c.Name), isOrAre(empty), lineOf(t, c.Name, first), map[bool]string{true: "it counts", false: "they count"}[empty == 1], as)
	}
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// counted is a number of things, with an s unless it is 1.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// lineOf names the row of a cell without its file.
func lineOf(t *form.Table, name string, row int) string {
	o := *originOf(t, name)
	o.File = ""
	return o.At(row)
}

// finite reports whether a number is one as a feature.
func finite(v float64) bool { f := tensor.Float(v); return f-f == 0 }

const day = 24 * 60 * 60 * 1_000_000 // microseconds

func (a *applier) encodeTimes(e *encoder, c *Column, t *form.Table, col *form.Column) error {
	x, err := timesOf(col, t.Rows)
	if err != nil {
		return c.at(t, 0, "%w", err)
	}
	if col.Type == form.Number { // such as 2017.5 where years were fitted
		own := *c
		own.Less = float64(c.From)
		return a.encodeNumbers(e, &own, t, col)
	}
	fill := int64(0)
	if c.Fill != nil {
		fill = int64(*c.Fill)
	}
	empty, first := 0, 0
	for row := range t.Rows {
		if x(row) == form.NoTime {
			if empty++; empty == 1 {
				first = row
			}
		}
	}
	shown := wordOf(float64(fill))
	if c.Dated {
		shown = shownTime(fill)
	}
	a.filled(c, t, empty, first, shown)
	unit := 1.0
	if c.Dated {
		unit = day
	}
	e.number = func(row int) tensor.Float {
		at := x(row)
		if at == form.NoTime {
			at = fill
		}
		if at < c.From {
			return tensor.Float(-(float64(uint64(c.From)-uint64(at)) / unit))
		}
		return tensor.Float(float64(uint64(at)-uint64(c.From)) / unit)
	}
	return nil
}

// timesOf returns the times of a column, NoTime where there is none.
func timesOf(col *form.Column, rows int) (func(row int) int64, error) {
	switch col.Type {
	case form.Time:
		return func(row int) int64 { return col.Times[row] }, nil
	case form.Number, form.Empty:
		return func(int) int64 { return form.NoTime }, nil
	}
	return nil, errors.New("it holds no times, which are like 2024-03-01T12:30:00Z")
}

// unseenLeast is how many cells of a category have to be words, and all of them new, for an error: so many are another column
// rather than news.
const unseenLeast = 10

func (a *applier) encodeWords(e *encoder, c *Column, t *form.Table, col *form.Column) error {
	x := textsOf(col)
	codes := make([]int32, t.Rows)
	of := make(map[string]int32, len(c.Words))
	for i, w := range c.Words {
		of[w] = int32(i)
	}
	unseen, first, cells := 0, 0, 0
	for row := range codes {
		codes[row] = -1
		if row >= x.rows {
			continue
		}
		text, ok := x.text(row)
		if !ok {
			continue
		}
		cells++
		if k, known := of[text]; known {
			codes[row] = k
		} else if unseen++; unseen == 1 {
			first = row
		}
	}
	text := ""
	if unseen > 0 {
		text, _ = x.text(first)
	}
	switch {
	case unseen == cells && cells >= unseenLeast && len(c.Words) > 0:
		return c.at(t, first, "%.40q and all other %d words of the column are new to the model, which knows %s: is it another column?", text, cells-1, listed(c.Words))
	case unseen > 0:
		has := "have words"
		if unseen == 1 {
			has = "has a word"
		}
		counts := "they count"
		if unseen == 1 {
			counts = "it counts"
		}
		a.warn("%s of column %.40q (%s) %s that the model has not seen, such as %.40q in %s: %s as none of its %d words", counted(unseen, "cell"), c.Name, fileOf(t, c.Name), has, text, lineOf(t, c.Name, first), counts, len(c.Words))
	}
	e.word = func(row int) int { return int(codes[row]) }
	return nil
}

// namesOf appends the names of the features of a column; ok is false if they have none.
func (c *Column) namesOf(names []string, prefix string) (out []string, ok bool) {
	switch c.As {
	case AsCategory:
		for _, w := range c.Words {
			names = append(names, prefix+c.Name+"="+w)
		}
		return names, true
	case AsMatrix:
		for _, n := range c.Names {
			names = append(names, prefix+n)
		}
		return names, len(c.Names) == c.Width && c.Width > 0
	}
	return append(names, prefix+c.Name), true
}

// notKnown is the value of what is not known.
var notKnown = tensor.Float(math.NaN())
