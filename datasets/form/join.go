package form

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Join returns one graph of two that name the same nodes by the same ids, such as a shop of yesterday and the customers of
// today. A row of next replaces the row of old that has its id. The rows that next lists come first, in their order; then those of
// old that are left, and then those that only edges name. Splits are left out.
//
// The error says which rows have no ids, or of which column the two hold different things.
func Join(old, next *Raw) (*Raw, error) {
	if old.Graphs != nil || next.Graphs != nil {
		return nil, fmt.Errorf("%s and %s: many graphs cannot be joined, as no edge leads from one to another: read them alone", old.Name, next.Name)
	}
	j := joiner{old: old, next: next, places: [2][][]int32{make([][]int32, len(old.Nodes)), make([][]int32, len(next.Nodes))}}
	j.out = Raw{Name: next.Name, Doubt: next.Doubt, Unread: next.Unread}
	if old.Size > 0 && next.Size > 0 {
		j.out.Size = old.Size + next.Size
	}
	if err := j.nodes(); err != nil {
		return nil, err
	}
	if err := j.edges(); err != nil {
		return nil, err
	}
	return &j.out, nil
}

// joiner is a join under way.
type joiner struct {
	old, next *Raw
	out       Raw
	places    [2][][]int32 // of old and of next, of each table of nodes: where each row is in out
}

// nodes joins the tables of nodes, those of old first, by their types.
func (j *joiner) nodes() error {
	taken := make([]bool, len(j.next.Nodes))
	for t := range j.old.Nodes {
		old := &j.old.Nodes[t]
		k := slices.IndexFunc(j.next.Nodes, func(n Nodes) bool { return n.Type == old.Type })
		if k < 0 {
			j.places[0][t] = span(0, old.Rows)
			j.out.Nodes = append(j.out.Nodes, *old)
			continue
		}
		taken[k] = true
		if err := j.table(t, k); err != nil {
			return err
		}
	}
	for k := range j.next.Nodes {
		if !taken[k] {
			j.places[1][k] = span(0, j.next.Nodes[k].Rows)
			j.out.Nodes = append(j.out.Nodes, j.next.Nodes[k])
		}
	}
	return nil
}

// table joins two tables of nodes.
func (j *joiner) table(t, k int) error {
	old, next := &j.old.Nodes[t], &j.next.Nodes[k]
	for _, n := range []*Nodes{old, next} {
		if n.IDs == nil && n.Rows > 0 {
			return fmt.Errorf("%s has no ids, so its rows cannot be joined with others: name the column that has them (id)", n.Origin.At(0))
		}
	}
	at := make(map[string]int32, next.Rows)
	for i := range next.Rows {
		at[next.IDs.At(i)] = int32(i)
	}
	// Of next what is listed; of old what is listed and not replaced; then what is not listed anywhere.
	from, to := make([]int32, old.Rows), make([]int32, next.Rows)
	for i := range to {
		to[i] = -1
	}
	var olds, nexts [2][]int32 // rows that are listed, and those that are not
	for i := range next.Listed {
		to[i], nexts[0] = int32(i), append(nexts[0], int32(i))
	}
	listed := next.Listed
	for i := range old.Rows {
		k, there := at[old.IDs.At(i)]
		switch {
		case there && int(k) < next.Listed:
			from[i] = k
		case i < old.Listed:
			from[i], olds[0] = int32(listed), append(olds[0], int32(i))
			listed++
			if there {
				to[k] = from[i]
			}
		default:
			olds[1] = append(olds[1], int32(i))
		}
	}
	rows := listed
	for _, i := range olds[1] {
		from[i] = int32(rows)
		if k, there := at[old.IDs.At(int(i))]; there {
			to[k] = from[i]
		}
		rows++
	}
	for i := next.Listed; i < next.Rows; i++ {
		if to[i] < 0 {
			to[i], nexts[1] = int32(rows), append(nexts[1], int32(i))
			rows++
		}
	}
	j.places[0][t], j.places[1][k] = from, to
	table, err := joinTables([]tablePart{{&next.Table, nexts[0]}, {&old.Table, olds[0]}, {&old.Table, olds[1]}, {&next.Table, nexts[1]}})
	j.out.Nodes = append(j.out.Nodes, Nodes{Type: old.Type, Table: table, Listed: listed})
	return err
}

// edges joins the tables of edges.
func (j *joiner) edges() error {
	same := func(a, b *Edges) bool { return a.Kind == b.Kind && a.From == b.From && a.To == b.To }
	taken := make([]bool, len(j.next.Edges))
	for t := range j.old.Edges {
		old, places := j.placed(0, &j.old.Edges[t]), -1
		if places = slices.IndexFunc(j.next.Edges, func(e Edges) bool { return same(&e, old) }); places < 0 {
			j.out.Edges = append(j.out.Edges, *old)
			continue
		}
		taken[places] = true
		both, err := joinEdges(old, j.placed(1, &j.next.Edges[places]))
		if err != nil {
			return err
		}
		j.out.Edges = append(j.out.Edges, both)
	}
	for k := range j.next.Edges {
		if !taken[k] {
			j.out.Edges = append(j.out.Edges, *j.placed(1, &j.next.Edges[k]))
		}
	}
	return nil
}

// placed returns edges whose ends are rows of what is joined.
func (j *joiner) placed(which int, e *Edges) *Edges {
	of := []*Raw{j.old, j.next}[which]
	out := *e
	if from, to := of.ends(e); from >= 0 && to >= 0 {
		out.Source, out.Target = gathered(j.places[which][from], e.Source, -1), gathered(j.places[which][to], e.Target, -1)
	}
	return &out
}

// joinEdges joins two tables of edges. An edge of next replaces the one of old that has its id.
func joinEdges(old, next *Edges) (Edges, error) {
	kept := span(0, old.Rows)
	if old.IDs != nil && next.IDs != nil {
		there := make(map[string]bool, next.Rows)
		for i := range next.Rows {
			there[next.IDs.At(i)] = true
		}
		kept = slices.DeleteFunc(kept, func(i int32) bool { return there[old.IDs.At(int(i))] })
	}
	rest := old.Take(kept)
	all := span(0, next.Rows)
	table, err := joinTables([]tablePart{{&rest.Table, span(0, rest.Rows)}, {&next.Table, all}})
	out := *next
	if next.Rows > 0 { // an error is more often about new rows, and a table has one file, which is theirs among nodes, too
		table.Origin.File, table.Origin.Unit = next.Origin.File, next.Origin.Unit
	}
	out.Table, out.Back, out.Undirected = table, nil, old.Undirected && next.Undirected
	out.Neighbours = out.Neighbours && old.Neighbours
	out.Dangling += old.Dangling
	out.Source, out.Target = slices.Concat(rest.Source, next.Source), slices.Concat(rest.Target, next.Target)
	if out.Undirected {
		return out, err
	}
	for k, e := range []*Edges{&rest, next} {
		first := int32(k * rest.Rows)
		if e.Undirected {
			for i := range e.Rows {
				out.Back = append(out.Back, first+int32(i))
			}
		}
		for _, i := range e.Back {
			out.Back = append(out.Back, first+i)
		}
	}
	return out, err
}

// tablePart is some rows of a table.
type tablePart struct {
	*Table
	rows []int32
}

// joinTables returns the rows of several tables, one after the other. A column that one of them lacks is empty there.
func joinTables(parts []tablePart) (out Table, err error) {
	var names []string
	ids, texts := true, []string{}
	for _, p := range parts {
		for i := range p.Columns {
			if c := &p.Columns[i]; !slices.ContainsFunc(names, func(n string) bool { return p.Column(n) == c }) {
				names = append(names, c.Name)
			}
		}
		ids = ids && (p.IDs != nil || p.Rows == 0)
	}
	out.Origin = parts[0].Origin
	for _, p := range parts {
		if len(p.rows) > 0 {
			out.Origin.File, out.Origin.Unit = p.Origin.File, p.Origin.Unit
			break
		}
	}
	out.Origin.Lines = []int32{}
	for _, p := range parts {
		out.Rows += len(p.rows)
		out.Origin.Lines = append(out.Origin.Lines, p.Origin.gather(p.rows).Lines...)
		for _, r := range p.rows {
			if ids {
				texts = append(texts, p.IDs.At(int(r)))
			}
		}
	}
	if ids && out.Rows > 0 {
		out.IDs = &Words{Texts: texts}
	}
	for _, name := range names {
		c, err := joinColumns(name, parts)
		if err != nil {
			return out, err
		}
		out.Columns = append(out.Columns, c)
	}
	return out, nil
}

// joinColumns joins the columns of that name.
func joinColumns(name string, parts []tablePart) (Column, error) {
	out := Column{Name: name, Type: Empty}
	var first *Column // that has cells
	var of *Table
	cells := make([]*Column, len(parts))
	whole := slices.ContainsFunc(parts, func(p tablePart) bool {
		c := p.Column(name)
		return c != nil && c.Type == Time && !c.Dated
	})
	for i, p := range parts {
		c := p.Column(name).whole(whole)
		if cells[i] = c; c == nil || len(p.rows) == 0 {
			continue
		}
		out.Role, out.Mixed = cmp.Or(out.Role, c.Role), cmp.Or(out.Mixed, c.Mixed)
		switch {
		case c.Type == Empty:
		case first == nil:
			first, of = c, p.Table
		case !c.like(first):
			return out, fmt.Errorf("column %.40q has %s in %s and %s in %s, so the two cannot be joined: write both in the same way", name, c.holds(), saysFile(p.Table), first.holds(), saysFile(of))
		}
	}
	if first == nil {
		return out, nil
	}
	out.Type, out.Dated = first.Type, first.Dated
	out.Truth = !slices.ContainsFunc(cells, func(c *Column) bool { return c != nil && c.Type == Number && !c.Truth })
	switch first.Type {
	case Number:
		out.Numbers = joinCells(parts, cells, math.NaN(), func(c *Column) []float64 { return c.Numbers })
	case Time:
		out.Times = joinCells(parts, cells, NoTime, func(c *Column) []int64 { return c.Times })
	case Word:
		out.Words = joinWords(parts, cells)
	case Many:
		out.Matrix = joinMatrices(parts, cells, first.Matrix)
	}
	return out, nil
}

func saysFile(t *Table) string { return cmp.Or(t.Origin.File, "the other") }

// holds says what the cells of a column are.
func (c *Column) holds() string {
	switch {
	case c.Type == Time && c.Dated:
		return "dates"
	case c.Type == Time:
		return "whole numbers"
	case c.Type == Word:
		return "words"
	case c.Type == Many && len(c.Matrix.Names) > 0:
		return fmt.Sprintf("%d numbers a row (%s)", c.Matrix.Cols, listed(c.Matrix.Names))
	case c.Type == Many:
		return fmt.Sprintf("%d numbers a row", c.Matrix.Cols)
	}
	return "numbers"
}

// whole returns numbers that are all whole as such, if another column has them; any other column as it is.
func (c *Column) whole(wanted bool) *Column {
	const most = 1 << 53
	if c == nil || !wanted || c.Type != Number {
		return c
	}
	out := &Column{Name: c.Name, Type: Time, Role: c.Role, Mixed: c.Mixed, Times: make([]int64, len(c.Numbers))}
	for i, v := range c.Numbers {
		switch {
		case v != v:
			out.Times[i] = NoTime
		case v != math.Trunc(v) || math.Abs(v) > most:
			return c
		default:
			out.Times[i] = int64(v)
		}
	}
	return out
}

// like reports whether the cells of two columns can stand in one.
func (c *Column) like(d *Column) bool {
	switch {
	case c.Type != d.Type || c.Dated != d.Dated:
		return false
	case c.Type == Many:
		return c.Matrix.Cols == d.Matrix.Cols && slices.Equal(c.Matrix.Names, d.Matrix.Names) && slices.Equal(c.Matrix.Codes, d.Matrix.Codes) && (c.Matrix.Offsets == nil) == (d.Matrix.Offsets == nil)
	}
	return true
}

// joinCells joins cells, of which a table without the column has empty ones.
func joinCells[T any](parts []tablePart, cells []*Column, empty T, of func(*Column) []T) []T {
	out := []T{}
	for i, p := range parts {
		var x []T
		if cells[i] != nil {
			x = of(cells[i])
		}
		for _, r := range p.rows {
			if x == nil {
				out = append(out, empty)
			} else {
				out = append(out, x[r])
			}
		}
	}
	return out
}

// joinWords joins texts, each different one of which is kept once.
func joinWords(parts []tablePart, cells []*Column) *Words {
	out, code := &Words{Codes: []int32{}}, map[string]int32{}
	for i, p := range parts {
		for _, r := range p.rows {
			text := ""
			if c := cells[i]; c != nil && c.Words != nil {
				text = c.Words.At(int(r))
			}
			k, known := code[text]
			switch {
			case text == "":
				k = -1
			case !known:
				k = int32(len(out.Texts))
				code[text], out.Texts = k, append(out.Texts, text)
			}
			out.Codes = append(out.Codes, k)
		}
	}
	return out
}

// joinMatrices joins rows of numbers, of which a table without the column has zeros.
func joinMatrices(parts []tablePart, cells []*Column, like *Matrix) *Matrix {
	out := &Matrix{Cols: like.Cols, Names: like.Names, Codes: like.Codes}
	if like.Offsets != nil {
		out.Offsets = []int64{0}
	}
	valued := like.Offsets == nil || slices.ContainsFunc(cells, func(c *Column) bool { return c != nil && c.Matrix != nil && c.Matrix.Values != nil })
	for i, p := range parts {
		m := &Matrix{Rows: len(p.rows), Cols: out.Cols}
		switch c := cells[i]; {
		case c != nil && c.Matrix != nil:
			m = c.Gather(p.rows).Matrix
		case out.Offsets != nil:
			m.Offsets = make([]int64, m.Rows+1)
		default:
			m.Values = make([]tensor.Float, m.Rows*m.Cols)
		}
		out.Rows += m.Rows
		first := int64(len(out.Columns))
		out.Columns = append(out.Columns, m.Columns...)
		switch {
		case m.Values == nil && valued:
			out.Values = append(out.Values, slices.Repeat([]tensor.Float{1}, len(m.Columns))...)
		case valued:
			out.Values = append(out.Values, m.Values...)
		}
		if out.Offsets != nil {
			for _, o := range m.Offsets[1:] {
				out.Offsets = append(out.Offsets, first+o)
			}
		}
	}
	return out
}
