package columns

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/edgewise-ml/edgewise/datasets/form"
)

// Rows says which rows train; nil: all. Those of several tables are numbered one table after the other.
type Rows struct {
	Nodes, Edges, Graphs []int32
}

// wordsMost is how many different words a category may have that nobody asked for.
const wordsMost = 100

// wordsAsked is how many it may have that somebody asked for.
const wordsAsked = 1 << 20

// exactMost is the largest number up to which float32 holds all whole ones.
const exactMost = 1 << 24

// Fit learns from the rows of raw that train what the columns need: the words of categories, what an empty
// number is, where times begin. The classes are those of all rows that have a label. What was learnt before is forgotten.
func (s *Schema) Fit(raw *form.Raw, train Rows) error {
	nodes, edges, err := s.match(raw)
	if err != nil {
		return err
	}
	at, columns := 0, 0
	for i := range raw.Nodes {
		t := &raw.Nodes[i].Table
		if err := s.Nodes[nodes[i]].fit(t, within(train.Nodes, at, t.Rows)); err != nil {
			return err
		}
		at += t.Rows
		columns += len(s.Nodes[nodes[i]].Columns)
	}
	for i := range raw.Nodes {
		t := &s.Nodes[nodes[i]]
		if t.Count, t.Known = 0, ""; columns == 0 && raw.Graphs == nil {
			t.Count, t.Known = raw.Nodes[i].Rows, digest(&raw.Nodes[i].Table)
		}
	}
	at = 0
	for i := range raw.Edges {
		t := &raw.Edges[i].Table
		if err := s.Edges[edges[i]].fit(t, within(train.Edges, at, t.Rows)); err != nil {
			return err
		}
		at += t.Rows
	}
	if raw.Graphs != nil && s.Graphs != nil {
		if err := s.Graphs.fit(&raw.Graphs.Table, train.Graphs); err != nil {
			return err
		}
	}
	if s.Label != nil {
		if err := s.fitLabel(raw); err != nil {
			return err
		}
	}
	s.Fitted = true
	return nil
}

// Learns reports whether something of the schema depends on the rows that train: whether other rows may give other features.
func (s *Schema) Learns() bool {
	of := func(tables []Table) bool {
		return slices.ContainsFunc(tables, func(t Table) bool {
			return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.As != AsMatrix && !c.Given })
		})
	}
	return of(s.Nodes) || of(s.Edges)
}

// Clone returns a copy that shares nothing that Fit changes.
func (s *Schema) Clone() *Schema {
	out := *s
	copied := func(tables []Table) []Table {
		tables = slices.Clone(tables)
		for i := range tables {
			tables[i].Columns = slices.Clone(tables[i].Columns)
		}
		return tables
	}
	out.Nodes, out.Edges = copied(s.Nodes), copied(s.Edges)
	if s.Graphs != nil {
		out.Graphs = &copied([]Table{*s.Graphs})[0]
	}
	if s.Label != nil {
		label := *s.Label
		out.Label = &label
	}
	return &out
}

// within returns those of rows from lo on that are of a table of n, numbered in it; nil stays nil.
func within(rows []int32, lo, n int) []int32 {
	if rows == nil {
		return nil
	}
	out := []int32{}
	for _, r := range rows {
		if int(r) >= lo && int(r) < lo+n {
			out = append(out, r-int32(lo))
		}
	}
	return out
}

// digest returns a digest of the ids of nodes.
func digest(t *form.Table) string {
	h := fnv.New64a()
	if t.IDs == nil {
		return ""
	}
	for row := range t.Rows {
		io.WriteString(h, t.IDs.At(row))
		h.Write([]byte{0})
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

// fit learns what the columns of a table need.
func (s *Table) fit(t *form.Table, train []int32) error {
	for _, r := range train {
		if r < 0 || int(r) >= t.Rows {
			return fmt.Errorf("%s: row %d trains, and there are %d rows", where(t), r, t.Rows)
		}
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		col, err := s.find(t, c)
		if err != nil {
			return err
		}
		*c = Column{Name: c.Name, Type: col.Type, As: c.As, Asked: c.Asked, Dated: c.As == AsTime && col.Dated}
		if col.Type == form.Many {
			c.Width = col.Matrix.Cols
		}
		if err := c.same(t, col); err != nil {
			return err
		}
		if err := c.fit(t, col, train, slices.Contains(s.Times, c.Name)); err != nil {
			return err
		}
	}
	if s.Kinds = nil; s.Kind != "" {
		if col := t.Column(s.Kind); col != nil && col.Type == form.Word {
			s.Kinds = kindNames(col)
		}
	}
	return nil
}

// fit learns what a column needs. Of one that says when, numbers beyond what float32 tells apart count from their least.
func (c *Column) fit(t *form.Table, col *form.Column, train []int32, timely bool) error {
	switch c.As {
	case AsNumber:
		x := numbersOf(col, t.Rows)
		var known []float64
		least, most := math.Inf(1), math.Inf(-1)
		err := error(nil)
		each(nil, t.Rows, func(row int) {
			if v := x.of(row); err == nil && v == v && !finite(v) {
				err = c.at(t, row, "%v is no finite number, as features are", v)
			}
		})
		each(train, t.Rows, func(row int) {
			if v := x.of(row); v == v {
				known = append(known, v)
				least, most = min(least, v), max(most, v)
			}
		})
		if err != nil {
			return err
		}
		fill := median(known)
		c.Fill = &fill
		if timely && max(-least, most) > exactMost {
			c.Less = least
		}
	case AsTime:
		c.Dated = col.Dated
		return c.fitTimes(t, col, train)
	case AsCategory:
		if col.Type == form.Word && col.Words.Ordered {
			c.Words, c.Given = slices.Clone(col.Words.Texts), true
			return nil
		}
		return c.fitWords(t, col, train)
	case AsMatrix:
		c.Width, c.Names = col.Matrix.Cols, col.Matrix.Names
	}
	return nil
}

// fitTimes finds the earliest time, from which days are counted, and the median. Whole numbers count from 0 as long as
// float32 tells them apart.
func (c *Column) fitTimes(t *form.Table, col *form.Column, train []int32) error {
	x, err := timesOf(col, t.Rows)
	if err != nil {
		return c.at(t, 0, "%w", err)
	}
	var known []int64
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	each(train, t.Rows, func(row int) {
		if v := x(row); v != form.NoTime {
			known = append(known, v)
			least, most = min(least, v), max(most, v)
		}
	})
	fill := 0.0
	if len(known) > 0 {
		slices.Sort(known)
		fill = float64(known[(len(known)-1)/2])
		if c.Dated || least < -exactMost || most > exactMost {
			c.From = least
		}
	}
	c.Fill = &fill
	return nil
}

// fitWords finds the words of a category.
func (c *Column) fitWords(t *form.Table, col *form.Column, train []int32) error {
	seen, most := map[string]bool{}, wordsMost
	if c.Asked {
		most = wordsAsked
	}
	x := textsOf(col)
	err := error(nil)
	each(train, x.rows, func(row int) {
		text, ok := x.text(row)
		if !ok || err != nil || seen[text] {
			return
		}
		if len(seen) == most {
			err = c.at(t, row, "%.40q is one more word than the %d that may have a feature each: group them, leave the column out with --column %s=none, ask for all of them with --column %s=category, or call it name", text, most, c.Name, c.Name)
			return
		}
		seen[text] = true
	})
	if err != nil {
		return err
	}
	for text := range seen {
		c.Words = append(c.Words, text)
	}
	slices.Sort(c.Words)
	return nil
}

// at says where something of the column is wrong.
func (c *Column) at(t *form.Table, row int, says string, args ...any) error {
	at := t.Origin.At(row)
	if col := t.Column(c.Name); col != nil {
		at = t.At(col, row)
	}
	return fmt.Errorf("%s, column %.40q: %w", at, c.Name, fmt.Errorf(says, args...))
}

// kindNames returns the names of the kinds that a column of words says.
func kindNames(col *form.Column) []string {
	if col.Words.Ordered {
		return slices.Clone(col.Words.Texts)
	}
	seen := map[string]bool{}
	x := textsOf(col)
	for row := range x.rows {
		if text, ok := x.text(row); ok {
			seen[text] = true
		}
	}
	var names []string
	for text := range seen {
		names = append(names, text)
	}
	slices.Sort(names)
	return names
}
