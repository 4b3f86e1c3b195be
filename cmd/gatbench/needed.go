package main

import (
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
)

// lossOf returns the loss of all training nodes at once. Of the rows of each layer
// only those are computed that it depends on: of the last the training nodes', of
// the one before those and their in-neighbours', and so on. The others would be
// neither seen by the loss nor get a gradient, so loss and gradients are those of
// the whole graph; where few nodes train they are most of the work.
func (k *task) lossOf(net *network) func(t *grad.Tape) *grad.Var {
	labels, p := k.labelsOf(k.split.Train), k.needed(net)
	return func(t *grad.Tape) *grad.Var { return net.run(t, p).CrossEntropy(labels) }
}

// needed returns what a network computes for the training nodes' sake: all rows if
// the recipe asks for them, if a layer looks several hops far, or if the others
// would save little.
func (k *task) needed(net *network) pass {
	if net.Recipe.Rows != rowsAll && !net.Recipe.model().whole {
		if p := k.near.of(net, k); p.hops != nil {
			return p
		}
	}
	return k.every(net)
}

// every is needed with all rows.
func (k *task) every(net *network) pass {
	p := net.whole(k.hop(net), k.features)
	p.rows = k.split.Train
	return p
}

// nearby keeps what the networks of a task and a split need: it is the same for all
// seeds, which may train side by side.
type nearby struct {
	mu     sync.Mutex
	passes map[nearKey]pass
}

// nearKey is what of a network decides what it needs.
type nearKey struct {
	layers           int
	symmetric, alone bool
}

func (n *nearby) of(net *network, k *task) pass {
	m := net.Recipe.model()
	key := nearKey{len(net.Layers), m.symmetric, m.alone}
	n.mu.Lock()
	defer n.mu.Unlock()
	p, ok := n.passes[key]
	if !ok {
		p = newBatches(k, net).few()
		if n.passes == nil {
			n.passes = map[nearKey]pass{}
		}
		n.passes[key] = p
	}
	return p
}

// few is around of all training nodes; no hops if they have more than three
// quarters of the edges of all layers. Where the first layer reads more than three
// quarters of the nodes, it reads them where they are, with the few others.
func (b *batches) few() pass {
	hops, edges := b.hops(b.split.Train), 0
	for _, h := range hops {
		edges += h.graph.NumEdges()
	}
	if most(edges, len(hops)*b.task.graph.NumEdges()) {
		return pass{}
	}
	first := hops[0].graph
	if !most(first.NumSrc(), b.graph.NumNodes()) {
		return b.reading(hops)
	}
	hops[0] = b.hop(graph.Must(b.graph.Dst(first.From().Dst)))
	return pass{hops: hops, x: b.features}
}

// most reports whether n is more than three quarters of all.
func most(n, all int) bool { return 4*n > 3*all }
