package layers_test

import (
	"math/rand/v2"
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
	weight bool
	drops  bool
}

// variants is every layer under every option.
func variants() []variant {
	type gat = layers.GATConv
	type v2 = layers.GATv2Conv
	type gcn = layers.GCNConv
	vs := []variant{
		{name: "GAT", layer: &gat{In: 3, Out: 2}, in: 3},
		{name: "GAT heads", layer: &gat{In: 3, Out: 2, Heads: 3, Slope: 0.1, NoBias: true, Activation: grad.ELU}, in: 3},
		{name: "GAT edges", layer: &gat{In: 3, Out: 2, Heads: 2, EdgeIn: 4}, in: 3, edge: 4, weight: true},
		{name: "GAT identity", layer: &gat{In: 4, Out: 2, Heads: 2, Residual: layers.ResidualIdentity}, in: 4},
		{name: "GAT not identity", layer: &gat{In: 3, Out: 2, Heads: 2, Residual: layers.ResidualIdentity}, in: 3},
		{name: "GAT average", layer: &gat{In: 2, Out: 2, Heads: 3, Average: true, Residual: layers.ResidualLinear}, in: 2, weight: true},
		{name: "GAT two sides", layer: &gat{In: 3, InDst: 5, Out: 2, Heads: 2, EdgeIn: 2, Average: true, Residual: layers.ResidualLinear, Activation: grad.Tanh}, in: 3, inDst: 5, edge: 2, weight: true},
		{name: "GAT one matrix for two sides", layer: &gat{In: 3, Out: 2, Heads: 2}, in: 3, inDst: 3},
		{name: "GAT own WDst", layer: &gat{In: 3, InDst: 3, Out: 2, Heads: 2}, in: 3},
		{name: "GAT dropout", layer: &gat{In: 3, Out: 2, Heads: 2, EdgeIn: 2, FeatDrop: 0.3, AttnDrop: 0.4, Residual: layers.ResidualLinear}, in: 3, edge: 2, weight: true, drops: true},
		{name: "GATv2", layer: &v2{In: 3, Out: 2}, in: 3},
		{name: "GATv2 heads", layer: &v2{In: 3, Out: 2, Heads: 3, Slope: 0.1, NoBias: true, NoProjBias: true, Activation: grad.ELU}, in: 3},
		{name: "GATv2 shared", layer: &v2{In: 4, Out: 2, Heads: 2, Shared: true, Residual: layers.ResidualIdentity}, in: 4},
		{name: "GATv2 shared two sides", layer: &v2{In: 3, Out: 2, Heads: 2, Shared: true}, in: 3, inDst: 3},
		{name: "GATv2 two sides", layer: &v2{In: 3, InDst: 5, Out: 2, Heads: 2, EdgeIn: 2, Average: true, Residual: layers.ResidualLinear}, in: 3, inDst: 5, edge: 2, weight: true},
		{name: "GATv2 dropout", layer: &v2{In: 3, Out: 2, Heads: 2, EdgeIn: 2, FeatDrop: 0.3, AttnDrop: 0.4, Residual: layers.ResidualLinear}, in: 3, edge: 2, weight: true, drops: true},
	}
	for _, norm := range []layers.Norm{layers.NormSymmetric, layers.NormBoth, layers.NormLeft, layers.NormRight, layers.NormNone} {
		vs = append(vs, variant{name: "GCN " + string(norm), layer: &gcn{In: 3, Out: 2, Norm: norm, Activation: grad.Tanh}, in: 3})
		vs = append(vs, variant{name: "GCN weight " + string(norm), layer: &gcn{In: 2, Out: 3, Norm: norm}, in: 2, weight: true})
	}
	return vs
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
		return oddSides()
	}
	return odd()
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
