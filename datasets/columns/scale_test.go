package columns

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A scale that is learnt from the rows that train is that of these alone, dense or sparse, and a row becomes the
// same numbers in any company and after JSON.
func TestScalingOfTrainingRows(t *testing.T) {
	x := tensor.Of([]tensor.Float{1, 0, 7, 3, 0, 7, 900, 5, 8}, 3, 3)
	for _, x := range []tensor.Array{x, sparse.FromDense(x)} {
		s := &Scaling{Form: Standard}
		if err := s.Fit(x, []int32{0, 1}); err != nil {
			t.Fatal(err)
		}
		want := &Scaling{Form: Standard, Mean: []float64{2, 0, 7}, Dev: []float64{1, 0, 0}}
		if !reflect.DeepEqual(s, want) {
			t.Errorf("%+v, want %+v", s, want)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again := new(Scaling)
		if err := json.Unmarshal(text, again); err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("%s is %+v, %v", text, again, err)
		}
		y, err := again.Apply(gathered(x, []int32{2}))
		if err != nil {
			t.Fatal(err)
		}
		if got := y.(*tensor.Dense).Data; !reflect.DeepEqual(got, []tensor.Float{898, 0, 0}) {
			t.Errorf("row 2 alone is %v", got)
		}
		if _, err := s.Apply(tensor.New(1, 2)); err == nil || err.Error() != "there are 2 features, and the scale was learnt from 3" {
			t.Errorf("of another width: %v", err)
		}
		for _, rows := range [][]int32{{}, {3}, {-1}} {
			if err := s.Fit(x, rows); err == nil {
				t.Errorf("rows %v train", rows)
			}
		}
	}
	for nonzero, want := range map[int]int64{0: 1 << 25, 1_117_210: 143_002_880, 1 << 30: 1 << 28} { // the second is Coauthor CS
		if got := mostStandard(nonzero); got != want {
			t.Errorf("%d nonzeros may be %d elements, want %d", nonzero, got, want)
		}
	}
}

// Counts become ones, and then parts of their row.
func TestBinaryRows(t *testing.T) {
	x := tensor.Of([]tensor.Float{4, 0, 1, 0, 0, 0, 2, 3, 2, 2, 5, 9}, 3, 4)
	want := []tensor.Float{0.5, 0, 0.5, 0, 0, 0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25}
	for _, x := range []tensor.Array{x, sparse.FromDense(x)} {
		y, err := (&Scaling{Form: BinaryRows}).Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := y.(*sparse.CSR); ok {
			y = s.Dense()
		}
		if got := y.(*tensor.Dense).Data; !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestScalingThatLies(t *testing.T) {
	for want, s := range map[string]Scaling{
		`"log" is no form of features; there are raw, rows, standard, binary, binary-rows`: {Form: "log"},
		"features in the form rows have no means":                                          {Form: RowSums, Mean: []float64{1}, Dev: []float64{1}},
		"there are 2 means and 1 standard deviations":                                      {Form: Standard, Mean: []float64{1, 2}, Dev: []float64{1}},
		"feature 0 has the mean NaN":                                                       {Form: Standard, Mean: []float64{math.NaN()}, Dev: []float64{1}},
		"feature 1 has the mean 0 and the standard deviation -1":                           {Form: Standard, Mean: []float64{0, 0}, Dev: []float64{1, -1}},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
}
