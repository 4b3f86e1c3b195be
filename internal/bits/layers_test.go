package bits

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
)

// conv is a layer on a graph.
type conv interface {
	Init(rng *rand.Rand)
	Apply(t *grad.Tape, g *graph.Graph, in layers.In) layers.Out
}

// fed says what a layer reads.
type fed struct {
	in, dst   int // widths of sources and, if they are others, of destinations
	edge      int // width of the edges' features
	weight    bool
	sparse    bool
	attention bool // hash the attention too
	quiet     bool // no entry without a record
	whole     bool // there is no such layer on a block
}

// run adds an entry for a layer on a graph, and without a large graph or dropout of
// attention one for its result on a tape that records nothing.
func (f fed) run(b *book, name string, g *graph.Graph, l conv) {
	b.run(name, func(m *maker) []*grad.Var {
		m.model(l)
		out := l.Apply(m.tape, g, f.inputs(m, g))
		if f.attention {
			return []*grad.Var{out.Y, message.ApplyEdges(g, out.Attention)}
		}
		return one(out.Y)
	})
	if f.quiet {
		return
	}
	b.run(name+"/eval", func(m *maker) []*grad.Var {
		m.model(l)
		in := f.inputs(m, g)
		for _, x := range []**grad.Var{&in.Src, &in.Dst, &in.Edge, &in.Weight} {
			if *x != nil && !(*x).IsSparse() {
				*x = grad.Const((*x).Value())
			}
		}
		return one(l.Apply(grad.NewEval(), g, in).Y)
	})
}

// inputs draws what a layer reads.
func (f fed) inputs(m *maker, g *graph.Graph) (in layers.In) {
	if f.sparse {
		in.Src = m.sparse(g.NumSrc(), f.in)
	} else {
		in.Src = m.watch(g.NumSrc(), f.in)
	}
	if f.dst > 0 {
		in.Dst = m.watch(g.NumDst(), f.dst)
	}
	if f.edge > 0 {
		in.Edge = m.watch(g.NumEdges(), f.edge)
	}
	if f.weight {
		in.Weight = m.watch(g.NumEdges(), 1).Sigmoid()
	}
	return in
}

// option is one way to make a layer.
type option struct {
	name string
	fed  fed
	make func() conv
}

// layersOn runs every layer with its options on the graph with a hub, a block of
// it, a bipartite graph and some on a large one.
func layersOn(b *book) {
	for i, o := range slicesOf(attentionOptions(), convOptions(), catalogueOptions()) {
		for j, at := range places() {
			if (at.name == "sides") != (o.fed.dst > 0) || at.name == "block" && o.fed.whole {
				continue
			}
			o.fed.quiet = o.fed.dst == 0 && !o.fed.whole && !turn(2, i, j) // one of hub and block
			o.fed.run(b, o.name+"/"+at.name, at.g, o.make())
		}
	}
	headShapes(b)
	largeLayers(b)
	rowLayers(b)
}

func slicesOf(lists ...[]option) (out []option) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// attentionOptions are the layers of attention.
func attentionOptions() []option {
	type (
		gat = layers.GATConv
		v2  = layers.GATv2Conv
		tr  = layers.TransformerConv
		dot = layers.DotGATConv
	)
	x := fed{in: 6}
	return []option{
		{"gat", fed{in: 6, attention: true}, func() conv { return &gat{In: 6, Out: 4, Heads: 3} }},
		{"gat/one", x, func() conv { return &gat{In: 6, Out: 5, NoBias: true, Slope: 0.1} }},
		{"gat/relu", x, func() conv { return &gat{In: 6, Out: 4, Heads: 2, Slope: grad.Zero, Activation: grad.ReLU} }},
		{"gat/drops", x, func() conv {
			return &gat{In: 6, Out: 8, Heads: 8, FeatDrop: 0.4, AttnDrop: 0.5, Activation: grad.ELU, Residual: layers.ResidualIdentity}
		}},
		{"gat/value", x, func() conv {
			return &gat{In: 6, Out: 4, Heads: 2, ValueDrop: 0.3, AttnDrop: 0.3, Residual: layers.ResidualLinear, Activation: grad.Tanh}
		}},
		{"gat/average", x, func() conv {
			return &gat{In: 6, Out: 6, Heads: 4, Average: true, AttnDrop: 0.5, Residual: layers.ResidualIdentity}
		}},
		{"gat/edges", fed{in: 6, edge: 3, weight: true, attention: true}, func() conv {
			return &gat{In: 6, Out: 4, Heads: 2, EdgeIn: 3, AttnDrop: 0.2, Activation: grad.ELU}
		}},
		{"gat/weight", fed{in: 6, weight: true}, func() conv { return &gat{In: 6, Out: 4, Heads: 2} }},
		{"gat/sparse", fed{in: 60, sparse: true}, func() conv {
			return &gat{In: 60, Out: 8, Heads: 8, FeatDrop: 0.6, AttnDrop: 0.6, Activation: grad.ELU}
		}},
		{"gat/sides", fed{in: 6, dst: 5, attention: true}, func() conv {
			return &gat{In: 6, InDst: 5, Out: 4, Heads: 2, FeatDrop: 0.2, AttnDrop: 0.2, Residual: layers.ResidualIdentity}
		}},
		{"gatv2", fed{in: 6, attention: true}, func() conv { return &v2{In: 6, Out: 4, Heads: 3} }},
		{"gatv2/shared", x, func() conv { return &v2{In: 6, Out: 8, Heads: 8, Shared: true, NoBias: true, Slope: 0.3} }},
		{"gatv2/drops", x, func() conv {
			return &v2{In: 6, Out: 8, Heads: 8, FeatDrop: 0.4, AttnDrop: 0.5, Activation: grad.ELU, Residual: layers.ResidualIdentity}
		}},
		{"gatv2/average", x, func() conv {
			return &v2{In: 6, Out: 6, Heads: 4, Average: true, NoProjBias: true, AttnDrop: 0.5, Residual: layers.ResidualIdentity}
		}},
		{"gatv2/edges", fed{in: 6, edge: 3, weight: true, attention: true}, func() conv {
			return &v2{In: 6, Out: 4, Heads: 2, EdgeIn: 3, AttnDrop: 0.2, Residual: layers.ResidualLinear}
		}},
		{"gatv2/sparse", fed{in: 60, sparse: true}, func() conv {
			return &v2{In: 60, Out: 8, Heads: 8, FeatDrop: 0.6, AttnDrop: 0.6, Activation: grad.ELU}
		}},
		{"gatv2/sides", fed{in: 6, dst: 5}, func() conv { return &v2{In: 6, InDst: 5, Out: 4, Heads: 2, AttnDrop: 0.2} }},
		{"transformer", fed{in: 6, attention: true}, func() conv { return &tr{In: 6, Out: 4, Heads: 3} }},
		{"transformer/gate", x, func() conv {
			return &tr{In: 6, Out: 8, Heads: 8, Gate: true, FeatDrop: 0.3, AttnDrop: 0.4, Activation: grad.ReLU}
		}},
		{"transformer/average", x, func() conv { return &tr{In: 6, Out: 6, Heads: 4, Average: true, Gate: true, NoBias: true} }},
		{"transformer/edges", fed{in: 6, edge: 3, attention: true}, func() conv {
			return &tr{In: 6, Out: 4, Heads: 2, EdgeIn: 3, AttnDrop: 0.2, NoRoot: true}
		}},
		{"transformer/sparse", fed{in: 60, sparse: true}, func() conv { return &tr{In: 60, Out: 8, Heads: 2, FeatDrop: 0.5, AttnDrop: 0.5} }},
		{"transformer/sides", fed{in: 6, dst: 5}, func() conv { return &tr{In: 6, InDst: 5, Out: 4, Heads: 2, AttnDrop: 0.2} }},
		{"dotgat", fed{in: 6, attention: true}, func() conv { return &dot{In: 6, Out: 4, Heads: 3} }},
		{"dotgat/drops", x, func() conv {
			return &dot{In: 6, Out: 8, Heads: 2, FeatDrop: 0.3, AttnDrop: 0.4, Average: true, Activation: grad.ELU}
		}},
		{"dotgat/sides", fed{in: 6, dst: 5}, func() conv { return &dot{In: 6, InDst: 5, Out: 4, Heads: 2} }},
	}
}

// convOptions are the other convolutions.
func convOptions() []option {
	x := fed{in: 6}
	weighted, whole := fed{in: 6, weight: true}, fed{in: 6, whole: true}
	out := []option{
		{"gcn", whole, func() conv { return &layers.GCNConv{In: 6, Out: 7, Activation: grad.ReLU} }},
		{"gcn/widen", whole, func() conv { return &layers.GCNConv{In: 6, Out: 40, NoBias: true} }},
		{"gcn/narrow", fed{whole: true, in: 40}, func() conv { return &layers.GCNConv{In: 40, Out: 6, Activation: grad.Tanh} }},
		{"gcn/sparse", fed{whole: true, in: 60, sparse: true}, func() conv { return &layers.GCNConv{In: 60, Out: 16} }},
		{"gin", x, func() conv { return &layers.GINConv{Net: layers.MLP{Widths: []int{6, 8, 5}}, Eps: 0.1} }},
		{"gin/train", x, func() conv {
			return &layers.GINConv{Net: layers.MLP{Widths: []int{6, 8, 5}, BatchNorm: true, Drop: 0.3}, TrainEps: true, Activation: grad.ReLU}
		}},
		{"gin/mean", weighted, func() conv {
			return &layers.GINConv{Net: layers.MLP{Widths: []int{6, 5}}, Aggregate: layers.AggregateMean}
		}},
		{"gin/max", x, func() conv {
			return &layers.GINConv{Net: layers.MLP{Widths: []int{6, 5}, NoBias: true}, Aggregate: layers.AggregateMax}
		}},
		{"appnp", whole, func() conv { return &layers.APPNP{} }},
		{"appnp/drop", fed{in: 6, weight: true, whole: true}, func() conv { return &layers.APPNP{K: 3, Alpha: 0.2, EdgeDrop: 0.5, Activation: grad.ReLU} }},
		{"appnp/zero", whole, func() conv { return &layers.APPNP{K: 2, Alpha: grad.Zero, Norm: layers.NormRight} }},
		{"sgc", whole, func() conv { return &layers.SGConv{In: 6, Out: 5} }},
		{"sgc/weighted", fed{in: 6, weight: true, whole: true}, func() conv { return &layers.SGConv{In: 6, Out: 5, K: 3, Norm: layers.NormBoth, NoBias: true} }},
		{"sgc/sparse", fed{whole: true, in: 60, sparse: true}, func() conv { return &layers.SGConv{In: 60, Out: 8} }},
		{"sage/sides", fed{in: 6, dst: 5}, func() conv { return &layers.SAGEConv{In: 6, InDst: 5, Out: 4, FeatDrop: 0.2} }},
		{"sage/sparse", fed{in: 60, sparse: true}, func() conv { return &layers.SAGEConv{In: 60, Out: 8, FeatDrop: 0.5} }},
		{"sage/narrow", fed{in: 40, weight: true}, func() conv { return &layers.SAGEConv{In: 40, Out: 4, NoBias: true} }},
		{"sage/root", x, func() conv {
			return &layers.SAGEConv{In: 6, Out: 5, NoRoot: true, Normalise: true, Project: true, Aggregate: layers.AggregateMax}
		}},
	}
	norms := []layers.Norm{
		layers.NormSymmetric, layers.NormWeighted, layers.NormBoth, layers.NormIn,
		layers.NormWeightedRight, layers.NormLeft, layers.NormRight, layers.NormNone,
	}
	for _, n := range norms {
		name := "gcn/weight/" + string(n)
		if n == layers.NormSymmetric {
			name += "symmetric"
		}
		f := weighted
		f.whole = n == layers.NormSymmetric || n == layers.NormIn
		out = append(out, option{name, f, func() conv { return &layers.GCNConv{In: 6, Out: 5, Norm: n} }})
	}
	for _, a := range []layers.Aggregator{"mean", "sum", "max", "gcn", "lstm"} {
		out = append(out, option{"sage/" + string(a), x, func() conv {
			return &layers.SAGEConv{In: 6, Out: 5, Aggregate: a, FeatDrop: 0.3, Activation: grad.ReLU, Normalise: a == "sum"}
		}})
	}
	return out
}

// headShapes reach each kernel that is made for a number of heads and their width.
func headShapes(b *book) {
	for i, s := range [][2]int{{8, 8}, {4, 64}, {1, 8}, {1, 64}, {3, 5}, {1, 1}, {2, 128}, {8, 1}, {1, 7}, {16, 8}, {8, 3}} {
		for j, drop := range []float64{0, 0.5} {
			name := fmt.Sprintf("%dx%d/drop%v", s[0], s[1], drop)
			for k, at := range places()[:2] {
				if !turn(2, i, j, k) {
					continue
				}
				f := fed{in: 5, quiet: drop > 0}
				f.run(b, "gat/"+name+"/"+at.name, at.g, &layers.GATConv{In: 5, Heads: s[0], Out: s[1], AttnDrop: drop})
				f.run(b, "gatv2/"+name+"/"+at.name, at.g, &layers.GATv2Conv{In: 5, Heads: s[0], Out: s[1], AttnDrop: drop})
				f.run(b, "transformer/"+name+"/"+at.name, at.g, &layers.TransformerConv{In: 5, Heads: s[0], Out: s[1], AttnDrop: drop})
			}
		}
	}
}

// largeLayers pass the sizes at which a kernel goes another way.
func largeLayers(b *book) {
	f, g := fed{in: 4, quiet: true}, large()
	f.run(b, "large/gat", g, &layers.GATConv{In: 4, Heads: 8, Out: 8, AttnDrop: 0.5, Activation: grad.ELU})
	f.run(b, "large/gat/1x7", g, &layers.GATConv{In: 4, Out: 7})
	f.run(b, "large/gatv2", g, &layers.GATv2Conv{In: 4, Heads: 2, Out: 8, AttnDrop: 0.5})
	f.run(b, "large/transformer", g, &layers.TransformerConv{In: 4, Heads: 2, Out: 8})
	f.run(b, "large/gcn", g, &layers.GCNConv{In: 4, Out: 16, Activation: grad.ReLU})
	f.run(b, "large/sage", g, &layers.SAGEConv{In: 4, Out: 16})
	f.run(b, "large/sage/max", g, &layers.SAGEConv{In: 4, Out: 8, Aggregate: layers.AggregateMax})
	f.run(b, "large/appnp", g, &layers.APPNP{K: 2, EdgeDrop: 0.5})
	fed{in: 4, edge: 2, weight: true, quiet: true}.run(b, "large/gat/edges", g, &layers.GATConv{In: 4, Heads: 2, Out: 8, EdgeIn: 2})
}

// rowLayer is a layer without a graph.
type rowLayer interface {
	Init(rng *rand.Rand)
	Forward(t *grad.Tape, x *grad.Var) *grad.Var
}

func rowLayers(b *book) {
	for _, n := range []int{3, 500, 4000} {
		for name, l := range map[string]rowLayer{
			"linear":       &layers.Linear{In: 12, Out: 9},
			"linear/plain": &layers.Linear{In: 12, Out: 9, NoBias: true},
			"mlp":          &layers.MLP{Widths: []int{12, 20, 20, 5}, Drop: 0.4},
			"mlp/norm":     &layers.MLP{Widths: []int{12, 20, 5}, BatchNorm: true, Activation: grad.GELU, Drop: 0.2, NoBias: true},
			"layernorm":    &layers.LayerNorm{Width: 12},
			"batchnorm":    &layers.BatchNorm{Width: 12},
			"fixed":        &layers.BatchNorm{Width: 12, Fixed: true, NoAffine: true},
		} {
			b.run(fmt.Sprintf("rows/%s/%d", name, n), func(m *maker) []*grad.Var {
				m.model(l)
				return one(l.Forward(m.tape, m.watch(n, 12)))
			})
		}
	}
}
