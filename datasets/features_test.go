package datasets

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// eitherWay returns a dataset of dense features and one of the same as a sparse matrix.
func eitherWay(rows, cols int, values ...tensor.Float) []*Dataset {
	x := tensor.Of(values, rows, cols)
	return []*Dataset{{Features: x}, {Features: sparse.FromDense(x)}}
}

// denseOf returns features as a dense matrix.
func denseOf(x tensor.Array) *tensor.Dense {
	if a, ok := x.(*sparse.CSR); ok {
		return a.Dense()
	}
	return x.(*tensor.Dense)
}

func TestNormalised(t *testing.T) {
	for _, d := range eitherWay(4, 2, 1, 3, 0, 0, 2, 2, 3, -1) {
		x, err := d.Normalised()
		if err != nil {
			t.Fatal(err)
		}
		if want := []tensor.Float{0.25, 0.75, 0, 0, 0.5, 0.5, 1.5, -0.5}; !slices.Equal(denseOf(x).Data, want) || denseOf(d.Features).Data[0] != 1 {
			t.Errorf("%T: %v, from %v", x, denseOf(x), d.Features)
		}
	}
	ones, err := sparse.New(2, 2, []int64{0, 2, 2}, []int32{0, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := (&Dataset{Features: ones}).Normalised(); err != nil || !slices.Equal(x.(*sparse.CSR).Values, []tensor.Float{0.5, 0.5}) {
		t.Errorf("without values: %v, %v", x, err)
	}
	for _, f := range []func(*Dataset){
		func(d *Dataset) { d.Binarised() }, func(d *Dataset) { _, _ = d.Normalised() }, func(d *Dataset) { _, _ = d.Standardised() }, func(d *Dataset) { d.FeatureKind() },
	} {
		if tensor.Try(func() { f(new(Dataset)) }) == nil {
			t.Error("a dataset without features has some")
		}
	}
}

// A sum that is negative turns a row round, and one that is near zero blows it up:
// the first node of such a row is named.
func TestNormalisedRefuses(t *testing.T) {
	for _, c := range []struct {
		row  []tensor.Float
		want string // empty: it is divided
	}{
		{[]tensor.Float{1, -3}, "the features of node 1 sum to -2, and their magnitudes to 4: "},
		{[]tensor.Float{2, -2}, "the features of node 1 sum to 0, and their magnitudes to 4: "},
		{[]tensor.Float{1, -0.9921875}, "node 1"}, // 0.4 %
		{[]tensor.Float{1, -0.9375}, ""},          // 3.2 %
		{[]tensor.Float{1e-30, 0}, ""},
		{[]tensor.Float{-1e-30, 0}, "node 1"},
	} {
		for _, d := range eitherWay(3, 2, append(append([]tensor.Float{1, 1}, c.row...), -5, 1)...) {
			d.Features = GatherRows(d.Features, []int32{0, 1})
			if x, err := d.Normalised(); (err != nil) != (c.want != "") || err != nil && (x != nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v as %T: %v, want %q", c.row, d.Features, err, c.want)
			}
		}
	}
}

// The numbers are those of scikit-learn's preprocessing.scale: the deviation is the
// population's, and a column of one value becomes 0, though its mean is rounded.
func TestStandardised(t *testing.T) {
	for _, d := range eitherWay(4, 3, 1, 0.1, 0, 2, 0.1, 0, 3, 0.1, 8, 6, 0.1, 0) {
		x, err := d.Standardised()
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{-1.0690449676, 0, -0.5773502692, -0.5345224838, 0, -0.5773502692, 0, 0, 1.7320508076, 1.6035674514, 0, -0.5773502692}
		compare.Near(t, fmt.Sprintf("%T", d.Features), x.(*tensor.Dense).Data, want, compare.Off(1e-6, 0))
		if denseOf(d.Features).Data[0] != 1 {
			t.Error("the dataset has changed")
		}
	}
	wide, err := sparse.New(1<<12, 1<<14, make([]int64, 1<<12+1), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := (&Dataset{Features: wide}).Standardised(); x != nil || err == nil || !strings.Contains(err.Error(), "4096×16384 of them are more than the 33554432 elements that are allowed for 0 nonzeros") {
		t.Errorf("features that do not fit: %v, %v", x, err)
	}
	if x, err := (&Dataset{Features: tensor.New(0, 3)}).Standardised(); err != nil || x.Shape()[1] != 3 {
		t.Errorf("no rows: %v, %v", x, err)
	}
}

func TestBinarised(t *testing.T) {
	for _, d := range eitherWay(2, 3, 0, 7, -1, 0.5, 0, 1) {
		if x := denseOf(d.Binarised()); !slices.Equal(x.Data, []tensor.Float{0, 1, 1, 1, 0, 1}) || denseOf(d.Features).Data[1] != 7 {
			t.Errorf("%T: %v from %v", d.Features, x, d.Features)
		}
	}
	ones, err := sparse.New(1, 2, []int64{0, 1}, []int32{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if x := denseOf((&Dataset{Features: ones}).Binarised()); x.Data[0] != 0 || x.Data[1] != 1 {
		t.Errorf("without values: %v", x)
	}
}

func TestFeatureKind(t *testing.T) {
	for _, c := range []struct {
		values []tensor.Float
		words  bool
		says   string
	}{
		{[]tensor.Float{0, 1, 0, 0, 0, 2}, true, "counts of words: 33.3 % nonzero, none negative"},
		{[]tensor.Float{0, 1, 0, 0.5, 0, 2}, true, "words: 50 % nonzero, none negative"},
		{[]tensor.Float{0, 1, 0, 1, 0, 1}, true, "words: 50 % nonzero, none negative"},
		{[]tensor.Float{0.5, 1, 0, 1, 0, 1}, false, "dense: 66.7 % nonzero"},
		{[]tensor.Float{0, 1, 0, -1, 0, 0}, false, "some values are negative"},
	} {
		for _, d := range eitherWay(3, 2, c.values...) {
			if k := d.FeatureKind(); k.Words() != c.words || k.String() != c.says {
				t.Errorf("%v as %T: %v, %q, want %v, %q", c.values, d.Features, k.Words(), k, c.words, c.says)
			}
		}
	}
	if k := Karate().FeatureKind(); !k.Words() {
		t.Errorf("karate's identity is %v", k)
	}
	if k := (&Dataset{Features: tensor.New(0, 0)}).FeatureKind(); k.Density != 0 {
		t.Errorf("nothing is %v", k)
	}
}
