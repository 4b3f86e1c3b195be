package datasets

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Dataset is a graph with what is known of its nodes. Of Labels, MultiLabels and
// Targets one is set, or none.
type Dataset struct {
	Name     string
	Graph    *graph.Graph   // each edge once, no self-loops
	Weights  []tensor.Float // of each edge, in the graph's order; nil: 1
	Features tensor.Array   // a row a node, as published: *sparse.CSR or *tensor.Dense

	Labels      []int32       // a class a node; −1: none
	MultiLabels *sparse.CSR   // the classes of each node, for those that have several
	Targets     *tensor.Dense // the values of each node, for regression
	Classes     int           // of Labels or of MultiLabels

	Split      Split    // which nodes are for training
	Splits     []Split  // those that there are if they are several; Split is the first
	ClassNames []string // empty if they have none
	NodeNames  []string // empty if they have none

	dangling int // edges of the raw data whose ends are not both nodes
	loops    int // self-loops of the raw data, which are not in Graph
	repeated int // edges of the raw data that stood there already
}

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
	if err := d.checkLabels(n); err != nil {
		return err
	}
	if len(d.ClassNames) > 0 && len(d.ClassNames) != d.Classes {
		return fmt.Errorf("%d names for %d classes", len(d.ClassNames), d.Classes)
	}
	if len(d.NodeNames) > 0 && len(d.NodeNames) != n {
		return fmt.Errorf("%d names for %d nodes", len(d.NodeNames), n)
	}
	for k, s := range d.Splits {
		if err := s.Check(n); err != nil {
			return fmt.Errorf("split %d: %w", k, err)
		}
	}
	return d.Split.Check(n)
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

// notFinite returns where x is NaN or infinite, −1 if nowhere.
func notFinite(x []tensor.Float) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

// checkLabels checks what is to be learnt.
func (d *Dataset) checkLabels(n int) error {
	kinds := 0
	for _, has := range []bool{d.Labels != nil, d.MultiLabels != nil, d.Targets != nil} {
		if has {
			kinds++
		}
	}
	if kinds > 1 {
		return fmt.Errorf("of labels, multiple labels and targets there are %d, want one", kinds)
	}
	if d.Labels != nil && len(d.Labels) != n {
		return fmt.Errorf("%d labels for %d nodes", len(d.Labels), n)
	}
	for v, c := range d.Labels {
		if c < -1 && d.Classes == 0 {
			return fmt.Errorf("the label of node %d is %d; classes are numbered from 0, and -1 is none", v, c)
		}
		if c < -1 || int(c) >= d.Classes {
			return fmt.Errorf("the label of node %d is %d; classes are 0 to %d, and -1 is none", v, c, d.Classes-1)
		}
	}
	if m := d.MultiLabels; m != nil && (m.NumRows != n || m.NumCols != d.Classes) {
		return fmt.Errorf("labels of shape %v for %d nodes and %d classes", m.Shape(), n, d.Classes)
	}
	if d.Targets == nil {
		return nil
	}
	if s := d.Targets.Shape(); len(s) != 2 || s[0] != n {
		return fmt.Errorf("targets of shape %v for %d nodes", s, n)
	}
	if i := notFinite(d.Targets.Data); i >= 0 {
		return fmt.Errorf("target %d of node %d is %v", i%d.Targets.Shape()[1], i/d.Targets.Shape()[1], d.Targets.Data[i])
	}
	return nil
}

// classSizes returns the number of nodes of each class.
func (d *Dataset) classSizes() []int {
	n := make([]int, d.Classes)
	for _, c := range d.Labels {
		if c >= 0 && int(c) < len(n) {
			n[c]++
		}
	}
	if m := d.MultiLabels; m != nil {
		for _, c := range m.Cols {
			n[c]++
		}
	}
	return n
}

// floats narrows numbers, which it checks to be finite.
func floats(x []float64) ([]tensor.Float, error) {
	out := make([]tensor.Float, len(x))
	for k, f := range x {
		if out[k] = tensor.Float(f); math.IsNaN(f) || math.IsInf(float64(out[k]), 0) {
			return nil, fmt.Errorf("element %d is %v", k, f)
		}
	}
	return out, nil
}
