package form

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/cells"
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

// ogbForm is a graph, or many, as the Open Graph Benchmark publishes them, in a folder or an archive of
//
//   - raw/edge.csv.gz: the two nodes of each edge, numbered from 0 in each graph;
//   - raw/num-node-list.csv.gz, raw/num-edge-list.csv.gz: how many there are, of many graphs a line each;
//   - raw/node-label.csv.gz, or of many graphs raw/graph-label.csv.gz: a class, or several columns, which are 0 and 1 or
//     numbers; nothing and nan are not known;
//   - raw/node-feat.csv.gz, raw/edge-feat.csv.gz, if there are any: numbers;
//   - split/NAME/train.csv.gz, valid.csv.gz, test.csv.gz: nodes, or graphs. Of several splits that by time is the first, if
//     there is one, and else the first by its name;
//   - raw/node_NAME.csv.gz: numbers or times that are no features, such as years; of several in a
//     line each is a column of its own, NAME_0 and so on.
//
// Of one graph edges keep their direction; of many both directions of each are meant, as of molecules.
var ogbForm = Form{
	Name: "ogb", Endings: []string{"raw/num-node-list.csv"}, Says: "a graph, or many, as the Open Graph Benchmark publishes them: raw/num-node-list.csv and others",
	Under: []string{"raw", "split"},
	Opens: func(names []string) (main string, err error) {
		if main, err = theOne(names, ogbNodes); main == "" && err == nil && slices.ContainsFunc(names, func(name string) bool {
			plain := unpack.Plain(name)
			return strings.HasSuffix(plain, "raw/"+ogbGraphLabel) || strings.HasSuffix(plain, "raw/"+ogbNodeLabel)
		}) {
			err = fmt.Errorf("there is no file raw/%s.gz in it", ogbNodes)
		}
		return main, err
	},
	Belongs: func(names []string, main string) (all []string) {
		raw := strings.TrimSuffix(unpack.Plain(main), ogbNodes)
		split := strings.TrimSuffix(raw, "raw/") + "split/"
		for _, name := range names {
			plain := unpack.Plain(name)
			if part, ok := strings.CutPrefix(plain, raw); ok && (slices.Contains(ogbParts, part) || isNodeColumn(part)) || strings.HasPrefix(plain, split) && strings.HasSuffix(plain, ".csv") {
				all = append(all, name)
			}
		}
		return all
	},
	Read: func(f *Files, main string, _ Options) (*Raw, error) {
		o := &ogb{numberFiles: numberFiles{files: f, prefix: strings.TrimSuffix(unpack.Plain(main), ogbNodes)}}
		if err := o.read(); err != nil {
			return nil, err
		}
		o.raw.Name, o.raw.Size = strings.TrimSuffix(stem(f.Path), ".zip"), f.Size()
		if root := o.root(); root != "" {
			o.raw.Name = path.Base(root)
		}
		return &o.raw, nil
	},
}

// ogbParts are the files beside those of more columns.
var ogbParts = []string{ogbNodes, ogbEdges, ogbNodeLabel, ogbGraphLabel, "edge.csv", "node-feat.csv", "edge-feat.csv"}

// isNodeColumn reports whether a file says more of nodes.
func isNodeColumn(name string) bool {
	return strings.HasPrefix(name, "node_") && strings.HasSuffix(name, ".csv") && !strings.Contains(name, "/")
}

// ogb is a dataset while it is read.
type ogb struct {
	numberFiles
	offsets []int // where each graph's nodes begin
	edges   []int // where its edges begin
	raw     Raw
}

// root returns the folder, within the archive, in which raw and split are.
func (o *ogb) root() string { return strings.TrimSuffix(o.prefix, "raw/") }

// table returns a table of so many rows of a file.
func (o *ogb) table(rows int, file string) Table {
	return Table{Rows: rows, Origin: Origin{File: o.at(file), First: 1}}
}

// read reads the files, those first by whose lengths others are checked.
func (o *ogb) read() error {
	if err := o.readCounts(); err != nil {
		return err
	}
	graphs := len(o.offsets) - 1
	nodes, edges := o.offsets[graphs], o.edges[graphs]
	o.raw.Nodes = []Nodes{{Listed: nodes, Table: o.table(nodes, ogbNodeLabel)}}
	learnt, label, noun := &o.raw.Nodes[0].Table, ogbNodeLabel, "node"
	if o.has(ogbGraphLabel) && (!o.has(ogbNodeLabel) || graphs > 1) {
		o.raw.Graphs = &Graphs{Table: o.table(graphs, ogbGraphLabel), Offsets: o.offsets}
		learnt, label, noun = &o.raw.Graphs.Table, ogbGraphLabel, "graph"
		o.raw.Nodes[0].Origin = Origin{File: o.at("node-feat.csv"), First: 1}
	} else if graphs != 1 {
		return o.wrongCounts(graphs)
	}
	if err := o.learn(learnt, label, noun); err != nil {
		return err
	}
	if err := o.features(&o.raw.Nodes[0].Table, "node-feat.csv", "node"); err != nil {
		return err
	}
	e := Edges{Table: o.table(edges, "edge.csv"), Undirected: noun == "graph"}
	if err := o.features(&e.Table, "edge-feat.csv", "edge"); err != nil {
		return err
	}
	if err := o.readEdges(&e); err != nil {
		return err
	}
	o.raw.Edges = []Edges{e}
	if err := o.nodeColumns(); err != nil {
		return err
	}
	return o.splits(Of(noun))
}

func (o *ogb) wrongCounts(lines int) error {
	return fmt.Errorf("%s: %s%s: %d lines, want one: the number of nodes of the one graph whose nodes have labels", o.files.Path, o.prefix, ogbNodes, lines)
}

// nodeColumns reads the files that say more of nodes.
func (o *ogb) nodeColumns() error {
	files := 0
	for _, file := range o.files.Names() {
		name, ok := strings.CutPrefix(unpack.Plain(file), o.prefix)
		if !ok || !isNodeColumn(name) {
			continue
		}
		if files++; files > splitsMost {
			return fmt.Errorf("%s: there are more than %d files %snode_NAME.csv in it", o.files.Path, splitsMost, o.prefix)
		}
		if err := o.columns(name); err != nil {
			return err
		}
	}
	return nil
}

// columns reads a file of as many numbers, times or gaps for each node: a column each, which is no feature.
func (o *ogb) columns(file string) error {
	var list []cells.List
	name, nodes, rows := strings.TrimSuffix(file, ".csv"), &o.raw.Nodes[0].Table, 0
	err := o.lines(file, func(fields [][]byte, budget *unpack.Budget) error {
		if rows++; rows == 1 {
			if len(fields) > keysMost {
				return fmt.Errorf("%d numbers; at most %d are read", len(fields), keysMost)
			}
			list = make([]cells.List, len(fields))
		}
		if len(fields) != len(list) {
			return fmt.Errorf("%d numbers, want %d as in the first line", len(fields), len(list))
		}
		takes := textTakes * len(fields)
		for k, field := range fields {
			if cells.IsGone(field) {
				field = nil
			} else if !cells.SaysWhen(field) {
				return fmt.Errorf("%.40q is no number and no time", field)
			}
			list[k].Add(field)
			takes += len(field)
		}
		return budget.Keep(takes)
	})
	if err == nil && rows != nodes.Rows {
		err = fmt.Errorf("%s: %d lines for %d nodes", o.at(file), rows, nodes.Rows)
	}
	if err != nil {
		return err
	}
	origin := Origin{File: o.at(file), Unit: "row", First: 1}
	for k := range list {
		c := typed(numbered(name, k, len(list)), &list[k], false, &origin)
		c.Role = AsTime
		c.wholeTimes()
		nodes.Columns = append(nodes.Columns, c)
		list[k] = cells.List{}
	}
	return nil
}

// wholeTimes makes times, such as years, of numbers that are all whole.
func (c *Column) wholeTimes() {
	if c.Type != Number || slices.ContainsFunc(c.Numbers, func(v float64) bool { return v == v && (v != math.Trunc(v) || math.Abs(v) > 1<<53) }) {
		return
	}
	c.Type, c.Times = Time, make([]int64, len(c.Numbers))
	for row, v := range c.Numbers {
		if c.Times[row] = NoTime; v == v {
			c.Times[row] = int64(v)
		}
	}
	c.Numbers = nil
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
		return fmt.Errorf("%s: %s%s has %d lines, and %s %d; want a line a graph in both", o.files.Path, o.prefix, ogbNodes, n-1, ogbEdges, m-1)
	}
	if o.offsets[len(o.offsets)-1] == 0 {
		return fmt.Errorf("%s: %s%s: there are no nodes in it", o.files.Path, o.prefix, ogbNodes)
	}
	return nil
}

// counts reads a number a graph, and returns the sums of those before.
func (o *ogb) counts(name string) ([]int, error) {
	sums := []int{0}
	err := o.lines(name, func(fields [][]byte, budget *unpack.Budget) error {
		if len(fields) != 1 {
			return fmt.Errorf("%d fields, want how many there are in a graph", len(fields))
		}
		n, err := wholeNumber(fields[0])
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
	return sums, err
}

// learn gives the rows of a table what a file says is to be learnt of them.
func (o *ogb) learn(of *Table, name, noun string) error {
	var texts cells.List
	values, width := wide{gaps: true}, 0
	err := o.lines(name, func(fields [][]byte, budget *unpack.Budget) error {
		if width == 0 {
			width = len(fields)
		}
		if len(fields) != width {
			return fmt.Errorf("%d labels, want %d as in the first line", len(fields), width)
		}
		if width == 1 {
			if string(fields[0]) == `""` {
				fields[0] = nil
			}
			texts.Add(fields[0])
			return budget.Keep(textTakes + len(fields[0]))
		}
		for _, field := range fields {
			v, ok := math.NaN(), cells.IsEmpty(field)
			if !ok {
				v, ok = cells.NumberOf(field)
			}
			if f := tensor.Float(v); !ok || math.IsInf(float64(f), 0) {
				return fmt.Errorf("%.40q is no number: of several labels each is one, or nothing", field)
			}
			if err := values.add(v, "the line", -1); err != nil {
				return err
			}
		}
		if err := values.end("the line", -1); err != nil {
			return err
		}
		return budget.Keep(values.takes())
	})
	if err != nil {
		return err
	}
	if rows := max(texts.N, values.rows); rows != of.Rows {
		return o.wrong(name, "%d lines for %d %ss", rows, of.Rows, noun)
	}
	var c Column
	if title := strings.TrimSuffix(name, ".csv"); width == 1 {
		c = typed(title, &texts, false, &of.Origin)
		c.Role = AsLabel
	} else {
		c = values.column(title, AsLabel)
		known := false
		for _, v := range c.Matrix.Values {
			if v == v {
				known = true
				if v != 0 && v != 1 {
					c.Role = AsTarget
				}
			}
		}
		if !known {
			return o.wrong(name, "nothing is known of what is to be learnt: all numbers are missing")
		}
	}
	of.Columns = append(of.Columns, c)
	return nil
}

// features gives the rows of a table a row of numbers each, if there is that file.
func (o *ogb) features(of *Table, name, noun string) error {
	if !o.has(name) {
		return nil
	}
	x, err := o.numbers(name, false)
	if err != nil {
		return err
	}
	if x.rows != of.Rows {
		return o.wrong(name, "%d lines for %d %ss", x.rows, of.Rows, noun)
	}
	if x.rows > 0 {
		of.Columns = append(of.Columns, x.column(strings.TrimSuffix(name, ".csv"), AsFeature))
	}
	return nil
}

// readEdges reads the edges, those of each graph after those of the one before.
func (o *ogb) readEdges(e *Edges) error {
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
		u, err := wholeNumber(fields[0])
		if err != nil {
			return err
		}
		v, err := wholeNumber(fields[1])
		if err != nil {
			return err
		}
		if n := o.offsets[g+1] - o.offsets[g]; int(max(u, v)) >= n {
			return fmt.Errorf("the edge leads from node %d to node %d of graph %d, which has %d nodes, numbered from 0", u, v, g, n)
		}
		src.add(int32(o.offsets[g]) + u)
		dst.add(int32(o.offsets[g]) + v)
		return budget.Keep(16)
	})
	if err != nil {
		return err
	}
	if src.n != all {
		return fmt.Errorf("%s: %sedge.csv: %d edges, and %s counts %d", o.files.Path, o.prefix, src.n, ogbEdges, all)
	}
	e.Source, e.Target = src.join(), dst.join()
	return nil
}

// splits reads the splits, that by time first and the others in the order of their names.
func (o *ogb) splits(of Of) error {
	prefix := o.root() + "split/"
	var names []string
	for _, name := range o.files.Names() {
		name, split := strings.CutPrefix(unpack.Plain(name), prefix)
		if name, train := strings.CutSuffix(name, "/train.csv"); split && train && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > splitsMost {
		return fmt.Errorf("%s: there are more than %d splits in it", o.files.At(strings.TrimSuffix(prefix, "/")), splitsMost)
	}
	slices.SortStableFunc(names, func(a, b string) int { return btoi(path.Base(a) != "time") - btoi(path.Base(b) != "time") })
	for _, name := range names {
		one, s := numberFiles{files: o.files, prefix: prefix + name + "/"}, Split{Name: name, Of: of}
		for _, p := range []struct {
			file string
			ids  *[]int32
		}{{"train.csv", &s.Train}, {"valid.csv", &s.Val}, {"test.csv", &s.Test}} {
			var err error
			if *p.ids, err = one.ids(p.file); err != nil {
				return err
			}
			slices.Sort(*p.ids)
		}
		o.raw.Splits = append(o.raw.Splits, s)
	}
	return nil
}
