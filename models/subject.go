package models

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/spell"
	"github.com/edgewise-ml/edgewise/tensor"
)

// subject is a graph that is asked about.
type subject struct {
	*Data
	raw      *form.Raw  // what it was read from, in order; nil of a dataset that was read before
	part     *form.Part // that is read; nil: all is
	order    *form.Part // where the rows of raw were in that
	plan     Plan
	nodes    []int32  // those that are asked about, as data numbers them, in the order of the answers
	ids      []string // of these; nil: they are numbers
	rows     []int32  // the numbers of these in the tables as they were given
	types    []string // of these, where nodes are of several types; else nil
	edges    []edgeAsked
	warnings []string
}

// edgeAsked is an edge that is asked about.
type edgeAsked struct {
	source, target, id string
	edge               int32
}

// read reads the graph that is asked about: rows that are given, beside those of q.Base.
func (p *Predictor) read(raw *form.Raw, q Query) (*subject, error) {
	if err := q.check(p); err != nil {
		return nil, err
	}
	if err := raw.Check(); err != nil {
		return nil, err
	}
	if q.Base != nil {
		if err := q.Base.Check(); err != nil {
			return nil, err
		}
	}
	s := &subject{}
	full, err := p.joined(raw, q, s)
	if err != nil {
		return nil, err
	}
	for t := range full.Nodes { // however far from what is asked: an id that is misspelt would take an edge away
		if err := full.UnlistedOf(t); err != nil {
			return nil, err
		}
	}
	asked, err := p.asked(full, raw, q)
	if err != nil {
		return nil, err
	}
	if s.plan, err = p.choose(full, asked, q); err != nil {
		return nil, err
	}
	near := full
	if s.plan == Neighbourhoods {
		seeds := asked
		if p.Task == Edges {
			seeds = withOtherEnds(full, asked)
		}
		if s.part = full.Around(seeds, p.reach(), p.undirected()); s.part != nil {
			near = s.part.Raw
		}
	}
	s.order = p.ordered(near)
	s.raw = s.order.Raw
	s.raw.Splits = nil
	d, unread, err := p.dataset(s.raw)
	if err != nil {
		return nil, err
	}
	if q.Base == nil {
		s.warnings = d.Warnings
	}
	if unread != nil {
		s.warnings = append(s.warnings, fmt.Sprintf("what is known of the answers is not read: %v", unread))
	}
	if s.Data, err = p.prepare(d); err != nil {
		return nil, err
	}
	s.find(full, asked)
	s.lonely(p, raw)
	if p.Task == Edges {
		err = s.findEdges(full, raw, asked, len(q.IDs) > 0)
	}
	return s, err
}

// lonely warns of data without any edges, if the network reads neighbours.
func (s *subject) lonely(p *Predictor, raw *form.Raw) {
	if p.Net.(*Network).Traits().Alone || slices.ContainsFunc(raw.Edges, func(e form.Edges) bool { return e.Rows > 0 }) {
		return
	}
	offsets := s.Graph.In().Offsets
	if !slices.ContainsFunc(s.nodes, func(v int32) bool { return offsets[v] < offsets[v+1] }) { // an edge of q.Base, of a row that it has too
		s.warnings = append(s.warnings, noEdges(raw.Name, len(s.nodes)))
	}
}

// noEdges is the warning of data without any edges.
func noEdges(name string, rows int) string {
	seen := fmt.Sprintf("%d rows are seen each by itself", rows)
	if rows == 1 {
		seen = "1 row is seen by itself"
	}
	return fmt.Sprintf("%s has no edges, and the model was trained with them: %s", cmp.Or(name, "the data"), seen)
}

// withOtherEnds returns some nodes and all that edges join with them.
func withOtherEnds(raw *form.Raw, nodes []form.Row) []form.Row {
	of := func(kind string) int32 {
		return int32(max(0, slices.IndexFunc(raw.Nodes, func(n form.Nodes) bool { return n.Type == kind })))
	}
	is := map[form.Row]bool{}
	for _, r := range nodes {
		is[r] = true
	}
	out := slices.Clone(nodes)
	for t := range raw.Edges {
		e := &raw.Edges[t]
		from, to := of(e.From), of(e.To)
		for i, u := range e.Source {
			a, b := form.Row{Table: from, Row: u}, form.Row{Table: to, Row: e.Target[i]}
			if is[a] != is[b] {
				out = append(out, a, b)
			}
		}
	}
	return out
}

// dataset reads rows by the Schema. That what is known of the answers cannot be read is no reason to give none.
func (p *Predictor) dataset(raw *form.Raw) (d *datasets.Dataset, unread, err error) {
	if p.Schema == nil {
		d, err = datasets.From(raw, nil)
		return d, nil, err
	}
	if d, err = datasets.From(raw, p.reading(true)); err == nil || p.Schema.Label == nil {
		return d, nil, err
	}
	without, failed := datasets.From(raw, p.reading(false))
	if failed != nil {
		return nil, nil, err
	}
	return without, err, nil
}

// reading is the Schema without parts of a split, which do not count, and if label is not set without what is known of the answers.
func (p *Predictor) reading(label bool) *columns.Schema {
	s := p.Schema.Clone()
	for _, tables := range [][]columns.Table{s.Nodes, s.Edges} {
		for i := range tables {
			t := &tables[i]
			if t.Part != "" {
				t.Unread, t.Part = append(slices.Clip(t.Unread), t.Part), ""
			}
			if s.Label != nil && !label {
				t.Unread = append(slices.Clip(t.Unread), s.Label.Columns...)
			}
		}
	}
	if !label {
		s.Label = nil
	}
	return s
}

// ordered returns a graph in an order that does not depend on that of the files. Nodes that have a feature each are known by their
// places, and stay.
func (p *Predictor) ordered(raw *form.Raw) *form.Part {
	if p.keepsOrder() {
		own := *raw
		out := &form.Part{Raw: &own}
		for _, n := range raw.Nodes {
			out.NodeRows = append(out.NodeRows, numbersTo(n.Rows))
		}
		for _, e := range raw.Edges {
			out.EdgeRows = append(out.EdgeRows, numbersTo(e.Rows))
		}
		return out
	}
	if !p.identity() {
		return raw.Ordered()
	}
	bare := *raw
	bare.Nodes = slices.Clone(raw.Nodes)
	for i := range bare.Nodes {
		bare.Nodes[i].IDs = nil
	}
	out := bare.Ordered()
	for i := range out.Nodes {
		for k := range raw.Nodes {
			if raw.Nodes[k].Type == out.Nodes[i].Type {
				out.Nodes[i].IDs = raw.Nodes[k].IDs
			}
		}
	}
	return out
}

// keepsOrder reports whether encodings depend on the order of nodes and edges, which is that of the files then, as in training.
func (p *Predictor) keepsOrder() bool {
	all, err := ParseEncodings(p.Preparation.Encoding)
	return err == nil && all.ordered()
}

// identity reports whether each node has a feature of its own.
func (p *Predictor) identity() bool {
	return p.Schema != nil && slices.ContainsFunc(p.Schema.Nodes, func(t columns.Table) bool { return t.Count > 0 })
}

// undirected reports whether each edge is read in both directions.
func (p *Predictor) undirected() bool {
	return p.Preparation.Undirected || p.Schema != nil && p.Schema.Undirected
}

// joined returns the rows that are given beside those of q.Base, which are checked alone first, so that a column that the old rows have
// and the new ones lack is an error. Warnings are of the new rows.
func (p *Predictor) joined(raw *form.Raw, q Query, s *subject) (*form.Raw, error) {
	switch {
	case q.Base == nil:
		return raw, nil
	case p.Schema == nil:
		return nil, errors.New("the model does not say how tables are read, so new rows cannot be read beside old ones: train it on tables")
	}
	alone := *raw
	alone.Nodes = nil
	for _, n := range raw.Nodes {
		if n.Listed > 0 {
			n.Table = n.Gather(numbersTo(n.Listed))
			alone.Nodes = append(alone.Nodes, n)
		}
	}
	if len(alone.Nodes)+len(alone.Edges) > 0 {
		a, err := p.reading(true).Apply(&alone)
		if err != nil && p.Schema.Label != nil { // p.dataset says if it is the label
			a, err = p.reading(false).Apply(&alone)
		}
		if err != nil {
			return nil, err
		}
		s.warnings = a.Warnings
	}
	return form.Join(q.Base, raw)
}

// asked returns the rows of full that are asked about: those of q.IDs or q.Rows, or all that raw lists.
func (p *Predictor) asked(full, raw *form.Raw, q Query) ([]form.Row, error) {
	switch {
	case len(q.IDs) > 0 && len(q.Rows) > 0:
		return nil, fmt.Errorf("models: rows are asked for by their ids and by their numbers: leave one of the two out")
	case len(q.IDs) > 0:
		return rowsNamed(full, q.IDs)
	}
	var all []form.Row
	for t := range full.Nodes {
		n := &full.Nodes[t]
		k := slices.IndexFunc(raw.Nodes, func(own form.Nodes) bool { return own.Type == n.Type })
		if k < 0 {
			continue
		}
		count := raw.Nodes[k].Listed
		if count == 0 && q.Base == nil { // no table lists nodes
			count = n.Rows
		}
		for i := range count {
			all = append(all, form.Row{Table: int32(t), Row: int32(i)})
		}
	}
	if len(q.Rows) == 0 {
		return all, nil
	}
	var some []form.Row
	for _, r := range q.Rows {
		if r < 0 || int(r) >= len(all) {
			return nil, fmt.Errorf("there is no row %d: the data lists %d, which are numbered from 0", r, len(all))
		}
		some = append(some, all[r])
	}
	return some, nil
}

// rowsNamed returns the rows of these ids, which may name their type, as in customer:C5, where several have them.
func rowsNamed(raw *form.Raw, ids []string) ([]form.Row, error) {
	wanted := make(map[string][]int, len(ids)) // where each stands
	for i, id := range ids {
		wanted[id] = append(wanted[id], i)
	}
	rows, found, ends := make([]form.Row, len(ids)), make([]bool, len(ids)), [1 << 12]bool{}
	for _, id := range ids {
		ends[endOf(id)] = true
		ends[endOf(id[strings.LastIndexByte(id, ':')+1:])] = true // after a type
	}
	for t := range raw.Nodes {
		n := &raw.Nodes[t]
		for row := range n.Rows {
			name := ""
			if n.IDs != nil {
				name = n.IDs.At(row)
			} else {
				name = fmt.Sprint(row)
			}
			if !ends[endOf(name)] { // as most rows do
				continue
			}
			names := [2]string{name, name}
			if len(raw.Nodes) > 1 {
				names[1] = n.Type + ":" + name
			}
			for _, name := range names {
				for _, i := range wanted[name] {
					if found[i] {
						first := raw.Nodes[rows[i].Table].Type
						return nil, fmt.Errorf("%.40q is the id of a %s and of a %s: write %s:%s or %s:%s", ids[i], first, n.Type, first, ids[i], n.Type, ids[i])
					}
					rows[i], found[i] = form.Row{Table: int32(t), Row: int32(row)}, true
				}
				if len(raw.Nodes) == 1 {
					break
				}
			}
		}
	}
	if i := slices.Index(found, false); i >= 0 {
		return nil, unknownRow(raw, ids[i])
	}
	return rows, nil
}

// endOf is a number that ids of one end share.
func endOf(id string) int {
	n, end := len(id), 0
	if n > 0 {
		end = int(id[n-1])
	}
	if n > 1 {
		end += 31 * int(id[n-2])
	}
	return end & (1<<12 - 1)
}

// unknownRow is the error for an id that no row has.
func unknownRow(raw *form.Raw, id string) error {
	var known []string
	ids := false
	for t := range raw.Nodes {
		n := &raw.Nodes[t]
		ids = ids || n.IDs != nil
		for i := range n.Rows {
			if n.IDs != nil {
				known = append(known, n.IDs.At(i))
			} else {
				known = append(known, fmt.Sprint(i))
			}
		}
	}
	return unknownNode(id, known, ids)
}

// UnknownError is an id that is asked for and that no row has.
type UnknownError struct{ ID, says string }

func (e *UnknownError) Error() string { return e.says }

// unknownNode is the error for a node that there is none of.
func unknownNode(id string, known []string, ids bool) error {
	const most = 10_000
	if !ids {
		return &UnknownError{id, fmt.Sprintf("there is no node %.40s: they are numbered from 0 to %d", id, len(known)-1)}
	}
	return &UnknownError{id, fmt.Sprintf("there is no node with the id %.40q; is it %.40q?", id, spell.Nearest(id, known[:min(len(known), most)]))}
}

// find takes where the rows that are asked about are in the data.
func (s *subject) find(full *form.Raw, asked []form.Row) {
	places, first := map[form.Row]int32{}, int32(0)
	several := len(full.Nodes) > 1
	for t := range s.raw.Nodes {
		n := &s.raw.Nodes[t]
		table := int32(slices.IndexFunc(full.Nodes, func(own form.Nodes) bool { return own.Type == n.Type }))
		for i, row := range s.order.NodeRows[t] {
			if s.part != nil {
				row = s.part.NodeRows[table][row]
			}
			places[form.Row{Table: table, Row: row}] = first + int32(i)
		}
		first += int32(n.Rows)
	}
	for _, r := range asked {
		n := &full.Nodes[r.Table]
		s.nodes, s.rows = append(s.nodes, places[r]), append(s.rows, r.Row)
		if n.IDs != nil {
			s.ids = append(s.ids, n.IDs.At(int(r.Row)))
		} else {
			s.ids = append(s.ids, fmt.Sprint(r.Row))
		}
		if several {
			s.types = append(s.types, n.Type)
		}
	}
}

// findEdges takes the edges that are asked about: those that raw lists, or of these the ones that have an end among the nodes that are
// asked about.
func (s *subject) findEdges(full, raw *form.Raw, asked []form.Row, some bool) error {
	in := s.Graph.In()
	is := make([]bool, s.Graph.NumNodes())
	for _, v := range s.nodes {
		is[v] = true
	}
	first := make(map[string]int32) // of each type
	at := int32(0)
	for _, n := range s.raw.Nodes {
		first[n.Type], at = at, at+int32(n.Rows)
	}
	if len(s.raw.Nodes) == 1 {
		first[""] = 0
	}
	seen := map[[2]int32]int32{} // how many rows have had these ends
	type found struct {
		table, place int
		edgeAsked
	}
	var all []found
	for t := range s.raw.Edges {
		e := &s.raw.Edges[t]
		table := slices.IndexFunc(full.Edges, func(own form.Edges) bool { return own.Kind == e.Kind && own.From == e.From && own.To == e.To })
		k := slices.IndexFunc(raw.Edges, func(own form.Edges) bool { return own.Kind == e.Kind && own.From == e.From && own.To == e.To })
		if k < 0 {
			continue
		}
		old := full.Edges[table].Rows - raw.Edges[k].Rows // of the base
		places := s.order.EdgeRows[t]
		for i := range e.Source {
			u, v := first[e.From]+e.Source[i], first[e.To]+e.Target[i]
			nth := seen[[2]int32{u, v}]
			seen[[2]int32{u, v}]++
			place := int(places[i])
			if s.part != nil {
				place = int(s.part.EdgeRows[table][place])
			}
			if place < old || some && !is[u] && !is[v] || u == v {
				continue
			}
			lo, hi := in.Offsets[v], in.Offsets[v+1]
			edge, ok := slices.BinarySearch(in.Cols[lo:hi], u)
			if !ok {
				return fmt.Errorf("the edge from %s to %s is not in the graph", s.name(e.From, e.Source[i]), s.name(e.To, e.Target[i]))
			}
			edge += int(lo)
			if next := edge + int(nth); next < int(hi) && in.Cols[next] == u {
				edge = next
			}
			a := found{table, place, edgeAsked{source: s.name(e.From, e.Source[i]), target: s.name(e.To, e.Target[i]), edge: int32(edge)}}
			if e.IDs != nil {
				a.id = e.IDs.At(i)
			}
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.place, b.place)) })
	for _, a := range all {
		s.edges = append(s.edges, a.edgeAsked)
	}
	return nil
}

// name is the id of a node of a type.
func (s *subject) name(kind string, row int32) string {
	for t := range s.raw.Nodes {
		if n := &s.raw.Nodes[t]; n.Type == kind || len(s.raw.Nodes) == 1 {
			if n.IDs != nil {
				return n.IDs.At(int(row))
			}
			row = s.order.NodeRows[t][row]
			if s.part != nil {
				own := slices.IndexFunc(s.part.Nodes, func(own form.Nodes) bool { return own.Type == n.Type })
				row = s.part.NodeRows[own][row]
			}
			return fmt.Sprint(row)
		}
	}
	return ""
}

// canonical returns a dataset whose edges into each node stand in the order of their sources, and where these are the same of what the edges
// carry: sums then have one order, wherever the edges came from.
func canonical(d *datasets.Dataset) *datasets.Dataset {
	in := d.Graph.In()
	sorted := true
	for v := range d.Graph.NumNodes() {
		row := in.Cols[in.Offsets[v]:in.Offsets[v+1]]
		for i := 1; i < len(row); i++ {
			sorted = sorted && row[i-1] < row[i]
		}
	}
	if sorted {
		return d
	}
	order := numbersTo(d.Graph.NumEdges())
	compare := func(a, b int32) int {
		c := cmp.Compare(in.Cols[a], in.Cols[b])
		if c == 0 && d.EdgeKinds != nil {
			c = cmp.Compare(d.EdgeKinds.Of[a], d.EdgeKinds.Of[b])
		}
		if c == 0 && d.Weights != nil {
			c = cmp.Compare(d.Weights[a], d.Weights[b])
		}
		if c == 0 && d.EdgeFeatures != nil {
			c = slices.Compare(d.EdgeFeatures.Row(int(a)), d.EdgeFeatures.Row(int(b)))
		}
		return c
	}
	for v := range d.Graph.NumNodes() {
		slices.SortStableFunc(order[in.Offsets[v]:in.Offsets[v+1]], compare)
	}
	return ofEdges(d, graph.Must(graph.EdgeSubgraph(d.Graph, order)))
}

// ofEdges returns a dataset on a graph of some of its edges.
func ofEdges(d *datasets.Dataset, g *graph.Graph) *datasets.Dataset {
	from, out := g.From().Edges, *d
	out.Graph, out.EdgeColumns = g, nil
	out.Weights, out.EdgeLabels = taken(d.Weights, from), taken(d.EdgeLabels, from)
	out.EdgeFeatures, out.EdgeTargets = rowsTaken(d.EdgeFeatures, from), rowsTaken(d.EdgeTargets, from)
	if d.EdgeKinds != nil {
		out.EdgeKinds = &datasets.Kinds{Names: d.EdgeKinds.Names, Of: taken(d.EdgeKinds.Of, from)}
	}
	return &out
}

func rowsTaken(x *tensor.Dense, rows []int32) *tensor.Dense {
	if x == nil {
		return nil
	}
	return pick(x, rows)
}

// plans returns how so many rows are computed, in batches of a size: as asked, or by the plan that reads fewer edges. Where the whole graph is
// read, it is in chunks if its rows take much memory.
func (s *subject) plans(n *Network, plan Plan, asked, batch int) Plan {
	m, nodes, edges := n.Traits(), float64(s.Graph.NumNodes()), float64(s.Graph.NumEdges()+s.Graph.NumNodes())
	if m.Alone {
		edges = nodes
	}
	near, reached := 0.0, min(float64(asked), float64(batch)) // edges that blocks have, and nodes of a batch
	for range n.Layers {
		reached = min(nodes, reached) * edges / nodes
		near += math.Ceil(float64(asked)/float64(batch)) * reached
	}
	switch {
	case plan == Layers, plan == Whole:
		return plan
	case m.Whole == "" && (plan == Neighbourhoods || 4*near <= 3*edges*float64(len(n.Layers))):
		return Neighbourhoods
	case m.far() == "" && n.bytes(s.Graph) > wholeMost:
		return Layers
	}
	return Whole
}
