package text

import (
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
