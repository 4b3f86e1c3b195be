package form

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Row is a row of one of the tables of nodes.
type Row struct{ Table, Row int32 }

// Part is a part of a graph, and of each table of nodes and of edges which rows of it those of the part are, ascending.
type Part struct {
	*Raw
	NodeRows, EdgeRows [][]int32
}

// Around returns the part of a graph from which some nodes can be reached over at most so many edges: these nodes, with all edges
// into those that are nearer. If undirected is set, every edge leads both ways. It is nil if edges lead to nodes of a type that there is no
// table of. It looks at each edge once for each of the hops, and at nothing else of what is not in the part.
func (r *Raw) Around(seeds []Row, hops int, undirected bool) *Part {
	const most = 250
	a := around{raw: r, hops: uint8(min(hops, most))}
	for t := range r.Nodes {
		a.far = append(a.far, make([]uint8, r.Nodes[t].Rows))
	}
	for _, s := range seeds {
		a.far[s.Table][s.Row] = 1
	}
	for t := range r.Edges {
		e := &r.Edges[t]
		from, to := r.ends(e)
		if from < 0 || to < 0 {
			return nil
		}
		way := edgeWay{from: a.far[from], to: a.far[to], source: from, target: to, both: undirected || e.Undirected}
		if !way.both {
			way.back = e.backs()
		}
		a.ways = append(a.ways, way)
	}
	for d := uint8(1); d <= a.hops; d++ {
		reached := false
		for t := range r.Edges {
			reached = a.ways[t].step(&r.Edges[t], d) || reached
		}
		if !reached {
			break
		}
	}
	return a.part()
}

// around is how far nodes are from some.
type around struct {
	raw  *Raw
	hops uint8
	far  [][]uint8 // of each table of nodes how far each is, and 1; 0: it is not reached
	ways []edgeWay // of each table of edges
}

// edgeWay is how far the ends of a table's edges are.
type edgeWay struct {
	from, to       []uint8
	source, target int // tables
	both           bool
	back           []bool // of edges that lead both ways; nil: none does, or all
}

// step reaches the nodes from which edges lead to those at a distance. It reports whether there are some.
func (w *edgeWay) step(e *Edges, d uint8) (reached bool) {
	from, to, dst := w.from, w.to, e.Target
	for i, u := range e.Source {
		v := dst[i]
		if to[v] == d && from[u] == 0 {
			from[u], reached = d+1, true
		}
		if w.both || w.back != nil && w.back[i] {
			if from[u] == d && to[v] == 0 {
				to[v], reached = d+1, true
			}
		}
	}
	return reached
}

// inside returns the edges into nodes that are nearer than the farthest, from nodes that are reached.
func (w *edgeWay) inside(e *Edges, hops uint8) []int32 {
	rows := []int32{}
	for i, u := range e.Source {
		x, y := w.from[u], w.to[e.Target[i]]
		if x == 0 || y == 0 {
			continue
		}
		if y <= hops || (w.both || w.back != nil && w.back[i]) && x <= hops {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// part returns the part of the nodes that are reached.
func (a *around) part() *Part {
	r := a.raw
	out := *r
	p := &Part{Raw: &out}
	out.Nodes, out.Edges, out.Splits, out.Unlisted = slices.Clone(r.Nodes), slices.Clone(r.Edges), nil, nil
	places := make([][]int32, len(r.Nodes))
	for t := range out.Nodes {
		n, rows, listed := &out.Nodes[t], []int32{}, 0
		for i, d := range a.far[t] {
			if d > 0 {
				if rows = append(rows, int32(i)); i < n.Listed {
					listed++
				}
			}
		}
		p.NodeRows, places[t] = append(p.NodeRows, rows), inverse(rows, n.Rows)
		n.Table, n.Listed = n.Gather(rows), listed
	}
	for t := range out.Edges {
		e, w := &out.Edges[t], &a.ways[t]
		rows := w.inside(e, a.hops)
		p.EdgeRows = append(p.EdgeRows, rows)
		*e = e.Take(rows)
		for i, u := range e.Source {
			e.Source[i], e.Target[i] = places[w.source][u], places[w.target][e.Target[i]]
		}
	}
	return p
}

// backs reports of each edge whether it is meant in both directions beside others that are not; nil: none is.
func (e *Edges) backs() []bool {
	if len(e.Back) == 0 {
		return nil
	}
	back := make([]bool, e.Rows)
	for _, i := range e.Back {
		back[i] = true
	}
	return back
}

// Take returns the edges of some rows, in the order given. Their ends are rows of the same tables of nodes.
func (e *Edges) Take(rows []int32) Edges {
	out := *e
	out.Table, out.Source, out.Target = e.Table.Gather(rows), gathered(e.Source, rows, -1), gathered(e.Target, rows, -1)
	if e.Back == nil {
		return out
	}
	back := e.backs()
	out.Back = []int32{}
	for i, r := range rows {
		if back != nil && back[r] {
			out.Back = append(out.Back, int32(i))
		}
	}
	return out
}

// inverse returns where each of n rows is among some of them, −1 where it is not.
func inverse(rows []int32, n int) []int32 {
	at := slices.Repeat([]int32{-1}, n)
	for i, r := range rows {
		at[r] = int32(i)
	}
	return at
}

// moved returns the rows of a part of a split, ascending, after each is where at says; those that are gone are left out.
func moved(part, at []int32) []int32 {
	if part == nil {
		return nil
	}
	out := []int32{}
	for _, r := range part {
		if at[r] >= 0 {
			out = append(out, at[r])
		}
	}
	slices.Sort(out)
	return out
}

// moved returns a split of rows that are where at says.
func (s Split) moved(at []int32) Split {
	return Split{Name: s.Name, Of: s.Of, Train: moved(s.Train, at), Val: moved(s.Val, at), Test: moved(s.Test, at)}
}

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
