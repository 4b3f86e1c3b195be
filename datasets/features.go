package datasets

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// FeatureKind says what the values of features are like. It decides how a network
// had best read them: see [FeatureKind.Words].
type FeatureKind struct {
	Negative bool    // some value is below zero
	Counts   bool    // all values are whole numbers, and some are above 1
	Density  float64 // the share of the values that is not zero
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
// [Dataset.Standardised].
func (k FeatureKind) Words() bool { return !k.Negative && k.Density <= wordDensity }

// String says the kind and why it is that.
func (k FeatureKind) String() string {
	switch {
	case k.Negative:
		return "some values are negative"
	case k.Words() && k.Counts:
		return fmt.Sprintf("counts of words: %.3g %% nonzero, none negative", 100*k.Density)
	case k.Words():
		return fmt.Sprintf("words: %.3g %% nonzero, none negative", 100*k.Density)
	}
	return fmt.Sprintf("dense: %.3g %% nonzero", 100*k.Density)
}

// FeatureKind looks at all values of the features. It does not matter whether
// they are stored as a sparse matrix or a dense one.
func (d *Dataset) FeatureKind() FeatureKind {
	k, nonzero, whole := FeatureKind{}, 0, true
	x := d.features("FeatureKind")
	for v := range x.Shape()[0] {
		eachValue(x, v, func(f float64) {
			if f != 0 {
				nonzero++
			}
			k.Negative = k.Negative || f < 0
			k.Counts = k.Counts || f > 1
			whole = whole && f == math.Trunc(f)
		})
	}
	k.Counts = k.Counts && whole && !k.Negative
	k.Density = float64(nonzero) / max(1, float64(x.Shape()[0])*float64(x.Shape()[1]))
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

// eachValue calls f with the values of a row, but for those that a sparse matrix
// does not store.
func eachValue(x tensor.Array, row int, f func(v float64)) {
	if a, ok := x.(*sparse.CSR); ok {
		cols, values := a.Row(row)
		for i := range cols {
			if values == nil {
				f(1)
			} else {
				f(float64(values[i]))
			}
		}
		return
	}
	for _, v := range x.(*tensor.Dense).Row(row) {
		f(float64(v))
	}
}

// leastSum is the least sum of a row, beside that of its magnitudes, that the row
// is divided by. Below it the values would grow more than a hundredfold, by what is
// left of a difference.
const leastSum = 0.01

// Normalised returns the features with each row divided by its sum, as is usual
// for words: see [FeatureKind.Words]. A row of zeros stays as it is. Negative
// values are divided like the others as long as the sum of their row is positive
// and at least a hundredth of the sum of its magnitudes; a sum that is less would
// turn the row round or blow it up, and is an error that names the first such
// node. The dataset does not change.
func (d *Dataset) Normalised() (tensor.Array, error) {
	x := d.features("Normalised")
	for v := range x.Shape()[0] {
		sum, size := 0.0, 0.0
		eachValue(x, v, func(f float64) {
			sum += f
			size += math.Abs(f)
		})
		if size > 0 && !(sum >= leastSum*size) {
			return nil, fmt.Errorf("the features of node %d sum to %.3g, and their magnitudes to %.3g: a row cannot be divided by a sum that is negative or near zero; leave the features as they are, or standardise them", v, sum, size)
		}
	}
	if a, ok := x.(*sparse.CSR); ok {
		return a.NormaliseRows(), nil
	}
	y := x.(*tensor.Dense).Clone()
	for v := range y.Rows() {
		normalise(y.Row(v))
	}
	return y, nil
}

func normalise(row []tensor.Float) {
	sum := 0.0
	for _, v := range row {
		sum += float64(v)
	}
	if sum == 0 {
		return
	}
	for j, v := range row {
		row[j] = tensor.Float(float64(v) / sum)
	}
}

// Binarised returns the features with 1 for each value that is not zero: of words
// which there are, and not how often. The dataset does not change.
func (d *Dataset) Binarised() tensor.Array {
	one := func(values []tensor.Float) {
		for i, v := range values {
			if v != 0 {
				values[i] = 1
			}
		}
	}
	if a, ok := d.features("Binarised").(*sparse.CSR); ok {
		a.Settle()
		values := slices.Clone(a.Values)
		one(values)
		return a.WithValues(values)
	}
	y := d.Features.(*tensor.Dense).Clone()
	one(y.Data)
	return y
}

// mostStandard is how many elements sparse features of that many nonzeros have at
// most that are made dense: 128 MB of float32, or 512 bytes a nonzero up to a
// gigabyte, so that a small file does not cost much.
func mostStandard(nonzero int) int64 { return min(1<<28, max(1<<25, 128*int64(nonzero))) }

// Standardised returns the features with the mean of each column 0 and its
// standard deviation 1, over all nodes and not only those that train: features are
// known of all, labels are not used. The deviation is the population's, as of
// scikit-learn's scale. A column of one value becomes 0. The result is dense;
// sparse features that would need more than 128 MB and 128 elements a nonzero, or
// more than 2²⁸ elements, are an error. The dataset does not change.
func (d *Dataset) Standardised() (tensor.Array, error) {
	var y *tensor.Dense
	switch x := d.features("Standardised").(type) {
	case *tensor.Dense:
		y = x.Clone()
	case *sparse.CSR:
		if most := mostStandard(x.NNZ()); int64(x.NumRows)*int64(x.NumCols) > most {
			return nil, fmt.Errorf("standardised features are dense, and %d×%d of them are more than the %d elements that are allowed for %d nonzeros: normalise the rows, or leave them as they are", x.NumRows, x.NumCols, most, x.NNZ())
		}
		y = x.Dense()
	}
	mean, scale := columnScales(y)
	for v := range y.Rows() {
		row := y.Row(v)
		for j, f := range row {
			row[j] = tensor.Float((float64(f) - mean[j]) * scale[j])
		}
	}
	return y, nil
}

// columnScales returns the mean of each column and the inverse of its standard
// deviation, 0 of a column of one value.
func columnScales(x *tensor.Dense) (mean, scale []float64) {
	rows, width := x.Rows(), x.RowLen()
	mean, scale = make([]float64, width), make([]float64, width)
	varies := make([]bool, width)
	for v := range rows {
		for j, f := range x.Row(v) {
			mean[j] += float64(f) / float64(rows)
			varies[j] = varies[j] || f != x.Row(0)[j]
		}
	}
	for v := range rows {
		for j, f := range x.Row(v) {
			c := float64(f) - mean[j]
			scale[j] += c * c / float64(rows)
		}
	}
	for j, s := range scale {
		if scale[j] = 0; varies[j] && s > 0 {
			scale[j] = 1 / math.Sqrt(s)
		}
	}
	return mean, scale
}
