package datasets

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GraphBatch is some graphs side by side: one disjoint graph, whose members are the graphs,
// with what is known of them. Fields are nil that [Graphs] has none of.
type GraphBatch struct {
	IDs          []int32 // which graphs
	Graph        *graph.Graph
	Features     *tensor.Dense
	EdgeFeatures *tensor.Dense
	Labels       Labels
	MultiLabels  *sparse.CSR
	Targets      *tensor.Dense
	NodeTargets  *tensor.Dense
	NodeLabels   Labels
}

// Batch returns the graphs of the given numbers, in that order. It panics with a
// [*tensor.ShapeError] if there is none of a number.
func (d *Graphs) Batch(ids []int32) *GraphBatch {
	g, err := d.Graph.Members(ids)
	if err != nil {
		panic(&tensor.ShapeError{Op: "datasets.Batch", Shapes: [][]int{{d.Len()}}, Why: err.Error()})
	}
	b := &GraphBatch{IDs: ids, Graph: g}
	if d.Features != nil {
		b.Features = GatherRows(d.Features, g.From().Src).(*tensor.Dense)
	}
	if d.EdgeFeatures != nil {
		b.EdgeFeatures = GatherRows(d.EdgeFeatures, g.From().Edges).(*tensor.Dense)
	}
	if d.Labels != nil {
		b.Labels = pick(d.Labels, ids)
	}
	if d.NodeLabels != nil {
		b.NodeLabels = pick(d.NodeLabels, g.From().Src)
	}
	if d.NodeTargets != nil {
		b.NodeTargets = GatherRows(d.NodeTargets, g.From().Src).(*tensor.Dense)
	}
	if d.MultiLabels != nil {
		b.MultiLabels = sparse.GatherRows(d.MultiLabels, ids)
	}
	if d.Targets != nil {
		b.Targets = GatherRows(d.Targets, ids).(*tensor.Dense)
	}
	return b
}

// Batches shuffles graphs and cuts them into batches of size, of which the last may be
// smaller. It cuts the same for the same rng.
func (d *Graphs) Batches(rng *rand.Rand, ids []int32, size int) [][]int32 {
	return slices.Collect(slices.Chunk(shuffled(rng, ids), max(1, size)))
}

// bucket is how many batches are drawn at random before they are put in order.
const bucket = 32

// BucketedBatches is Batches of graphs that have about as many nodes: of each 32 batches
// that Batches would cut the graphs are sorted by size first. Batches come in random order.
// A step that takes longest where its largest graph is large, as attention within each
// graph does, is shorter so.
func (d *Graphs) BucketedBatches(rng *rand.Rand, ids []int32, size int) [][]int32 {
	at := d.Graph.NodeOffsets()
	var out [][]int32
	for part := range slices.Chunk(shuffled(rng, ids), bucket*max(1, size)) {
		slices.SortStableFunc(part, func(a, b int32) int { return cmp.Compare(at[a+1]-at[a], at[b+1]-at[b]) })
		out = slices.AppendSeq(out, slices.Chunk(part, max(1, size)))
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func shuffled(rng *rand.Rand, ids []int32) []int32 {
	ids = slices.Clone(ids)
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids
}
