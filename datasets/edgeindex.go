package datasets

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The names under which archives hold what a dataset is made of.
var (
	graphNames   = []string{"adj_matrix", "adj_indptr", "indptr", "edge_index", "edges"}
	featureNames = []string{"node_attr", "attr_matrix", "attr_indptr", "features", "node_features", "x", "feat"}
	labelNames   = []string{"labels", "node_label", "node_labels", "label", "y", "targets"}
	weightNames  = []string{"weights", "edge_weight", "edge_weights"}

	edgeFeatureNames = []string{"edge_attr", "edge_features", "edge_feat"}
	edgeLabelNames   = []string{"edge_labels", "edge_label", "edge_targets"}
)

// readEdges reads a list of edges: edge_index, as PyG has it, a row of sources and one
// of destinations, or edges, a row of two nodes an edge, of which both directions are
// meant. Either may be turned. There are as many nodes as rows of features, or labels, or
// as num_nodes says; else the last is the largest.
func (d *Dataset) readEdges(z archive, name string) error {
	a, err := z.Read(name)
	if err != nil {
		return err
	}
	ids, err := a.Int32s()
	if err != nil {
		return z.wrong(name, "%w", err)
	}
	if err := z.Keep(len(ids), endsTake+weightTakes); err != nil {
		return err
	}
	src, dst, ok := endsOf(ids, a.Shape, name == "edge_index")
	if !ok {
		return z.wrong(name, "its shape is %v, want 2 rows or 2 columns: the two nodes of each edge", a.Shape)
	}
	n, err := d.nodesOf(z, name, src, dst)
	if err != nil {
		return err
	}
	for k := range src {
		for _, v := range []int32{src[k], dst[k]} {
			if v < 0 || int(v) >= n {
				return z.wrong(name, "edge %d is %d to %d; the nodes are 0 to %d%s", k, src[k], dst[k], n-1, fromOne(n, int(slices.Min(ids)), int(slices.Max(ids))))
			}
		}
	}
	weights, err := z.weights(len(src))
	if err != nil {
		return err
	}
	kept, err := d.simple(n, src, dst, weights)
	if err != nil {
		return fmt.Errorf("%s: %w", z.path, err)
	}
	if err := d.readEdgeValues(z, len(src), kept); err != nil {
		return err
	}
	if name == "edges" && !strings.HasSuffix(stem(z.path), "_directed") {
		if d.Graph.NumEdges() > math.MaxInt32/2 {
			return z.wrong(name, "%d edges are too many for both of their directions", d.Graph.NumEdges())
		}
		*d = *d.Undirected()
	}
	return nil
}

// fromOne is what an error adds where edges between n nodes seem to number them from 1, as
// MATLAB and R do: the least of the numbers is not 0, and the largest is n.
func fromOne(n, least, largest int) string {
	if least < 1 || largest != n {
		return ""
	}
	return ". Indices seem to begin at 1: subtract 1 from all ends of edges"
}

// fromOneOf is fromOne of a list of edges that is not empty.
func fromOneOf(n int, edges [][2]int) string {
	least, largest := edges[0][0], 0
	for _, e := range edges {
		least, largest = min(least, e[0], e[1]), max(largest, e[0], e[1])
	}
	return fromOne(n, least, largest)
}

// readEdgeValues reads the features and the labels of so many edges, if there are any: of
// those that the graph has kept, in its order.
func (d *Dataset) readEdgeValues(z archive, edges int, kept []int32) error {
	if name := z.first(edgeFeatureNames...); name != "" {
		a, err := z.Read(name)
		if err != nil {
			return err
		}
		x, err := z.dense(name, a)
		if err != nil {
			return err
		}
		if x.Dim(0) != edges {
			return z.wrong(name, "its shape is %v, want a row for each of %d edges", a.Shape, edges)
		}
		if err := z.Keep(len(x.Data), 4); err != nil {
			return err
		}
		d.EdgeFeatures = GatherRows(x, kept).(*tensor.Dense)
	}
	columns, err := z.columns("edge", edges)
	if err != nil {
		return err
	}
	d.EdgeColumns = rowsOf(columns, kept)
	kinds, err := z.kinds("edge", edges)
	if err != nil {
		return err
	}
	d.EdgeKinds = kinds.carried(kept)
	name := z.first(edgeLabelNames...)
	if name == "" {
		return nil
	}
	if d.Labels != nil || d.MultiLabels != nil || d.Targets != nil {
		return z.wrong(name, "there are labels of nodes, too: leave one of them out")
	}
	if name == "edge_targets" {
		return d.readEdgeTargets(z, name, edges, kept)
	}
	labels, err := vector(z, name, (*npy.Array).Int32s)
	if err == nil && len(labels) != edges {
		err = z.wrong(name, "%d labels for %d edges", len(labels), edges)
	}
	if err != nil {
		return err
	}
	of := new(Dataset)
	if err := of.setClasses(labels); err != nil {
		return z.wrong(name, "%w", err)
	}
	d.EdgeLabels, d.Classes = pick(labels, kept), of.Classes
	return nil
}

// readEdgeTargets reads a row of numbers an edge, of which kept are those of the graph.
func (d *Dataset) readEdgeTargets(z archive, name string, edges int, kept []int32) error {
	a, err := z.Read(name)
	if err != nil {
		return err
	}
	x, err := z.answers(name, a)
	if err != nil {
		return err
	}
	if x.Rows() != edges {
		return z.wrong(name, "%d rows for %d edges", x.Rows(), edges)
	}
	if err := z.Keep(len(x.Data), 4); err != nil {
		return err
	}
	of := new(Dataset)
	if err := of.setAnswers(x, nil); err != nil {
		return z.wrong(name, "%w", err)
	}
	d.EdgeTargets, d.Classes = GatherRows(x, kept).(*tensor.Dense), of.Classes
	return nil
}

// weightTakes is what the weights of an edge's two directions take.
const weightTakes = 8

// endsOf returns the two ends of each edge of an array of two rows or two columns, of
// which rows says which is meant if there are two of both.
func endsOf(ids []int32, shape []int, rows bool) (src, dst []int32, ok bool) {
	if len(shape) != 2 || shape[0] != 2 && shape[1] != 2 {
		return nil, nil, false
	}
	if shape[0] == 2 && (rows || shape[1] != 2) {
		return ids[:shape[1]:shape[1]], ids[shape[1]:], true
	}
	src, dst = make([]int32, shape[0]), make([]int32, shape[0])
	for k := range src {
		src[k], dst[k] = ids[2*k], ids[2*k+1]
	}
	return src, dst, true
}

// nodesOf returns how many nodes there are.
func (d *Dataset) nodesOf(z archive, name string, src, dst []int32) (int, error) {
	switch {
	case d.Features != nil:
		return d.Features.Shape()[0], nil
	case d.Labels != nil:
		return len(d.Labels), nil
	case d.MultiLabels != nil:
		return d.MultiLabels.NumRows, nil
	case d.Targets != nil:
		return d.Targets.Shape()[0], nil
	}
	n := 0
	if z.Has("num_nodes") {
		a, err := z.Read("num_nodes")
		if err != nil {
			return 0, err
		}
		one, err := a.Int32s()
		if err == nil && (len(one) != 1 || one[0] < 0) {
			err = fmt.Errorf("it holds %v, want one number", one)
		}
		if err != nil {
			return 0, z.wrong("num_nodes", "%w", err)
		}
		n = int(one[0])
	} else {
		least := int32(math.MaxInt32)
		for k := range src {
			n, least = max(n, int(src[k])+1, int(dst[k])+1), min(least, src[k], dst[k])
		}
		if len(src) > 0 && least >= 1 {
			d.doubt = beginAtOne(fmt.Sprintf("%s: in array %q", z.path, name), "add num_nodes to the file")
		}
	}
	if err := believableNodes(n, z.Size()); err != nil {
		return 0, z.wrong(name, "%w", err)
	}
	return n, nil
}

// column reads an array of one dimension, which other frameworks also write as one column of two.
func (z archive) column(name string) (*npy.Array, error) {
	a, err := z.Read(name)
	if err == nil && len(a.Shape) == 2 && a.Shape[1] == 1 {
		a.Shape = a.Shape[:1]
	}
	return a, err
}

// weights reads the weights of so many edges, nil if there are none.
func (z archive) weights(edges int) ([]tensor.Float, error) {
	name := z.first(weightNames...)
	if name == "" {
		return nil, nil
	}
	a, err := z.column(name)
	if err != nil {
		return nil, err
	}
	values, err := elements(z, name, a, numbers)
	if err == nil && len(values) != edges {
		err = z.wrong(name, "%d weights for %d edges", len(values), edges)
	}
	return values, err
}
