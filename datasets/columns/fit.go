package columns

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/edgewise-ml/edgewise/datasets/form"
)

// Rows says which rows train; nil: all. Those of several tables are numbered one table after the other.
type Rows struct {
	Nodes, Edges, Graphs []int32
}

// wordsAsked is how many different words a column may have.
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
	s.Doubts = s.telltales(raw, nodes, edges, train)
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

// fit learns what a column needs. Plain numbers that say when, beyond what float32 tells apart, count from their least.
func (c *Column) fit(t *form.Table, col *form.Column, train []int32, timely bool) error {
	switch c.As {
	case AsNumber, AsPlain, AsLog:
		return c.fitNumbers(t, col, train, timely)
	case AsTime:
		c.Dated = col.Dated
		return c.fitTimes(t, col, train)
	case AsCategory, AsCode:
		if c.As == AsCategory && col.Type == form.Word && col.Words.Ordered {
			c.Words, c.Given = slices.Clone(col.Words.Texts), true
			return nil
		}
		if col.Type == form.Many {
			return c.fitCodes(t, col, train)
		}
		return c.fitWords(t, col, train)
	case AsText:
		return c.fitText(t, col, train)
	case AsMatrix:
		c.Width, c.Names = col.Matrix.Cols, col.Matrix.Names
		for _, k := range col.Matrix.Codes {
			c.Codes = append(c.Codes, Code{k[0], k[1]})
		}
	}
	return nil
}

// fitNumbers finds the median of numbers, and their scale unless they stay as they are.
func (c *Column) fitNumbers(t *form.Table, col *form.Column, train []int32, timely bool) error {
	x := numbersOf(col, t.Rows)
	for row := range t.Rows {
		if v := x.of(row); v == v && !finite(v) {
			return c.at(t, row, "%v is no finite number, as features are", v)
		}
	}
	var known, mapped []float64
	least, most, empty := math.Inf(1), math.Inf(-1), false
	each(train, t.Rows, func(row int) {
		v := x.of(row)
		if v != v {
			empty = true
			return
		}
		known = append(known, v)
		least, most = min(least, v), max(most, v)
	})
	c.Gaps = empty && len(known) > 0
	fill := median(known) // which sorts them: sums do not depend on the order of the rows
	c.Fill = &fill
	if c.As != AsPlain {
		for _, v := range known {
			mapped = append(mapped, c.mapped(v))
		}
		c.Scale = scaleOf(mapped)
		if m, d := c.Scale.Mean, c.Scale.Dev; m-m != 0 || d-d != 0 {
			return c.at(t, 0, "the numbers of the column are too large to be standardised: choose another form, as --column %s=log, or leave the column out, --column %s=none", c.Name, c.Name)
		}
	} else if timely && max(-least, most) > exactMost {
		c.Less = least
	}
	return nil
}

// mapped is a number before it is standardised.
func (c *Column) mapped(v float64) float64 {
	if c.As == AsLog {
		return math.Copysign(math.Log1p(math.Abs(v)), v)
	}
	return v - c.Less
}

// scaleOf returns the scale of numbers.
func scaleOf(x []float64) *Scale {
	s, n, squares := new(Scale), float64(len(x)), 0.0
	for _, v := range x {
		s.Mean += v / n
	}
	for _, v := range x {
		squares += (v - s.Mean) * ((v - s.Mean) / n)
	}
	if slices.ContainsFunc(x, func(v float64) bool { return v != x[0] }) {
		s.Dev = math.Sqrt(squares)
	}
	return s
}

// of standardises a number; nil leaves it as it is.
func (s *Scale) of(v float64) float64 {
	switch {
	case s == nil:
		return v
	case s.Dev == 0:
		return 0
	}
	return (v - s.Mean) / s.Dev
}

// fitTimes finds the earliest time, from which days are counted, the latest, the median, the scale of the days, and which cycles they go
// through. Whole numbers count from 0 as long as float32 tells them apart, and have no cycles.
func (c *Column) fitTimes(t *form.Table, col *form.Column, train []int32) error {
	x, err := timesOf(col, t.Rows)
	if err != nil {
		return c.at(t, 0, "%w", err)
	}
	var known []int64
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	empty, whole := false, true
	each(train, t.Rows, func(row int) {
		v := x(row)
		if v == form.NoTime {
			empty = true
			return
		}
		known = append(known, v)
		least, most = min(least, v), max(most, v)
		whole = whole && v%day == 0
	})
	c.Gaps = empty && len(known) > 0
	fill := 0.0
	if len(known) > 0 {
		slices.Sort(known)
		fill = float64(known[(len(known)-1)/2])
		if c.Dated || least < -exactMost || most > exactMost {
			c.From = least
		}
	}
	c.Fill = &fill
	ages := make([]float64, len(known))
	for i, v := range known {
		ages[i] = c.age(v)
	}
	if c.Scale = scaleOf(ages); c.Dated && len(known) > 0 {
		c.Till = most
		span := uint64(most) - uint64(least)
		for _, cycle := range []Cycle{Day, Week, Year} {
			if span >= cycle.days()*day && !(cycle == Day && whole) {
				c.Cycles = append(c.Cycles, cycle)
			}
		}
	}
	return nil
}

// age is the time since the earliest, in days if it is a date.
func (c *Column) age(at int64) float64 {
	unit := 1.0
	if c.Dated {
		unit = day
	}
	if at < c.From {
		return -(float64(uint64(c.From)-uint64(at)) / unit)
	}
	return float64(uint64(at)-uint64(c.From)) / unit
}

// days is how long a cycle is.
func (c Cycle) days() uint64 {
	return map[Cycle]uint64{Day: 1, Week: 7, Year: 365}[c]
}

// phase is which part of a cycle is over.
func (c Cycle) phase(micros int64) float64 {
	switch c {
	case Day:
		return float64((micros%day+day)%day) / day
	case Week: // from Monday on; 1970 began on a Thursday
		return float64((micros%(7*day)+10*day)%(7*day)) / (7 * day)
	}
	at := time.UnixMicro(micros).UTC()
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	begin, end := year(at.Year()), year(at.Year()+1)
	return at.Sub(begin).Seconds() / end.Sub(begin).Seconds()
}

// fitWords finds the words of a category, or those of a code that stand there twice: of one row no network learns what a word means, and
// what it learns of all rare words goes for those that it has not seen.
func (c *Column) fitWords(t *form.Table, col *form.Column, train []int32) error {
	seen, least := map[string]int{}, 1
	if c.As == AsCode {
		least = 2
	}
	x := textsOf(col)
	err := error(nil)
	each(train, x.rows, func(row int) {
		text, ok := x.text(row)
		if !ok {
			c.Gaps = true
			return
		}
		if seen[text]++; seen[text] == 1 && len(seen) > wordsAsked && err == nil {
			err = c.at(t, row, "%.40q is one more word than the %d that are told apart: leave the column out, --column %s=none", text, wordsAsked, c.Name)
		}
		if c.As == AsCode && err == nil && col.Type == form.Number && !col.Truth && col.Numbers[row] != math.Trunc(col.Numbers[row]) {
			err = c.at(t, row, "%v is neither a word nor a whole number, as codes are: choose another form, as --column %s=number", col.Numbers[row], c.Name)
		}
	})
	if err != nil {
		return err
	}
	for text, n := range seen {
		if n >= least {
			c.Words = append(c.Words, text)
		}
	}
	c.Gaps = c.Gaps && len(seen) > 0
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
