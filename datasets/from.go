package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// From makes a dataset of what files say, as a Schema reads it; nil stands for what [columns.Choose] decides without being
// told anything. A Schema that has not been fitted is fitted on the rows that train and those of which nothing is to be learnt, or on
// all if there is no split; one that has been is only applied. d.Schema is the one that was used, and s does not change.
//
// Nodes are in the order of their ids if these are numbers, and else as the files have them. Nodes of several types stand one type
// after the other. Self-loops are left out, and of several edges of a kind from one node to another becomes what the Schema says.
func From(raw *form.Raw, s *columns.Schema) (*Dataset, error) {
	if raw.Graphs != nil {
		return nil, fmt.Errorf("%s: it has many graphs in it, for LoadGraphs and --task graph", sourceOf(raw))
	}
	if len(raw.Nodes) == 0 {
		return nil, fmt.Errorf("%s: there are no nodes in it", sourceOf(raw))
	}
	if err := checkRaw(raw); err != nil {
		return nil, err
	}
	b, err := newBuilder(raw, s)
	if err != nil {
		return nil, err
	}
	d := &Dataset{Name: titleOf(raw.Name), Schema: b.s, unread: raw.Unread, doubt: raw.Doubt}
	for _, step := range []func(d *Dataset) error{b.connect, b.divide, b.fit, b.listed, b.describe} {
		if err := step(d); err != nil {
			return nil, err
		}
	}
	if b.both {
		*d = *d.Undirected()
	}
	if err := d.sound(sizeOrAny(raw.Size)); err != nil {
		return nil, fmt.Errorf("%s: %w", sourceOf(b.raw), err)
	}
	return d, nil
}

// sizeOrAny is how many bytes are believed of a Raw.
func sizeOrAny(size int64) int64 {
	if size == 0 {
		return 1 << 48
	}
	return size
}

// builder is a dataset while it is made.
type builder struct {
	s       *columns.Schema
	raw     *form.Raw // whose tables of nodes are in order
	data    *form.Raw // whose edges are those of the graph, too, in the graph's order, table by table
	first   []int     // of the nodes of each table, and their number
	order   [][]int32 // of each table of nodes which row each is; nil: as they stand
	edges   []int32   // of the graph's edges, in order, which of data's each is; nil: as they stand
	keptOf  [][]int32 // of each table of edges the rows that data has
	both    bool      // both directions of all edges are meant
	applied *columns.Applied
	splits  []Split
	fitted  bool // by whoever made s

	unlabelled []int32 // data's rows of which nothing is to be learnt

	unlisted error // of the first edge whose end no table lists
}

// newBuilder puts the nodes in order.
func newBuilder(raw *form.Raw, s *columns.Schema) (b *builder, err error) {
	b = &builder{raw: new(form.Raw), first: []int{0}}
	if *b.raw = *raw; s == nil {
		if s, err = columns.Choose(raw, columns.Roles{}); err != nil {
			return nil, err
		}
	}
	b.s, b.fitted = s.Clone(), s.Fitted
	b.raw.Nodes, b.raw.Edges = slices.Clone(raw.Nodes), slices.Clone(raw.Edges)
	b.unlisted = raw.Unlisted
	for i := range b.raw.Nodes {
		t := &b.raw.Nodes[i]
		if b.unlisted == nil {
			b.unlisted = b.raw.UnlistedOf(i)
		}
		order := orderOf(t.IDs)
		if order != nil {
			t.Table = t.Table.Gather(order)
		}
		b.order = append(b.order, order)
		b.first = append(b.first, b.first[i]+t.Rows)
	}
	n := b.first[len(b.raw.Nodes)]
	if n == 0 {
		return nil, fmt.Errorf("%s: there are no nodes in it", sourceOf(b.raw))
	}
	if err := believableNodes(n, sizeOrAny(raw.Size)); err != nil {
		return nil, fmt.Errorf("%s: %w", sourceOf(b.raw), err)
	}
	return b, nil
}

// checkRaw returns an error if raw is not what a Raw has to be.
func checkRaw(raw *form.Raw) error {
	if err := raw.Check(); err != nil {
		return fmt.Errorf("%s: %w", sourceOf(raw), err)
	}
	return nil
}

// sourceOf names the data for errors.
func sourceOf(raw *form.Raw) string {
	if raw.Graphs != nil && raw.Graphs.Origin.File != "" {
		return raw.Graphs.Origin.File
	}
	for i := range raw.Nodes {
		if f := raw.Nodes[i].Origin.File; f != "" {
			return f
		}
	}
	for i := range raw.Edges {
		if f := raw.Edges[i].Origin.File; f != "" {
			return f
		}
	}
	return raw.Name
}

// listed checks that there are edges, and that the table of nodes lists the ends of all, if it lists any.
func (b *builder) listed(d *Dataset) error {
	for i := range b.raw.Edges {
		if e := &b.raw.Edges[i]; e.Rows == 0 && len(b.raw.Edges) == 1 && !b.fitted && b.raw.Nodes[0].IDs != nil {
			return fmt.Errorf("%s: there are no edges in it", cmp.Or(e.Origin.File, sourceOf(b.raw)))
		}
	}
	return b.unlisted
}

// orderOf returns the rows in the order of their ids if these are whole numbers that do not ascend already, else nil.
func orderOf(ids *form.Words) []int32 {
	if ids == nil {
		return nil
	}
	numbers, ascend := make([]int64, ids.Len()), true
	for row := range numbers {
		id := ids.At(row)
		v, err := strconv.ParseInt(id, 10, 64)
		if err != nil || strconv.FormatInt(v, 10) != id {
			return nil
		}
		numbers[row] = v
		ascend = ascend && (row == 0 || numbers[row-1] < v)
	}
	if ascend {
		return nil
	}
	order := span(0, len(numbers))
	slices.SortStableFunc(order, func(a, b int32) int {
		if numbers[a] < numbers[b] {
			return -1
		}
		return 1
	})
	return order
}

// ends returns the ends of a table's edges as nodes of the graph.
func (b *builder) ends(e *form.Edges) (src, dst []int32, err error) {
	place := func(of string, rows []int32) ([]int32, error) {
		i := slices.IndexFunc(b.raw.Nodes, func(t form.Nodes) bool { return t.Type == of })
		if i < 0 && len(b.raw.Nodes) == 1 && of == "" {
			i = 0
		}
		if i < 0 {
			return nil, fmt.Errorf("%s: its edges are of nodes of type %.40q, of which there is no table", e.Origin.File, of)
		}
		number := []int32(nil)
		if order := b.order[i]; order != nil {
			number = make([]int32, len(order))
			for at, row := range order {
				number[row] = int32(at)
			}
		}
		out := make([]int32, len(rows))
		for k, row := range rows {
			if row < 0 || int(row) >= b.raw.Nodes[i].Rows {
				return nil, fmt.Errorf("%s: there is no node %d", e.Origin.At(k), row)
			}
			if out[k] = row; number != nil {
				out[k] = number[row]
			}
			out[k] += int32(b.first[i])
		}
		return out, nil
	}
	if src, err = place(e.From, e.Source); err == nil {
		dst, err = place(e.To, e.Target)
	}
	return src, dst, err
}

// connect makes the graph, and the tables of its edges.
func (b *builder) connect(d *Dataset) error {
	n := b.first[len(b.raw.Nodes)]
	data := *b.raw
	b.data, data.Edges = &data, nil
	if b.s.Directed {
		b.raw.Edges = slices.Clone(b.raw.Edges)
		for i := range b.raw.Edges {
			b.raw.Edges[i].Undirected, b.raw.Edges[i].Back = false, nil
		}
	}
	b.both = b.s.Undirected || len(b.raw.Edges) > 0 && !slices.ContainsFunc(b.raw.Edges, func(e form.Edges) bool { return !e.Undirected })
	var src, dst []int32 // of data's edges
	for i := range b.raw.Edges {
		e := &b.raw.Edges[i]
		s, t, err := b.ends(e)
		if err != nil {
			return err
		}
		rows := []int32(nil)
		if back := e.Back; !b.both && (len(back) > 0 || e.Undirected) {
			if e.Undirected {
				back = span(0, len(s))
			}
			rows = span(0, len(s))
			for _, k := range back {
				s, t, rows = append(s, t[k]), append(t, s[k]), append(rows, k)
			}
		}
		if d.dangling += e.Dangling; e.Neighbours && b.both {
			if s, t, rows, d.loops, err = bothWays(n, s, t); err != nil {
				return err
			}
		}
		m, err := merged(n, s, t, b.s.Repeated, e.Saved)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Origin.File, err)
		}
		if m.repeated > 0 && b.s.Repeated != columns.Keep && len(e.Columns) > 0 {
			order := e.Settled(s, t, rows)
			if s, t = pick(s, order), pick(t, order); rows == nil {
				rows = order
			} else {
				rows = pick(rows, order)
			}
			if m, err = merged(n, s, t, b.s.Repeated, e.Saved); err != nil {
				return fmt.Errorf("%s: %w", e.Origin.File, err)
			}
		}
		m.rows = rows
		own, table := *e, tableFor(b.s.Edges, e.Kind, e.From, e.To)
		d.loops += m.loops
		d.repeated += m.repeated
		kept := m.kept
		if rows != nil {
			kept = pick(rows, kept)
		}
		b.keptOf = append(b.keptOf, kept)
		own.Table = own.Table.Gather(kept)
		own.Source, own.Target, own.Back = pick(s, m.kept), pick(t, m.kept), nil // nodes of the graph
		if table == nil {
			return fmt.Errorf("%s: edges of kind %.40q from %.40q to %.40q are not known", e.Origin.File, e.Kind, e.From, e.To)
		}
		if err := b.combine(e, &own.Table, table, m, d); err != nil {
			return err
		}
		data.Edges = append(data.Edges, own)
		src, dst = append(src, own.Source...), append(dst, own.Target...)
	}
	in, order, err := sparse.FromCOO(n, n, dst, src, nil)
	if err == nil {
		d.Graph, err = graph.FromCSR(in)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", sourceOf(b.raw), err)
	}
	if len(data.Edges) > 1 {
		b.edges = order
	}
	return nil
}

// divide finds the split of what is learnt.
func (b *builder) divide(d *Dataset) error {
	if b.s.Label != nil && b.s.Label.Of == form.OfEdges {
		return b.divideEdges()
	}
	own, err := b.s.Split(b.data)
	if err != nil {
		return err
	}
	if own != nil {
		b.splits = []Split{{own.Train, own.Val, own.Test}}
		return nil
	}
	at := []int32(nil) // where each row is now; nil: where it was
	if slices.ContainsFunc(b.order, func(rows []int32) bool { return rows != nil }) {
		at = span(0, b.first[len(b.order)])
		for i, rows := range b.order {
			for place, row := range rows {
				at[b.first[i]+int(row)] = int32(b.first[i] + place)
			}
		}
	}
	number := func(rows []int32) []int32 {
		if at == nil {
			return rows
		}
		return slices.Sorted(slices.Values(pick(at, rows)))
	}
	for _, s := range b.raw.Splits {
		if s.Of != form.OfNodes {
			continue
		}
		b.splits = append(b.splits, Split{number(s.Train), number(s.Val), number(s.Test)})
	}
	return nil
}

// divideEdges is divide where edges are learnt.
func (b *builder) divideEdges() error {
	own, err := b.s.Split(b.data)
	if err != nil {
		return err
	}
	at := make([]int32, b.numEdges()) // the place of data's edges in the graph's order
	for e := range at {
		if at[e] = int32(e); b.edges != nil {
			at[b.edges[e]] = int32(e)
		}
	}
	sorted := func(rows []int32) []int32 { return slices.Sorted(slices.Values(pick(at, rows))) }
	if own != nil {
		b.splits = []Split{{sorted(own.Train), sorted(own.Val), sorted(own.Test)}}
		return nil
	}
	for _, s := range b.raw.Splits {
		if s.Of != form.OfEdges {
			continue
		}
		part, first := map[int32]uint8{}, 0
		for p, rows := range [][]int32{s.Train, s.Val, s.Test} {
			for _, row := range rows {
				part[row] = uint8(inTrain + p)
			}
		}
		var lists [inTest + 1][]int32
		k := 0
		for i, kept := range b.keptOf {
			for _, row := range kept {
				if p := part[row+int32(first)]; p != inNone {
					lists[p] = append(lists[p], int32(k))
				}
				k++
			}
			first += b.raw.Edges[i].Rows
		}
		b.splits = append(b.splits, Split{sorted(lists[inTrain]), sorted(lists[inVal]), sorted(lists[inTest])})
	}
	return nil
}

func (b *builder) numEdges() (n int) {
	for i := range b.data.Edges {
		n += b.data.Edges[i].Rows
	}
	return n
}

// fit fits the Schema on the rows that train, unless it has been, and applies it.
func (b *builder) fit(d *Dataset) error {
	if !b.fitted {
		var rows columns.Rows
		if b.unlabelled = b.s.Unlabelled(b.data); len(b.splits) > 0 && len(b.splits[0].Train) > 0 {
			train := b.splits[0].Train
			edges := b.s.Label != nil && b.s.Label.Of == form.OfEdges
			if edges && b.edges != nil {
				train = pick(b.edges, train)
			}
			rows = fittedOn(b.data, slices.Concat(train, b.unlabelled), edges)
		}
		if err := b.s.Fit(b.data, rows); err != nil {
			return err
		}
	}
	a, err := b.s.Apply(b.data)
	if err != nil {
		return err
	}
	b.applied, d.Warnings = a, slices.Concat(b.s.Doubts, a.Warnings)
	return nil
}

// describe gives d what the columns say.
func (b *builder) describe(d *Dataset) error {
	a := b.applied
	d.Features, d.FeatureNames = a.Features, a.Names
	d.Codes, d.EdgeCodes = a.Codes, a.EdgeCodes
	if d.EdgeFeatures = a.EdgeFeatures; b.edges != nil && d.EdgeFeatures != nil {
		d.EdgeFeatures = GatherRows(d.EdgeFeatures, b.edges).(*tensor.Dense)
	}
	if d.Weights == nil {
		d.Weights = a.Weights
	}
	if b.edges != nil {
		d.Weights = carried(d.Weights, b.edges, 1)
	}
	if k := a.NodeKinds; k != nil {
		d.NodeKinds = &Kinds{k.Names, k.Of}
	}
	if k := a.EdgeKinds; k != nil {
		d.EdgeKinds = &Kinds{k.Names, k.Of}
		if b.edges != nil {
			d.EdgeKinds = d.EdgeKinds.carried(b.edges)
		}
	}
	b.names(d)
	if err := b.answers(d); err != nil {
		return err
	}
	b.columns(d)
	if len(b.splits) > 0 {
		d.setSplits(b.splits)
	}
	if !b.fitted && b.s.Learns() {
		d.source = &source{data: onlyRead(b.data, b.s), edges: b.edges, unlabelled: b.unlabelled, width: d.Features.Shape()[1]}
	}
	return nil
}

// names gives nodes and edges their ids and names.
func (b *builder) names(d *Dataset) {
	n, some := b.first[len(b.raw.Nodes)], false
	ids := make([]string, 0, n)
	for i := range b.data.Nodes {
		t := &b.data.Nodes[i]
		some = some || t.IDs != nil
		for row := range t.Rows {
			if t.IDs == nil {
				ids = append(ids, strconv.Itoa(row))
			} else {
				ids = append(ids, t.IDs.At(row))
			}
		}
	}
	if some {
		d.NodeIDs, d.NodeNames = ids, ids
	}
	if titles := b.applied.Titles; titles != nil {
		d.NodeNames = slices.Clone(titles)
		for v, title := range titles {
			if title == "" && some {
				d.NodeNames[v] = ids[v]
			}
		}
	}
	var names []string
	for i := range b.data.Edges {
		if t := &b.data.Edges[i]; t.IDs != nil {
			names = append(names, make([]string, t.Rows)...)
			for row := range t.Rows {
				names[len(names)-t.Rows+row] = t.IDs.At(row)
			}
		} else if names != nil || i+1 < len(b.data.Edges) {
			names = append(names, make([]string, t.Rows)...)
		}
	}
	if slices.ContainsFunc(names, func(id string) bool { return id != "" }) {
		if d.EdgeNames = names; b.edges != nil {
			d.EdgeNames = pick(names, b.edges)
		}
	}
}

// answers gives d what is to be learnt.
func (b *builder) answers(d *Dataset) error {
	a := b.applied.Answers
	if a == nil {
		return nil
	}
	d.Classes, d.ClassNames = a.Classes, a.Names
	if a.Targets != nil {
		d.ClassNames = nil
	}
	switch a.Of {
	case form.OfNodes:
		d.Labels, d.MultiLabels, d.Targets = a.Labels, a.Several, a.Targets
	case form.OfEdges:
		if d.EdgeLabels, d.EdgeTargets = a.Labels, a.Targets; a.Several != nil {
			d.EdgeTargets = a.Several.Dense()
		}
		if b.edges != nil {
			d.EdgeLabels, d.EdgeTargets = carried(d.EdgeLabels, b.edges, -1), carriedRows(d.EdgeTargets, b.edges, notKnown)
		}
	default:
		return errors.New("what is to be learnt is of graphs, and there is one")
	}
	return nil
}

// columns gives d the columns that say when.
func (b *builder) columns(d *Dataset) {
	for i := range b.data.Nodes {
		d.NodeColumns = addTimes(d.NodeColumns, tableFor(b.s.Nodes, b.data.Nodes[i].Type, "", ""), &b.data.Nodes[i].Table, b.first[i], b.first[len(b.raw.Nodes)])
	}
	at, n := 0, b.numEdges()
	for i := range b.data.Edges {
		e := &b.data.Edges[i]
		d.EdgeColumns = addTimes(d.EdgeColumns, tableFor(b.s.Edges, e.Kind, e.From, e.To), &e.Table, at, n)
		at += e.Rows
	}
	if b.edges != nil {
		d.EdgeColumns = rowsOf(d.EdgeColumns, b.edges)
	}
}
