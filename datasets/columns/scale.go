package columns

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The forms in which networks read features.
const (
	Raw      = "raw"      // as they are
	RowSums  = "rows"     // each row divided by its sum
	Standard = "standard" // each column of mean 0 and standard deviation 1
	Binary   = "binary"   // 1 for what is not zero

	BinaryRows = "binary-rows" // each row of those divided by its sum
)

// ScalingForms are the forms that a [Scaling] may have.
var ScalingForms = []string{Raw, RowSums, Standard, Binary, BinaryRows}

// Scaling brings features into a form. Only [Standard] learns something from rows: what it learns is kept,
// so that a row becomes the same numbers in any company.
type Scaling struct {
	Form string    `json:"form"` // of [ScalingForms]; empty is [Raw]
	Mean []float64 `json:"mean,omitempty"`
	Dev  []float64 `json:"dev,omitempty"` // the standard deviation of the population; 0 of a column of one value, which becomes 0

	// Except are the columns that stay as they are in any form, such as those of codes, ascending. They count nowhere, not even in the
	// sum of a row.
	Except []int `json:"except,omitempty"`
}

// Fit learns what the form needs from the given rows of x, those that train; nil stands for all.
func (s *Scaling) Fit(x tensor.Array, rows []int32) error {
	s.Mean, s.Dev = nil, nil
	for _, j := range s.Except {
		if width := x.Shape()[1]; j >= width {
			return fmt.Errorf("column %d of the %d features stays as it is: there is none", j, width)
		}
	}
	if s.Form != Standard {
		return s.Check()
	}
	if rows != nil {
		for _, r := range rows {
			if r < 0 || int(r) >= x.Shape()[0] {
				return fmt.Errorf("row %d trains, and the features have %d rows", r, x.Shape()[0])
			}
		}
		if len(rows) == 0 {
			return errors.New("there are no rows to learn a scale from")
		}
		x = gathered(x, rows)
	}
	y, err := denseOf(x)
	if err != nil {
		return err
	}
	s.Mean, s.Dev = columnScales(y)
	for _, j := range s.Except {
		s.Mean[j], s.Dev[j] = 0, 1
	}
	return nil
}

// Apply returns x in the form, which may share its elements if they do not change. It is dense if the form is [Standard].
// Rows that cannot be divided by their sum are an error, and so are features of another width than those that were fitted.
func (s *Scaling) Apply(x tensor.Array) (tensor.Array, error) {
	switch s.Form {
	case Raw, "":
		return x, nil
	case RowSums:
		return s.bySums(x)
	case Binary:
		return s.ones(x), nil
	case BinaryRows:
		return s.bySums(s.ones(x))
	case Standard:
		return s.standardise(x)
	}
	return nil, s.Check()
}

// Check returns an error if the scaling cannot have been fitted.
func (s *Scaling) Check() error {
	if s.Form != "" && !slices.Contains(ScalingForms, s.Form) {
		return fmt.Errorf("%.40q is no form of features; there are %s", s.Form, strings.Join(ScalingForms, ", "))
	}
	if s.Form != Standard && len(s.Mean)+len(s.Dev) > 0 {
		return fmt.Errorf("features in the form %s have no means and deviations, and there are some", s.Form)
	}
	if len(s.Mean) != len(s.Dev) {
		return fmt.Errorf("there are %d means and %d standard deviations of columns of features", len(s.Mean), len(s.Dev))
	}
	for i, j := range s.Except {
		if j < 0 || i > 0 && s.Except[i-1] >= j {
			return fmt.Errorf("the features that stay as they are, %d of them, do not ascend from 0", len(s.Except))
		}
	}
	for j, m := range s.Mean {
		if d := s.Dev[j]; m-m != 0 || d-d != 0 || d < 0 {
			return fmt.Errorf("feature %d has the mean %v and the standard deviation %v", j, m, d)
		}
	}
	return nil
}

// standardise is Apply of [Standard].
func (s *Scaling) standardise(x tensor.Array) (tensor.Array, error) {
	if width := x.Shape()[1]; width != len(s.Mean) {
		return nil, fmt.Errorf("there are %d features, and the scale was learnt from %d", width, len(s.Mean))
	}
	y, err := denseOf(x)
	if err != nil {
		return nil, err
	}
	if own, ok := x.(*tensor.Dense); ok && own == y {
		y = y.Clone()
	}
	scale := make([]float64, len(s.Dev))
	for j, d := range s.Dev {
		if d > 0 {
			scale[j] = 1 / d
		}
	}
	for v := range y.Rows() {
		row := y.Row(v)
		for j, f := range row {
			row[j] = tensor.Float((float64(f) - s.Mean[j]) * scale[j])
		}
	}
	return y, nil
}

// mostStandard is how many elements sparse features of that many nonzeros have at
// most that are made dense: 128 MB of float32, or 512 bytes a nonzero up to a
// gigabyte, so that a small file does not cost much.
func mostStandard(nonzero int) int64 { return min(1<<28, max(1<<25, 128*int64(nonzero))) }

// denseOf returns x as a dense matrix, x itself if it is one.
func denseOf(x tensor.Array) (*tensor.Dense, error) {
	a, ok := x.(*sparse.CSR)
	if !ok {
		return x.(*tensor.Dense), nil
	}
	if most := mostStandard(a.NNZ()); int64(a.NumRows)*int64(a.NumCols) > most {
		return nil, fmt.Errorf("standardised features are dense, and %d×%d of them are more than the %d elements that are allowed for %d nonzeros: normalise the rows, or leave them as they are", a.NumRows, a.NumCols, most, a.NNZ())
	}
	return a.Dense(), nil
}

// columnScales returns the mean of each column and its standard deviation, 0 of a column of one value.
func columnScales(x *tensor.Dense) (mean, dev []float64) {
	rows, width := x.Rows(), x.RowLen()
	mean, dev = make([]float64, width), make([]float64, width)
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
			dev[j] += c * c / float64(rows)
		}
	}
	for j, s := range dev {
		if dev[j] = 0; varies[j] {
			dev[j] = math.Sqrt(s)
		}
	}
	return mean, dev
}

// leastSum is the least sum of a row, beside that of its magnitudes, that the row
// is divided by. Below it the values would grow more than a hundredfold, by what is
// left of a difference.
const leastSum = 0.01

// stays reports whether a column stays as it is.
func (s *Scaling) stays(j int) bool {
	_, is := slices.BinarySearch(s.Except, j)
	return is
}

// bySums returns x with each row divided by its sum; a row of zeros stays as it is.
func (s *Scaling) bySums(x tensor.Array) (tensor.Array, error) {
	sums := make([]float64, x.Shape()[0])
	for v := range sums {
		sum, size := 0.0, 0.0
		eachValue(x, v, func(j int, f float64) {
			if !s.stays(j) {
				sum += f
				size += math.Abs(f)
			}
		})
		sums[v] = sum
		if size > 0 && !(sum >= leastSum*size) {
			return nil, fmt.Errorf("the features of node %d sum to %.3g, and their magnitudes to %.3g: a row cannot be divided by a sum that is negative or near zero; leave the features as they are, or standardise them", v, sum, size)
		}
	}
	if a, ok := x.(*sparse.CSR); ok {
		if len(s.Except) == 0 {
			return a.NormaliseRows(), nil
		}
		return changed(a, func(v, j int, f tensor.Float) tensor.Float {
			if s.stays(j) || sums[v] == 0 {
				return f
			}
			return tensor.Float(float64(f) / sums[v])
		}), nil
	}
	y := x.(*tensor.Dense).Clone()
	for v, sum := range sums {
		row := y.Row(v)
		for j, f := range row {
			if sum != 0 && !s.stays(j) {
				row[j] = tensor.Float(float64(f) / sum)
			}
		}
	}
	return y, nil
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

// ones returns x with 1 for each value that is not zero.
func (s *Scaling) ones(x tensor.Array) tensor.Array {
	one := func(_, j int, v tensor.Float) tensor.Float {
		if v != 0 && !s.stays(j) {
			return 1
		}
		return v
	}
	if a, ok := x.(*sparse.CSR); ok {
		if a.Values == nil {
			return a.WithValues(nil)
		}
		return changed(a, one)
	}
	y := x.(*tensor.Dense).Clone()
	for v := range y.Rows() {
		row := y.Row(v)
		for j, f := range row {
			row[j] = one(v, j, f)
		}
	}
	return y
}

// changed returns a with other values, in the same places.
func changed(a *sparse.CSR, to func(row, column int, v tensor.Float) tensor.Float) *sparse.CSR {
	a.Settle()
	values := make([]tensor.Float, a.NNZ())
	for v := range a.NumRows {
		for k := a.Offsets[v]; k < a.Offsets[v+1]; k++ {
			f := tensor.Float(1)
			if a.Values != nil {
				f = a.Values[k]
			}
			values[k] = to(v, int(a.Cols[k]), f)
		}
	}
	return a.WithValues(values)
}

// gathered returns the given rows of x, of the kind that x is.
func gathered(x tensor.Array, rows []int32) tensor.Array {
	if a, ok := x.(*sparse.CSR); ok {
		return sparse.GatherRows(a, rows)
	}
	a := x.(*tensor.Dense)
	b := tensor.New(len(rows), a.Dim(1))
	tensor.GatherRows(b, a, rows)
	return b
}
