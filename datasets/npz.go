package datasets

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/internal/pickle"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// NPZ reads a dataset from an .npz. Its graph is one of
//
//   - adj_matrix, a pickled csr_matrix, or adj_indptr, adj_indices, adj_shape and
//     perhaps adj_data: the form of Shchur and others' GraphData, in which an
//     element (u, v) is an edge from u to v. As in PyG and DGL both directions of
//     it are taken, and its value is not;
//   - indptr and indices, as [ReadGraph] has it and [Dataset.WriteNPZ] writes it:
//     the sources of the edges into each node, as they are;
//   - edge_index, as PyG has it: a row of sources and one of destinations, as they are;
//   - edges, as Platonov and others' heterophilous graphs have it: a row of two nodes an
//     edge, which stands there once and of which both directions are taken; but as they are
//     where the file is called NAME_directed.npz, as theirs are that have directions.
//
// The features are node_attr, attr_matrix, features, node_features, x or feat, pickled
// or dense, or attr_indptr and so on; without, they are the identity matrix. Dense ones
// that are mostly zeros become a CSR. The labels are labels, label, y, node_label or
// node_labels: a class a node, −1 or NaN for none; words, which are classes in their
// order; or a row of zeros and ones a node, which may have several classes, unless there
// is a single one in every row. Numbers that are not whole, or called targets, are to be
// predicted; of these and of zeros and ones NaN is not known. The edges may have edge_attr,
// a row of features each, and edge_labels, a class each, −1 for none; splits are of edges
// then. The splits are as [ReadSplits] has them. There may be class_names,
// node_names, feature_names, and weights or edge_weight; node_type and edge_type, numbers from 0 of the kinds of
// nodes and edges; and what NodeColumns, EdgeColumns, NodeKinds and EdgeKinds hold, as WriteNPZ
// writes it: of columns node_columns, their names; node_column_dated, whether each is of times;
// and node_column_0 and so on, of times int64 in microseconds since 1970. The error names the file, the array, and the
// first thing that is wrong.
func NPZ(path string) (*Dataset, error) {
	z, err := openArchive(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	d := &Dataset{Name: titleOf(name)}
	if z.first(graphNames...) == "" {
		return nil, fmt.Errorf("%s: there is no graph in it: want one of the arrays %s; it has %s", z.path, strings.Join(graphNames, ", "), z.Contents())
	}
	for _, read := range []func(archive) error{d.readFeatures, d.readLabels, d.readGraph, d.readNames} {
		if err := read(z); err != nil {
			return nil, err
		}
		if d.Graph == nil {
			continue
		}
		if err := believableNodes(d.Graph.NumNodes(), z.Size()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if d.Features == nil {
		d.Features = identity(d.Graph.NumNodes())
	}
	of, noun := d.Graph.NumNodes(), "node"
	if d.LearnsEdges() {
		of, noun = d.Graph.NumEdges(), "edge"
	}
	splits, err := splitsOf(z, of, noun)
	if err != nil {
		return nil, err
	}
	d.setSplits(splits)
	if err := d.sound(z.Size()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// endsTake is what both directions of an edge take while a graph is made of them.
const endsTake = 16

// readGraph reads the graph, in whichever form it is.
func (d *Dataset) readGraph(z archive) (err error) {
	var adj *sparse.CSR
	switch name := z.first(graphNames...); name {
	case "adj_matrix":
		a, readErr := z.Read("adj_matrix")
		if readErr != nil {
			return readErr
		}
		adj, err = z.csr("adj_matrix", a)
	case "adj_indptr":
		adj, err = z.plain("adj")
	case "indptr":
		return d.readIncoming(z)
	default:
		return d.readEdges(z, name)
	}
	if err != nil {
		return err
	}
	if adj.NNZ() > math.MaxInt32/2 {
		return fmt.Errorf("%s: %d edges are too many for both of their directions", z.path, adj.NNZ())
	}
	if adj.NumRows != adj.NumCols {
		return fmt.Errorf("%s: the adjacency is %d × %d, want it square", z.path, adj.NumRows, adj.NumCols)
	}
	if err := z.Keep(adj.NNZ(), endsTake); err != nil {
		return err
	}
	ends := make([]int32, 0, 2*adj.NNZ())
	for u := range adj.NumRows {
		cols, _ := adj.Row(u)
		for _, v := range cols {
			ends = append(ends, int32(u), v)
		}
	}
	e := bothDirections(adj.NumRows, ends)
	d.loops = e.loops
	d.Graph, err = graph.FromCSR(e.in)
	return err
}

// readIncoming reads indptr and indices.
func (d *Dataset) readIncoming(z archive) (err error) {
	if d.Graph, err = incoming(z); err == nil {
		d.Weights, err = z.weights(d.Graph.NumEdges())
	}
	if err == nil {
		n := d.Graph.NumEdges()
		err = d.readEdgeValues(z, n, span(0, n))
	}
	return err
}

// readFeatures reads the features, if there are any.
func (d *Dataset) readFeatures(z archive) (err error) {
	switch name := z.first(featureNames...); name {
	case "":
		return nil
	case "attr_indptr":
		d.Features, err = nilIfError(z.plain("attr"))
	default:
		d.Features, err = z.matrix(name)
	}
	if x, ok := d.Features.(*tensor.Dense); ok && err == nil {
		d.Features = stored(x)
	}
	return err
}

// readLabels reads what is to be learnt, if there is anything.
func (d *Dataset) readLabels(z archive) (err error) {
	name := z.first(labelNames...)
	if name == "" {
		return nil
	}
	a, err := z.Read(name)
	if err != nil {
		return err
	}
	if name == "targets" {
		d.Targets, err = z.answers(name, a)
		return err
	}
	if len(a.Shape) == 2 && a.Shape[1] == 1 && name != "labels" && name != "node_label" {
		a.Shape = a.Shape[:1] // a column of classes; in our own form it is whether a node has the one class
	}
	if len(a.Shape) == 2 {
		return d.readMultiLabels(z, name, a)
	}
	if words, ok := z.words(name, a); ok && len(a.Shape) == 1 {
		return z.wrongIf(name, d.setWords(words))
	}
	if !a.Pickled && strings.Contains(a.Type, "f") {
		wide, err := elements(z, name, a, (*npy.Array).Float64s)
		if err != nil {
			return err
		}
		return z.wrongIf(name, d.setNumbers(wide))
	}
	labels, err := elements(z, name, a, (*npy.Array).Int32s)
	if err != nil {
		return err
	}
	return z.wrongIf(name, d.setClasses(labels))
}

// words returns the elements of an array of strings.
func (z archive) words(name string, a *npy.Array) ([]string, bool) {
	if !a.Pickled {
		words, err := a.Strings()
		return words, err == nil
	}
	v, err := z.object(name, a)
	if err != nil {
		return nil, false
	}
	words, err := stringsOf(v)
	return words, err == nil
}

// readMultiLabels reads a row of zeros and ones a node.
func (d *Dataset) readMultiLabels(z archive, name string, a *npy.Array) error {
	x, err := z.answers(name, a)
	if err != nil {
		return err
	}
	for i, v := range x.Data {
		if v == v && v != 0 && v != 1 {
			return z.wrong(name, "row %d, column %d is %v, want 0 or 1, or NaN for what is not known: the values of a regression go into \"targets\"", i/x.Dim(1), i%x.Dim(1), v)
		}
	}
	d.MultiLabels, d.Classes = sparse.FromDense(x), x.Dim(1)
	if labels, ok := single(d.MultiLabels); ok {
		d.Labels, d.MultiLabels = labels, nil
	}
	return nil
}

// single returns the class of each node if each has one of several.
func single(m *sparse.CSR) ([]int32, bool) {
	if notFinite(m.Values) >= 0 {
		return nil, false
	}
	for v := range m.NumRows {
		if m.Offsets[v+1] != int64(v)+1 {
			return nil, false
		}
	}
	return m.Cols, m.NumCols > 1
}

// readNames reads class_names and node_names, or those of class_names in the
// dictionary that is metadata.
func (d *Dataset) readNames(z archive) (err error) {
	names, err := z.names("class_names")
	if err != nil {
		return err
	}
	if names != nil { // words are their own
		d.ClassNames = names
	}
	if d.NodeNames, err = z.names("node_names"); err != nil {
		return err
	}
	if d.FeatureNames, err = z.names("feature_names"); err != nil {
		return err
	}
	if d.NodeColumns, err = z.columns("node", d.Graph.NumNodes()); err != nil {
		return err
	}
	if d.NodeKinds, err = z.kinds("node", d.Graph.NumNodes()); err != nil {
		return err
	}
	if !z.Has("metadata") {
		return nil
	}
	a, err := z.Read("metadata")
	if err != nil {
		return err
	}
	v, err := z.object("metadata", a)
	if err != nil {
		return err
	}
	dict, ok := v.(*pickle.Dict)
	if !ok {
		return z.wrong("metadata", "it holds %s, want a dictionary", kindOf(v))
	}
	if names := dict.Get("class_names"); names != nil {
		if d.ClassNames, err = stringsOf(names); err != nil {
			return z.wrong("metadata", "class_names: %w", err)
		}
	}
	if len(d.ClassNames) < d.Classes {
		d.ClassNames = nil // published so: names of only some classes name none
	}
	return nil
}
