package datasets

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// mergedEdges is a list of edges without self-loops and, unless they are kept, without those that are repeated.
type mergedEdges struct {
	src, dst        []int32 // of the list
	rows            []int32 // of the list, the rows of its table; nil: as they stand
	kept            []int32 // those of the list that there are, in the graph's order
	loops, repeated int
}

// merged leaves the loops out of a list of edges between n nodes, and of edges from one node to another all but the first, unless
// they are to be kept. Within a node's edges the order is the list's.
func merged(n int, src, dst []int32, r columns.Repeated, saved bool) (*mergedEdges, error) {
	in, order, err := sparse.FromCOO(n, n, dst, src, nil)
	if err != nil {
		return nil, err
	}
	if saved {
		return &mergedEdges{src: src, dst: dst, kept: order}, nil
	}
	m, last := &mergedEdges{src: src, dst: dst}, make([]int32, n) // where the last edge out of each node stands, plus 1
	end, next := int32(0), int64(0)
	for v := range n {
		start, stop := end, in.Offsets[v+1]
		for ; next < stop; next++ {
			u := in.Cols[next]
			again := last[u] > start
			if int(u) == v {
				m.loops++
				continue
			}
			if again {
				m.repeated++
			}
			if !again || r == columns.Keep {
				order[end] = order[next]
				end++
				last[u] = end
			}
		}
	}
	m.kept = trimmed(order, int(end))
	return m, nil
}

// into returns of each edge of a list which of those that are kept it counts for: -1 for a loop.
func (m *mergedEdges) into(n int) ([]int32, error) {
	in, order, err := sparse.FromCOO(n, n, m.dst, m.src, nil)
	if err != nil {
		return nil, err
	}
	into, place, kept := make([]int32, len(m.src)), make([]int32, n), int32(0)
	for v := range n {
		start := kept
		for next := in.Offsets[v]; next < in.Offsets[v+1]; next++ {
			switch u := in.Cols[next]; {
			case int(u) == v:
				into[order[next]] = -1
			case place[u] > start:
				into[order[next]] = place[u] - 1
			default:
				into[order[next]] = kept
				kept++
				place[u] = kept
			}
		}
	}
	return into, nil
}

// bothWays returns both directions of a list of edges, once each and in the order of the nodes', and how many nodes have a loop. Their columns, if
// there are any, are those of the first edge between both nodes in either direction.
func bothWays(n int, src, dst []int32) (s, t, rows []int32, loops int, err error) {
	ends := make([]int32, 0, 2*len(src))
	for k := range src {
		ends = append(ends, src[k], dst[k])
	}
	e := bothDirections(n, ends)
	t = make([]int32, len(e.in.Cols))
	for v := range n {
		for k := e.in.Offsets[v]; k < e.in.Offsets[v+1]; k++ {
			t[k] = int32(v)
		}
	}
	return e.in.Cols, t, make([]int32, len(t)), e.loops, nil
}

// combine gives the edges that are kept what those say that count for them: the weights of all, the sums of their numbers, or how many they are.
func (b *builder) combine(e *form.Edges, kept *form.Table, table *columns.Table, m *mergedEdges, d *Dataset) error {
	counts := b.s.Repeated == columns.Count
	if b.s.Repeated == columns.Keep || m.repeated == 0 && !counts || !counts && b.s.Repeated != columns.Sum && table.Weight == "" {
		return nil
	}
	into, err := m.into(b.first[len(b.raw.Nodes)])
	if err != nil {
		return err
	}
	if counts {
		weights := make([]tensor.Float, len(m.kept))
		for _, k := range into {
			if k >= 0 {
				weights[k]++
			}
		}
		d.Weights = append(d.Weights, weights...)
		return nil
	}
	for c := range kept.Columns {
		col := &kept.Columns[c]
		sum := col.Name == table.Weight
		for _, own := range table.Columns {
			sum = sum || b.s.Repeated == columns.Sum && own.Name == col.Name && slices.Contains([]columns.Encoding{columns.AsNumber, columns.AsPlain, columns.AsLog}, own.As)
		}
		if sum && col.Type == form.Number {
			col.Numbers = summed(e.Columns[c].Numbers, len(m.kept), into, m.rows)
		}
	}
	return nil
}

// summed adds up the numbers of edges that count for one. What is empty counts for nothing, unless all are.
func summed(x []float64, n int, into, rows []int32) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	for i, k := range into {
		row := i
		if rows != nil {
			row = int(rows[i])
		}
		if k < 0 || math.IsNaN(x[row]) {
			continue
		}
		if v := x[row]; math.IsNaN(out[k]) {
			out[k] = v
		} else {
			out[k] = float64(tensor.Float(out[k]) + tensor.Float(v))
		}
	}
	return out
}

// tableFor returns what a Schema says of a table; nil if it is not known.
func tableFor(tables []columns.Table, kind, from, to string) *columns.Table {
	for i := range tables {
		if t := &tables[i]; t.Type == kind && t.From == from && t.To == to || len(tables) == 1 {
			return t
		}
	}
	return nil
}

// addTimes adds the columns of a table that say when. The table's rows begin at a place of n.
func addTimes(list []Column, own *columns.Table, t *form.Table, at, n int) []Column {
	if own == nil {
		return list
	}
	for _, name := range own.Times {
		col := t.Column(name)
		if col == nil {
			continue
		}
		c := Column{Name: name, Dated: col.Dated}
		switch col.Type {
		case form.Time:
			c.Times = padded(col.Times, at, n, NoTime)
		case form.Number:
			c.Numbers = padded(col.Numbers, at, n, math.NaN())
		case form.Word:
			if c.wrong = col.Mixed; c.wrong == nil {
				c.wrong = fmt.Errorf("%s, column %.40q: %.40q is no time: times are like 2024-03-01T12:30:00Z", t.Origin.At(firstWord(col.Words)), name, col.Words.At(firstWord(col.Words)))
			}
		default:
			c.Times = padded([]int64(nil), at, n, NoTime)
		}
		list = append(list, c)
	}
	return list
}

// firstWord is the first row of words that is not empty.
func firstWord(w *form.Words) int {
	for row := range w.Len() {
		if w.At(row) != "" {
			return row
		}
	}
	return 0
}

// padded returns x as the rows from a place on of n.
func padded[T any](x []T, at, n int, none T) []T {
	if at == 0 && len(x) == n {
		return x
	}
	out := make([]T, n)
	for i := range out {
		if out[i] = none; i >= at && i-at < len(x) {
			out[i] = x[i-at]
		}
	}
	return out
}

// source is what a dataset was made of, as long as its features depend on which rows train.
type source struct {
	data  *form.Raw
	nodes []int32 // the row of each node; nil: as they stand
	edges []int32 // the row of each edge, -1 of one that was added; nil: as they stand
	width int     // of the features of data's nodes; others come after them

	unlabelled []int32 // data's nodes, or edges where edges are learnt, of which nothing is to be learnt
}

// onlyRead returns data without columns that features are not made of.
func onlyRead(data *form.Raw, s *columns.Schema) *form.Raw {
	out := *data
	out.Nodes, out.Edges, out.Splits = nil, nil, nil
	only := func(t form.Table, own *columns.Table) form.Table {
		all := t.Columns
		t.Columns, t.IDs = nil, nil
		for _, c := range all {
			read := own != nil && (own.Weight == c.Name || own.Kind == c.Name)
			for i := range own.Columns {
				read = read || own.Columns[i].Name == c.Name
			}
			if read {
				t.Columns = append(t.Columns, c)
			}
		}
		return t
	}
	for _, t := range data.Nodes {
		t.Table = only(t.Table, tableFor(s.Nodes, t.Type, "", ""))
		out.Nodes = append(out.Nodes, t)
	}
	for _, t := range data.Edges {
		t.Table = only(t.Table, tableFor(s.Edges, t.Kind, t.From, t.To))
		out.Edges = append(out.Edges, t)
	}
	return &out
}

// carried returns what derived nodes or edges are made of, of which from says which each was.
func (s *source) carried(nodes, edges []int32) *source {
	if s == nil {
		return nil
	}
	out := *s
	through := func(own, from []int32) []int32 {
		if from == nil {
			return own
		}
		if own == nil {
			return from
		}
		return carried(own, from, -1)
	}
	out.nodes, out.edges = through(s.nodes, nodes), through(s.edges, edges)
	return &out
}

// Fit returns d with features that are made anew by what the given nodes, or edges where edges are learnt, say: which words there are, what
// an empty number is, when times begin. These are the rows that train, in a split other than d.Split; those of which nothing is to be learnt say it, too. It is d itself
// if nothing depends on them, as of a dataset whose Schema somebody else has fitted.
func (d *Dataset) Fit(train []int32) (*Dataset, error) {
	if d.source == nil {
		return d, nil
	}
	of := d.source.nodes
	if d.LearnsEdges() {
		of = d.source.edges
	}
	learnt, seen := append([]int32{}, d.source.unlabelled...), map[int32]bool{}
	for _, v := range learnt {
		seen[v] = true
	}
	for _, v := range train {
		if of != nil {
			if v < 0 || int(v) >= len(of) {
				return nil, fmt.Errorf("row %d trains, and there are %d", v, len(of))
			}
			v = of[v]
		}
		if v >= 0 && !seen[v] {
			seen[v] = true
			learnt = append(learnt, v)
		}
	}
	s, e := d.Schema.Clone(), *d
	label := s.Label
	s.Label = nil
	if err := s.Fit(d.source.data, fittedOn(d.source.data, learnt, d.LearnsEdges())); err != nil {
		return nil, err
	}
	a, err := s.Apply(d.source.data)
	if err != nil {
		return nil, err
	}
	s.Label, s.Doubts = label, d.Schema.Doubts
	e.Schema, e.Warnings = s, slices.Concat(s.Doubts, a.Warnings)
	own := *d.source
	e.source = &own
	e.setFeatures(d, a)
	return &e, nil
}

// fittedOn returns the rows that columns are fitted on: of nodes that are learnt from these and the edges that lead from or to them, of
// edges these and the nodes at their ends. Edges have the graph's numbers of nodes.
func fittedOn(data *form.Raw, learnt []int32, edges bool) columns.Rows {
	var ends [][2]int32
	nodes := 0
	for i := range data.Nodes {
		nodes += data.Nodes[i].Rows
	}
	for i := range data.Edges {
		e := &data.Edges[i]
		for k, u := range e.Source {
			ends = append(ends, [2]int32{u, e.Target[k]})
		}
	}
	is := make([]bool, nodes)
	if edges {
		for _, e := range learnt {
			is[ends[e][0]], is[ends[e][1]] = true, true
		}
		rows := columns.Rows{Nodes: []int32{}, Edges: learnt}
		for v, at := range is {
			if at {
				rows.Nodes = append(rows.Nodes, int32(v))
			}
		}
		return rows
	}
	for _, v := range learnt {
		is[v] = true
	}
	rows := columns.Rows{Nodes: learnt, Edges: []int32{}}
	for e, uv := range ends {
		if is[uv[0]] || is[uv[1]] {
			rows.Edges = append(rows.Edges, int32(e))
		}
	}
	return rows
}

// setFeatures gives e what was made of d's source anew. Features that were put beside d's own stay.
func (e *Dataset) setFeatures(d *Dataset, a *columns.Applied) {
	x := a.Features
	if of := d.source.nodes; of != nil {
		x = GatherRows(x, of)
	}
	before, width := d.source.width, d.Features.Shape()[1]
	e.Features, e.source.width = x, x.Shape()[1]
	e.Codes = a.Codes // of what was put beside none
	if e.FeatureNames = a.Names; width > before {
		e.Features = x
		more := tensor.New(x.Shape()[0], width-before)
		for v := range more.Dim(0) {
			if a, ok := d.Features.(*sparse.CSR); ok {
				cols, values := a.Row(v)
				for i, c := range cols {
					if int(c) >= before {
						more.Row(v)[int(c)-before] = values[i]
					}
				}
			} else {
				copy(more.Row(v), d.Features.(*tensor.Dense).Row(v)[before:])
			}
		}
		own := e.source
		*e = *e.WithFeatures(more)
		e.source = own
	}
	if d.EdgeFeatures == nil {
		return
	}
	e.EdgeCodes = a.EdgeCodes
	if e.EdgeFeatures = a.EdgeFeatures; d.source.edges != nil {
		e.EdgeFeatures = carriedRows(a.EdgeFeatures, d.source.edges, 0)
	}
}

// edges is the edges of an adjacency: into each node those from others, in both
// directions, once, by source.
type edges struct {
	in    *sparse.CSR
	loops int // nodes that had an edge to themselves
}

// bothDirections returns both directions of a list of edges, whose ends are below n, in the
// order u, v, u, v, ….
func bothDirections(n int, ends []int32) edges {
	offsets := make([]int64, n+2)
	loop := make([]bool, n)
	e := edges{}
	for i := 0; i < len(ends); i += 2 {
		u, v := ends[i], ends[i+1]
		if u != v {
			offsets[u+2]++
			offsets[v+2]++
		} else if !loop[u] {
			loop[u] = true
			e.loops++
		}
	}
	for v := range n {
		offsets[v+2] += offsets[v+1]
	}
	cols := make([]int32, offsets[n+1])
	for i := 0; i < len(ends); i += 2 {
		if u, v := ends[i], ends[i+1]; u != v {
			cols[offsets[u+1]], cols[offsets[v+1]] = v, u
			offsets[u+1]++
			offsets[v+1]++
		}
	}
	// Now node v's sources end at offsets[v+1].
	par.For(n, 1024, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			slices.Sort(cols[offsets[v]:offsets[v+1]])
		}
	})
	kept := int64(0)
	for v := range n {
		row := cols[offsets[v]:offsets[v+1]]
		offsets[v] = kept
		kept += int64(copy(cols[kept:], slices.Compact(row)))
	}
	offsets[n] = kept
	e.in = &sparse.CSR{NumRows: n, NumCols: n, Offsets: offsets[:n+1], Cols: cols[:kept]}
	return e
}

// trimmed returns the first n elements, in a slice of their own if the others are
// worth giving back.
func trimmed[T any](x []T, n int) []T {
	if n > len(x)/2 {
		return x[:n:n]
	}
	return append(make([]T, 0, n), x[:n]...)
}

// span returns the numbers from lo to below hi.
func span(lo, hi int) []int32 {
	ids := make([]int32, 0, hi-lo)
	for i := lo; i < hi; i++ {
		ids = append(ids, int32(i))
	}
	return ids
}
