package text

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Ragged is sequences of tokens, each as long as it is, one after the other: sequence i
// is Tokens[Offsets[i]:Offsets[i+1]]. There is no padding. The zero value holds none.
// Labels of tokens, such as tags, are a Ragged too.
type Ragged struct {
	Tokens  []int32
	Offsets []int
}

// RaggedOf returns sequences as a Ragged, which copies them.
func RaggedOf(sequences ...[]int32) Ragged {
	r := Ragged{Offsets: make([]int, 1, len(sequences)+1)}
	for _, s := range sequences {
		r.add(s...)
	}
	return r
}

// add adds a sequence.
func (r *Ragged) add(tokens ...int32) {
	if len(r.Offsets) == 0 {
		r.Offsets = []int{0}
	}
	r.Tokens = append(r.Tokens, tokens...)
	r.Offsets = append(r.Offsets, len(r.Tokens))
}

// Len returns the number of sequences.
func (r Ragged) Len() int { return max(0, len(r.Offsets)-1) }

// Sequence returns sequence i, which shares memory with r.
func (r Ragged) Sequence(i int) []int32 {
	lo, hi := r.Offsets[i], r.Offsets[i+1]
	return r.Tokens[lo:hi:hi]
}

// Lengths returns the length of each sequence.
func (r Ragged) Lengths() []int { return lengths(r.Offsets) }

// lengths returns the differences of offsets.
func lengths(offsets []int) []int {
	out := make([]int, max(0, len(offsets)-1))
	for i := range out {
		out[i] = offsets[i+1] - offsets[i]
	}
	return out
}

// Rows returns some of the sequences, in the order of rows; one may be there twice. It
// panics with a [*tensor.ShapeError] if there is no such sequence.
func (r Ragged) Rows(rows []int32) Ragged {
	checkRows("text.Ragged.Rows", rows, r.Len())
	out := Ragged{Offsets: make([]int, 1, len(rows)+1)}
	for _, i := range rows {
		out.add(r.Sequence(int(i))...)
	}
	return out
}

// checkRows panics unless rows are from 0 to n−1.
func checkRows(op string, rows []int32, n int) {
	for _, i := range rows {
		if i < 0 || int(i) >= n {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{n}}, Why: fmt.Sprintf("there is no row %d: rows are counted from 0", i)})
		}
	}
}

// Graph returns a chain a sequence, a node a token. A sequence without tokens is an
// empty chain: it is a member of the graph and has no node, so that a mean over
// Membership gives it a row of zeros, but Sinks no last node.
func (r Ragged) Graph() *graph.Graph { return graph.Chains(r.Lengths()...) }

// Batch returns some of the sequences as one graph. It panics with a
// [*tensor.ShapeError] if there is no such sequence.
func (r Ragged) Batch(rows []int32) *Batch {
	some := r.Rows(rows)
	return &Batch{Rows: rows, Graph: some.Graph(), Tokens: some.Tokens}
}
