package bench

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// convolution is a layer on a graph.
type convolution interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
}

// layerKernel is a layer from heads·dim columns to as many, whose gradients go
// to its Params and to its input, as in the peers' layer command.
type layerKernel struct {
	name string
	make func(s sparseShape) convolution
	on   []sparseCase
}

// layerKernels are the layers that are timed.
func layerKernels() []layerKernel {
	small, wide := sparseShape{8, 8}, sparseShape{4, 64}
	return []layerKernel{
		{"gat", func(s sparseShape) convolution {
			return &layers.GATConv{In: s.width(), Out: s.dim, Heads: s.heads}
		}, []sparseCase{{"cora", small}, {"pubmed", small}, {"arxiv", small}, {"arxiv", wide}}},
		{"gatv2", func(s sparseShape) convolution {
			return &layers.GATv2Conv{In: s.width(), Out: s.dim, Heads: s.heads}
		}, []sparseCase{{"cora", small}, {"pubmed", small}, {"arxiv", small}}},
		{"transformer", func(s sparseShape) convolution {
			return &layers.TransformerConv{In: s.width(), Out: s.dim, Heads: s.heads}
		}, []sparseCase{{"cora", small}, {"arxiv", small}}},
		{"gcn", func(s sparseShape) convolution {
			return &layers.GCNConv{In: s.width(), Out: s.width()}
		}, []sparseCase{{"pubmed", sparseShape{1, 64}}}},
	}
}

// layerBenchmarks are the layers on the graphs that were chosen.
func layerBenchmarks(threads int, c sparseChoice) []Benchmark {
	var out []Benchmark
	for _, k := range layerKernels() {
		for _, at := range c.cases(k.on) {
			out = append(out, Benchmark{
				name: fmt.Sprintf("layer/%s/%s/%dx%d", k.name, at.g.name, at.shape.heads, at.shape.dim), op: "layer/" + k.name, lanes: threads,
				params: map[string]any{
					"graph": at.g.name, "nodes": at.g.nodes, "edges": at.g.edges,
					"heads": at.shape.heads, "dim": at.shape.dim, "threads": threads,
				},
				prepare: func() workload { return k.prepare(at.g, at.shape) },
			})
		}
	}
	return out
}

func (k layerKernel) prepare(b *Graph, s sparseShape) workload {
	g := b.get()
	l := k.make(s)
	l.Init(rand.New(rand.NewPCG(1, 2)))
	x, seed := newOperand(g.NumSrc(), s.width()), (*tensor.Dense)(nil)
	t, eval := grad.NewTape(1), grad.NewEval()
	return workload{
		call: func() {
			t.Reset()
			y := l.Forward(t, g, t.Watch(x))
			if seed == nil {
				seed = tensor.New(y.Shape()...)
				seed.Fill(1)
			}
			t.BackwardFrom(y, seed)
		},
		forward: func() {
			eval.Reset()
			l.Forward(eval, g, eval.Input(x))
		},
	}
}
