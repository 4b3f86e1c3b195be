package layers_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// wideVariants are layers of widths that kernels are written for.
func wideVariants() []variant {
	type gat = layers.GATConv
	type v2 = layers.GATv2Conv
	type tr = layers.TransformerConv
	type sage = layers.SAGEConv
	type rgcn = layers.RGCNConv
	net := func(widths ...int) layers.MLP { return layers.MLP{Widths: widths, Activation: grad.SiLU} }
	return []variant{
		{name: "GAT 8x8", layer: &gat{In: 32, Out: 8, Heads: 8, Activation: grad.ELU, Residual: layers.ResidualLinear}, in: 32},
		{name: "GATv2 8x8", layer: &v2{In: 32, Out: 8, Heads: 8}, in: 32},
		{name: "GAT 4x16", layer: &gat{In: 32, Out: 16, Heads: 4}, in: 32},
		{name: "Transformer 8x8", layer: &tr{In: 32, Out: 8, Heads: 8}, in: 32},
		{name: "GAT 1x8", layer: &gat{In: 32, Out: 8}, in: 32},
		{name: "SAGE 256", layer: &sage{In: 256, Out: 256}, in: 256},
		{name: "GAT 8x7", layer: &gat{In: 32, Out: 7, Heads: 8}, in: 32},
		{name: "RGCN 16", layer: &rgcn{In: 32, Out: 16, Relations: 4}, in: 32, kinds: 4},
		{name: "GAT 16x8", layer: &gat{In: 32, Out: 8, Heads: 16}, in: 32},
		{name: "RGCN 16 weight", layer: &rgcn{In: 32, Out: 16, Relations: 4}, in: 32, kinds: 4, weight: true},
		{name: "GAT 1x40", layer: &gat{In: 32, Out: 40}, in: 32},
		{name: "GATv2 8x8 shared", layer: &v2{In: 32, Out: 8, Heads: 8, Shared: true}, in: 32},
		{name: "GAT 8x8 edges", layer: &gat{In: 32, Out: 8, Heads: 8, EdgeIn: 4}, in: 32, edge: 4, weight: true},
		{name: "GATv2 4x16", layer: &v2{In: 32, Out: 16, Heads: 4}, in: 32},
		{name: "GAT 1x150", layer: &gat{In: 32, Out: 150}, in: 32},
		{name: "Transformer 4x16 edges", layer: &tr{In: 32, Out: 16, Heads: 4, Gate: true, EdgeIn: 3}, in: 32, edge: 3},
		{name: "SAGE 16", layer: &sage{In: 32, Out: 16, Normalise: true, Activation: grad.GELU}, in: 32},
		{name: "DotGAT 8x8", layer: &layers.DotGATConv{In: 32, Out: 8, Heads: 8}, in: 32},
		{name: "GCN 64", layer: &layers.GCNConv{In: 32, Out: 64}, in: 32},
		{name: "GIN 32", layer: &layers.GINConv{Net: net(32, 64, 32)}, in: 32},
		{name: "PNA 16", layer: &layers.PNAConv{In: 16, Out: 16, Delta: 1.2}, in: 16, dense: true},
		{name: "EdgeConv 64", layer: &layers.EdgeConv{Net: net(32, 64, 64)}, in: 16},
		{name: "AGNN 64", layer: &layers.AGNNConv{}, in: 64},
		{name: "SuperGAT 8x8", layer: &layers.SuperGATConv{In: 32, Out: 8, Heads: 8}, in: 32},
		{name: "ResGated 64", layer: &layers.ResGatedConv{In: 32, Out: 64}, in: 32},
	}
}

// aloneGraph has a hub, 1, of more edges than a kernel takes at once; nodes that hear nobody or,
// from 40 to 59, themselves alone, once or twice; and node 7, which twenty others hear.
func aloneGraph() *graph.Graph {
	const nodes = 2600
	rng := rand.New(rand.NewPCG(1, 2))
	var src, dst []int32
	put := func(u, v int32) { src, dst = append(src, u), append(dst, v) }
	some := random.PowerLaw(rng, nodes, 7000, 0.75)
	for e, v := range some.Destinations() {
		if v < 40 || v >= 60 {
			put(some.In().Cols[e], v)
		}
	}
	for range 1200 {
		put(rng.Int32N(nodes), 1)
	}
	for v := range int32(20) {
		put(40+v, 40+v)
		put(7, 60+v)
		if v%2 == 0 {
			put(40+v, 40+v)
		}
	}
	return graph.Must(graph.New(nodes, src, dst))
}

// In an evaluation the result of a node follows from its own operands, to the bit: every layer on
// blocks of few seeds and of a thousand gives what it gives on the whole graph. Beside them
// is, or is not, a node whose logit is 30, or whose features are as large. The whole graph's
// results are stored past the caches, and large projections not held.
func TestConvolutionsAlone(t *testing.T) {
	defer func(stream, held int) { cpu.StreamFrom, cpu.HeldMost = stream, held }(cpu.StreamFrom, cpu.HeldMost)
	cpu.StreamFrom, cpu.HeldMost = 1<<15, 1<<16
	g := aloneGraph()
	for _, v := range sparing.Some(slices.Concat(wideVariants(), variants())) {
		if v.inDst == 0 && !v.whole {
			t.Run(v.name, func(t *testing.T) { checkAlone(t, v, v.kinded(g)) })
		}
	}
	if cpu.Path() == "avx512" {
		defer cpu.Narrow()()
		for _, v := range wideVariants() {
			t.Run("narrow "+v.name, func(t *testing.T) { checkAlone(t, v, v.kinded(g)) })
		}
	}
}

// checkAlone compares a layer on parts of g with itself on g.
func checkAlone(t *testing.T, v variant, g *graph.Graph) {
	rng := rand.New(rand.NewPCG(8, 3))
	m := v.model(g)
	for _, x := range []*grad.Param{m.Src, m.Edge} {
		if x != nil {
			x.Value.Normal(rng, 0, 0.1)
		}
	}
	if v.in > 8 {
		for _, p := range grad.Params(v.layer) {
			p.Value.Normal(rng, 0, 0.2)
		}
	}
	for _, loud := range []bool{false, true} {
		if loud {
			row := m.Src.Value.Row(7)
			by := loudness(v.layer, row)
			for i := range row {
				row[i] *= tensor.Float(by)
			}
		}
		l, in, hops := portable(m.L, g, m.in(nil))
		whole := l.Apply(grad.NewEval(), g, in).Y.Value()
		for _, seeds := range aloneSeeds(rng, g.NumNodes()) {
			part := graph.Must(graph.Block(g, seeds))
			if hops > 1 {
				part = graph.Must(graph.Neighbourhood(g, seeds, hops))
			}
			y := l.Apply(grad.NewEval(), part, cut(in, part)).Y.Value()
			for i, s := range seeds {
				compare.Near(t, fmt.Sprintf("loud %v: node %d, of %d seeds", loud, s, len(seeds)), y.Row(i), whole.Row(int(s)), compare.SameBits.OrNaN())
			}
		}
	}
}

// aloneSeeds are lists of 1, 2, 8 and 1,000 nodes, some of which are those of aloneGraph.
func aloneSeeds(rng *rand.Rand, nodes int) (lists [][]int32) {
	draw := func(n int) []int32 {
		var list []int32
		for _, v := range rng.Perm(nodes)[:n] {
			list = append(list, int32(v))
		}
		return list
	}
	lists = [][]int32{{1}, {7}, {61}, {40}, {41}, {7, 62}, {63, 1200}, {42, 43}, {64, 7, 1, 44, 2000, 65, 45, 2500}}
	for range 3 {
		lists = append(lists, draw(1), draw(2))
	}
	return append(lists, draw(8), draw(8), draw(1000))
}

// loudness is by how much the features of a node are multiplied so that its part of a logit of
// GAT is 30, or 1,000.
func loudness(l layer, x []tensor.Float) float64 {
	gat, ok := l.(*layers.GATConv)
	if !ok {
		return 1000
	}
	most := 0.0
	w, a := gat.W.Value, gat.AttnL.Value
	for h := range a.Rows() {
		logit := 0.0
		for i, v := range x {
			for j, c := range a.Row(h) {
				logit += float64(v) * float64(w.Row(i)[h*gat.Out+j]) * float64(c)
			}
		}
		most = max(most, math.Abs(logit))
	}
	return 30 / most
}

// Of several layers the blocks give the same, too.
func TestNetworksAlone(t *testing.T) {
	g := aloneGraph()
	rng := rand.New(rand.NewPCG(2, 2))
	for name, net := range map[string][]layer{
		"GAT":   {&layers.GATConv{In: 32, Out: 8, Heads: 8, Activation: grad.ELU}, &layers.GATConv{In: 64, Out: 7, Average: true}},
		"GATv2": {&layers.GATv2Conv{In: 32, Out: 8, Heads: 8, Activation: grad.ELU}, &layers.GATv2Conv{In: 64, Out: 7}},
		"SAGE":  {&layers.SAGEConv{In: 32, Out: 16, Activation: grad.ReLU}, &layers.SAGEConv{In: 16, Out: 7}, &layers.SAGEConv{In: 7, Out: 3, Aggregate: layers.AggregateMax}},
	} {
		x := tensor.New(g.NumNodes(), 32)
		x.Normal(rng, 0, 0.1)
		for _, l := range net {
			l.Init(rng)
		}
		run := func(gs []*graph.Graph, h *grad.Var) *tensor.Dense {
			t := grad.NewEval()
			for i, l := range net {
				h = l.Apply(t, gs[i], layers.In{Src: h}).Y
			}
			return h.Value()
		}
		whole := run(slices.Repeat([]*graph.Graph{g}, len(net)), grad.Const(x))
		for _, seeds := range aloneSeeds(rng, g.NumNodes()) {
			blocks := graph.Must(graph.Blocks(g, seeds, len(net)))
			y := run(blocks, grad.Const(x).Rows(blocks[0].From().Src))
			for i, s := range seeds {
				compare.Near(t, fmt.Sprintf("%s: node %d, of %d seeds", name, s, len(seeds)), y.Row(i), whole.Row(int(s)), compare.SameBits.OrNaN())
			}
		}
	}
}
