package datasets

import (
	"fmt"
	"slices"

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

	loops    int      // self-loops of the raw data, which are not in Graph
	repeated int      // edges of the raw data that stood there already
	doubt    string   // what Doubt returns
	unread   []string // what the raw data say and nothing reads
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
	e.Features, e.Attributes = tensor.New(d.Features.Dim(0), w), 0
	for v := range e.Features.Dim(0) {
		copy(e.Features.Row(v), d.Features.Row(v)[d.Attributes:])
	}
	return &e
}

// WithFeatures returns d with more features of nodes, such as those of
// [graph.Graph.ReturnProbabilities]: the columns of x come after d's own.
func (d *Graphs) WithFeatures(x *tensor.Dense) *Graphs {
	e := *d
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
