package form

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Ordered returns the same graph with its rows in an order that does not depend on the order of the files: nodes by
// their ids, whole numbers ascending and then texts ascending, and edges by their targets, by their sources and by what they
// carry; tables stand in the order of their types and kinds. Nodes that only edges name stay after the others. Nodes without ids keep
// their order, and so do those of many graphs. What is in order already is shared. The result says where its rows were: those of nodes in the
// table of their type, and those of edges in that of their kind.
func (r *Raw) Ordered() *Part {
	out := *r
	p := &Part{Raw: &out}
	out.Nodes, out.Edges, out.Splits = slices.Clone(r.Nodes), slices.Clone(r.Edges), slices.Clone(r.Splits)
	slices.SortStableFunc(out.Nodes, func(a, b Nodes) int { return strings.Compare(a.Type, b.Type) })
	slices.SortStableFunc(out.Edges, func(a, b Edges) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.From, b.From), strings.Compare(a.To, b.To))
	})
	places := make([][]int32, len(r.Nodes)) // of each table where its rows are; nil: where they were
	for t := range out.Nodes {
		n := &out.Nodes[t]
		rows := n.order()
		if n.IDs == nil || r.Graphs != nil {
			rows = span(0, n.Rows)
		}
		if p.NodeRows = append(p.NodeRows, rows); inPlace(rows) {
			continue
		}
		places[t], n.Table = inverse(rows, n.Rows), n.Gather(rows)
	}
	for t := range out.Edges {
		e := &out.Edges[t]
		from, to := out.ends(e)
		if from >= 0 && places[from] != nil {
			e.Source = gathered(places[from], e.Source, -1)
		}
		if to >= 0 && places[to] != nil {
			e.Target = gathered(places[to], e.Target, -1)
		}
		rows := e.order()
		if p.EdgeRows = append(p.EdgeRows, rows); inPlace(rows) {
			continue
		}
		*e = e.Take(rows)
		if len(out.Edges) == 1 {
			out.moveSplits(OfEdges, inverse(rows, e.Rows))
		}
	}
	if len(places) == 1 && places[0] != nil {
		out.moveSplits(OfNodes, places[0])
	}
	return p
}

// moveSplits puts the splits of the only table of nodes, or of edges, where its rows are now.
func (r *Raw) moveSplits(of Of, at []int32) {
	for i, s := range r.Splits {
		if s.Of == of {
			r.Splits[i] = s.moved(at)
		}
	}
}

// ends returns the tables of nodes of the ends of edges, -1 of a type that there is none of.
func (r *Raw) ends(e *Edges) (from, to int) {
	of := func(kind string) int {
		i := slices.IndexFunc(r.Nodes, func(n Nodes) bool { return n.Type == kind })
		if i < 0 && kind == "" && len(r.Nodes) == 1 {
			return 0
		}
		return i
	}
	return of(e.From), of(e.To)
}

// inPlace reports whether rows are 0, 1, 2 and so on.
func inPlace(rows []int32) bool {
	for i, r := range rows {
		if int(r) != i {
			return false
		}
	}
	return true
}

// id is an id as ids are ordered.
type id struct {
	text  bool // it is no whole number
	value int64
	word  string
	row   int32
}

// order returns the rows of a table of nodes in the order of their ids, those that are listed first.
func (n *Nodes) order() []int32 {
	if n.IDs == nil {
		return nil
	}
	ids := make([]id, n.Rows)
	for i := range ids {
		word := n.IDs.At(i)
		value, err := strconv.ParseInt(word, 10, 64)
		ids[i] = id{text: err != nil, value: value, word: word, row: int32(i)}
		if err != nil {
			ids[i].value = 0
		}
	}
	for _, part := range [][]id{ids[:min(n.Listed, n.Rows)], ids[min(n.Listed, n.Rows):]} {
		slices.SortFunc(part, compareIDs)
	}
	rows := make([]int32, n.Rows)
	for i := range ids {
		rows[i] = ids[i].row
	}
	return rows
}

func compareIDs(a, b id) int {
	switch {
	case a.text != b.text && b.text:
		return -1
	case a.text != b.text:
		return 1
	}
	return cmp.Or(cmp.Compare(a.value, b.value), strings.Compare(a.word, b.word), cmp.Compare(a.row, b.row))
}

// order returns the rows of edges by target, by source and by what they carry.
func (e *Edges) order() []int32 {
	rows := inOrder(e.Target, inOrder(e.Source, nil))
	e.repeated(e.Source, e.Target, nil, rows, func(group []int32) {})
	return rows
}

// repeated sorts each group of a list of edges that have the same ends by what they carry, and calls f with it. list has the places of edges,
// those of a group side by side; rows says which row of e each is, nil: itself.
func (e *Edges) repeated(src, dst, rows, list []int32, f func(group []int32)) {
	var columns []*Column // by name, as their order does not count
	for i := range e.Columns {
		columns = append(columns, &e.Columns[i])
	}
	slices.SortStableFunc(columns, func(a, b *Column) int { return strings.Compare(Plain(a.Name), Plain(b.Name)) })
	row := func(i int32) int32 {
		if rows == nil {
			return i
		}
		return rows[i]
	}
	for lo := 0; lo < len(list); {
		hi := lo + 1
		for hi < len(list) && src[list[lo]] == src[list[hi]] && dst[list[lo]] == dst[list[hi]] {
			hi++
		}
		if group := list[lo:hi]; len(group) > 1 {
			slices.SortStableFunc(group, func(a, b int32) int { return e.compare(columns, row(a), row(b)) })
			f(group)
		}
		lo = hi
	}
}

// Settled returns an order of a list of edges in which those that have the same ends ascend by what they carry, in the places where they
// were, and all others stay: which of them is the first does not depend on the order of the files then. The list has the ends of each edge,
// and which row of e it is; no rows stand for the rows of e.
func (e *Edges) Settled(src, dst, rows []int32) []int32 {
	order := span(0, len(src))
	e.repeated(src, dst, rows, inOrder(dst, inOrder(src, nil)), func(group []int32) {
		for i, place := range slices.Sorted(slices.Values(group)) {
			order[place] = group[i]
		}
	})
	return order
}

// compare compares what two edges carry, and then their ids.
func (e *Edges) compare(columns []*Column, a, b int32) int {
	for _, c := range columns {
		if order := c.compare(int(a), int(b)); order != 0 {
			return order
		}
	}
	if e.IDs == nil {
		return 0
	}
	return strings.Compare(e.IDs.At(int(a)), e.IDs.At(int(b)))
}

// compare compares two cells. Empty ones come last.
func (c *Column) compare(a, b int) int {
	last := func(x, y bool, order int) int {
		switch {
		case x == y:
			return order
		case x:
			return 1
		}
		return -1
	}
	switch c.Type {
	case Number:
		x, y := c.Numbers[a], c.Numbers[b]
		return last(x != x, y != y, cmp.Compare(x, y))
	case Time:
		x, y := c.Times[a], c.Times[b]
		return last(x == NoTime, y == NoTime, cmp.Compare(x, y))
	case Word:
		x, y := c.Words.At(a), c.Words.At(b)
		return last(x == "", y == "", strings.Compare(x, y))
	case Many:
		return c.Matrix.compare(a, b)
	}
	return 0
}

// compare compares two rows.
func (m *Matrix) compare(a, b int) int {
	if m.Offsets == nil {
		return slices.Compare(m.Values[a*m.Cols:(a+1)*m.Cols], m.Values[b*m.Cols:(b+1)*m.Cols])
	}
	x, y := m.Columns[m.Offsets[a]:m.Offsets[a+1]], m.Columns[m.Offsets[b]:m.Offsets[b+1]]
	if order := slices.Compare(x, y); order != 0 || m.Values == nil {
		return order
	}
	return slices.Compare(m.Values[m.Offsets[a]:m.Offsets[a+1]], m.Values[m.Offsets[b]:m.Offsets[b+1]])
}

// inOrder returns rows, or all, in the order of a number each; rows of the same number keep their order.
func inOrder(numbers, rows []int32) []int32 {
	if rows == nil {
		rows = span(0, len(numbers))
	}
	most := int32(-1)
	for _, v := range numbers {
		most = max(most, v)
	}
	next := make([]int32, most+2)
	for _, v := range numbers {
		next[v+1]++
	}
	for v := range most + 1 {
		next[v+1] += next[v]
	}
	out := make([]int32, len(rows))
	for _, r := range rows {
		v := numbers[r]
		out[next[v]] = r
		next[v]++
	}
	return out
}
