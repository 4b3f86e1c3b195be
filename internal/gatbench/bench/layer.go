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
	arxiv64 := []sparseCase{{"arxiv", sparseShape{1, 64}}}
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
		{"pna", func(s sparseShape) convolution {
			return &layers.PNAConv{In: s.width(), Out: s.width()}
		}, arxiv64},
		{"edgeconv", func(s sparseShape) convolution {
			return &layers.EdgeConv{Net: layers.MLP{Widths: []int{2 * s.width(), s.width(), s.width()}}}
		}, arxiv64},
		{"edgeconv_linear", func(s sparseShape) convolution {
			return &layers.EdgeConv{Net: layers.MLP{Widths: []int{2 * s.width(), s.width()}}}
		}, arxiv64},
		{"rgcn", func(s sparseShape) convolution {
			return &layers.RGCNConv{In: s.width(), Out: s.width(), Relations: relations}
		}, arxiv64},
	}
}

// relations is how many kinds of edges there are: edge e of the list has the kind e mod relations, as
// in the peers' scripts.
const relations = 8

// withRelations returns g with kinds of edges.
func withRelations(g *graph.Graph) *graph.Graph {
	kinds := make([]int32, g.NumEdges())
	for i := range kinds {
		kinds[i] = int32(i % relations)
	}
	return graph.Must(g.WithKinds(kinds))
}

// layerBenchmarks are the layers on the graphs that were chosen.
func layerBenchmarks(threads int, c sparseChoice) []Benchmark {
	var out []Benchmark
	for _, k := range layerKernels() {
		for _, at := range c.cases(k.on) {
			out = append(out, at.g.only(Benchmark{
				name: fmt.Sprintf("layer/%s/%s/%dx%d", k.name, at.g.name, at.shape.heads, at.shape.dim), op: "layer/" + k.name, lanes: threads,
				params: map[string]any{
					"graph": at.g.name, "nodes": at.g.nodes, "edges": at.g.edges,
					"heads": at.shape.heads, "dim": at.shape.dim, "threads": threads,
				},
				prepare: func() workload { return k.prepare(at.g, at.shape) },
			}))
		}
	}
	return out
}

func (k layerKernel) prepare(b *Graph, s sparseShape) workload {
	g := b.get()
	l := k.make(s)
	switch l := l.(type) {
	case *layers.PNAConv:
		l.Measure(g)
	case *layers.RGCNConv:
		g = withRelations(g)
	}
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
