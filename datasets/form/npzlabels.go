package form

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/internal/npy"
	"github.com/edgewise-ml/edgewise/tensor"
)

// answer is what is to be learnt of nodes or edges: one of labels, words, matrix and targets.
type answer struct {
	of      Of
	name    string        // of the array
	labels  []int32       // a class a row; −1: none
	words   []string      // a class a row, by its name
	several *tensor.Dense // a row of 0 and 1; NaN is not known
	targets *tensor.Dense // a row of numbers; NaN is not known
	classes int
}

// readLabels reads what is to be learnt of nodes, if there is anything.
func (z *npz) readLabels() error {
	name := z.first(labelArrays...)
	if name == "" {
		return nil
	}
	a, err := z.Read(name)
	if err != nil {
		return err
	}
	z.labels = &answer{of: OfNodes, name: name}
	if err := z.readAnswer(z.labels, a); err != nil {
		return err
	}
	z.says(z.labels.rows())
	return nil
}

// readAnswer reads the labels of nodes.
func (z *npz) readAnswer(l *answer, a *npy.Array) (err error) {
	name := l.name
	if name == "targets" {
		l.targets, err = z.answers(name, a)
		return err
	}
	if len(a.Shape) == 2 && a.Shape[1] == 1 && name != "labels" && name != "node_label" {
		a.Shape = a.Shape[:1] // a column of classes; in our own form it is whether a node has the one class
	}
	if len(a.Shape) == 2 {
		return z.readSeveral(l, a)
	}
	if words, ok := z.words(name, a); ok && len(a.Shape) == 1 {
		l.setWords(words)
		return nil
	}
	if !a.Pickled && strings.Contains(a.Type, "f") {
		wide, err := elements(z.archive, name, a, (*npy.Array).Float64s)
		if err != nil {
			return err
		}
		return z.wrongIf(name, l.setNumbers(wide))
	}
	labels, err := elements(z.archive, name, a, (*npy.Array).Int32s)
	if err != nil {
		return err
	}
	return z.wrongIf(name, l.setClasses(labels))
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

// readSeveral reads a row of zeros and ones a node, which is a class a node if there is a single one in each.
func (z *npz) readSeveral(l *answer, a *npy.Array) error {
	x, err := z.answers(l.name, a)
	if err != nil {
		return err
	}
	labels := make([]int32, x.Dim(0))
	single := x.Dim(1) > 1
	for i := range labels {
		ones := 0
		for j, v := range x.Row(i) {
			switch {
			case v == 1:
				labels[i] = int32(j)
				ones++
			case v != v:
				single = false
			case v != 0:
				return z.wrong(l.name, "row %d, column %d is %v, want 0 or 1, or NaN for what is not known: the values of a regression go into \"targets\"", i, j, v)
			}
		}
		single = single && ones == 1
	}
	if l.classes = x.Dim(1); single {
		l.labels = labels
	} else {
		l.several = x
	}
	return nil
}

// setNumbers makes of a number a row what is to be learnt: classes if all are whole,
// where −1 and NaN are none, or else targets, where NaN is none.
func (l *answer) setNumbers(x []float64) error {
	for _, v := range x {
		if v != math.Trunc(v) && !math.IsNaN(v) {
			return l.setTargets(x)
		}
	}
	labels := make([]int32, len(x))
	for i, v := range x {
		switch {
		case math.IsNaN(v):
			labels[i] = -1
		case math.Abs(v) > math.MaxInt32:
			return fmt.Errorf("element %d is %v, which is no class: they are numbered from 0", i, v)
		default:
			labels[i] = int32(v)
		}
	}
	return l.setClasses(labels)
}

// setTargets takes a number a row that is to be learnt.
func (l *answer) setTargets(x []float64) error {
	l.targets = tensor.New(len(x), 1)
	for i, v := range x {
		if l.targets.Data[i] = tensor.Float(v); math.IsInf(float64(l.targets.Data[i]), 0) {
			return fmt.Errorf("element %d is %v, which is no number to be learnt; NaN is one that is not known", i, v)
		}
	}
	return nil
}

// setClasses takes the number of each row's class.
func (l *answer) setClasses(labels []int32) error {
	l.labels = labels
	if len(labels) > 0 {
		l.classes = max(0, int(slices.Max(labels))+1)
	}
	// As many classes as rows are more than any data has, and what is counted for each class takes memory.
	if l.classes > len(labels) {
		return fmt.Errorf("the largest label is %d, of %d %ss; classes are numbered from 0 without gaps", l.classes-1, len(labels), l.of)
	}
	return nil
}

// setWords takes the name of each row's class, an empty one for none.
func (l *answer) setWords(words []string) {
	names := classesOf(words)
	l.words, l.classes = words, len(names)
}

// classesOf returns the different words but the empty one, in their order.
func classesOf(words []string) []string {
	names := slices.Compact(slices.Sorted(slices.Values(words)))
	if len(names) > 0 && names[0] == "" {
		names = names[1:]
	}
	return names
}

// readEdgeLabels reads a class an edge, or a row of numbers.
func (z *npz) readEdgeLabels(name string, edges int) error {
	z.labels = &answer{of: OfEdges, name: name}
	if name == "edge_targets" {
		a, err := z.Read(name)
		if err != nil {
			return err
		}
		x, err := z.answers(name, a)
		if err == nil && x.Rows() != edges {
			err = z.wrong(name, "%d rows for %d edges", x.Rows(), edges)
		}
		if err != nil {
			return err
		}
		return z.wrongIf(name, z.labels.setAnswers(x))
	}
	labels, err := vector(z.archive, name, (*npy.Array).Int32s)
	if err == nil && len(labels) != edges {
		err = z.wrong(name, "%d labels for %d edges", len(labels), edges)
	}
	if err != nil {
		return err
	}
	if err := z.wrongIf(name, z.labels.setClasses(labels)); err != nil {
		return err
	}
	if err := z.labels.check(edges); err != nil {
		return fmt.Errorf("%s: %w", z.path, err)
	}
	return nil
}

// setAnswers makes of a row of numbers what is to be learnt: whether it is of each of several classes if all are 0 or
// 1, or else numbers. NaN is not known.
func (l *answer) setAnswers(x *tensor.Dense) error {
	known, binary := 0, true
	for _, v := range x.Data {
		if v == v {
			known++
			binary = binary && (v == 0 || v == 1)
		}
	}
	switch {
	case known == 0:
		return errors.New("nothing is known of what is to be learnt: all numbers are missing")
	case binary:
		l.several, l.classes = x, x.Dim(1)
	default:
		l.targets = x
	}
	return nil
}

// rows returns how many rows have an answer.
func (l *answer) rows() int {
	switch {
	case l.several != nil:
		return l.several.Dim(0)
	case l.targets != nil:
		return l.targets.Dim(0)
	}
	return max(len(l.labels), len(l.words))
}

// check checks an answer for each of n nodes or edges.
func (l *answer) check(n int) error {
	switch rows := l.rows(); {
	case rows == n:
	case l.several != nil:
		return fmt.Errorf("labels of shape %v for %d %ss and %d classes", l.several.Shape(), n, l.of, l.classes)
	case l.targets != nil:
		return fmt.Errorf("targets of shape %v for %d %ss", l.targets.Shape(), n, l.of)
	default:
		return fmt.Errorf("%d labels for %d %ss", rows, n, l.of)
	}
	for v, c := range l.labels {
		switch {
		case c >= -1:
		case l.classes == 0:
			return fmt.Errorf("the label of %s %d is %d; classes are numbered from 0, and -1 is none", l.of, v, c)
		default:
			return fmt.Errorf("the label of %s %d is %d; classes are 0 to %d, and -1 is none", l.of, v, c, l.classes-1)
		}
	}
	return nil
}

// column returns the answers as a column, whose classes have these names, if any.
func (l *answer) column(names []string) (Column, error) {
	c := Column{Name: l.name, Role: AsLabel, Classes: l.classes}
	if len(names) > 0 && len(names) != l.classes {
		return c, fmt.Errorf("%d names for %d classes", len(names), l.classes)
	}
	switch {
	case l.targets != nil:
		c.Type, c.Matrix, c.Role, c.Classes = Many, MatrixOf(l.targets), AsTarget, 0
	case l.several != nil:
		c.Type, c.Matrix = Many, MatrixOf(l.several)
		c.Matrix.Names = names
	case l.words != nil:
		c.Type, c.Words, c.Classes = Word, &Words{Texts: l.words}, 0
		if len(names) > 0 {
			c.Words = &Words{Texts: names, Codes: codesOf(l.words), Ordered: true}
		}
	case len(names) > 0:
		c.Type, c.Words = Word, &Words{Texts: names, Codes: l.labels, Ordered: true}
	default:
		c.Type, c.Numbers = Number, make([]float64, len(l.labels))
		for i, v := range l.labels {
			if c.Numbers[i] = float64(v); v < 0 {
				c.Numbers[i] = math.NaN()
			}
		}
	}
	return c, nil
}

// codesOf returns of each word the number of its class, −1 for an empty one.
func codesOf(words []string) []int32 {
	names, codes := classesOf(words), make([]int32, len(words))
	for i, w := range words {
		codes[i] = -1
		if k, ok := slices.BinarySearch(names, w); ok {
			codes[i] = int32(k)
		}
	}
	return codes
}

// readColumns reads the columns and the kinds of nodes and edges.
func (z *npz) readColumns() error {
	tables := map[string]*Table{"node": &z.nodes.Table, "edge": &z.edges.Table}
	for _, noun := range []string{"node", "edge"} {
		t := tables[noun]
		if noun == "edge" && strings.HasPrefix(z.first(graphArrays...), "adj_") {
			continue // it has no list of edges that they could be of
		}
		columns, err := z.columns(noun, t.Rows)
		if err != nil {
			return err
		}
		kinds, err := z.kinds(noun, t.Rows)
		if err != nil {
			return err
		}
		t.Columns = append(append(t.Columns, columns...), kinds...)
	}
	return nil
}

// columns reads the columns of n nodes or edges; files that have none have no such arrays.
func (z archive) columns(noun string, n int) (columns []Column, err error) {
	names, err := z.names(noun + "_columns")
	if err != nil || names == nil {
		return nil, err
	}
	if len(names) > arrayColumnsMost {
		return nil, z.wrong(noun+"_columns", "%d columns; at most %d are read", len(names), arrayColumnsMost)
	}
	dated, err := vector(z, noun+"_column_dated", (*npy.Array).Int32s)
	if err == nil && len(dated) != len(names) {
		err = z.wrong(noun+"_column_dated", "%d elements for %d columns", len(dated), len(names))
	}
	for i, name := range names {
		c := Column{Name: name, Role: AsTime}
		if err == nil {
			c.Dated = dated[i] != 0
			err = z.columnOf(fmt.Sprintf("%s_column_%d", noun, i), n, &c)
		}
		if err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// columnOf reads the times of a column, or its numbers.
func (z archive) columnOf(name string, n int, c *Column) error {
	a, err := z.column(name)
	if err != nil {
		return err
	}
	if len(a.Shape) != 1 || a.Shape[0] != n {
		return z.wrong(name, "its shape is %v, want a number for each of %d", a.Shape, n)
	}
	if !strings.Contains(a.Type, "f") {
		c.Type = Time
		c.Times, err = elements(z, name, a, (*npy.Array).Int64s)
		return err
	}
	if c.Dated {
		return z.wrong(name, "its type is %s, and times are whole numbers of microseconds since 1970: save them as int64", a.Type)
	}
	c.Type = Number
	if c.Numbers, err = elements(z, name, a, (*npy.Array).Float64s); err != nil {
		return err
	}
	for i, v := range c.Numbers {
		if math.IsInf(v, 0) {
			return z.wrong(name, "element %d is %v", i, v)
		}
	}
	return nil
}

// kinds reads the kinds of n nodes or edges: as SaveNPZ writes them, or, as PyG has them, numbers
// that are called node_type or edge_type. Files that have none have no such arrays.
func (z archive) kinds(noun string, n int) ([]Column, error) {
	name := z.first(noun+"_kinds", noun+"_type")
	if name == "" {
		return nil, nil
	}
	a, err := z.column(name)
	if err != nil {
		return nil, err
	}
	of, err := elements(z, name, a, (*npy.Array).Int32s)
	if err != nil {
		return nil, err
	}
	names, err := z.names(noun + "_kind_names")
	if err != nil {
		return nil, err
	}
	if names == nil {
		most := slices.Max(append([]int32{-1}, of...))
		if most >= kindsMost {
			return nil, z.wrong(name, "there is kind %d; without %s_kind_names kinds are at most %d: number them from 0 without gaps", most, noun, kindsMost-1)
		}
		for k := range most + 1 {
			names = append(names, strconv.Itoa(int(k)))
		}
	}
	if len(of) != n {
		return nil, z.wrong(name, "%d kinds for %d %ss", len(of), n, noun)
	}
	for i, kind := range of {
		if kind < -1 || int(kind) >= len(names) {
			return nil, z.wrong(name, "the kind of %s %d is %d, and there are names for %d", noun, i, kind, len(names))
		}
	}
	return []Column{{Name: name, Type: Word, Words: &Words{Texts: names, Codes: of, Ordered: true}, Role: AsKind}}, nil
}
