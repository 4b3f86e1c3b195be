package form

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/internal/pickle"
	"github.com/edgewise-ml/edgewise/tensor"
)

// npzForm is a graph as the arrays of an .npz. Its edges are one of
//
//   - adj_matrix, a pickled csr_matrix, or adj_indptr, adj_indices, adj_shape and
//     perhaps adj_data: the form of Shchur and others' GraphData, in which an
//     element (u, v) is an edge from u to v. As in PyG and DGL both directions of
//     it are taken, and its value is not;
//   - indptr and indices, as SaveNPZ of datasets writes them: the sources of the edges into each node, as they are;
//   - edge_index, as PyG has it: a row of sources and one of destinations, as they are;
//   - edges, as Platonov and others' heterophilous graphs have it: a row of two nodes an
//     edge, which stands there once and of which both directions are taken; but as they are
//     where the file is called NAME_directed.npz, as theirs are that have directions.
//
// The features are node_attr, attr_matrix, features, node_features, x or feat, pickled
// or dense, or attr_indptr and so on. The labels are labels, label, y, node_label or
// node_labels: a class a node, −1 or NaN for none; words, which are classes in their
// order; or a row of zeros and ones a node, which may have several classes, unless there
// is a single one in every row. Numbers that are not whole, or called targets, are to be
// predicted; of these and of zeros and ones NaN is not known. The edges may have edge_attr,
// a row of features each, and edge_labels, a class each, −1 for none, or edge_targets; splits are of edges
// then. The splits are train, val and test, or train_idx and so on, which hold rows, or train_mask,
// val_mask and test_mask, which hold for each row whether it is in that part; masks of two axes are several splits. There may be
// class_names, node_names, feature_names, feature_codes and edge_attr_codes (the columns of features that hold numbers of words, and how
// many words each has), and weights or edge_weight; node_type and edge_type, numbers from 0 of the kinds of
// nodes and edges, or node_kinds and node_kind_names; and columns: node_columns, their names; node_column_dated, whether each is of times;
// and node_column_0 and so on, of times int64 in microseconds since 1970, and so of edges.
var npzForm = Form{
	Name:    "npz",
	Endings: []string{".npz"},
	Says:    "the arrays of a graph as NumPy saves them: edge_index, x, y and others",
	Opens:   func(names []string) (string, error) { return only(ending(names, ".npz")) },
	Read:    readNPZ,
}

// The names under which archives hold what a dataset is made of.
var (
	graphArrays   = []string{"adj_matrix", "adj_indptr", "indptr", "edge_index", "edges"}
	featureArrays = []string{"node_attr", "attr_matrix", "attr_indptr", "features", "node_features", "x", "feat"}
	labelArrays   = []string{"labels", "node_label", "node_labels", "label", "y", "targets"}
	weightArrays  = []string{"weights", "edge_weight", "edge_weights"}

	edgeFeatureArrays = []string{"edge_attr", "edge_features", "edge_feat"}
	edgeLabelArrays   = []string{"edge_labels", "edge_label", "edge_targets"}
)

// What an archive may hold at most.
const (
	arrayColumnsMost = 256     // columns that have names
	kindsMost        = 1 << 16 // kinds without names
	splitsMost       = 100
)

// npz is an archive while it is read.
type npz struct {
	archive
	nodes  Nodes
	edges  Edges
	n      int     // nodes; −1: nothing has said yet
	labels *answer // of nodes or of edges; nil: none
	doubt  string
}

// readNPZ reads an archive.
func readNPZ(f *Files, main string, _ Options) (*Raw, error) {
	if strings.HasSuffix(main, ".gz") || strings.HasSuffix(main, ".zst") {
		return nil, fmt.Errorf("%s: only texts are read in gzip or zstd: unpack it first", f.At(main))
	}
	a, err := openArchive(f, main)
	if err != nil {
		return nil, err
	}
	defer a.close()
	z := &npz{archive: a, n: -1}
	if z.first(graphArrays...) == "" {
		return nil, fmt.Errorf("%s: there is no graph in it: want one of the arrays %s; it has %s", z.path, strings.Join(graphArrays, ", "), z.Contents())
	}
	z.nodes.Origin = Origin{File: z.path, Unit: "node"}
	z.edges.Origin = Origin{File: z.path, Unit: "edge"}
	for _, read := range []func() error{z.readFeatures, z.readLabels, z.readGraph, z.readNames, z.readColumns} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	of, rows := OfNodes, z.n
	if z.labels != nil && z.labels.of == OfEdges {
		of, rows = OfEdges, z.edges.Rows
	}
	splits, err := z.splits(rows, of)
	if err != nil {
		return nil, err
	}
	return &Raw{Nodes: []Nodes{z.nodes}, Edges: []Edges{z.edges}, Splits: splits, Doubt: z.doubt}, nil
}

// says takes note of how many nodes an array has rows for, if it is the first that says so.
func (z *npz) says(rows int) {
	if z.n < 0 {
		z.n = rows
	}
}

// readFeatures reads the features, if there are any.
func (z *npz) readFeatures() (err error) {
	var x tensor.Array
	name := z.first(featureArrays...)
	switch name {
	case "":
		return nil
	case "attr_indptr":
		name = "attr"
		x, err = nilIfError(z.plain(name))
	default:
		x, err = z.matrix(name)
	}
	if err != nil {
		return err
	}
	m := MatrixOf(x)
	if m.Codes, err = z.codes("feature_codes", m.Cols); err != nil {
		return err
	}
	z.nodes.Columns = append(z.nodes.Columns, Column{Name: name, Type: Many, Matrix: m, Role: AsFeature})
	z.says(m.Rows)
	return nil
}

// codes reads which of so many columns of features hold codes: a row of the column and how many words it has, for each.
func (z *npz) codes(name string, width int) ([][2]int, error) {
	if !z.Has(name) {
		return nil, nil
	}
	a, err := z.Read(name)
	if err != nil {
		return nil, err
	}
	x, err := a.Int32s()
	if err != nil {
		return nil, z.wrong(name, "%w", err)
	}
	if len(a.Shape) != 2 || a.Shape[1] != 2 || len(x)/2 > width {
		return nil, z.wrong(name, "its shape is %v, want 2 columns: one of the %d features, and how many words it has", a.Shape, width)
	}
	var codes [][2]int
	for i := 0; i < len(x); i += 2 {
		at, words := int(x[i]), int(x[i+1])
		if at < 0 || at >= width || words < 0 || i > 0 && codes[i/2-1][0] >= at {
			return nil, z.wrong(name, "row %d is %d and %d: want columns from 0 to %d that ascend, and how many words each has", i/2, at, words, width-1)
		}
		codes = append(codes, [2]int{at, words})
	}
	return codes, nil
}

// readGraph reads the graph, in whichever form it is.
func (z *npz) readGraph() (err error) {
	name := z.first(graphArrays...)
	switch name {
	case "adj_matrix", "adj_indptr":
		err = z.readAdjacency(name)
	case "indptr":
		err = z.readIncoming()
	default:
		err = z.readEdges(name)
	}
	if err != nil {
		return err
	}
	z.edges.Rows = len(z.edges.Source)
	if err := z.checkRows(); err != nil {
		return fmt.Errorf("%s: %w", z.path, err)
	}
	if strings.HasPrefix(name, "adj_") {
		return nil
	}
	return z.readEdgeValues()
}

// endsTake is what an edge takes while it is read, beside the array.
const endsTake = 8

// readAdjacency reads a matrix whose elements are edges, of which both directions are meant.
func (z *npz) readAdjacency(name string) error {
	m, err := z.plainOr(name)
	if err != nil {
		return err
	}
	if m.Rows != m.Cols {
		return fmt.Errorf("%s: the adjacency is %d × %d, want it square", z.path, m.Rows, m.Cols)
	}
	if len(m.Columns) > math.MaxInt32/2 {
		return fmt.Errorf("%s: %d edges are too many for both of their directions", z.path, len(m.Columns))
	}
	z.edges.Undirected, z.edges.Neighbours = true, true
	z.edges.Target = m.Columns
	z.edges.Source, err = z.rowOfEach(m.Offsets)
	z.says(m.Rows)
	return z.listed(m.Rows, err)
}

// plainOr returns the adjacency, pickled or as arrays.
func (z *npz) plainOr(name string) (*Matrix, error) {
	if name == "adj_indptr" {
		a, err := z.plain("adj")
		if err != nil {
			return nil, err
		}
		return MatrixOf(a), nil
	}
	a, err := z.Read(name)
	if err != nil {
		return nil, err
	}
	adj, err := z.csr(name, a)
	if err != nil {
		return nil, err
	}
	return MatrixOf(adj), nil
}

// rowOfEach returns the row of each element of a matrix whose rows begin at the offsets.
func (z *npz) rowOfEach(offsets []int64) ([]int32, error) {
	count := int(offsets[len(offsets)-1])
	if err := z.Keep(count, endsTake); err != nil {
		return nil, err
	}
	rows := make([]int32, count)
	for v := range len(offsets) - 1 {
		for k := offsets[v]; k < offsets[v+1]; k++ {
			rows[k] = int32(v)
		}
	}
	return rows, nil
}

// listed takes the number of nodes that the file lists, which stand in it whether they have edges or not.
func (z *npz) listed(rows int, err error) error {
	if err == nil && z.n != rows {
		return z.differ(rows)
	}
	return err
}

// differ is the error for features or labels of another number of nodes.
func (z *npz) differ(rows int) error {
	z.n = rows
	if err := z.checkRows(); err != nil {
		return fmt.Errorf("%s: %w", z.path, err)
	}
	return nil
}

// readIncoming reads indptr and indices: a graph as it was saved.
func (z *npz) readIncoming() error {
	in, err := z.incoming()
	if err != nil {
		return err
	}
	z.edges.Source, z.edges.Saved = in.Cols, true
	z.edges.Target, err = z.rowOfEach(in.Offsets)
	z.says(in.NumRows)
	return z.listed(in.NumRows, err)
}

// readEdges reads a list of edges: edge_index, as PyG has it, a row of sources and one
// of destinations, or edges, a row of two nodes an edge, of which both directions are
// meant. Either may be turned. There are as many nodes as rows of features, or labels, or
// as num_nodes says; else the last is the largest.
func (z *npz) readEdges(name string) error {
	a, err := z.Read(name)
	if err != nil {
		return err
	}
	ids, err := a.Int32s()
	if err != nil {
		return z.wrong(name, "%w", err)
	}
	if err := z.Keep(len(ids), endsTake); err != nil {
		return err
	}
	src, dst, ok := endsOf(ids, a.Shape, name == "edge_index")
	if !ok {
		return z.wrong(name, "its shape is %v, want 2 rows or 2 columns: the two nodes of each edge", a.Shape)
	}
	if err := z.countNodes(name, src, dst); err != nil {
		return err
	}
	for k := range src {
		for _, v := range []int32{src[k], dst[k]} {
			if v < 0 || int(v) >= z.n {
				return z.wrong(name, "edge %d is %d to %d; the nodes are 0 to %d%s", k, src[k], dst[k], z.n-1, fromOne(z.n, int(slices.Min(ids)), int(slices.Max(ids))))
			}
		}
	}
	z.edges.Source, z.edges.Target = src, dst
	z.edges.Undirected = name == "edges" && !strings.HasSuffix(stem(z.path), "_directed")
	if z.edges.Undirected && len(src) > math.MaxInt32/2 {
		return z.wrong(name, "%d edges are too many for both of their directions", len(src))
	}
	return nil
}

// countNodes says how many nodes there are, if neither features nor labels did.
func (z *npz) countNodes(name string, src, dst []int32) error {
	switch {
	case z.n >= 0:
	case z.Has("num_nodes"):
		a, err := z.Read("num_nodes")
		if err != nil {
			return err
		}
		one, err := a.Int32s()
		if err == nil && (len(one) != 1 || one[0] < 0) {
			err = fmt.Errorf("it holds %v, want one number", one)
		}
		if err != nil {
			return z.wrong("num_nodes", "%w", err)
		}
		z.n = int(one[0])
	default:
		z.n = 0
		least := int32(math.MaxInt32)
		for k := range src {
			z.n, least = max(z.n, int(src[k])+1, int(dst[k])+1), min(least, src[k], dst[k])
		}
		if len(src) > 0 && least >= 1 {
			z.doubt = beginAtOne(fmt.Sprintf("%s: in array %q", z.path, name), "add num_nodes to the file")
		}
	}
	return nil
}

// beginAtOne is the doubt of edges of which nothing says between how many nodes they lead, and none
// has an end 0.
func beginAtOne(where, say string) string {
	return fmt.Sprintf("%s no edge has an end 0, and nothing says how many nodes there are: node 0 has no edges. If the numbers begin at 1, subtract 1 from all; if they do not, %s", where, say)
}

// fromOne is what an error adds where edges between n nodes seem to number them from 1, as
// MATLAB and R do: the least of the numbers is not 0, and the largest is n.
func fromOne(n, least, largest int) string {
	if least < 1 || largest != n {
		return ""
	}
	return ". Indices seem to begin at 1: subtract 1 from all ends of edges"
}

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

// checkRows checks that features and labels have a row for each node, now that it is known how many there are.
func (z *npz) checkRows() error {
	z.nodes.Rows, z.nodes.Listed = z.n, z.n
	for i := range z.nodes.Columns {
		if m := z.nodes.Columns[i].Matrix; m.Rows != z.n {
			return fmt.Errorf("features of shape %v for %d nodes", []int{m.Rows, m.Cols}, z.n)
		}
	}
	if z.labels == nil {
		return nil
	}
	return z.labels.check(z.n)
}

// readEdgeValues reads the weights, the features and the labels of edges, if there are any.
func (z *npz) readEdgeValues() error {
	edges := z.edges.Rows
	if err := z.readWeights(edges); err != nil {
		return err
	}
	if name := z.first(edgeFeatureArrays...); name != "" {
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
		m := MatrixOf(x)
		if m.Codes, err = z.codes("edge_attr_codes", m.Cols); err != nil {
			return err
		}
		z.edges.Columns = append(z.edges.Columns, Column{Name: name, Type: Many, Matrix: m, Role: AsFeature})
	}
	name := z.first(edgeLabelArrays...)
	if name == "" {
		return nil
	}
	if z.labels != nil {
		return z.wrong(name, "there are labels of nodes, too: leave one of them out")
	}
	return z.readEdgeLabels(name, edges)
}

// readWeights reads the weights of so many edges.
func (z *npz) readWeights(edges int) error {
	name := z.first(weightArrays...)
	if name == "" {
		return nil
	}
	a, err := z.column(name)
	if err != nil {
		return err
	}
	values, err := elements(z.archive, name, a, (*npy.Array).Float64s)
	if err == nil && len(values) != edges {
		err = z.wrong(name, "%d weights for %d edges", len(values), edges)
	}
	if err == nil {
		err = z.wrongIf(name, finite(values))
	}
	z.edges.Columns = append(z.edges.Columns, Column{Name: name, Type: Number, Numbers: values, Role: AsWeight})
	return err
}

// column reads an array of one dimension, which other frameworks also write as one column of two.
func (z archive) column(name string) (*npy.Array, error) {
	a, err := z.Read(name)
	if err == nil && len(a.Shape) == 2 && a.Shape[1] == 1 {
		a.Shape = a.Shape[:1]
	}
	return a, err
}

// readNames reads the names of classes, nodes and features.
func (z *npz) readNames() error {
	classes, err := z.names("class_names")
	if err != nil {
		return err
	}
	titles, err := z.names("node_names")
	if err != nil {
		return err
	}
	if titles != nil {
		if len(titles) != z.n {
			return fmt.Errorf("%s: %d names for %d nodes", z.path, len(titles), z.n)
		}
		if words := (&Words{Texts: titles}); allDifferent(titles) {
			z.nodes.IDs = words
		} else {
			z.nodes.Columns = append(z.nodes.Columns, Column{Name: "node_names", Type: Word, Words: words, Role: AsTitle})
		}
	}
	features, err := z.names("feature_names")
	if err != nil {
		return err
	}
	if features != nil {
		x := z.nodes.Column(z.featuresName())
		if x == nil || len(features) != x.Matrix.Cols {
			cols := z.n // without features they are the identity
			if x != nil {
				cols = x.Matrix.Cols
			}
			return fmt.Errorf("%s: %d names for %d features", z.path, len(features), cols)
		}
		x.Matrix.Names = features
	}
	if z.Has("metadata") {
		if classes, err = z.metadata(classes); err != nil {
			return err
		}
	}
	return z.readAnswers(classes)
}

// allDifferent reports whether each text is there once and none is empty.
func allDifferent(texts []string) bool {
	sorted := slices.Sorted(slices.Values(texts))
	return len(slices.Compact(sorted)) == len(texts) && (len(texts) == 0 || sorted[0] != "")
}

// featuresName returns the name of the column that the features are.
func (z *npz) featuresName() string {
	if name := z.first(featureArrays...); name != "attr_indptr" {
		return name
	}
	return "attr"
}

// metadata returns the names of classes in the dictionary that is metadata, or else those that are known.
func (z *npz) metadata(classes []string) ([]string, error) {
	a, err := z.Read("metadata")
	if err != nil {
		return nil, err
	}
	v, err := z.object("metadata", a)
	if err != nil {
		return nil, err
	}
	dict, ok := v.(*pickle.Dict)
	if !ok {
		return nil, z.wrong("metadata", "it holds %s, want a dictionary", kindOf(v))
	}
	if names := dict.Get("class_names"); names != nil {
		if classes, err = stringsOf(names); err != nil {
			return nil, z.wrong("metadata", "class_names: %w", err)
		}
	}
	if z.labels != nil && len(classes) < z.labels.classes {
		return nil, nil // published so: names of only some classes name none
	}
	return classes, nil
}

// readAnswers adds the column of what is to be learnt, whose classes have these names.
func (z *npz) readAnswers(classes []string) error {
	if z.labels == nil {
		if len(classes) > 0 {
			return fmt.Errorf("%s: %d names for 0 classes", z.path, len(classes))
		}
		return nil
	}
	c, err := z.labels.column(classes)
	if err != nil {
		return fmt.Errorf("%s: %w", z.path, err)
	}
	to := &z.nodes.Table
	if z.labels.of == OfEdges {
		to = &z.edges.Table
	}
	to.Columns = append(to.Columns, c)
	return nil
}
