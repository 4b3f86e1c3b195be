package text

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

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
