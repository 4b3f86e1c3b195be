package datasets

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Dataset is a graph with what is known of its nodes and edges. Of Labels, MultiLabels,
// Targets, EdgeLabels and EdgeTargets one is set, or none.
type Dataset struct {
	Name         string
	Graph        *graph.Graph   // each edge once, no self-loops
	Weights      []tensor.Float // of each edge, in the graph's order; nil: 1
	Features     tensor.Array   // a row a node, as published: *sparse.CSR or *tensor.Dense
	FeatureNames []string       // of the columns of Features; empty if they have none
	EdgeFeatures *tensor.Dense  // a row an edge, in the graph's order; nil: none
	Codes        []columns.Code // the columns of Features that hold codes, ascending; nil: none do
	EdgeCodes    []columns.Code // and those of EdgeFeatures

	Labels      Labels        // a class a node; −1: not known
	MultiLabels *sparse.CSR   // the classes of each node, for those that have several; NaN: not known
	Targets     *tensor.Dense // the values of each node, for regression; NaN: not known
	EdgeLabels  Labels        // a class an edge, in the graph's order, where edges are to be told apart; −1: not known
	EdgeTargets *tensor.Dense // the values of each edge, likewise; where all are 0 and 1, which of the classes it has; NaN: not known
	Classes     int           // of Labels, MultiLabels, EdgeLabels, or of EdgeTargets of 0 and 1

	Split      Split    // which nodes are for training, or, where LearnsEdges, which edges
	Splits     []Split  // those that there are if they are several; Split is the first
	ClassNames []string // empty if they have none
	NodeNames  []string // what people call nodes, their ids if nothing else; empty if they have none
	NodeIDs    []string // as files have them; empty if they have none
	EdgeNames  []string // the ids of edges, in the graph's order; empty if they have none

	Schema   *columns.Schema // how columns were read; nil: the dataset is not of files
	Warnings []string        // what was read in a way that may not be meant, a sentence each

	NodeKinds *Kinds // nil: nothing says which kinds nodes are of
	EdgeKinds *Kinds // and edges, in the graph's order

	NodeColumns []Column // what else is known of nodes, such as years
	EdgeColumns []Column // and of edges, in the graph's order

	dangling int // edges of the raw data whose ends are not both nodes
	loops    int // self-loops of the raw data, which are not in Graph
	repeated int // edges of the raw data that stood there already

	unread []string // what the raw data say and nothing reads
	doubt  string   // what Doubt returns
	source *source  // what Fit makes features of; nil: they do not depend on which rows train
}

// Column is a number of each node or edge that networks do not read: of tables the columns whose
// names say when. Either Times or Numbers is set.
type Column struct {
	Name    string
	Times   []int64   // microseconds since 1970, in UTC, or else whole numbers such as years; NoTime: not known
	Dated   bool      // Times are microseconds since 1970
	Numbers []float64 // numbers that are not all whole; NaN: not known

	wrong error // why neither is set: what the file says is no time
}

func (c Column) size() int { return max(len(c.Times), len(c.Numbers)) }

// checkColumns checks that columns have a number for each of n of what noun says.
func checkColumns(columns []Column, n int, noun string) error {
	for _, c := range columns {
		if c.wrong == nil && (c.size() != n || c.Times != nil && c.Numbers != nil) {
			return fmt.Errorf("column %.40q: %d times and %d numbers for %d %ss", c.Name, len(c.Times), len(c.Numbers), n, noun)
		}
	}
	return nil
}

// LearnsEdges reports whether what is to be learnt is of edges, as the split is then.
func (d *Dataset) LearnsEdges() bool { return d.EdgeLabels != nil || d.EdgeTargets != nil }

// Check returns an error that names the first thing that is wrong: features that
// are not finite or not a row a node, a label out of range, a split that names a
// node twice, does not ascend, or has nothing to train on. What the readers of
// this package return has been checked.
func (d *Dataset) Check() error {
	n := d.Graph.NumNodes()
	if d.Weights != nil && len(d.Weights) != d.Graph.NumEdges() {
		return fmt.Errorf("%d weights for %d edges", len(d.Weights), d.Graph.NumEdges())
	}
	if i := notFinite(d.Weights); i >= 0 {
		return fmt.Errorf("the weight of edge %d is %v", i, d.Weights[i])
	}
	if err := checkFeatures(d.Features, n); err != nil {
		return err
	}
	if err := checkEdgeFeatures(d.EdgeFeatures, d.Graph.NumEdges()); err != nil {
		return err
	}
	if err := checkCodes(d.Codes, d.Features.Shape()[1], d.EdgeCodes, d.EdgeFeatures); err != nil {
		return err
	}
	if err := d.checkLabels(n); err != nil {
		return err
	}
	if len(d.ClassNames) > 0 && len(d.ClassNames) != d.Classes {
		return fmt.Errorf("%d names for %d classes", len(d.ClassNames), d.Classes)
	}
	if len(d.NodeNames) > 0 && len(d.NodeNames) != n {
		return fmt.Errorf("%d names for %d nodes", len(d.NodeNames), n)
	}
	if len(d.NodeIDs) > 0 && len(d.NodeIDs) != n {
		return fmt.Errorf("%d ids for %d nodes", len(d.NodeIDs), n)
	}
	if len(d.EdgeNames) > 0 && len(d.EdgeNames) != d.Graph.NumEdges() {
		return fmt.Errorf("%d names for %d edges", len(d.EdgeNames), d.Graph.NumEdges())
	}
	if names := len(d.FeatureNames); names > 0 && names != d.Features.Shape()[1] {
		return fmt.Errorf("%d names for %d features", names, d.Features.Shape()[1])
	}
	if err := checkColumns(d.NodeColumns, n, "node"); err != nil {
		return err
	}
	if err := checkColumns(d.EdgeColumns, d.Graph.NumEdges(), "edge"); err != nil {
		return err
	}
	if err := d.NodeKinds.check(n, "node"); err != nil {
		return err
	}
	if err := d.EdgeKinds.check(d.Graph.NumEdges(), "edge"); err != nil {
		return err
	}
	if d.LearnsEdges() {
		return checkSplits(d.Split, d.Splits, d.Graph.NumEdges(), "edge")
	}
	return checkSplits(d.Split, d.Splits, n, "node")
}

// checkSplits checks the split in use and all that there are, of n of what noun says.
func checkSplits(use Split, all []Split, n int, noun string) error {
	for k, s := range all {
		if err := s.check(n, noun); err != nil {
			return fmt.Errorf("split %d: %w", k, err)
		}
	}
	return use.check(n, noun)
}

// checkFeatures checks that there is a row a node, and that all are finite.
func checkFeatures(x tensor.Array, n int) error {
	var values []tensor.Float
	switch x := x.(type) {
	case *sparse.CSR:
		values = x.Values
	case *tensor.Dense:
		values = x.Data
	default:
		return fmt.Errorf("the features are a %T, want *sparse.CSR or *tensor.Dense", x)
	}
	if shape := x.Shape(); len(shape) != 2 || shape[0] != n {
		return fmt.Errorf("features of shape %v for %d nodes", shape, n)
	}
	k := notFinite(values)
	if k < 0 {
		return nil
	}
	row, col := 0, 0
	if a, ok := x.(*sparse.CSR); ok {
		col = int(a.Cols[k])
		row, _ = slices.BinarySearch(a.Offsets, int64(k)+1)
		row--
	} else {
		row, col = k/x.Shape()[1], k%x.Shape()[1]
	}
	return fmt.Errorf("feature %d of node %d is %v", col, row, values[k])
}

// checkCodes checks that columns of codes are among so many features of nodes, and among those of edges.
func checkCodes(codes []columns.Code, width int, edgeCodes []columns.Code, x *tensor.Dense) error {
	edgeWidth := 0
	if x != nil {
		edgeWidth = x.Dim(1)
	}
	for _, of := range []struct {
		codes []columns.Code
		width int
		noun  string
	}{{codes, width, "node"}, {edgeCodes, edgeWidth, "edge"}} {
		for i, c := range of.codes {
			if c.At < 0 || c.At >= of.width || c.Words < 0 || i > 0 && of.codes[i-1].At >= c.At {
				return fmt.Errorf("code %d is of %d words in column %d of the %d features of %ss; columns of codes ascend", i, c.Words, c.At, of.width, of.noun)
			}
		}
	}
	return nil
}

// notKnown is the value of what is not known.
var notKnown = tensor.Float(math.NaN())

// notFinite returns where x is NaN or infinite, −1 if nowhere.
func notFinite(x []tensor.Float) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

// checkEdgeFeatures checks that there is a row an edge, and that all are finite.
func checkEdgeFeatures(x *tensor.Dense, edges int) error {
	if x == nil {
		return nil
	}
	if s := x.Shape(); len(s) != 2 || s[0] != edges {
		return fmt.Errorf("features of edges of shape %v for %d edges", s, edges)
	}
	if i := notFinite(x.Data); i >= 0 {
		return fmt.Errorf("feature %d of edge %d is %v", i%x.Dim(1), i/x.Dim(1), x.Data[i])
	}
	return nil
}

// checkLabels checks what is to be learnt.
func (d *Dataset) checkLabels(n int) error {
	kinds := 0
	for _, has := range []bool{d.Labels != nil, d.MultiLabels != nil, d.Targets != nil, d.EdgeLabels != nil, d.EdgeTargets != nil} {
		if has {
			kinds++
		}
	}
	if kinds > 1 {
		return fmt.Errorf("of labels, multiple labels, targets, labels of edges and targets of edges there are %d, want one", kinds)
	}
	if err := checkClasses(d.Labels, n, d.Classes, "node"); err != nil {
		return err
	}
	if err := checkClasses(d.EdgeLabels, d.Graph.NumEdges(), d.Classes, "edge"); err != nil {
		return err
	}
	if err := checkMultiLabels(d.MultiLabels, n, d.Classes, "node"); err != nil {
		return err
	}
	if err := checkTargets(d.EdgeTargets, d.Graph.NumEdges(), "edge"); err != nil {
		return err
	}
	return checkTargets(d.Targets, n, "node")
}

// checkClasses checks a label for each of n of what noun says, if there are labels.
func checkClasses(labels []int32, n, classes int, noun string) error {
	if labels != nil && len(labels) != n {
		return fmt.Errorf("%d labels for %d %ss", len(labels), n, noun)
	}
	for v, c := range labels {
		if c < -1 && classes == 0 {
			return fmt.Errorf("the label of %s %d is %d; classes are numbered from 0, and -1 is none", noun, v, c)
		}
		if c < -1 || int(c) >= classes {
			return fmt.Errorf("the label of %s %d is %d; classes are 0 to %d, and -1 is none", noun, v, c, classes-1)
		}
	}
	return nil
}

// checkMultiLabels checks several classes of each of n of what noun says, if there are any:
// elements are 1, or NaN where it is not known.
func checkMultiLabels(m *sparse.CSR, n, classes int, noun string) error {
	if m == nil {
		return nil
	}
	if m.NumRows != n || m.NumCols != classes {
		return fmt.Errorf("labels of shape %v for %d %ss and %d classes", m.Shape(), n, noun, classes)
	}
	for i, v := range m.Values {
		if v == v && v != 1 {
			return fmt.Errorf("element %d of the labels is %v; want 1 for a class that a %s has, and NaN where that is not known", i, v, noun)
		}
	}
	return nil
}

// checkTargets checks the values of each of n of what noun says, if there are any: NaN
// where they are not known.
func checkTargets(x *tensor.Dense, n int, noun string) error {
	if x == nil {
		return nil
	}
	if s := x.Shape(); len(s) != 2 || s[0] != n {
		return fmt.Errorf("targets of shape %v for %d %ss", s, n, noun)
	}
	for i, v := range x.Data {
		if v == v && v-v != 0 {
			return fmt.Errorf("target %d of %s %d is %v", i%x.Dim(1), noun, i/x.Dim(1), v)
		}
	}
	return nil
}

// classSizes returns the number of nodes of each class, or of edges.
func (d *Dataset) classSizes() []int {
	n := make([]int, d.Classes)
	for _, labels := range [][]int32{d.Labels, d.EdgeLabels} {
		for _, c := range labels {
			if c >= 0 && int(c) < len(n) {
				n[c]++
			}
		}
	}
	if x := d.EdgeTargets; x != nil && d.Classes > 0 {
		for i, v := range x.Data {
			if v == 1 {
				n[i%x.Dim(1)]++
			}
		}
	}
	if m := d.MultiLabels; m != nil {
		for i, c := range m.Cols {
			if m.Values == nil || m.Values[i] == 1 {
				n[c]++
			}
		}
	}
	return n
}

// A file may say that there is more than it holds: columns of features that are zero
// everywhere and classes that nobody has take nothing in it, and nodes that are all
// alike next to nothing where it is compressed. But a training has weights for each
// column, a row in every layer for each node, and a score for each node and class. So
// there may be some of each, and more the more bytes a file has. What a reader itself
// takes is bounded by unpack.Budget and npy.Archive.
const (
	believedLeast = 1 << 16 // nodes or columns, and one for each byte
	scoresLeast   = 1 << 23 // and so many for each byte
	scoresPer     = 64
)

// sound is [Dataset.Check] of what a file of that many bytes holds, which must be
// believable, too.
func (d *Dataset) sound(bytes int64) error {
	if err := d.Check(); err != nil {
		return err
	}
	return d.believable(bytes)
}

// believable returns an error if a file of that many bytes cannot be meant to hold
// as many nodes, features or classes as it says.
func (d *Dataset) believable(bytes int64) error {
	n, width := d.Graph.NumNodes(), d.Features.Shape()[1]
	if err := believableNodes(n, bytes); err != nil {
		return err
	}
	if most := believed(bytes); int64(width) > most {
		return fmt.Errorf("%d features a node, in a file of %d bytes: each takes weights, so at most %d are believed: leave out those that are zero everywhere, or save the file without compression", width, bytes, most)
	}
	if x := d.EdgeFeatures; x != nil && int64(x.Dim(1)) > believed(bytes) {
		return fmt.Errorf("%d features an edge, in a file of %d bytes: each takes weights, so at most %d are believed: leave out those that are zero everywhere, or save the file without compression", x.Dim(1), bytes, believed(bytes))
	}
	most := min(believed(bytes), (scoresLeast+scoresPer*min(bytes, 1<<48))/int64(max(n, 1)))
	if int64(d.Classes) > most {
		return fmt.Errorf("%d classes of %d nodes, in a file of %d bytes: each node has a score of each class, so at most %d are believed: number the classes from 0 without gaps", d.Classes, n, bytes, most)
	}
	return nil
}

// believableNodes is believable of nodes alone, before anything is made for each.
func believableNodes(n int, bytes int64) error {
	if most := believed(bytes); int64(n) > most {
		return fmt.Errorf("%d nodes, in a file of %d bytes: each takes a row in every layer, so at most %d are believed: leave out those without edges, or save the file without compression", n, bytes, most)
	}
	return nil
}

// believed is how many nodes, and how many columns of features, a file of that many
// bytes may have.
func believed(bytes int64) int64 { return believedLeast + min(bytes, 1<<48) }
