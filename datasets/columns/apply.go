package columns

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/form"
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
	Codes        []Code         // columns of Features that hold codes; nil: none do
	EdgeCodes    []Code         // columns of EdgeFeatures that hold codes; nil: none do
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
	case c.As == AsCode && c.Type == form.Many:
		return fmt.Sprintf("%d codes a row, of %d whole numbers", c.Width, c.wordsOf())
	case c.As == AsCode && c.Words != nil:
		return fmt.Sprintf("a code of %d words", len(c.Words))
	case c.As == AsCode:
		return "a code"
	case c.As == AsText:
		return "a text"
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
	case c.As.number() || c.As == AsTime:
		return ": write digits and a dot alone, as 1041.5, or leave the cell empty"
	}
	return ""
}

// encoder makes features of a column, from a place on: each calls f with those of a row that are not zero, from left to right.
type encoder struct {
	at, width int
	each      func(row int, f func(column int, v tensor.Float))
	matrix    tensor.Array // if the features are those of a matrix
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

// same returns an error that names both sides if a column is not such as was fitted.
func (c *Column) same(t *form.Table, col *form.Column) error {
	other := func(has string, as Encoding) error {
		row, text := firstNot(col, as)
		return c.at(t, row, "%.40q stands there, and the column has %s; the model reads it as %s%s", text, has, c.says(), c.remedy())
	}
	switch c.As {
	case AsNumber, AsPlain, AsLog:
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
	if many := col.Type == form.Many; many != c.many() && (many || col.Type != form.Empty) {
		if many {
			return fmt.Errorf("%s: the column %.40q has %d numbers a row; the model reads it as %s", where(t), c.Name, col.Matrix.Cols, c.says())
		}
		return other("a value a row", AsMatrix)
	}
	if c.many() && (col.Matrix == nil || col.Matrix.Cols != c.Width) {
		has := 0
		if col.Matrix != nil {
			has = col.Matrix.Cols
		}
		return fmt.Errorf("%s: the column %.40q has %d numbers a row; the model reads it as %s", where(t), c.Name, has, c.says())
	}
	return nil
}

// notKnown is the value of what is not known.
var notKnown = tensor.Float(math.NaN())
