package datasets

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

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
	g, err := graph.Members(d.Graph, ids)
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

// Nodes returns d as one graph whose nodes are to be told apart, for those that NodeLabels
// or NodeTargets say something of. Its splits are d's: the nodes of a graph that trains
// train, so that the graphs that validate and test are never seen in training, as in
// protein interactions (PPI). Nodes are called by their graphs' names, if these have any,
// and their number. The error says so if nothing is known of the nodes, or they have no
// features.
func (d *Graphs) Nodes() (*Dataset, error) {
	switch {
	case d.NodeLabels == nil && d.NodeTargets == nil:
		return nil, fmt.Errorf("%s: nothing is to be learnt of its nodes, and what is to be learnt of whole graphs is for another task", d.Name)
	case d.Features == nil:
		return nil, fmt.Errorf("%s: its nodes have no features to learn from", d.Name)
	}
	e := &Dataset{
		Name: d.Name, Graph: d.Graph, Features: d.Features, EdgeFeatures: d.EdgeFeatures,
		Codes: d.Codes, EdgeCodes: d.EdgeCodes, Labels: d.NodeLabels, Targets: d.NodeTargets, ClassNames: d.ClassNames,
	}
	if d.NodeLabels != nil {
		e.Classes = d.Classes
	}
	if of, n := d.EdgeKinds(); n > 0 {
		e.EdgeKinds = &Kinds{Of: of}
		for k := range n {
			e.EdgeKinds.Names = append(e.EdgeKinds.Names, strconv.Itoa(k))
		}
	}
	e.Split = d.nodesOf(d.Split)
	for _, s := range d.Splits {
		e.Splits = append(e.Splits, d.nodesOf(s))
	}
	if len(d.GraphNames) > 0 {
		at := d.Graph.NodeOffsets()
		for i, name := range d.GraphNames {
			for v := range at[i+1] - at[i] {
				e.NodeNames = append(e.NodeNames, name+" "+strconv.Itoa(v))
			}
		}
	}
	return e, e.Check()
}

// nodesOf returns a split of graphs as one of their nodes.
func (d *Graphs) nodesOf(s Split) Split {
	at := d.Graph.NodeOffsets()
	nodes := func(ids []int32) (out []int32) {
		for _, i := range slices.Sorted(slices.Values(ids)) {
			for v := at[i]; v < at[i+1]; v++ {
				out = append(out, int32(v))
			}
		}
		return out
	}
	return Split{nodes(s.Train), nodes(s.Val), nodes(s.Test)}
}

// EdgeKinds returns the kind of each edge in the graph's order, and how many kinds there are:
// the place of the one among the columns of EdgeFeatures after its numbers. It returns nil
// unless each edge has exactly one there.
func (d *Graphs) EdgeKinds() (kinds []int32, n int) {
	if d.EdgeFeatures == nil || d.EdgeNumbers == d.EdgeFeatures.Dim(1) {
		return nil, 0
	}
	n = d.EdgeFeatures.Dim(1) - d.EdgeNumbers
	kinds = make([]int32, d.EdgeFeatures.Dim(0))
	for e := range kinds {
		row := d.EdgeFeatures.Row(e)[d.EdgeNumbers:]
		k := slices.Index(row, 1)
		if k < 0 || slices.ContainsFunc(row[:k], notZero) || slices.ContainsFunc(row[k+1:], notZero) {
			return nil, 0
		}
		kinds[e] = int32(k)
	}
	return kinds, n
}

func notZero(x tensor.Float) bool { return x != 0 }
