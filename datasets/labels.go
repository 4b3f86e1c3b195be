package datasets

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Labels are classes, one a row: a node, an edge or a graph. −1 is not known.
type Labels []int32

// Of returns the labels of some rows, in their order. They go with those rows of what a
// network returns:
//
//	loss := net.Forward(t, g, x).Rows(split.Train).CrossEntropy(labels.Of(split.Train))
//
// It panics with a [*tensor.ShapeError] if there is no such row.
func (l Labels) Of(rows []int32) []int32 {
	out := make([]int32, len(rows))
	for i, r := range rows {
		if uint(r) >= uint(len(l)) {
			panic(&tensor.ShapeError{Op: "datasets.Labels.Of", Shapes: [][]int{{len(l)}}, Why: fmt.Sprintf("there is no row %d", r)})
		}
		out[i] = l[r]
	}
	return out
}

// setNumbers makes of a number a node what is to be learnt: classes if all are whole,
// where −1 and NaN are none, or else targets, where NaN is none.
func (d *Dataset) setNumbers(x []float64) error {
	whole := true
	for _, v := range x {
		whole = whole && (v == math.Trunc(v) || math.IsNaN(v))
	}
	if !whole {
		return d.setTargets(x)
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
	return d.setClasses(labels)
}

// setTargets takes a number a node that is to be learnt.
func (d *Dataset) setTargets(x []float64) error {
	values := make([]tensor.Float, len(x))
	for i, v := range x {
		if values[i] = tensor.Float(v); math.IsInf(float64(values[i]), 0) {
			return fmt.Errorf("element %d is %v, which is no number to be learnt; NaN is one that is not known", i, v)
		}
	}
	d.Targets = tensor.Of(values, len(values), 1)
	return nil
}

// setClasses takes the number of each node's class.
func (d *Dataset) setClasses(labels []int32) error {
	d.Labels = labels
	if len(labels) > 0 {
		d.Classes = max(0, int(slices.Max(labels))+1)
	}
	// As many classes as nodes are more than any data has, and class counts are
	// allocated by their number.
	if d.Classes > len(labels) {
		return fmt.Errorf("the largest label is %d, of %d nodes; classes are numbered from 0 without gaps", d.Classes-1, len(labels))
	}
	return nil
}

// setWords makes classes of words, in the words' order; an empty one is none.
func (d *Dataset) setWords(words []string) error {
	d.ClassNames = slices.Compact(slices.Sorted(slices.Values(words)))
	if len(d.ClassNames) > 0 && d.ClassNames[0] == "" {
		d.ClassNames = d.ClassNames[1:]
	}
	d.Classes, d.Labels = len(d.ClassNames), make([]int32, len(words))
	labelled := 0
	for i, w := range words {
		d.Labels[i] = -1
		if c, ok := slices.BinarySearch(d.ClassNames, w); ok {
			d.Labels[i] = int32(c)
			labelled++
		}
	}
	return notNames(d.Classes, labelled)
}

// notNames returns an error if so many classes are names rather.
func notNames(classes, labelled int) error {
	const many = 100
	if classes > many && 2*classes > labelled {
		return fmt.Errorf("%d different labels of %d nodes are no classes: leave the column out, or call it name", classes, labelled)
	}
	return nil
}

// setAnswers makes of a row of numbers a node what is to be learnt: whether it is of each of
// the classes that are called so if all are 0 or 1, or else targets. NaN is not known.
func (d *Dataset) setAnswers(x *tensor.Dense, names []string) error {
	known, binary := 0, true
	for _, v := range x.Data {
		if v == v {
			known++
			binary = binary && (v == 0 || v == 1)
		}
	}
	switch {
	case known == 0 && names == nil:
		return errors.New("nothing is known of what is to be learnt: all numbers are missing")
	case known == 0:
		return fmt.Errorf("nothing stands in the columns %s, which are to be learnt", listed(names))
	case binary:
		d.MultiLabels, d.Classes, d.ClassNames = sparse.FromDense(x), x.Dim(1), names
	default:
		d.Targets = x
	}
	return nil
}

// setTexts is setNumbers if the texts are numbers, and else setWords. More whole numbers than
// classes may be are targets, such as the visits of MUSAE's pages. Whole numbers
// that leave gaps are classes in their order, by whose names they are called.
func (d *Dataset) setTexts(texts []string) error {
	x := make([]float64, len(texts))
	seen, labelled, words := map[float64]bool{}, 0, false
	for i, s := range texts {
		v, err := strconv.ParseFloat(s, 64)
		switch {
		case s == "" || err == nil && (math.IsNaN(v) || v == -1):
			v = math.NaN()
		case missingWord(s): // among numbers it is none
			v, words = math.NaN(), true
		case err != nil:
			return d.setWords(texts)
		default:
			seen[v] = true
			labelled++
		}
		x[i] = v
	}
	if words && labelled == 0 {
		return d.setWords(texts)
	}
	sorted := make([]float64, 0, len(seen))
	for v := range seen {
		sorted = append(sorted, v)
	}
	slices.Sort(sorted)
	gaps := false
	for i, v := range sorted {
		if v != math.Trunc(v) {
			return d.setNumbers(minusOnes(x, texts))
		}
		gaps = gaps || v != float64(i)
	}
	if notNames(len(sorted), labelled) != nil {
		return d.setTargets(minusOnes(x, texts))
	}
	if !gaps {
		return d.setNumbers(x)
	}
	d.Labels, d.Classes = make([]int32, len(x)), len(sorted)
	for i, v := range x {
		d.Labels[i] = -1
		if c, ok := slices.BinarySearch(sorted, v); ok {
			d.Labels[i] = int32(c)
		}
	}
	for _, v := range sorted {
		d.ClassNames = append(d.ClassNames, strconv.FormatFloat(v, 'f', -1, 64))
	}
	return nil
}

// minusOnes gives targets the values −1 back, which of classes are none.
func minusOnes(x []float64, texts []string) []float64 {
	for i, s := range texts {
		if strings.HasPrefix(s, "-") && math.IsNaN(x[i]) {
			x[i] = -1
		}
	}
	return x
}
