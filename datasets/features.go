package datasets

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// FeatureKind says what the values of features are like. It decides how a network
// had best read them: see [FeatureKind.Words].
type FeatureKind struct {
	Negative bool    // some value is below zero
	Counts   bool    // all values are whole numbers, and some are above 1
	Density  float64 // the share of the values that is not zero
	Columns  bool    // they were made of columns of single values, each by a rule of its own, and not of a matrix
}

// wordDensity is the most that a bag of words has of values that are not zero. Cora
// has 1 %, PubMed 10 %, Amazon's goods, which are described by a few hundred words,
// 35 %.
const wordDensity = 0.5

// Words reports whether the features are like the words of a text: no value is
// negative and most are zero. Then the papers divide each row by its sum
// ([Dataset.Normalised]), so that a long text does not count more than a short
// one. Where values are negative or most are not zero a row's sum says nothing of
// its length, and the division only shrinks or scrambles what a network reads:
// such features are best left as they are, or made of one scale by
// [Dataset.Standardised]. Columns of tables are of one scale already.
func (k FeatureKind) Words() bool { return !k.Columns && !k.Negative && k.Density <= wordDensity }

// String says the kind and why it is that.
func (k FeatureKind) String() string {
	switch {
	case k.Columns:
		return "columns of a table, each by its own rule"
	case k.Negative:
		return "some values are negative"
	case k.Words() && k.Counts:
		return fmt.Sprintf("counts of words: %.3g %% nonzero, none negative", 100*k.Density)
	case k.Words():
		return fmt.Sprintf("words: %.3g %% nonzero, none negative", 100*k.Density)
	}
	return fmt.Sprintf("dense: %.3g %% nonzero", 100*k.Density)
}

// FeatureKind looks at all values of the features but those of codes. It does not matter whether
// they are stored as a sparse matrix or a dense one.
func (d *Dataset) FeatureKind() FeatureKind {
	k, nonzero, whole := FeatureKind{}, 0, true
	x := d.features("FeatureKind")
	for v := range x.Shape()[0] {
		eachValue(x, v, func(j int, f float64) {
			if len(d.Codes) > 0 && slices.ContainsFunc(d.Codes, func(c columns.Code) bool { return c.At == j }) {
				return
			}
			if f != 0 {
				nonzero++
			}
			k.Negative = k.Negative || f < 0
			k.Counts = k.Counts || f > 1
			whole = whole && f == math.Trunc(f)
		})
	}
	if k.Counts = k.Counts && whole && !k.Negative; d.Schema != nil {
		for i := range d.Schema.Nodes {
			k.Columns = k.Columns || slices.ContainsFunc(d.Schema.Nodes[i].Columns, func(c columns.Column) bool { return c.As != columns.AsMatrix })
		}
	}
	k.Density = float64(nonzero) / max(1, float64(x.Shape()[0])*float64(x.Shape()[1]-len(d.Codes)))
	return k
}

// features returns the features, which have to be one of the two kinds of matrices.
func (d *Dataset) features(op string) tensor.Array {
	switch d.Features.(type) {
	case *sparse.CSR, *tensor.Dense:
		return d.Features
	}
	panic(&tensor.ShapeError{Op: "datasets." + op, Why: fmt.Sprintf("features of type %T; want *sparse.CSR or *tensor.Dense", d.Features)})
}

// eachValue calls f with the values of a row and their columns, but for those that a sparse matrix
// does not store.
func eachValue(x tensor.Array, row int, f func(column int, v float64)) {
	if a, ok := x.(*sparse.CSR); ok {
		cols, values := a.Row(row)
		for i, j := range cols {
			if values == nil {
				f(int(j), 1)
			} else {
				f(int(j), float64(values[i]))
			}
		}
		return
	}
	for j, v := range x.(*tensor.Dense).Row(row) {
		f(j, float64(v))
	}
}

// Normalised returns the features with each row divided by its sum, as is usual
// for words: see [FeatureKind.Words]. A row of zeros stays as it is. Negative
// values are divided like the others as long as the sum of their row is positive
// and at least a hundredth of the sum of its magnitudes; a sum that is less would
// turn the row round or blow it up, and is an error that names the first such
// node. The dataset does not change.
func (d *Dataset) Normalised() (tensor.Array, error) { return d.scaled(columns.RowSums) }

// scaled returns the features in a form, which is learnt from all rows. Codes stay.
func (d *Dataset) scaled(form string) (tensor.Array, error) {
	s, x := columns.Scaling{Form: form, Except: columns.PlacesOf(d.Codes)}, d.features("scaled")
	if err := s.Fit(x, nil); err != nil {
		return nil, err
	}
	return s.Apply(x)
}

// Binarised returns the features with 1 for each value that is not zero: of words
// which there are, and not how often. The dataset does not change.
func (d *Dataset) Binarised() tensor.Array {
	x, _ := d.scaled(columns.Binary) // any features are
	return x
}

// Standardised returns the features with the mean of each column 0 and its
// standard deviation 1, over all nodes and not only those that train: features are
// known of all, labels are not used. The deviation is the population's, as of
// scikit-learn's scale. A column of one value becomes 0. The result is dense;
// sparse features that would need more than 128 MB and 128 elements a nonzero, or
// more than 2²⁸ elements, are an error. The dataset does not change. A [columns.Scaling] learns
// the scale from the rows that train, and keeps it for others.
func (d *Dataset) Standardised() (tensor.Array, error) { return d.scaled(columns.Standard) }

// LargestDeviation returns the largest standard deviation of a column of the features, or what it is at most if all
// that is not zero is 1. Codes have none. Deviations are from the mean, so that a column of one large number has none.
//
// large reports whether features are better made of one scale: columns of ages, days and amounts deviate by more than 10, and
// counts of words by less.
func (d *Dataset) LargestDeviation() (most float64, large bool) {
	const largeScale = 10
	x := d.Features
	rows, width := x.Shape()[0], x.Shape()[1]
	each := func(f func(column int, v float64)) { // of what is stored
		switch x := x.(type) {
		case *sparse.CSR:
			for i, j := range x.Cols {
				f(int(j), float64(x.Values[i]))
			}
		case *tensor.Dense:
			for i, v := range x.Data {
				f(i%width, float64(v))
			}
		}
	}
	if x, ok := x.(*sparse.CSR); ok && x.Values == nil { // each is 1, and deviates by at most a half
		return 0.5, false
	}
	mean, squares, stored := make([]float64, width), make([]float64, width), make([]float64, width)
	each(func(j int, v float64) { mean[j] += v / float64(rows) })
	each(func(j int, v float64) {
		squares[j] += (v - mean[j]) * (v - mean[j])
		stored[j]++
	})
	for j, m := range mean {
		if slices.ContainsFunc(d.Codes, func(c columns.Code) bool { return c.At == j }) {
			continue
		}
		most = max(most, squares[j]+(float64(rows)-stored[j])*m*m)
	}
	most = math.Sqrt(most / float64(rows))
	return most, most > largeScale
}
