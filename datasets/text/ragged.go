package text

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

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

// Batch is some sequences in one graph, the disjoint union of their chains.
type Batch struct {
	Rows   []int32      // sequence k of the batch is Rows[k] of the Ragged
	Graph  *graph.Graph // a chain a sequence
	Tokens []int32      // of each node
}

// Scatter is the way back: it puts what was found for each node, such as its tag, at
// the place of its sequence in the Ragged, into[Rows[k]]. The slices share memory with
// values. It panics with a [*tensor.ShapeError] if values are not one a node.
func (b *Batch) Scatter(into [][]int32, values []int32) {
	ends := b.Graph.NodeOffsets()
	if len(values) != b.Graph.NumNodes() {
		panic(&tensor.ShapeError{Op: "text.Batch.Scatter", Shapes: [][]int{{len(values)}, {b.Graph.NumNodes()}}, Why: "values are not one a node"})
	}
	checkRows("text.Batch.Scatter", b.Rows, len(into))
	for k, i := range b.Rows {
		into[i] = values[ends[k]:ends[k+1]:ends[k+1]]
	}
}

// pool is how many batches are sorted by length together.
const pool = 20

// ByLength returns the rows of each batch of an epoch: size sequences of nearly the same
// length, the last batch perhaps fewer. All rows are shuffled, those of 20 batches at a
// time are sorted by length and cut, and then the batches are shuffled. So each row is
// there once, and what comes out depends on nothing but lengths, size, seed and epoch.
//
//	for _, rows := range text.ByLength(questions.Lengths(), 32, seed, epoch) {
//		b := questions.Batch(rows)
//
// It panics with a [*tensor.ShapeError] if size is not positive.
func ByLength(lengths []int, size int, seed uint64, epoch int) [][]int32 {
	if size <= 0 {
		panic(&tensor.ShapeError{Op: "text.ByLength", Shapes: [][]int{{size}}, Why: fmt.Sprintf("batches of %d sequences, want 1 or more", size)})
	}
	rng := rand.New(rand.NewPCG(seed, uint64(epoch)))
	rows := make([]int32, len(lengths))
	for i := range rows {
		rows[i] = int32(i)
	}
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	batches := make([][]int32, 0, len(rows)/size+1)
	for some := range slices.Chunk(rows, pool*size) {
		slices.SortStableFunc(some, func(a, b int32) int { return cmp.Compare(lengths[a], lengths[b]) })
		for batch := range slices.Chunk(some, size) {
			batches = append(batches, batch)
		}
	}
	rng.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
	return batches
}
