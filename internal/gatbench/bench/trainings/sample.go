package trainings

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// sampled is what is timed of package sample: batches of sampleBatch nodes, and a network that reads
// drawn neighbours of them.
type sampled struct {
	op             string
	layer          string // sage or gat; empty: the batch alone
	fanout         []int  // the first layer's first
	in, hid, heads int    // widths of the features and of a layer, of each head
	odds           bool   // edges are drawn by odds
	ahead          int
}

const sampleBatch, sampleClasses = 1024, 16

// sampledRows are a batch without features, and with them, drawn in two ways; a step while the next batches are made, of two layers
// of GraphSAGE or GAT and of three wide ones; and a step that makes its own.
var sampledRows = []sampled{
	{op: "sample/blocks", fanout: []int{10, 10}, ahead: -1},
	{op: "sample/batch", fanout: []int{10, 10}, in: 64, ahead: -1},
	{op: "sample/batch/weighted", fanout: []int{10, 10}, in: 64, odds: true, ahead: -1},
	{op: "sample/step", layer: "sage", fanout: []int{10, 10}, in: 64, hid: 64, heads: 1},
	{op: "sample/step/alone", layer: "sage", fanout: []int{10, 10}, in: 64, hid: 64, heads: 1, ahead: -1},
	{op: "sample/step/gat", layer: "gat", fanout: []int{10, 10}, in: 64, hid: 16, heads: 4},
	{op: "sample/step/deep", layer: "sage", fanout: []int{5, 10, 15}, in: 100, hid: 256, heads: 1},
}

// sampleGraph is what is sampled: edges between any two of a million nodes.
func sampleGraph() *bench.Graph {
	const nodes, edges = 1_000_000, 10_000_000
	return &bench.Graph{Name: fmt.Sprintf("%dx%d", nodes, edges), Nodes: nodes, Rows: nodes, Edges: edges, Get: sync.OnceValue(func() *graph.Graph {
		return random.Uniform(rand.New(rand.NewPCG(0, 0)), nodes, edges)
	})}
}

// Samples are batches of neighbours that were drawn, and steps on them.
func Samples(c *bench.Choice) []bench.Benchmark {
	g := c.Graph
	if g == nil {
		g = sampleGraph()
	}
	var out []bench.Benchmark
	for _, r := range sampledRows {
		out = append(out, g.Only(bench.Benchmark{
			Name: r.op + "/" + g.Name, Op: r.op, Lanes: c.Threads,
			Params: map[string]any{
				"graph": g.Name, "nodes": g.Nodes, "edges": g.Edges, "batch": sampleBatch, "fanout": fmt.Sprint(r.fanout), "layer": r.layer,
				"dim": r.in, "hidden": r.hid, "heads": r.heads, "classes": sampleClasses, "ahead": r.ahead >= 0, "threads": c.Threads,
			},
			Prepare: func() bench.Work { return r.workload(g) },
		}))
	}
	return out
}

// workload returns what is timed.
func (r sampled) workload(b *bench.Graph) bench.Work {
	g := b.Get()
	l := &sample.Loader{
		Sampler: sample.Sampler{Graph: g, Fanout: r.fanout, Seed: 1},
		Nodes:   g.DstRows(), Size: min(sampleBatch, g.NumNodes()), Ahead: r.ahead,
	}
	if r.in > 0 {
		l.Features = bench.Operand(g.NumSrc(), r.in)
	}
	l.InPlace = r.layer != "" // whose first layer sums first
	if r.odds {
		rng := rand.New(rand.NewPCG(2, 3))
		l.Odds = make([]tensor.Float, g.NumEdges())
		for e := range l.Odds {
			l.Odds[e] = 0.1 + tensor.Float(rng.Float32())
		}
	}
	var batch *sample.Batch
	next, step, ctx := l.Into(&batch), uint64(0), context.Background()
	read := func() {
		step++
		if err := next(ctx, step); err != nil {
			panic(err) // a graph of our own
		}
	}
	if r.layer == "" {
		return bench.Work{Call: read}
	}
	labels := make([]int32, g.NumNodes())
	for v := range labels {
		labels[v] = int32(v % sampleClasses)
	}
	net, t, opt := r.network(), grad.NewTape(1), &train.Adam{LR: 0.01}
	forward := func() *grad.Var {
		t.Reset()
		read()
		x := grad.Const(batch.X)
		for i, conv := range net {
			x = conv.Forward(t, batch.Blocks[i], x)
		}
		return x.CrossEntropy(batch.Of(labels))
	}
	w := bench.Work{Call: func() { opt.Step(t.Backward(forward())) }}
	if r.ahead < 0 {
		w.Forward = func() { forward() }
	}
	return w
}

// sampledConv is a layer of what is timed.
type sampledConv interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
}

// network returns the layers, the last of which has a column for each class.
func (r sampled) network() []sampledConv {
	var net []sampledConv
	rng, in := rand.New(rand.NewPCG(1, 2)), r.in
	for i := range r.fanout {
		out, heads, act := r.hid, r.heads, grad.ReLU
		if r.layer == "gat" {
			act = grad.ELU
		}
		if i == len(r.fanout)-1 {
			out, heads, act = sampleClasses, 1, ""
		}
		var conv sampledConv = &layers.SAGEConv{In: in, Out: out, Activation: act}
		if r.layer == "gat" {
			conv = &layers.GATConv{In: in, Out: out, Heads: heads, Activation: act}
		}
		conv.Init(rng)
		net, in = append(net, conv), out*heads
	}
	return net
}

// walkLength is the steps of a walk, as node2vec's authors have it.
const walkLength = 80

// Walks are a random walk from each node of a graph.
func Walks(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	g := c.GraphOr("pubmed")
	for _, w := range []struct {
		name            string
		back, elsewhere float64
	}{{"deepwalk", 1, 1}, {"node2vec", 0.25, 4}, {"node2vec_far", 4, 0.25}} {
		out = append(out, g.Only(bench.Benchmark{
			Name: "walks/" + w.name + "/" + g.Name, Op: "walks/" + w.name, Lanes: c.Threads,
			Params: map[string]any{
				"graph": g.Name, "nodes": g.Nodes, "edges": g.Edges, "length": walkLength, "p": w.back, "q": w.elsewhere, "threads": c.Threads,
			},
			Steps: float64(g.Nodes * walkLength),
			Prepare: func() bench.Work {
				walks := sample.Walks{Graph: g.Get(), Length: walkLength, Return: w.back, Explore: w.elsewhere, Seed: 1}
				round, nodes := uint64(0), walks.Graph.DstRows()
				return bench.Work{Call: func() {
					round++
					if _, err := walks.From(nodes, round); err != nil {
						panic(err) // the nodes are the graph's
					}
				}}
			},
		}))
	}
	return out
}
