package layers_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// variant is a layer with options, and the inputs it wants.
type variant struct {
	name   string
	layer  layer
	in     int
	inDst  int // of a bipartite graph; 0: the graph is homogeneous
	edge   int
	kinds  int // of the edges
	weight bool
	drops  bool
	dense  bool   // takes no sparse features
	whole  bool   // there is no such layer on a part of a graph
	order  bool   // the order of the edges counts
	runs   string // the operation that sums the messages; empty: see sums
}

// variants is every layer under every option.
func variants() []variant {
	type gat = layers.GATConv
	type v2 = layers.GATv2Conv
	vs := []variant{
		{name: "GAT", layer: &gat{In: 3, Out: 2}, in: 3},
		{name: "GAT heads", layer: &gat{In: 3, Out: 2, Heads: 3, Slope: 0.1, NoBias: true, Activation: grad.ELU}, in: 3},
		{name: "GAT edges", layer: &gat{In: 3, Out: 2, Heads: 2, EdgeIn: 4}, in: 3, edge: 4, weight: true},
		{name: "GAT identity", layer: &gat{In: 4, Out: 2, Heads: 2, Residual: layers.ResidualIdentity}, in: 4, dense: true},
		{name: "GAT not identity", layer: &gat{In: 3, Out: 2, Heads: 2, Residual: layers.ResidualIdentity}, in: 3},
		{name: "GAT average", layer: &gat{In: 2, Out: 2, Heads: 3, Average: true, Residual: layers.ResidualLinear}, in: 2, weight: true},
		{name: "GAT two sides", layer: &gat{In: 3, InDst: 5, Out: 2, Heads: 2, EdgeIn: 2, Average: true, Residual: layers.ResidualLinear, Activation: grad.Tanh}, in: 3, inDst: 5, edge: 2, weight: true},
		{name: "GAT one matrix for two sides", layer: &gat{In: 3, Out: 2, Heads: 2}, in: 3, inDst: 3},
		{name: "GAT own WDst", layer: &gat{In: 3, InDst: 3, Out: 2, Heads: 2}, in: 3},
		{name: "GAT dropout", layer: &gat{In: 3, Out: 2, Heads: 2, EdgeIn: 2, FeatDrop: 0.3, AttnDrop: 0.4, Residual: layers.ResidualLinear}, in: 3, edge: 2, weight: true, drops: true},
		{name: "GAT ReLU", layer: &gat{In: 3, Out: 2, Slope: grad.Zero}, in: 3},
		{name: "GAT ReLU of eight", layer: &gat{In: 3, Out: 8, Heads: 8, Slope: grad.Zero}, in: 3},
		{name: "GAT ReLU edges", layer: &gat{In: 3, Out: 2, Heads: 3, EdgeIn: 4, Slope: grad.Zero}, in: 3, edge: 4, weight: true},
		{name: "GATv2", layer: &v2{In: 3, Out: 2}, in: 3},
		{name: "GATv2 ReLU", layer: &v2{In: 3, Out: 2, Heads: 3, EdgeIn: 2, Slope: grad.Zero}, in: 3, edge: 2, weight: true},
		{name: "GATv2 ReLU of eight", layer: &v2{In: 3, Out: 8, Heads: 8, Slope: grad.Zero}, in: 3},
		{name: "GATv2 heads", layer: &v2{In: 3, Out: 2, Heads: 3, Slope: 0.1, NoBias: true, NoProjBias: true, Activation: grad.ELU}, in: 3},
		{name: "GATv2 shared", layer: &v2{In: 4, Out: 2, Heads: 2, Shared: true, Residual: layers.ResidualIdentity}, in: 4, dense: true},
		{name: "GATv2 shared two sides", layer: &v2{In: 3, Out: 2, Heads: 2, Shared: true}, in: 3, inDst: 3},
		{name: "GATv2 two sides", layer: &v2{In: 3, InDst: 5, Out: 2, Heads: 2, EdgeIn: 2, Average: true, Residual: layers.ResidualLinear}, in: 3, inDst: 5, edge: 2, weight: true},
		{name: "GATv2 many features of edges", layer: &v2{In: 3, Out: 2, Heads: 2, EdgeIn: 9}, in: 3, edge: 9},
		{name: "GATv2 dropout", layer: &v2{In: 3, Out: 2, Heads: 2, EdgeIn: 2, FeatDrop: 0.3, AttnDrop: 0.4, Residual: layers.ResidualLinear}, in: 3, edge: 2, weight: true, drops: true},
	}
	return slices.Concat(vs, dotted(), normed(), sampled(), spread(), edged(), principal(), transformed(), kinded())
}

// dotted is the layers that attend by scalar products.
func dotted() []variant {
	type dot = layers.DotGATConv
	type tr = layers.TransformerConv
	return []variant{
		{name: "DotGAT", layer: &dot{In: 3, Out: 2}, in: 3},
		{name: "DotGAT heads", layer: &dot{In: 3, Out: 2, Heads: 3, Average: true, Activation: grad.Tanh}, in: 3, weight: true},
		{name: "DotGAT two sides", layer: &dot{In: 3, InDst: 5, Out: 2, Heads: 2}, in: 3, inDst: 5, weight: true},
		{name: "DotGAT dropout", layer: &dot{In: 3, Out: 2, Heads: 2, FeatDrop: 0.3, AttnDrop: 0.4}, in: 3, drops: true},
		{name: "Transformer", layer: &tr{In: 3, Out: 2}, in: 3},
		{name: "Transformer heads", layer: &tr{In: 3, Out: 2, Heads: 3, NoRoot: true, NoBias: true, Activation: grad.ELU}, in: 3, weight: true},
		{name: "Transformer eight", layer: &tr{In: 3, Out: 8, Heads: 8}, in: 3},
		{name: "Transformer eight dropout", layer: &tr{In: 3, InDst: 5, Out: 8, Heads: 8, AttnDrop: 0.4, NoRoot: true}, in: 3, inDst: 5, drops: true},
		{name: "Transformer gate", layer: &tr{In: 3, Out: 2, Heads: 2, Gate: true, EdgeIn: 4, Activation: grad.Tanh}, in: 3, edge: 4, weight: true},
		{name: "Transformer two sides", layer: &tr{In: 3, InDst: 5, Out: 2, Heads: 2, EdgeIn: 1, Average: true, Gate: true}, in: 3, inDst: 5, edge: 1},
		{name: "Transformer dropout", layer: &tr{In: 3, Out: 2, Heads: 2, EdgeIn: 2, FeatDrop: 0.3, AttnDrop: 0.4}, in: 3, edge: 2, drops: true},
	}
}

// normed is the layers with a normalised adjacency.
func normed() []variant {
	type sg = layers.SGConv
	type walk = layers.APPNP
	type gcn = layers.GCNConv
	vs := []variant{
		{name: "SG", layer: &sg{In: 3, Out: 2}, in: 3, weight: true},
		{name: "SG one hop", layer: &sg{In: 2, Out: 3, K: 1, Norm: layers.NormIn, Activation: grad.Tanh}, in: 2},
		{name: "SG three hops", layer: &sg{In: 2, Out: 3, K: 3, Norm: layers.NormNone, NoBias: true}, in: 2, weight: true},
		{name: "APPNP", layer: &walk{}, in: 3, dense: true},
		{name: "APPNP three steps", layer: &walk{K: 3, Alpha: 0.3, Norm: layers.NormWeighted, Activation: grad.Tanh}, in: 3, weight: true, dense: true},
		{name: "APPNP without return", layer: &walk{K: 3, Alpha: grad.Zero, Norm: layers.NormRight}, in: 3, weight: true, dense: true},
		{name: "APPNP one step", layer: &walk{K: 1, Norm: layers.NormBoth}, in: 3, dense: true},
		{name: "APPNP dropout", layer: &walk{K: 2, EdgeDrop: 0.4}, in: 3, drops: true, dense: true},
	}
	for _, norm := range []layers.Norm{layers.NormSymmetric, layers.NormWeighted, layers.NormBoth, layers.NormIn,
		layers.NormOut, layers.NormWeightedLeft, layers.NormWeightedRight, layers.NormLeft, layers.NormRight, layers.NormNone} {
		vs = append(vs, variant{name: "GCN " + string(norm), layer: &gcn{In: 3, Out: 2, Norm: norm, Activation: grad.Tanh}, in: 3})
		vs = append(vs, variant{name: "GCN weight " + string(norm), layer: &gcn{In: 2, Out: 3, Norm: norm}, in: 2, weight: true})
	}
	return vs
}

// sampled is the layers that aggregate without attention.
func sampled() []variant {
	type sage = layers.SAGEConv
	type gin = layers.GINConv
	net := func(widths ...int) layers.MLP { return layers.MLP{Widths: widths, Activation: grad.Tanh} }
	return []variant{
		{name: "SAGE", layer: &sage{In: 3, Out: 2, Activation: grad.Tanh}, in: 3},
		{name: "SAGE widening", layer: &sage{In: 2, Out: 3, Normalise: true}, in: 2, weight: true},
		{name: "SAGE two sides", layer: &sage{In: 3, InDst: 5, Out: 2, NoBias: true}, in: 3, inDst: 5, weight: true},
		{name: "SAGE sum", layer: &sage{In: 3, Out: 2, Aggregate: layers.AggregateSum, NoRoot: true}, in: 3, weight: true},
		{name: "SAGE max", layer: &sage{In: 3, Out: 2, Aggregate: layers.AggregateMax}, in: 3, weight: true, dense: true},
		{name: "SAGE pool", layer: &sage{In: 3, Out: 2, Aggregate: layers.AggregateMax, Project: true}, in: 3},
		{name: "SAGE GCN", layer: &sage{In: 3, Out: 2, Aggregate: layers.AggregateGCN, Project: true}, in: 3, weight: true},
		{name: "SAGE GCN two sides", layer: &sage{In: 3, Out: 2, Aggregate: layers.AggregateGCN, Project: true}, in: 3, inDst: 3},
		{name: "SAGE LSTM", layer: &sage{In: 3, Out: 2, Aggregate: layers.AggregateLSTM}, in: 3, weight: true, dense: true, order: true},
		{name: "SAGE dropout", layer: &sage{In: 3, Out: 2, FeatDrop: 0.4}, in: 3, drops: true},
		{name: "GIN", layer: &gin{Net: net(3, 4, 2), Eps: 0.5, Activation: grad.Tanh}, in: 3},
		{name: "GIN trained", layer: &gin{Net: net(4, 3, 2), TrainEps: true, Eps: 0.2}, in: 4, weight: true},
		{name: "GIN mean", layer: &gin{Net: net(3, 2), Aggregate: layers.AggregateMean}, in: 3, inDst: 3, weight: true},
		{name: "GIN max", layer: &gin{Net: net(3, 5, 4, 2), Aggregate: layers.AggregateMax}, in: 3, dense: true},
	}
}

// odd has an isolated node, 7, self-loops, parallel edges, node 4 without
// in-edges and a hub, 0.
func odd() *graph.Graph {
	src := []int32{0, 1, 1, 2, 3, 4, 5, 6, 0, 3, 2, 2, 6}
	dst := []int32{1, 2, 2, 2, 0, 0, 0, 0, 0, 5, 1, 3, 0}
	return graph.Must(graph.New(8, src, dst))
}

// oddSides is a bipartite graph whose destination 3 hears nobody.
func oddSides() *graph.Graph {
	return graph.Must(graph.NewBipartite(5, 4, []int32{0, 4, 1, 1, 2, 0, 3}, []int32{0, 2, 1, 1, 0, 2, 2}))
}

// model is a layer and its inputs as Params, so that all can be checked.
type model struct {
	L                    layer
	Src, Dst, Edge, Wght *grad.Param
}

func (v variant) graph() *graph.Graph {
	if v.inDst > 0 {
		return v.kinded(oddSides())
	}
	return v.kinded(odd())
}

// kinded gives the edges of g kinds, if the layer wants them.
func (v variant) kinded(g *graph.Graph) *graph.Graph {
	if v.kinds == 0 {
		return g
	}
	kinds := make([]int32, g.NumEdges())
	for i := range kinds {
		kinds[i] = int32(i / 2 % v.kinds)
	}
	return graph.Must(graph.WithKinds(g, kinds))
}

// model initialises the layer, biases and all, and makes inputs for g.
func (v variant) model(g *graph.Graph) *model {
	rng := rand.New(rand.NewPCG(3, 5))
	v.layer.Init(rng)
	for _, p := range grad.Params(v.layer) {
		p.Value.Normal(rng, 0, 0.7)
	}
	random := func(shape ...int) *grad.Param {
		p := grad.NewParam(shape...)
		p.Value.Normal(rng, 0, 1)
		return p
	}
	m := &model{L: v.layer, Src: random(g.NumSrc(), v.in)}
	if v.inDst > 0 {
		m.Dst = random(g.NumDst(), v.inDst)
	}
	if v.edge > 0 {
		m.Edge = random(g.NumEdges(), v.edge)
	}
	if v.weight {
		m.Wght = grad.NewParam(g.NumEdges(), 1)
		m.Wght.Value.Uniform(rng, 0.5, 2)
	}
	return m
}

func (m *model) in(t *grad.Tape) layers.In {
	use := func(p *grad.Param) *grad.Var {
		if p == nil {
			return nil
		}
		return t.Use(p)
	}
	return layers.In{Src: t.Use(m.Src), Dst: use(m.Dst), Edge: use(m.Edge), Weight: use(m.Wght)}
}

func (m *model) apply(t *grad.Tape, g *graph.Graph) *grad.Var { return m.L.Apply(t, g, m.in(t)).Y }

// weigh turns a result into a loss.
func weigh(y *grad.Var) *grad.Var {
	w := tensor.New(y.Shape()...)
	w.Normal(rand.New(rand.NewPCG(99, 1)), 0, 1)
	return y.Mul(grad.Const(w)).Sum()
}

// each runs f on every variant.
func each(t *testing.T, f func(t *testing.T, v variant)) {
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) { f(t, v) })
	}
}
