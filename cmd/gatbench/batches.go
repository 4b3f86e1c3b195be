package main

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// batches is the training nodes, some at a time, each with all the neighbours
// that the layers look at: what it computes is what the whole graph would give.
// The order is new in each epoch, and a function of the seed and the epoch.
type batches struct {
	*task
	net     *network
	graph   *graph.Graph  // the task's; of a model that looks at no neighbours one without edges
	weights *tensor.Dense // of the graph's edges; nil if the model reads none
	epoch   int           // of which order is; −1: none yet
	order   []int32
}

func newBatches(k *task, net *network) *batches {
	b := &batches{task: k, net: net, graph: k.graph, epoch: -1}
	switch m := net.Recipe.model(); {
	case m.symmetric:
		w := k.weights
		if w == nil {
			w = layers.SymmetricWeights(k.graph, nil)
		}
		b.weights = w.Value()
	case m.alone:
		b.graph = graph.Must(graph.New(k.graph.NumNodes(), nil, nil))
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
	return b.net.run(t, b.around(seeds)).CrossEntropy(b.labelsOf(seeds))
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

// around returns what is computed for some of the nodes.
func (b *batches) around(seeds []int32) pass { return b.reading(b.hops(seeds)) }

// reading is a pass over blocks, with the features of those nodes that it reads.
func (b *batches) reading(hops []hop) pass {
	return pass{hops: hops, x: grad.Const(datasets.GatherRows(b.rows, hops[0].graph.From().Src))}
}

// hops returns a block for each layer.
func (b *batches) hops(seeds []int32) []hop {
	hops := make([]hop, len(b.net.Layers))
	for i, block := range graph.Must(b.graph.Blocks(seeds, len(hops))) { // distinct nodes of the graph
		hops[i] = b.hop(block)
	}
	return hops
}

// hop is a part of the graph with the weights of its edges, if there are any.
func (b *batches) hop(part *graph.Graph) hop {
	if b.weights == nil {
		return hop{graph: part}
	}
	w := tensor.New(part.NumEdges(), 1)
	tensor.GatherRows(w, b.weights, part.From().Edges)
	return hop{graph: part, weight: grad.Const(w)}
}
