package main

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// batches is the training nodes, some at a time, each with all the neighbours
// that the layers look at: what it computes is what the whole graph would give.
// The order is new in each epoch, and a function of the seed and the epoch.
type batches struct {
	*task
	net     *network
	weights *tensor.Dense // of the graph's edges; nil if the model reads none
	epoch   int           // of which order is; −1: none yet
	order   []int32
}

func newBatches(k *task, net *network) *batches {
	b := &batches{task: k, net: net, epoch: -1}
	if m, err := findModel(net.Recipe.Model); err == nil && m.symmetric {
		b.weights = layers.SymmetricWeights(k.graph, nil).Value()
	}
	return b
}

// steps is how many make an epoch.
func (b *batches) steps() int {
	n := b.net.Recipe.Batch
	return (len(b.split.Train) + n - 1) / n
}

// loss is that of the batch which the tape's step stands for.
func (b *batches) loss(t *grad.Tape) *grad.Var {
	step, size := int(t.Step())-1, b.net.Recipe.Batch
	b.shuffle(step / b.steps())
	lo := step % b.steps() * size
	seeds := b.order[lo:min(lo+size, len(b.order))]
	hops, x := b.around(seeds)
	return b.net.through(t, hops, x).CrossEntropy(b.labelsOf(seeds))
}

// shuffle puts the training nodes into the order of an epoch.
func (b *batches) shuffle(epoch int) {
	if epoch == b.epoch {
		return
	}
	b.epoch, b.order = epoch, slices.Clone(b.split.Train)
	rng := rand.New(rand.NewPCG(b.net.Recipe.Seed, uint64(epoch)+1))
	rng.Shuffle(len(b.order), func(i, j int) { b.order[i], b.order[j] = b.order[j], b.order[i] })
}

// around returns a block for each layer and the features of the first one's
// sources.
func (b *batches) around(seeds []int32) ([]hop, *grad.Var) {
	hops := b.hops(seeds)
	return hops, grad.Const(gatherRows(b.rows, hops[0].graph.From().Src))
}

// hops returns a block for each layer.
func (b *batches) hops(seeds []int32) []hop {
	hops := make([]hop, len(b.net.Layers))
	for i, block := range graph.Must(b.graph.Blocks(seeds, len(hops))) { // distinct nodes of the graph
		hops[i].graph = block
		if b.weights != nil {
			w := tensor.New(block.NumEdges(), 1)
			tensor.GatherRows(w, b.weights, block.From().Edges)
			hops[i].weight = grad.Const(w)
		}
	}
	return hops
}

// gatherRows returns some rows of a matrix, dense or sparse.
func gatherRows(x tensor.Array, rows []int32) tensor.Array {
	a, ok := x.(*sparse.CSR)
	if !ok {
		y := tensor.New(len(rows), x.Shape()[1])
		tensor.GatherRows(y, x.(*tensor.Dense), rows)
		return y
	}
	y := &sparse.CSR{NumRows: len(rows), NumCols: a.NumCols, Offsets: make([]int64, 1, len(rows)+1)}
	for _, r := range rows {
		cols, values := a.Row(int(r))
		y.Cols = append(y.Cols, cols...)
		if a.Values != nil {
			y.Values = append(y.Values, values...)
		}
		y.Offsets = append(y.Offsets, int64(len(y.Cols)))
	}
	return y
}
