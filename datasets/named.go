package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/unpack"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// names numbers the ids of nodes, texts, in the order in which they turn up.
type names struct {
	of   map[string]int32
	list []string
	at   []int // the line or the element in which each turned up

	budget *unpack.Budget // of the file that they are in
}

// nameTakes is what an id takes while it is read and a dataset is made, in bytes,
// beside its text.
const nameTakes = 150

// number returns the number of an id, a new one if it has none. A whole number that is
// written as a float, as pandas does beside gaps, is that number.
func (n *names) number(id []byte, at int) (k int32, known bool, err error) {
	id = wholeOf(id)
	if k, known = n.of[string(id)]; known {
		return k, true, nil
	}
	if err := n.budget.Keep(nameTakes + len(id)); err != nil {
		return 0, false, err
	}
	if n.of == nil {
		n.of = map[string]int32{}
	}
	k = int32(len(n.list))
	text := string(id)
	n.of[text], n.list, n.at = k, append(n.list, text), append(n.at, at)
	return k, false, nil
}

// wholeOf returns "7" of "7.0", and any other id as it is.
func wholeOf(id []byte) []byte {
	digits, ok := bytes.CutSuffix(id, []byte(".0"))
	if !ok || len(digits) == 0 || len(bytes.Trim(digits, "0123456789")) > 0 {
		return id
	}
	return digits
}

// order returns the ids in the order of their nodes: whole numbers ascend, and others
// come as they turned up.
func (n *names) order() []int32 {
	order := span(0, len(n.list))
	numbers := make([]int64, len(n.list))
	for i, id := range n.list {
		v, err := strconv.ParseInt(id, 10, 64)
		if err != nil || strconv.FormatInt(v, 10) != id {
			return order
		}
		numbers[i] = v
	}
	slices.SortFunc(order, func(a, b int32) int {
		if numbers[a] < numbers[b] {
			return -1
		}
		return 1
	})
	return order
}

// namedEdges is a list of edges between nodes that have ids.
type namedEdges struct {
	path     string
	unit     string // what names.at counts: lines, or elements
	names    names
	src, dst chunkedSlice[int32]
	weights  chunkedSlice[tensor.Float]
	weighted bool
	both     bool                       // both directions of each are meant
	back     []int32                    // of these, if not both
	labels   []string                   // of edges; nil: none
	learnt   []string                   // columns of edges that were chosen to be learnt
	answers  chunkedSlice[tensor.Float] // of these, if they are several
	parts    []uint8                    // of the split of edges; nil: there is none
	cells    *columns                   // of their features; nil: none
	moments  *moments                   // columns that say when; nil: none
	unread   []string                   // what the file says and nothing reads
}

// note remembers a member that nothing reads.
func (e *namedEdges) note(key string) {
	if len(e.unread) < namesMost && !slices.Contains(e.unread, key) {
		e.unread = append(e.unread, key)
	}
}

// add adds an edge of that weight; without one it is 1.
func (e *namedEdges) add(u, v []byte, at int) error {
	if e.src.n == math.MaxInt32/2 {
		return errors.New("there are more than 2³⁰ edges")
	}
	if len(u) == 0 || len(v) == 0 {
		return errors.New("an end of the edge is empty")
	}
	if err := e.names.budget.Keep(edgeTakes + weightTakes); err != nil {
		return err
	}
	s, _, err := e.names.number(u, at)
	if err != nil {
		return err
	}
	t, _, err := e.names.number(v, at)
	if err != nil {
		return err
	}
	e.src.add(s)
	e.dst.add(t)
	if e.weighted {
		e.weights.add(1)
	}
	return nil
}

// weigh gives the last edge a weight.
func (e *namedEdges) weigh(w float64) error {
	if v := tensor.Float(w); v-v != 0 {
		return fmt.Errorf("the weight is %v, want a finite number", w)
	}
	if !e.weighted {
		e.weighted = true
		for range e.src.n {
			e.weights.add(1)
		}
	}
	e.weights.last[len(e.weights.last)-1] = tensor.Float(w)
	return nil
}

// The parts of a split that a node may be in.
const (
	inNone = iota
	inTrain
	inVal
	inTest
)

// namedNodes is what a file says of nodes that have ids, in its order.
type namedNodes struct {
	path   string
	names  names
	labels []string // nil: none
	parts  []uint8  // inTrain and so on; nil: there is no split
	titles []string // what nodes are called beside their ids; nil: nothing
	x      *sparse.CSR
	called []string // the columns of x; nil: they have no names
	kinds  *Kinds   // of the rows; nil: nothing says so

	moments *moments      // columns that say when; nil: none
	learnt  []string      // columns that were chosen to be learnt
	targets *tensor.Dense // of them, if they are several
}

// dataset returns the dataset of edges and of what is said of their nodes, of which the
// first file says which there are; without, they are those of the edges.
func (e *namedEdges) dataset(tables []*namedNodes) (*Dataset, error) {
	ids, of := &e.names, e.path
	if len(tables) > 0 {
		ids, of = &tables[0].names, tables[0].path
	}
	if e.src.n == 0 {
		return nil, fmt.Errorf("%s: there are no edges in it", e.path)
	}
	if len(ids.list) == 0 {
		return nil, fmt.Errorf("%s: there are no nodes in it", of)
	}
	order := ids.order()
	place := make([]int32, len(order))
	d := &Dataset{NodeNames: make([]string, len(order)), unread: e.unread}
	for i, k := range order {
		place[k], d.NodeNames[i] = int32(i), ids.list[k]
	}
	node := make([]int32, len(e.names.list))
	for i, id := range e.names.list {
		k, ok := ids.of[id]
		if !ok {
			return nil, fmt.Errorf("%s: %s %d: node %.40q is not in %s: add it there, or leave its edges out", e.path, e.unit, e.names.at[i], id, of)
		}
		node[i] = place[k]
	}
	if err := e.connect(d, node); err != nil {
		return nil, fmt.Errorf("%s: %w", e.path, err)
	}
	for _, t := range tables {
		if err := t.describe(d, ids, order); err != nil {
			return nil, fmt.Errorf("%s: %w", t.path, err)
		}
	}
	if d.Features == nil {
		d.Features = identity(len(order))
	}
	size := e.names.budget.Packed()
	for _, t := range tables {
		size = max(size, t.names.budget.Packed())
	}
	if err := d.sound(size); err != nil {
		return nil, fmt.Errorf("%s: %w", of, err)
	}
	return d, nil
}

// connect makes d's graph of the edges, which it uses up: node is the place of each id.
func (e *namedEdges) connect(d *Dataset, node []int32) error {
	src, dst := e.src.join(), e.dst.join()
	for k := range src {
		src[k], dst[k] = node[src[k]], node[dst[k]]
	}
	var weights []tensor.Float
	if e.weighted {
		weights = e.weights.join()
	}
	listed := len(src)
	if !e.both {
		for _, k := range e.back {
			src, dst = append(src, dst[k]), append(dst, src[k])
			if weights != nil {
				weights = append(weights, weights[k])
			}
		}
	}
	kept, err := d.simple(len(d.NodeNames), src, dst, weights)
	if err != nil {
		return err
	}
	for i, k := range kept {
		if int(k) >= listed {
			kept[i] = e.back[int(k)-listed]
		}
	}
	if err := e.describe(d, kept); err != nil {
		return err
	}
	if e.both {
		*d = *d.Undirected()
	}
	return nil
}

// describe gives d what the file says of its edges: kept are those of the list that the
// graph has, in its order.
func (e *namedEdges) describe(d *Dataset, kept []int32) (err error) {
	if len(e.learnt) > 0 {
		if err := e.learn(d, kept); err != nil {
			return err
		}
	}
	if e.parts != nil {
		d.Split = splitBy(pick(e.parts, kept))
	}
	d.EdgeColumns = rowsOf(e.moments.columns(e.path), kept)
	if e.cells == nil {
		return nil
	}
	x, err := e.cells.matrix()
	if err != nil || x == nil {
		return err
	}
	if most := (scoresLeast + scoresPer*min(e.names.budget.Packed(), 1<<48)) / int64(max(1, x.NumRows)); int64(x.NumCols) > most {
		return fmt.Errorf("%d features of each of %d edges are more than are believed, of a file of %d bytes: at most %d: leave columns out", x.NumCols, x.NumRows, e.names.budget.Packed(), most)
	}
	if err := e.names.budget.Keep(8 * len(kept) * x.NumCols); err != nil {
		return err
	}
	d.EdgeFeatures = sparse.GatherRows(x, kept).Dense()
	d.EdgeKinds = e.cells.kinds(x, edgeKindColumns).carried(kept)
	return nil
}

// learn gives d what is to be learnt of the edges of the list that are kept: classes or a number by
// the rules of setTexts, or of several columns by those of setAnswers.
func (e *namedEdges) learn(d *Dataset, kept []int32) error {
	of := new(Dataset)
	if len(e.learnt) == 1 {
		if err := of.setTexts(pick(e.labels, kept)); err != nil {
			return fmt.Errorf("column %.40q: %w", e.learnt[0], err)
		}
		d.EdgeLabels, d.EdgeTargets = of.Labels, of.Targets
	} else {
		all := e.answers.join()
		d.EdgeTargets = GatherRows(tensor.Of(all, len(all)/len(e.learnt), len(e.learnt)), kept).(*tensor.Dense)
		if err := of.setAnswers(d.EdgeTargets, e.learnt); err != nil {
			return err
		}
	}
	d.Classes, d.ClassNames = of.Classes, of.ClassNames
	return nil
}

// splitBy returns the split of nodes or edges by the part of each.
func splitBy(parts []uint8) (s Split) {
	for i, part := range parts {
		switch part {
		case inTrain:
			s.Train = append(s.Train, int32(i))
		case inVal:
			s.Val = append(s.Val, int32(i))
		case inTest:
			s.Test = append(s.Test, int32(i))
		}
	}
	return s
}

// describe gives d what the file says, whose rows it brings into the order of the ids.
func (t *namedNodes) describe(d *Dataset, ids *names, order []int32) error {
	for i, id := range t.names.list {
		if _, ok := ids.of[id]; !ok {
			return fmt.Errorf("line or element %d: node %.40q is not in the table that lists the nodes", t.names.at[i], id)
		}
	}
	rows := make([]int32, len(order))
	for i, k := range order {
		row, ok := t.names.of[ids.list[k]]
		if !ok {
			return fmt.Errorf("it says nothing of node %.40q", ids.list[k])
		}
		rows[i] = row
	}
	if t.labels != nil || t.targets != nil {
		if d.Labels != nil || d.Targets != nil || d.MultiLabels != nil || d.LearnsEdges() {
			return errors.New("another table has labels, too: leave one of them out")
		}
		if err := t.learn(d, rows); err != nil {
			return err
		}
	}
	if t.titles != nil {
		for i, row := range rows {
			if title := t.titles[row]; title != "" {
				d.NodeNames[i] = title
			}
		}
	}
	if t.parts != nil && !d.LearnsEdges() {
		if len(d.Split.Train)+len(d.Split.Val)+len(d.Split.Test) > 0 {
			return errors.New("another table has a split, too: leave one of them out")
		}
		d.Split = splitBy(pick(t.parts, rows))
	}
	d.NodeColumns = append(d.NodeColumns, rowsOf(t.moments.columns(t.path), rows)...)
	if t.x != nil {
		if d.Features != nil {
			return errors.New("another table has features, too: leave one of them out")
		}
		d.NodeKinds = t.kinds.carried(rows)
		d.Features, d.FeatureNames = storedSparse(sparse.GatherRows(t.x, rows)), t.called
	}
	return nil
}

// learn gives d what is to be learnt of the nodes in the given rows.
func (t *namedNodes) learn(d *Dataset, rows []int32) error {
	if t.targets != nil {
		return d.setAnswers(GatherRows(t.targets, rows).(*tensor.Dense), t.learnt)
	}
	return d.setTexts(pick(t.labels, rows))
}

// partOf returns which part of a split a word means.
func partOf(word string) (part uint8, ok bool) {
	switch strings.ToLower(word) {
	case "", "none", "nan", "unused":
		return inNone, true
	case "train", "training", "tr":
		return inTrain, true
	case "val", "valid", "validation", "dev":
		return inVal, true
	case "test", "testing", "te":
		return inTest, true
	}
	return inNone, false
}
