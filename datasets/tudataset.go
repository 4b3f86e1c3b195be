package datasets

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// tuIndicator ends the name of the file that every dataset of that form has.
const tuIndicator = "_graph_indicator.txt"

// TUDataset reads graphs as Morris and others (2020) publish them, from a folder or an
// archive of NAME_A.txt (edges), NAME_graph_indicator.txt (the graph of each node) and
// perhaps NAME_graph_labels.txt, NAME_graph_attributes.txt, NAME_node_labels.txt,
// NAME_node_attributes.txt, NAME_edge_labels.txt and NAME_edge_attributes.txt.
//
// Features are the attributes and then, one-hot, the labels, as PyG has them. Labels of
// graphs, which may be words, are classes in their order; without, attributes of graphs are
// targets. Nodes and graphs are numbered from 1, or from 0 if one has that number. Edges
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
	folder   *unpack.Folder
	path     string
	prefix   string // of its files' names
	bytes    int64  // of the files, or of the archive
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
		return nil, fmt.Errorf("%s: there is no file NAME%s in it", at, tuIndicator)
	case len(all) > 1:
		return nil, fmt.Errorf("%s: there are several datasets in it, %s and %s among them: unpack it, and name the folder of one", at, all[0], all[1])
	}
	prefix := strings.TrimSuffix(unpack.Plain(all[0]), tuIndicator)
	return &tu{folder: f, path: at, prefix: prefix, d: &Graphs{Name: path.Base(prefix)}}, nil
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

// has reports whether there is a file of that ending.
func (t *tu) has(ending string) bool {
	return slices.ContainsFunc(t.folder.All(ending), func(name string) bool { return unpack.Plain(name) == t.prefix+ending })
}

// lines reads a file line by line: f is called with each one's fields, which stay as they
// are until the next.
func (t *tu) lines(ending string, f func(fields [][]byte, budget *unpack.Budget) error) error {
	r, err := t.folder.Open(t.prefix + ending)
	if err != nil {
		return err
	}
	defer r.Close()
	file := filepath.Join(t.path, filepath.FromSlash(t.prefix)+ending)
	if err := eachRow(r, func(fields [][]byte) error { return f(fields, r.Budget) }); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	t.bytes = max(min(r.Budget.Packed(), 1<<48), t.bytes)
	return nil
}

// rowMost is the length of the longest line of numbers that is read.
const rowMost = 1 << 20

// eachRow calls f with the fields of each line that is not empty. Between fields are
// commas or blanks.
func eachRow(r io.Reader, f func(fields [][]byte) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 1<<16), rowMost)
	var fields [][]byte
	line := 1
	for ; s.Scan(); line++ {
		if fields = cutFields(fields[:0], s.Bytes()); len(fields) == 0 {
			continue
		}
		if err := f(fields); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	err := s.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("it is longer than %d bytes", rowMost)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return nil
}

// cutFields appends the fields of a line. An empty one between commas is kept, for errors.
func cutFields(fields [][]byte, line []byte) [][]byte {
	at, end := 0, len(line)
	blank := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
	for end > 0 && blank(line[end-1]) {
		end--
	}
	for at < end {
		for at < end && blank(line[at]) {
			at++
		}
		start := at
		for at < end && line[at] != ',' && !blank(line[at]) {
			at++
		}
		fields = append(fields, line[start:at])
		for at < end && blank(line[at]) {
			at++
		}
		if at < end && line[at] == ',' {
			if at++; at == end {
				fields = append(fields, nil)
			}
		}
	}
	return fields
}

// whole returns the number that a field is, from 0 to 2³¹−2.
func whole(field []byte) (int32, error) {
	n := int64(0)
	for _, c := range field {
		if c < '0' || c > '9' || n >= 1<<31/10 {
			n = -1
			break
		}
		n = 10*n + int64(c-'0')
	}
	if n < 0 || len(field) == 0 {
		return 0, fmt.Errorf("%.40q is no number from 0 to %d", field, 1<<31/10*10-1)
	}
	return int32(n), nil
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
		x, err := t.numbers("_graph_attributes.txt")
		if err != nil {
			return err
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

// classesOf returns the class that each text is, which are numbered in the order of the
// numbers, or of the words.
func classesOf(texts []string) (labels []int32, names []string, err error) {
	names = slices.Compact(slices.Sorted(slices.Values(texts)))
	numeric := !slices.ContainsFunc(names, func(s string) bool { _, err := strconv.Atoi(s); return err != nil })
	if numeric {
		slices.SortFunc(names, func(a, b string) int {
			x, _ := strconv.Atoi(a)
			y, _ := strconv.Atoi(b)
			if x != y {
				return x - y
			}
			return strings.Compare(a, b)
		})
	}
	if err := notNames(len(names), len(texts)); err != nil {
		return nil, nil, fmt.Errorf("%d different labels of %d graphs are no classes: numbers to be learnt go into NAME_graph_attributes.txt", len(names), len(texts))
	}
	number := make(map[string]int32, len(names))
	for i, s := range names {
		number[s] = int32(i)
	}
	labels = make([]int32, len(texts))
	for i, s := range texts {
		labels[i] = number[s]
	}
	return labels, names, nil
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
		g, err = g.WithMembers(offsets)
	}
	return g, trimmed(order, int(end)), err
}

// readFeatures reads the features of nodes and of edges.
func (t *tu) readFeatures() (err error) {
	if t.d.Features, t.d.Attributes, err = t.features("_node", len(t.of)); err != nil {
		return err
	}
	x, _, err := t.features("_edge", len(t.src))
	if err != nil || x == nil {
		return err
	}
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
		y, err := t.numbers(ending)
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

// numbers reads a file of as many finite numbers in each line.
func (t *tu) numbers(ending string) (*tensor.Dense, error) {
	var values chunkedSlice[tensor.Float]
	rows, width := 0, 0
	err := t.lines(ending, func(fields [][]byte, budget *unpack.Budget) error {
		if rows++; rows == 1 {
			width = len(fields)
		}
		if len(fields) != width {
			return fmt.Errorf("%d numbers, want %d as in the first line", len(fields), width)
		}
		for _, field := range fields {
			f, err := strconv.ParseFloat(string(field), 64)
			v := tensor.Float(f)
			if err != nil || v-v != 0 {
				return fmt.Errorf("%.40q is no finite number", field)
			}
			values.add(v)
		}
		return budget.Keep(8 * width)
	})
	if err != nil {
		return nil, err
	}
	return tensor.Of(values.join(), rows, width), nil
}

// labelColumnsOf returns, for each column of x, a column for each value that it has, in order: 1
// where it has that value. Files of that many bytes are believed to mean so many numbers.
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
		sets = append(sets, set)
		width += len(set)
	}
	if most := scoresLeast + scoresPer*min(bytes, 1<<48); int64(width)*int64(n) > most {
		return nil, fmt.Errorf("%d different labels in %d lines are too many to have a column each, in files of %d bytes", width, n, bytes)
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
