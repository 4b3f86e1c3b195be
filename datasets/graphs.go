package datasets

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Graphs is many graphs, each an example of its own: molecules, say. They stand side by
// side in one Graph, each a member of it. Of Labels, MultiLabels, Targets, NodeTargets and NodeLabels one
// is set, or none.
type Graphs struct {
	Name         string
	Graph        *graph.Graph  // all of them; graph i is its member i
	Features     *tensor.Dense // a row a node, nil: none
	Attributes   int           // the first columns of Features that are numbers; the others are one-hot
	EdgeFeatures *tensor.Dense // a row an edge, in the graph's order; nil: none
	EdgeNumbers  int           // the first columns of EdgeFeatures that are numbers; the others are one-hot, as EdgeKinds reads them

	Codes     []columns.Code // the columns of Features that hold codes, ascending; nil: none do
	EdgeCodes []columns.Code // and those of EdgeFeatures

	Labels      Labels        // a class a graph; −1: not known
	MultiLabels *sparse.CSR   // the classes of each graph, for those that have several; NaN: not known
	Targets     *tensor.Dense // the values of each graph, for regression; NaN: not known
	NodeTargets *tensor.Dense // the values of each node, for regression or several labels of 0 and 1; NaN: not known
	NodeLabels  Labels        // a class a node, where nodes are to be told apart; −1: not known
	Classes     int           // of Labels, MultiLabels or NodeLabels

	Split      Split    // which graphs are for training
	Splits     []Split  // those that there are if they are several; Split is the first
	ClassNames []string // empty if they have none
	GraphNames []string // empty if they have none

	FeatureNames []string        // of the columns of Features as they were read; empty if they have none
	Schema       *columns.Schema // how columns were read; nil: the graphs are not of files
	Warnings     []string        // what was read in a way that may not be meant, a sentence each

	loops    int      // self-loops of the raw data, which are not in Graph
	repeated int      // edges of the raw data that stood there already
	doubt    string   // what Doubt returns
	unread   []string // what the raw data say and nothing reads

	source *form.Raw // what Fit makes features of, in the graph's order; nil: they do not depend on which graphs train
}

// Len returns the number of graphs.
func (d *Graphs) Len() int { return len(d.Graph.NodeOffsets()) - 1 }

// Sizes returns the number of nodes of each graph.
func (d *Graphs) Sizes() []int {
	at := d.Graph.NodeOffsets()
	sizes := make([]int, len(at)-1)
	for i := range sizes {
		sizes[i] = at[i+1] - at[i]
	}
	return sizes
}

// Check returns an error that names the first thing that is wrong, as [Dataset.Check]
// does. What the readers of this package return has been checked.
func (d *Graphs) Check() error {
	n, nodes := d.Len(), d.Graph.NumNodes()
	if d.Features != nil {
		if err := checkFeatures(d.Features, nodes); err != nil {
			return err
		}
		if w := d.Features.Dim(1); d.Attributes < 0 || d.Attributes > w {
			return fmt.Errorf("%d columns of attributes of %d features", d.Attributes, w)
		}
	}
	if err := checkEdgeFeatures(d.EdgeFeatures, d.Graph.NumEdges()); err != nil {
		return err
	}
	width := 0
	if d.Features != nil {
		width = d.Features.Dim(1)
	}
	if err := checkCodes(d.Codes, width, d.EdgeCodes, d.EdgeFeatures); err != nil {
		return err
	}
	if x := d.EdgeFeatures; d.EdgeNumbers < 0 || x == nil && d.EdgeNumbers > 0 || x != nil && d.EdgeNumbers > x.Dim(1) {
		return fmt.Errorf("%d columns of numbers among the features of edges, of which there are fewer", d.EdgeNumbers)
	}
	if err := d.checkLabels(n, nodes); err != nil {
		return err
	}
	if len(d.ClassNames) > 0 && len(d.ClassNames) != d.Classes {
		return fmt.Errorf("%d names for %d classes", len(d.ClassNames), d.Classes)
	}
	if len(d.GraphNames) > 0 && len(d.GraphNames) != n {
		return fmt.Errorf("%d names for %d graphs", len(d.GraphNames), n)
	}
	return checkSplits(d.Split, d.Splits, n, "graph")
}

// checkLabels checks what is to be learnt of n graphs.
func (d *Graphs) checkLabels(n, nodes int) error {
	kinds := 0
	for _, has := range []bool{d.Labels != nil, d.MultiLabels != nil, d.Targets != nil, d.NodeLabels != nil, d.NodeTargets != nil} {
		if has {
			kinds++
		}
	}
	if kinds > 1 {
		return fmt.Errorf("of labels, multiple labels, targets, and labels and targets of nodes there are %d, want one", kinds)
	}
	if err := checkClasses(d.Labels, n, d.Classes, "graph"); err != nil {
		return err
	}
	if err := checkClasses(d.NodeLabels, nodes, d.Classes, "node"); err != nil {
		return err
	}
	if err := checkMultiLabels(d.MultiLabels, n, d.Classes, "graph"); err != nil {
		return err
	}
	if err := checkTargets(d.NodeTargets, nodes, "node"); err != nil {
		return err
	}
	return checkTargets(d.Targets, n, "graph")
}

// sound is [Graphs.Check] of what files of that many bytes hold, which must be
// believable, too.
func (d *Graphs) sound(bytes int64) error {
	if err := d.Check(); err != nil {
		return err
	}
	if err := believableNodes(d.Graph.NumNodes(), bytes); err != nil {
		return err
	}
	if most := believed(bytes); int64(d.Classes) > most || int64(d.Len()) > most {
		return fmt.Errorf("%d graphs and %d classes, in files of %d bytes; at most %d are believed", d.Len(), d.Classes, bytes, most)
	}
	return nil
}

// WithoutAttributes returns d without the columns of attributes: what is left of the
// features says which labels a node has, which is what most of the literature gives its
// networks. It returns d itself if there are none, or nothing else.
func (d *Graphs) WithoutAttributes() *Graphs {
	if d.Features == nil || d.Attributes == 0 || d.Attributes == d.Features.Dim(1) {
		return d
	}
	e := *d
	w := d.Features.Dim(1) - d.Attributes
	e.Features, e.Attributes, e.Codes = tensor.New(d.Features.Dim(0), w), 0, nil
	for _, c := range d.Codes {
		if c.At -= d.Attributes; c.At >= 0 {
			e.Codes = append(e.Codes, c)
		}
	}
	if len(d.FeatureNames) > 0 {
		e.FeatureNames = d.FeatureNames[d.Attributes:]
	}
	for v := range e.Features.Dim(0) {
		copy(e.Features.Row(v), d.Features.Row(v)[d.Attributes:])
	}
	return &e
}

// WithFeatures returns d with more features of nodes, such as those of
// [analysis.ReturnProbabilities]: the columns of x come after d's own.
func (d *Graphs) WithFeatures(x *tensor.Dense) *Graphs {
	e := *d
	e.FeatureNames = nil // those of x are not known
	n := d.Graph.NumNodes()
	if x.Axes() != 2 || x.Dim(0) != n {
		panic(&tensor.ShapeError{Op: "datasets.WithFeatures", Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("there are %d nodes, want a row for each", n)})
	}
	if d.Features == nil {
		e.Features, e.Attributes = x, x.Dim(1)
		return &e
	}
	e.Features = tensor.New(n, d.Features.Dim(1)+x.Dim(1))
	tensor.Concat(e.Features, 1, d.Features, x)
	if d.Attributes == d.Features.Dim(1) {
		e.Attributes = e.Features.Dim(1)
	}
	return &e
}

// WithDegrees returns d with features that say how many in-edges a node has: a column for
// each number up to most, the last for that and more. It is what the literature gives
// networks where nodes have no features.
func (d *Graphs) WithDegrees(most int) *Graphs {
	x := tensor.New(d.Graph.NumNodes(), most+1)
	for v, n := range d.Graph.InDegrees() {
		x.Row(v)[min(int(n), most)] = 1
	}
	e := d.WithFeatures(x)
	if d.Features == nil {
		e.Attributes = 0
	}
	return e
}

// GraphsFrom makes many graphs of what files say, as [From] makes one. A Schema that has not been fitted is fitted on the nodes and edges
// of the graphs that train, or on all if there is no split.
func GraphsFrom(raw *form.Raw, s *columns.Schema) (*Graphs, error) {
	if raw.Graphs == nil || len(raw.Nodes) != 1 || len(raw.Edges) > 1 {
		return nil, fmt.Errorf("%s: it is one graph, for Load and --task node, and not many", sourceOf(raw))
	}
	if err := checkRaw(raw); err != nil {
		return nil, err
	}
	if s == nil {
		chosen, err := columns.Choose(raw, columns.Roles{})
		if err != nil {
			return nil, err
		}
		s = chosen
	}
	d := &Graphs{Name: raw.Name, Schema: s.Clone(), unread: raw.Unread, doubt: raw.Doubt}
	file := sourceOf(raw)
	if err := believableNodes(raw.Nodes[0].Rows, sizeOrAny(raw.Size)); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	data, err := d.connect(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	splits, err := d.divide(data)
	if err != nil {
		return nil, err
	}
	if !s.Fitted {
		var rows columns.Rows
		if len(splits) > 0 && len(splits[0].Train) > 0 {
			rows = d.rowsOf(splits[0].Train)
		}
		if err := d.Schema.Fit(data, rows); err != nil {
			return nil, err
		}
	}
	a, err := d.Schema.Apply(data)
	if err != nil {
		return nil, err
	}
	if d.describe(a); !s.Fitted && d.Schema.Learns() {
		d.source = data
	}
	if err := d.sound(sizeOrAny(raw.Size)); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// Fit returns d with features that are made anew by what the given graphs say, those that train in a split other than d.Split: see
// [Dataset.Fit]. It is d itself if nothing depends on them. Features that were put beside d's own are lost.
func (d *Graphs) Fit(train []int32) (*Graphs, error) {
	if d.source == nil {
		return d, nil
	}
	s, e := d.Schema.Clone(), *d
	label := s.Label
	s.Label = nil
	if err := s.Fit(d.source, d.rowsOf(train)); err != nil {
		return nil, err
	}
	a, err := s.Apply(d.source)
	if err != nil {
		return nil, err
	}
	s.Label = label
	e.Schema = s
	e.describe(a)
	return &e, nil
}

// connect makes the graph of all graphs, and returns raw with its edges in the graph's order.
func (d *Graphs) connect(raw *form.Raw) (*form.Raw, error) {
	data := *raw
	e := form.Edges{}
	if len(raw.Edges) == 1 {
		e = raw.Edges[0]
	}
	src, dst, rows := e.Source, e.Target, []int32(nil)
	whole := (e.Undirected || d.Schema.Undirected) && !d.Schema.Directed
	switch back := e.Back; {
	case whole:
		rows = slices.Concat(span(0, len(src)), span(0, len(src)))
		src, dst = slices.Concat(src, dst), slices.Concat(dst, src)
	case len(back) > 0 && !d.Schema.Directed:
		both := make([]bool, len(src))
		for _, k := range back {
			both[k] = true
		}
		src, dst = make([]int32, 0, len(e.Source)+len(back)), make([]int32, 0, len(e.Source)+len(back))
		for k, u := range e.Source {
			src, dst, rows = append(src, u), append(dst, e.Target[k]), append(rows, int32(k))
			if both[k] {
				src, dst, rows = append(src, e.Target[k]), append(dst, u), append(rows, int32(k))
			}
		}
	}
	g, kept, err := d.disjoint(src, dst, raw.Graphs.Offsets)
	if err != nil {
		return nil, err
	}
	if d.Graph = g; len(raw.Edges) == 1 {
		if rows != nil {
			kept = pick(rows, kept)
		}
		e.Table = e.Table.Gather(kept)
		e.Source, e.Target, e.Back, e.Undirected = nil, nil, nil, false
		data.Edges = []form.Edges{e}
	}
	return &data, nil
}

// divide returns the splits of the graphs.
func (d *Graphs) divide(data *form.Raw) (splits []Split, err error) {
	own, err := d.Schema.Split(data)
	if err != nil {
		return nil, err
	}
	if own != nil {
		splits = []Split{{own.Train, own.Val, own.Test}}
	} else {
		for _, s := range data.Splits {
			if s.Of == form.OfGraphs {
				splits = append(splits, Split{s.Train, s.Val, s.Test})
			}
		}
	}
	if len(splits) > 0 {
		d.Split = splits[0]
	}
	if len(splits) > 1 {
		d.Splits = splits
	}
	return splits, nil
}

// rowsOf returns the nodes and the edges of some graphs.
func (d *Graphs) rowsOf(graphs []int32) columns.Rows {
	rows := columns.Rows{Graphs: graphs, Nodes: []int32{}, Edges: []int32{}}
	at, in := d.Graph.NodeOffsets(), d.Graph.In().Offsets
	for _, g := range graphs {
		rows.Nodes = append(rows.Nodes, span(at[g], at[g+1])...)
		rows.Edges = append(rows.Edges, span(int(in[at[g]]), int(in[at[g+1]]))...)
	}
	return rows
}

// describe gives d what the columns say.
func (d *Graphs) describe(a *columns.Applied) {
	if x, ok := a.Features.(*tensor.Dense); ok {
		d.Features, d.Attributes = x, a.Numeric[0]
	}
	d.EdgeFeatures, d.EdgeNumbers = a.EdgeFeatures, a.Numeric[1]
	d.Codes, d.EdgeCodes = a.Codes, a.EdgeCodes
	d.FeatureNames, d.GraphNames, d.Warnings = a.Names, a.GraphTitles, slices.Concat(d.Schema.Doubts, a.Warnings)
	if l := a.Answers; l != nil {
		if d.Classes, d.ClassNames = l.Classes, l.Names; l.Of == form.OfGraphs {
			d.Labels, d.MultiLabels, d.Targets = l.Labels, l.Several, l.Targets
		} else if d.NodeLabels, d.NodeTargets = l.Labels, l.Targets; l.Several != nil {
			d.NodeTargets, d.Classes = l.Several.Dense(), 0
		}
		if l.Labels == nil && l.Several == nil {
			d.Classes, d.ClassNames = 0, nil
		}
	}
}

// disjoint makes the graph of all graphs: of a list of edges those that are no loops, and
// of parallel ones the first. kept says of each edge which of the list it is.
func (d *Graphs) disjoint(src, dst []int32, offsets []int) (g *graph.Graph, kept []int32, err error) {
	n := offsets[len(offsets)-1]
	in, order, err := sparse.FromCOO(n, n, dst, src, nil)
	if err != nil {
		return nil, nil, err
	}
	place := make([]int64, n) // after the last edge out of each node that was kept
	end, next := int64(0), int64(0)
	for v := range n {
		start, stop := end, in.Offsets[v+1]
		for ; next < stop; next++ {
			u := in.Cols[next]
			switch {
			case int(u) == v:
				d.loops++
			case place[u] > start:
				d.repeated++
			default:
				in.Cols[end], order[end] = u, order[next]
				end++
				place[u] = end
			}
		}
		in.Offsets[v+1] = end
	}
	in.Cols = trimmed(in.Cols, int(end))
	if g, err = graph.FromCSR(in); err == nil {
		g, err = graph.WithMembers(g, offsets)
	}
	return g, trimmed(order, int(end)), err
}
