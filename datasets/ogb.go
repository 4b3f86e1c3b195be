package datasets

import (
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/regular"
	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The files of OGB that every dataset of that form has, and one of two.
const (
	ogbNodes      = "num-node-list.csv"
	ogbEdges      = "num-edge-list.csv"
	ogbNodeLabel  = "node-label.csv"
	ogbGraphLabel = "graph-label.csv"
)

// OGB reads a graph as the Open Graph Benchmark publishes those whose nodes are to be told
// apart, from a folder or an archive of
//
//   - raw/edge.csv.gz: the two nodes of each edge, numbered from 0;
//   - raw/num-node-list.csv.gz, raw/num-edge-list.csv.gz: how many there are;
//   - raw/node-label.csv.gz: a class a node, or several columns, which are 0 and 1 or numbers;
//     nothing and nan are not known;
//   - raw/node-feat.csv.gz, raw/edge-feat.csv.gz, if there are any: numbers;
//   - split/NAME/train.csv.gz, valid.csv.gz, test.csv.gz: nodes. Of several splits the first
//     by its name is in use;
//   - raw/node_NAME.csv.gz: numbers or times that are no features, such as years; of several in a
//     line each is a column of its own, NAME_0 and so on.
//
// Edges keep their direction; #undirected after the path adds the other, as OGB's own loader
// does for some. Features are as published. Files like raw/node_year.csv.gz are NodeColumns. Of
// several splits that by time is the first, if there is one.
func OGB(path string) (*Dataset, error) {
	return readOGB(cutChosen(path))
}

// readOGB is OGB of a path, of whose columns something may have been said.
func readOGB(file string, said *chosen) (*Dataset, error) {
	o, err := openOGB(file, said)
	if err != nil {
		return nil, err
	}
	defer o.folder.Close()
	d, err := o.nodes()
	if err != nil {
		return nil, err
	}
	if err := d.sound(o.bytes); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if said.undirected {
		d = d.Undirected()
	}
	return d, nil
}

// OGBGraphs reads many graphs as the Open Graph Benchmark publishes them: the files of [OGB],
// but that raw/graph-label.csv.gz has a line a graph, as the lists of numbers have, that nodes
// are numbered from 0 in each graph, and splits are of graphs. Both directions of each edge
// are meant, as of molecules, unless #directed follows the path.
func OGBGraphs(path string) (*Graphs, error) {
	file, directed := strings.CutSuffix(path, "#directed")
	o, err := openOGB(file, new(chosen))
	if err != nil {
		return nil, err
	}
	defer o.folder.Close()
	d, err := o.graphs(!directed)
	if err != nil {
		return nil, err
	}
	if err := d.sound(o.bytes); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// ogb is a dataset while it is read.
type ogb struct {
	numberFiles
	name     string
	offsets  []int // where each graph's nodes begin
	edges    []int // where its edges begin
	src, dst []int32
	x, attr  *tensor.Dense // nil: none
}

// hasOGB reports whether a folder or archive is of that form.
func hasOGB(f *unpack.Folder) bool { return len(f.All(ogbNodes)) > 0 }

// isOGB is hasOGB of a folder on the disk, which is not listed for it.
func isOGB(dir string) bool {
	for _, sub := range []string{"raw", "."} {
		if (shelf{dir: filepath.Join(dir, sub)}).find(ogbNodes) != "" {
			return true
		}
	}
	return false
}

func openOGB(at string, said *chosen) (*ogb, error) {
	if len(said.labels)+len(said.without) > 0 {
		return nil, fmt.Errorf("%s: the files of OGB do not name their columns, so none can be chosen: leave out what follows #", at)
	}
	if info, err := os.Stat(at); err == nil && !info.IsDir() {
		if err := regular.File(at); err != nil {
			return nil, err
		}
	}
	f, err := unpack.OpenFolder(at)
	if err != nil {
		return nil, err
	}
	all := f.All(ogbNodes)
	switch {
	case len(all) == 0:
		err = fmt.Errorf("%s: there is no file raw/%s.gz in it", at, ogbNodes)
	case len(all) > 1:
		err = fmt.Errorf("%s: there are several datasets in it, %s and %s among them: unpack it, and name the folder of one", at, all[0], all[1])
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	o := &ogb{numberFiles: numberFiles{folder: f, path: at, prefix: strings.TrimSuffix(unpack.Plain(all[0]), ogbNodes)}, name: strings.TrimSuffix(stem(at), ".zip")}
	if root := o.root(); root != "" {
		o.name = path.Base(root)
	}
	return o, nil
}

// root returns the folder, within the archive, in which raw and split are.
func (o *ogb) root() string { return strings.TrimSuffix(o.prefix, "raw/") }

// nodes reads a graph whose nodes are to be told apart.
func (o *ogb) nodes() (*Dataset, error) {
	if !o.has(ogbNodeLabel) && o.has(ogbGraphLabel) {
		return nil, fmt.Errorf("%s: it has labels of graphs, %s%s: it is a dataset of many graphs, for ReadGraphs and --task graph", o.path, o.prefix, ogbGraphLabel)
	}
	if err := o.readCounts(); err != nil {
		return nil, err
	}
	if len(o.offsets) != 2 {
		return nil, fmt.Errorf("%s: %s%s: %d lines, want one: the number of nodes of the one graph whose nodes have labels", o.path, o.prefix, ogbNodes, len(o.offsets)-1)
	}
	d := &Dataset{Name: titleOf(o.name)}
	if err := o.learn(d, ogbNodeLabel, o.offsets[1], "node"); err != nil {
		return nil, err
	}
	if err := o.readRest(); err != nil {
		return nil, err
	}
	kept, err := d.simple(o.offsets[1], o.src, o.dst, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.path, err)
	}
	d.Features = identity(o.offsets[1])
	if o.x != nil {
		d.Features = stored(o.x)
	}
	if o.attr != nil {
		d.EdgeFeatures = GatherRows(o.attr, kept).(*tensor.Dense)
	}
	if d.NodeColumns, err = o.nodeColumns(o.offsets[1]); err != nil {
		return nil, err
	}
	splits, err := o.splits()
	if err == nil {
		d.setSplits(splits)
	}
	return d, err
}

// nodeColumns reads the files that say more of n nodes.
func (o *ogb) nodeColumns(n int) (columns []Column, err error) {
	for _, file := range o.folder.All(".csv") {
		name, ok := strings.CutPrefix(unpack.Plain(file), o.prefix+"node_")
		if !ok || strings.Contains(name, "/") {
			continue
		}
		if len(columns) == splitsMost {
			return nil, fmt.Errorf("%s: there are more than %d files %snode_NAME.csv in it", o.path, splitsMost, o.prefix)
		}
		read, err := o.columns("node_"+name, n)
		if err != nil {
			return nil, err
		}
		columns = append(columns, read...)
	}
	return columns, nil
}

// columns reads a file of as many numbers, times or gaps for each of n nodes: a column each.
func (o *ogb) columns(file string, n int) (columns []Column, err error) {
	var list []*moment
	name, rows := strings.TrimSuffix(file, ".csv"), 0
	err = o.lines(file, func(fields [][]byte, budget *unpack.Budget) error {
		if rows++; rows == 1 {
			if len(fields) > keysMost {
				return fmt.Errorf("%d numbers; at most %d are read", len(fields), keysMost)
			}
			for k := range fields {
				p := newMoment(name)
				if len(fields) > 1 {
					p.name += "_" + strconv.Itoa(k)
				}
				list = append(list, p)
			}
		}
		if len(fields) != len(list) {
			return fmt.Errorf("%d numbers, want %d as in the first line", len(fields), len(list))
		}
		for k, field := range fields {
			if list[k].add(field, rows); list[k].count[noTime] > 0 {
				return fmt.Errorf("%.40q is no number and no time", field)
			}
		}
		return budget.Keep(momentTakes * len(fields))
	})
	path := filepath.Join(o.path, filepath.FromSlash(o.prefix)+file)
	if err == nil && rows != n {
		err = fmt.Errorf("%s: %d lines for %d nodes", path, rows, n)
	}
	if err != nil {
		return nil, err
	}
	return (&moments{list: list, unit: "row"}).columns(path), nil
}

// graphs reads many graphs.
func (o *ogb) graphs(both bool) (*Graphs, error) {
	if !o.has(ogbGraphLabel) && o.has(ogbNodeLabel) {
		return nil, fmt.Errorf("%s: it has labels of nodes, %s%s: it is one graph, for Read and --task node", o.path, o.prefix, ogbNodeLabel)
	}
	if err := o.readCounts(); err != nil {
		return nil, err
	}
	learnt := new(Dataset)
	if err := o.learn(learnt, ogbGraphLabel, len(o.offsets)-1, "graph"); err != nil {
		return nil, err
	}
	if err := o.readRest(); err != nil {
		return nil, err
	}
	d := &Graphs{Name: o.name, Features: o.x, Labels: learnt.Labels, MultiLabels: learnt.MultiLabels, Targets: learnt.Targets, Classes: learnt.Classes, ClassNames: learnt.ClassNames}
	if d.Features != nil {
		d.Attributes = o.x.Dim(1)
	}
	listed := int32(len(o.src))
	if both {
		o.src, o.dst = slices.Concat(o.src, o.dst), slices.Concat(o.dst, o.src)
	}
	g, kept, err := d.disjoint(o.src, o.dst, o.offsets)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.path, err)
	}
	d.Graph = g
	if o.attr != nil {
		for i := range kept {
			kept[i] %= listed
		}
		d.EdgeFeatures, d.EdgeNumbers = GatherRows(o.attr, kept).(*tensor.Dense), o.attr.Dim(1)
	}
	splits, err := o.splits()
	if err != nil {
		return nil, err
	}
	if d.Split = splits[0]; len(splits) > 1 {
		d.Splits = splits
	}
	return d, nil
}

// readCounts reads how many nodes and edges each graph has.
func (o *ogb) readCounts() (err error) {
	if o.offsets, err = o.counts(ogbNodes); err != nil {
		return err
	}
	if o.edges, err = o.counts(ogbEdges); err != nil {
		return err
	}
	if n, m := len(o.offsets), len(o.edges); n != m {
		return fmt.Errorf("%s: %s%s has %d lines, and %s %d; want a line a graph in both", o.path, o.prefix, ogbNodes, n-1, ogbEdges, m-1)
	}
	if o.offsets[len(o.offsets)-1] == 0 {
		return fmt.Errorf("%s: %s%s: there are no nodes in it", o.path, o.prefix, ogbNodes)
	}
	return nil
}

// counts reads a number a graph, and returns the sums of those before.
func (o *ogb) counts(name string) ([]int, error) {
	sums := []int{0}
	return sums, o.lines(name, func(fields [][]byte, budget *unpack.Budget) error {
		if len(fields) != 1 {
			return fmt.Errorf("%d fields, want how many there are in a graph", len(fields))
		}
		n, err := whole(fields[0])
		if err != nil {
			return err
		}
		sum := int64(sums[len(sums)-1]) + int64(n)
		if sum > math.MaxInt32 {
			return fmt.Errorf("with this there are %d, more than 2³¹", sum)
		}
		sums = append(sums, int(sum))
		return budget.Keep(32)
	})
}

// learn gives d what a file says is to be learnt of n of what noun says.
func (o *ogb) learn(d *Dataset, name string, n int, noun string) error {
	var texts []string
	width := 0
	var values chunkedSlice[tensor.Float]
	err := o.lines(name, func(fields [][]byte, budget *unpack.Budget) error {
		if width == 0 {
			width = len(fields)
		}
		if len(fields) != width {
			return fmt.Errorf("%d labels, want %d as in the first line", len(fields), width)
		}
		if width == 1 {
			text := string(fields[0])
			if text == "nan" || text == `""` {
				text = ""
			}
			texts = append(texts, text)
			return budget.Keep(40 + len(fields[0]))
		}
		for _, field := range fields {
			v, ok := math.NaN(), len(field) == 0
			if !ok {
				v, ok = numberOf(field)
			}
			if !ok || math.IsInf(v, 0) {
				return fmt.Errorf("%.40q is no number: of several labels each is one, or nothing", field)
			}
			values.add(tensor.Float(v))
		}
		return budget.Keep(8 * width)
	})
	if err != nil {
		return err
	}
	rows := len(texts)
	if width > 1 {
		rows = values.n / width
	}
	if rows != n {
		return fmt.Errorf("%s: %s%s: %d lines for %d %ss", o.path, o.prefix, name, rows, n, noun)
	}
	if width > 1 {
		err = d.setAnswers(tensor.Of(values.join(), rows, width), nil)
	} else {
		err = d.setTexts(texts)
	}
	if err != nil {
		return fmt.Errorf("%s: %s%s: %w", o.path, o.prefix, name, err)
	}
	return nil
}

// readRest reads features and edges, and whether there may be so many nodes.
func (o *ogb) readRest() (err error) {
	last := len(o.offsets) - 1
	if o.x, err = o.features("node-feat.csv", o.offsets[last], "node"); err != nil {
		return err
	}
	if o.attr, err = o.features("edge-feat.csv", o.edges[last], "edge"); err != nil {
		return err
	}
	if err := o.readEdges(); err != nil {
		return err
	}
	if err := believableNodes(o.offsets[last], o.bytes); err != nil {
		return fmt.Errorf("%s: %w", o.path, err)
	}
	return nil
}

// features reads a row of numbers for each of n of what noun says, nil if there are none.
func (o *ogb) features(name string, n int, noun string) (*tensor.Dense, error) {
	if !o.has(name) {
		return nil, nil
	}
	x, err := o.numbers(name, false)
	if err == nil && x.Dim(0) != n {
		err = fmt.Errorf("%s: %s%s: %d lines for %d %ss", o.path, o.prefix, name, x.Dim(0), n, noun)
	}
	if err != nil || n == 0 {
		return nil, err
	}
	return x, nil
}

// readEdges reads the edges, those of each graph after those of the one before.
func (o *ogb) readEdges() error {
	var src, dst chunkedSlice[int32]
	g, all := 0, o.edges[len(o.edges)-1]
	err := o.lines("edge.csv", func(fields [][]byte, budget *unpack.Budget) error {
		if len(fields) != 2 {
			return fmt.Errorf("%d fields, want the two nodes of an edge", len(fields))
		}
		if src.n == all {
			return fmt.Errorf("it is one more edge than the %d that %s counts", all, ogbEdges)
		}
		for src.n == o.edges[g+1] {
			g++
		}
		u, err := whole(fields[0])
		if err != nil {
			return err
		}
		v, err := whole(fields[1])
		if err != nil {
			return err
		}
		if n := o.offsets[g+1] - o.offsets[g]; int(max(u, v)) >= n {
			return fmt.Errorf("the edge leads from node %d to node %d of graph %d, which has %d nodes, numbered from 0", u, v, g, n)
		}
		src.add(int32(o.offsets[g]) + u)
		dst.add(int32(o.offsets[g]) + v)
		return budget.Keep(2 * edgeTakes)
	})
	if err != nil {
		return err
	}
	if src.n != all {
		return fmt.Errorf("%s: %sedge.csv: %d edges, and %s counts %d", o.path, o.prefix, src.n, ogbEdges, all)
	}
	o.src, o.dst = src.join(), dst.join()
	return nil
}

// splits reads the splits, in the order of their names; without, there is one empty split.
func (o *ogb) splits() ([]Split, error) {
	files := numberFiles{folder: o.folder, path: o.path, prefix: o.root() + "split/"}
	if dir := filepath.Join(o.path, filepath.FromSlash(files.prefix)); isFolder(dir) {
		f, err := unpack.OpenFolder(dir) // it is deeper than a folder on the disk is looked into
		if err != nil {
			return nil, err
		}
		defer f.Close()
		files = numberFiles{folder: f, path: dir}
	}
	var splits []Split
	names := files.folder.All("/train.csv")
	byTime := func(name string) int { return btoi(!strings.HasSuffix(unpack.Plain(name), "/time/train.csv")) }
	slices.SortStableFunc(names, func(a, b string) int { return byTime(a) - byTime(b) })
	for _, name := range names {
		name, ok := strings.CutPrefix(strings.TrimSuffix(unpack.Plain(name), "train.csv"), files.prefix)
		if !ok {
			continue
		}
		if len(splits) == splitsMost {
			return nil, fmt.Errorf("%s: there are more than %d splits in it", files.path, splitsMost)
		}
		one := files
		one.prefix += name
		var s Split
		for _, p := range []struct {
			file string
			ids  *[]int32
		}{{"train.csv", &s.Train}, {"valid.csv", &s.Val}, {"test.csv", &s.Test}} {
			if err := one.ids(p.file, p.ids); err != nil {
				return nil, err
			}
		}
		splits = append(splits, s)
	}
	if splits == nil {
		splits = []Split{{}}
	}
	return splits, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ids reads numbers of nodes or graphs, which it sorts.
func (t *numberFiles) ids(name string, ids *[]int32) error {
	err := t.lines(name, func(fields [][]byte, budget *unpack.Budget) error {
		if len(fields) != 1 {
			return fmt.Errorf("%d fields, want one number", len(fields))
		}
		v, err := whole(fields[0])
		if err != nil {
			return err
		}
		*ids = append(*ids, v)
		return budget.Keep(16)
	})
	slices.Sort(*ids)
	return err
}
