package layers

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/layers"
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
	make func(s bench.Shape) convolution
	on   []bench.Case
}

// layerKernels are the layers that are timed.
func layerKernels() []layerKernel {
	arxiv64 := bench.At(1, 64, "arxiv")
	return []layerKernel{
		{"gat", func(s bench.Shape) convolution {
			return &layers.GATConv{In: s.Width(), Out: s.Dim, Heads: s.Heads}
		}, append(bench.At(8, 8, "cora", "pubmed", "arxiv"), bench.At(4, 64, "arxiv")...)},
		{"gatv2", func(s bench.Shape) convolution {
			return &layers.GATv2Conv{In: s.Width(), Out: s.Dim, Heads: s.Heads}
		}, bench.At(8, 8, "cora", "pubmed", "arxiv")},
		{"transformer", func(s bench.Shape) convolution {
			return &layers.TransformerConv{In: s.Width(), Out: s.Dim, Heads: s.Heads}
		}, bench.At(8, 8, "cora", "arxiv")},
		{"gcn", func(s bench.Shape) convolution {
			return &layers.GCNConv{In: s.Width(), Out: s.Width()}
		}, bench.At(1, 64, "pubmed")},
		{"pna", func(s bench.Shape) convolution {
			return &layers.PNAConv{In: s.Width(), Out: s.Width()}
		}, arxiv64},
		{"edgeconv", func(s bench.Shape) convolution {
			return &layers.EdgeConv{Net: layers.MLP{Widths: []int{2 * s.Width(), s.Width(), s.Width()}}}
		}, arxiv64},
		{"edgeconv_linear", func(s bench.Shape) convolution {
			return &layers.EdgeConv{Net: layers.MLP{Widths: []int{2 * s.Width(), s.Width()}}}
		}, arxiv64},
		{"rgcn", func(s bench.Shape) convolution {
			return &layers.RGCNConv{In: s.Width(), Out: s.Width(), Relations: relations}
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
	return graph.Must(graph.WithKinds(g, kinds))
}

// Convolutions are the layers on the graphs that were chosen.
func Convolutions(c *bench.Choice) []bench.Benchmark {
	var out []bench.Benchmark
	for _, k := range layerKernels() {
		for _, at := range c.Cases(k.on) {
			out = append(out, at.Graph.Only(bench.Benchmark{
				Name: fmt.Sprintf("layer/%s/%s/%dx%d", k.name, at.Graph.Name, at.Shape.Heads, at.Shape.Dim), Op: "layer/" + k.name, Lanes: c.Threads,
				Params: map[string]any{
					"graph": at.Graph.Name, "nodes": at.Graph.Nodes, "edges": at.Graph.Edges,
					"heads": at.Shape.Heads, "dim": at.Shape.Dim, "threads": c.Threads,
				},
				Prepare: func() bench.Work { return k.prepare(at.Graph, at.Shape) },
			}))
		}
	}
	return out
}

func (k layerKernel) prepare(b *bench.Graph, s bench.Shape) bench.Work {
	g := b.Get()
	l := k.make(s)
	switch l := l.(type) {
	case *layers.PNAConv:
		l.Measure(g)
	case *layers.RGCNConv:
		g = withRelations(g)
	}
	l.Init(rand.New(rand.NewPCG(1, 2)))
	return recurrentTask{g, bench.Operand(g.NumSrc(), s.Width()), l}.workload()
}
