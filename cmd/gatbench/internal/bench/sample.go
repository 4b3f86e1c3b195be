package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/train"
)

// What is timed of package sample: batches of so many nodes, of each of which two
// layers of GraphSAGE read ten drawn neighbours.
const (
	sampleBatch, sampleFanout              = 1024, 10
	sampleDim, sampleHidden, sampleClasses = 64, 64, 16
)

// sampleGraph is what is sampled: edges between any two of a million nodes.
func sampleGraph() *Graph {
	const nodes, edges = 1_000_000, 10_000_000
	return &Graph{name: fmt.Sprintf("%dx%d", nodes, edges), nodes: nodes, rows: nodes, edges: edges, get: sync.OnceValue(func() *graph.Graph {
		return graph.Must(graph.Uniform(rand.New(rand.NewPCG(0, 0)), nodes, edges))
	})}
}

// sampleBenchmarks are a batch alone, a step while the next batches are prepared,
// and one that prepares its own.
func sampleBenchmarks(threads int, c sparseChoice) []Benchmark {
	graphs := c.graphs
	if len(graphs) == 0 {
		graphs = []*Graph{sampleGraph()}
	}
	var out []Benchmark
	for _, g := range graphs {
		add := func(op, after string, ahead int, prepare func(l *sample.Loader) func()) {
			out = append(out, g.only(Benchmark{
				name: op + "/" + g.name + after, op: op, lanes: threads,
				params: map[string]any{
					"graph": g.name, "nodes": g.nodes, "edges": g.edges, "batch": sampleBatch, "fanout": sampleFanout,
					"dim": sampleDim, "hidden": sampleHidden, "classes": sampleClasses, "ahead": max(0, ahead), "threads": threads,
				},
				prepare: func() workload { return workload{call: prepare(sampleLoader(g, ahead))} },
			}))
		}
		add("sample/batch", "", -1, batchCall)
		add("sample/step", "", 2, stepCall)
		add("sample/step", "/alone", -1, stepCall)
	}
	return out
}

// sampleLoader makes batches of all nodes of a graph.
func sampleLoader(b *Graph, ahead int) *sample.Loader {
	g := b.get()
	return &sample.Loader{
		Sampler: sample.Sampler{Graph: g, Fanout: []int{sampleFanout, sampleFanout}, Seed: 1},
		Nodes:   g.DstRows(), Size: sampleBatch, Features: newOperand(g.NumSrc(), sampleDim), Ahead: ahead,
	}
}

// batchCall draws a batch and gathers its features.
func batchCall(l *sample.Loader) func() {
	next, step := l.Into(new(*sample.Batch)), uint64(0)
	return func() {
		step++
		if err := next(context.Background(), step); err != nil {
			panic(err) // a graph of our own
		}
	}
}

// stepCall is a step of training on the next batch.
func stepCall(l *sample.Loader) func() {
	labels := make([]int32, l.Graph.NumNodes())
	for v := range labels {
		labels[v] = int32(v % sampleClasses)
	}
	hidden := &layers.SAGEConv{In: sampleDim, Out: sampleHidden, Activation: grad.ReLU}
	last := &layers.SAGEConv{In: sampleHidden, Out: sampleClasses}
	rng := rand.New(rand.NewPCG(1, 2))
	hidden.Init(rng)
	last.Init(rng)
	t, opt := grad.NewTape(1), &train.Adam{LR: 0.01}
	var b *sample.Batch
	next := l.Into(&b)
	return func() {
		t.Reset()
		if err := next(context.Background(), t.Step()); err != nil {
			panic(err) // a graph of our own
		}
		h := hidden.Forward(t, b.Blocks[0], grad.Const(b.X))
		opt.Step(t.Backward(last.Forward(t, b.Blocks[1], h).CrossEntropy(b.Of(labels))))
	}
}
