package datasets

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/tensor"
)

// tuIndicator ends the name of the file that every dataset of that form has.
const tuIndicator = "_graph_indicator.txt"

// tuLabels ends the name of the file that says which class a graph is of.
const tuLabels = "_graph_labels.txt"

// TUDataset reads graphs as Morris and others (2020) publish them, from a folder or an
// archive of NAME_A.txt (edges), NAME_graph_indicator.txt (the graph of each node) and
// perhaps NAME_graph_labels.txt, NAME_graph_attributes.txt, NAME_node_labels.txt,
// NAME_node_attributes.txt, NAME_edge_labels.txt and NAME_edge_attributes.txt.
//
// Features are the attributes and then, one-hot, the labels, as PyG has them: a column for
// each whole number from the least to the largest, whether it occurs or not. Labels of graphs, which may be words, are classes in their order; without, attributes of graphs are
// targets, of which nan is not known. Nodes and graphs are numbered from 1, or from 0 if one has that number. Edges
// keep their direction; loops and repetitions are left out.
func TUDataset(path string) (*Graphs, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		if err := regular.File(path); err != nil {
			return nil, err
		}
	}
	f, err := unpack.OpenFolder(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := newTU(f, path)
	if err != nil {
		return nil, err
	}
	if err := t.read(); err != nil {
		return nil, err
	}
	if err := t.d.sound(t.bytes); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t.d, nil
}

// tu is a dataset while it is read.
type tu struct {
	numberFiles
	d        *Graphs
	of       []int32 // the graph of each node
	offsets  []int   // where each graph's nodes begin
	src, dst []int32 // as they are listed
	kept     []int32 // which of these each edge is
}

func newTU(f *unpack.Folder, at string) (*tu, error) {
	all := f.All(tuIndicator)
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("%s: there is no file NAME%s in it, which says which graph a node is in", at, tuIndicator)
	case len(all) > 1:
		return nil, fmt.Errorf("%s: there are several datasets in it, %s and %s among them: unpack it, and name the folder of one", at, all[0], all[1])
	}
	prefix := strings.TrimSuffix(unpack.Plain(all[0]), tuIndicator)
	return &tu{numberFiles: numberFiles{folder: f, path: at, prefix: prefix}, d: &Graphs{Name: path.Base(prefix)}}, nil
}

// read reads the files, those first by whose lengths others are checked.
func (t *tu) read() error {
	for _, step := range []func() error{t.readNodes, t.readGraphs, t.readEdges, t.build, t.readFeatures} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// readNodes reads the graph of each node.
func (t *tu) readNodes() error {
	var of chunkedSlice[int32]
	last := int32(0)
	err := t.lines(tuIndicator, func(fields [][]byte, budget *unpack.Budget) error {
		if len(fields) != 1 {
			return fmt.Errorf("%d fields, want the number of a graph", len(fields))
		}
		g, err := whole(fields[0])
		switch {
		case err != nil:
			return err
		case g < last:
			return fmt.Errorf("graph %d, after %d; the nodes of a graph stand together, and graphs ascend", g, last)
		}
		last = g
		of.add(g)
		return budget.Keep(16)
	})
	if err != nil {
		return err
	}
	if t.of = of.join(); len(t.of) == 0 {
		return fmt.Errorf("%s: there are no nodes in %s%s", t.path, t.prefix, tuIndicator)
	}
	if t.of[0] > 0 { // numbered from 1
		for v := range t.of {
			t.of[v]--
		}
	}
	return nil
}

// readGraphs reads what is to be learnt, and how many graphs there are.
func (t *tu) readGraphs() error {
	n := int(t.of[len(t.of)-1]) + 1
	switch {
	case t.has("_graph_labels.txt"):
		var texts []string
		err := t.lines("_graph_labels.txt", func(fields [][]byte, budget *unpack.Budget) error {
			if len(fields) != 1 {
				return fmt.Errorf("%d fields, want one label", len(fields))
			}
			texts = append(texts, string(fields[0]))
			return budget.Keep(40)
		})
		if err != nil {
			return err
		}
		if t.d.Labels, t.d.ClassNames, err = classesOf(texts); err != nil {
			return fmt.Errorf("%s: %s_graph_labels.txt: %w", t.path, t.prefix, err)
		}
		t.d.Classes = len(t.d.ClassNames)
	case t.has("_graph_attributes.txt"):
		x, err := t.numbers("_graph_attributes.txt", true)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(x.Data, func(v tensor.Float) bool { return v == v }) {
			return fmt.Errorf("%s: %s_graph_attributes.txt: nothing is known of what is to be learnt: all numbers are missing", t.path, t.prefix)
		}
		t.d.Targets = x
	}
	graphs := n
	switch {
	case t.d.Labels != nil:
		graphs = len(t.d.Labels)
	case t.d.Targets != nil:
		graphs = t.d.Targets.Dim(0)
	case int64(n) > believed(t.bytes):
		return fmt.Errorf("%s: %s%s: graph %d, in files of %d bytes", t.path, t.prefix, tuIndicator, n, t.bytes)
	}
	if n > graphs {
		return fmt.Errorf("%s: %s%s names graph %d, and there are labels of %d", t.path, t.prefix, tuIndicator, n, graphs)
	}
	t.offsets = make([]int, graphs+1)
	for _, g := range t.of {
		t.offsets[g+1]++
	}
	for i := range graphs {
		t.offsets[i+1] += t.offsets[i]
	}
	return nil
}

// readEdges reads the edges, whose ends are counted from 1, or from 0 if there is a 0.
func (t *tu) readEdges() error {
	var src, dst chunkedSlice[int32]
	n, base, largest := int32(len(t.of)), int32(1), int32(0)
	err := t.lines("_A.txt", func(fields [][]byte, budget *unpack.Budget) error {
		if len(fields) != 2 {
			return fmt.Errorf("%d fields, want the two nodes of an edge", len(fields))
		}
		u, err := whole(fields[0])
		if err != nil {
			return err
		}
		v, err := whole(fields[1])
		if err != nil {
			return err
		}
		if u == 0 || v == 0 {
			base = 0
		}
		if largest = max(largest, u, v); largest >= n+base {
			return fmt.Errorf("with this the nodes go from %d to %d, and there are %d", base, largest, n)
		}
		src.add(u)
		dst.add(v)
		return budget.Keep(edgeTakes)
	})
	if err != nil {
		return err
	}
	t.src, t.dst = src.join(), dst.join()
	for i := range t.src {
		t.src[i] -= base
		t.dst[i] -= base
		if a, b := t.of[t.src[i]], t.of[t.dst[i]]; a != b {
			return fmt.Errorf("%s: %s_A.txt: edge %d leads from graph %d to graph %d", t.path, t.prefix, i+1, a+1, b+1)
		}
	}
	return nil
}

// build makes the graph.
func (t *tu) build() (err error) {
	t.d.Graph, t.kept, err = t.d.disjoint(t.src, t.dst, t.offsets)
	if err != nil {
		err = fmt.Errorf("%s: %s_A.txt: %w", t.path, t.prefix, err)
	}
	return err
}

// readFeatures reads the features of nodes and of edges.
func (t *tu) readFeatures() (err error) {
	if t.d.Features, t.d.Attributes, err = t.features("_node", len(t.of)); err != nil {
		return err
	}
	x, numbers, err := t.features("_edge", len(t.src))
	if err != nil || x == nil {
		return err
	}
	t.d.EdgeNumbers = numbers
	t.d.EdgeFeatures = GatherRows(x, t.kept).(*tensor.Dense)
	return nil
}

// features reads the attributes and labels of what there is n of: their columns side by
// side, of which the first so many are attributes. Without files it returns nil.
func (t *tu) features(of string, n int) (x *tensor.Dense, attributes int, err error) {
	var parts []*tensor.Dense
	for _, ending := range []string{of + "_attributes.txt", of + "_labels.txt"} {
		if !t.has(ending) {
			continue
		}
		y, err := t.numbers(ending, false)
		if err == nil && y.Dim(0) != n {
			err = fmt.Errorf("%s: %s%s: %d lines for %d %ss", t.path, t.prefix, ending, y.Dim(0), n, of[1:])
		}
		if err == nil && strings.HasSuffix(ending, "_labels.txt") {
			if y, err = labelColumnsOf(y, t.bytes); err != nil {
				err = fmt.Errorf("%s: %s%s: %w", t.path, t.prefix, ending, err)
			}
		} else if err == nil {
			attributes = y.Dim(1)
		}
		if err != nil {
			return nil, 0, err
		}
		parts = append(parts, y)
	}
	switch len(parts) {
	case 0:
		return nil, 0, nil
	case 1:
		return parts[0], attributes, nil
	}
	x = tensor.New(n, parts[0].Dim(1)+parts[1].Dim(1))
	tensor.Concat(x, 1, parts...)
	return x, attributes, nil
}

// gapsMost is how many columns labels may have for each value that there is: beyond, only
// these have one.
const gapsMost = 8

// labelColumnsOf returns, for each column of x, a column for each whole number from its least
// to its largest, as PyG has it, or, where these leave too many out or are no whole numbers,
// for each value that it has: 1 where it has that value. Files of that many bytes are believed
// to mean so many numbers.
func labelColumnsOf(x *tensor.Dense, bytes int64) (*tensor.Dense, error) {
	var sets [][]tensor.Float
	n, width := x.Dim(0), 0
	for c := range x.Dim(1) {
		seen := map[tensor.Float]bool{}
		for v := range n {
			seen[x.Row(v)[c]] = true
		}
		set := make([]tensor.Float, 0, len(seen))
		for f := range seen {
			set = append(set, f)
		}
		slices.Sort(set)
		set = withGaps(set)
		sets = append(sets, set)
		width += len(set)
	}
	if err := notOneHot(width, n, bytes); err != nil {
		return nil, err
	}
	y := tensor.New(n, width)
	for v := range n {
		at := 0
		for c, set := range sets {
			k, _ := slices.BinarySearch(set, x.Row(v)[c])
			y.Row(v)[at+k] = 1
			at += len(set)
		}
	}
	return y, nil
}

// withGaps returns the whole numbers from the first to the last of a set that ascends, or the
// set if they are too many or others are among it.
func withGaps(set []tensor.Float) []tensor.Float {
	if len(set) == 0 || slices.ContainsFunc(set, func(v tensor.Float) bool { return v != tensor.Float(int64(v)) }) {
		return set
	}
	least, largest := set[0], set[len(set)-1]
	if largest-least >= tensor.Float(gapsMost*len(set)) {
		return set
	}
	var all []tensor.Float
	for v := least; v <= largest; v++ {
		all = append(all, v)
	}
	return all
}
