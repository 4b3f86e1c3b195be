package text

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Series is sequences of numbers, a row of X a step, one sequence after the other:
// sequence i is the rows from Offsets[i] to Offsets[i+1], without the latter.
type Series struct {
	X       *tensor.Dense
	Offsets []int
}

// Len returns the number of sequences.
func (s Series) Len() int { return max(0, len(s.Offsets)-1) }

// Lengths returns the length of each sequence.
func (s Series) Lengths() []int { return lengths(s.Offsets) }

// Graph returns a chain a sequence, a node a step.
func (s Series) Graph() *graph.Graph { return graph.Chains(s.Lengths()...) }

// Rows returns some of the sequences, in the order of rows. It panics with a
// [*tensor.ShapeError] if there is no such sequence.
func (s Series) Rows(rows []int32) Series {
	checkRows("text.Series.Rows", rows, s.Len())
	width, out := s.X.Shape()[1], Series{Offsets: []int{0}}
	var values []tensor.Float
	for _, i := range rows {
		values = append(values, s.X.Data[s.Offsets[i]*width:s.Offsets[i+1]*width]...)
		out.Offsets = append(out.Offsets, len(values)/max(1, width))
	}
	out.X = tensor.Of(values, len(values)/max(1, width), width)
	return out
}

// LoadSorted is [ReadSorted] of the folder or the archive at path.
func LoadSorted(path, name string) (numbers Series, order Ragged, err error) {
	b, err := openBundle(path, "")
	return b.sorted(name, err)
}

// ReadSorted returns rows of numbers and the order of each: of x_NAME.csv with a row of numbers a line and y_NAME.csv with the places from 0 of what
// comes first, second and so on. Published are 3, 5, 8, 3_test, sums and sums_test; in
// those called sums, three sums of two numbers each are put in order, not the numbers.
// Columns are not named, and fields have commas between them.
func ReadSorted(fsys fs.FS, name string) (numbers Series, order Ragged, err error) {
	b, err := openFS(fsys, "")
	return b.sorted(name, err)
}

func (b *bundle) sorted(name string, err error) (numbers Series, order Ragged, _ error) {
	if err != nil {
		return numbers, order, err
	}
	defer b.Close()
	x, xs, err := b.lines("x_" + name + ".csv")
	if err != nil {
		return numbers, order, err
	}
	y, ys, err := b.lines("y_" + name + ".csv")
	if err != nil {
		return numbers, order, err
	}
	if len(xs) != len(ys) {
		return numbers, order, fmt.Errorf("%s has %d lines and %s %d: give every row its order", x.path, len(xs), y.path, len(ys))
	}
	values, offsets := make([]tensor.Float, 0, len(xs)+strings.Count(x.text, ",")), make([]int, 1, len(xs)+1)
	order.Offsets = make([]int, 1, len(xs)+1)
	for i, line := range xs {
		if values, err = rowOf(values, x, i, line); err != nil {
			return numbers, order, err
		}
		offsets = append(offsets, len(values))
	}
	for i, line := range ys {
		places, err := placesOf(y, i, line)
		if n := offsets[i+1] - offsets[i]; err == nil && len(places) != n && 2*len(places) != n {
			err = y.wrong(i, "%d places for the %d numbers in the same line of %s: want one a number, or one a pair", len(places), n, x.path)
		}
		if err != nil {
			return numbers, order, err
		}
		order.add(places...)
	}
	return Series{tensor.Of(values, len(values), 1), offsets}, order, nil
}

// rowOf adds the numbers of a line.
func rowOf(values []tensor.Float, d *document, i int, line string) ([]tensor.Float, error) {
	for field := range strings.SplitSeq(line, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || math.IsInf(float64(tensor.Float(v)), 0) || math.IsNaN(v) {
			return nil, d.wrong(i, "%.20q is no finite number: write numbers with commas between them", field)
		}
		if err := d.keep(8, i); err != nil {
			return nil, err
		}
		values = append(values, tensor.Float(v))
	}
	return values, nil
}

// placesOf returns a permutation.
func placesOf(d *document, i int, line string) ([]int32, error) {
	var places []int32
	for field := range strings.SplitSeq(line, ",") {
		v, err := strconv.ParseUint(strings.TrimSpace(field), 10, 31)
		if err != nil {
			return nil, d.wrong(i, "%.20q is no place: write places from 0 with commas between them", field)
		}
		if err := d.keep(4, i); err != nil {
			return nil, err
		}
		places = append(places, int32(v))
	}
	seen := make([]bool, len(places))
	for _, v := range places {
		if int(v) >= len(seen) || seen[v] {
			return nil, d.wrong(i, "%.40q is no order: each place from 0 to %d must be there once", line, len(places)-1)
		}
		seen[v] = true
	}
	return places, nil
}
