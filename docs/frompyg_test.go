package docs_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/graph/nearest"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
)

func TestPyGData(t *testing.T) {
	n, src, dst := 4, []int32{0, 1, 2, 0}, []int32{1, 0, 1, 1}
	points := tensor.Of([]tensor.Float{0, 1, 3, 7}, 4, 1)
	listed, features := tensor.Of([]tensor.Float{1, 2, 3, 4}, 4, 1), points
	g, err := graph.New(n, src, dst)
	is(t, "graph", fmt.Sprint(g, err), "Graph(4 nodes, 4 edges) <nil>")
	e := message.OnEdges(g, grad.Const(listed))
	is(t, "edge_attr", e.Value().Data, "[2 1 3 4]")
	x := grad.Const(features)
	is(t, "x", x.Shape(), "[4 1]")
	rates, rel := graph.Must(graph.NewBipartite(4, 4, src, dst)), hetero.Rel{Src: "user", Name: "rates", Dst: "film"}
	h, err := hetero.New(map[string]int{"user": 4, "film": 4}, map[hetero.Rel]*graph.Graph{rel: rates})
	is(t, "hetero", fmt.Sprint(h.Types(), err), "[film user] <nil>")
	both := graph.Batch(g, g)
	offsets := both.NodeOffsets()
	is(t, "batch", fmt.Sprint(offsets, len(graph.Unbatch(both))), "[0 4 8] 2")
	looped := graph.WithSelfLoops(g)
	is(t, "loops", looped.NumEdges(), 8)
	bare := graph.WithoutSelfLoops(g)
	is(t, "no loops", bare.NumEdges(), 4)
	symmetric := graph.Undirected(g)
	is(t, "undirected", symmetric.Symmetric(), true)
	once, counts, into := graph.Coalesce(g)
	is(t, "coalesce", fmt.Sprint(once.NumEdges(), counts, into), "3 [1 2 1] [0 1 2 1]")
	degrees := g.InDegrees()
	is(t, "degree", degrees, "[1 3 0 0]")
	part, err := graph.Subgraph(g, []int32{0, 1})
	is(t, "subgraph", fmt.Sprint(part, err), "Graph(2 nodes, 3 edges) <nil>")
	around, err := graph.Neighbourhood(g, []int32{0}, 2)
	is(t, "hops", fmt.Sprint(around.NumNodes(), err), "3 <nil>")
	near, err := nearest.KNN(points, 2)
	is(t, "knn", fmt.Sprint(near.NumEdges(), err), "8 <nil>")
	spread, weights, err := analysis.Diffusion{Walk: true, Keep: 2}.Graph(g, nil)
	is(t, "gdc", fmt.Sprint(spread.NumNodes(), len(weights) > 0, err), "4 true <nil>")
	places, err := analysis.LaplacianVectors(g, 3)
	is(t, "places", fmt.Sprint(places.Shape(), err), "[4 3] <nil>")
	cluster, err := analysis.Matching(g, rand.New(rand.NewPCG(1, 2)), nil)
	is(t, "graclus", fmt.Sprint(len(cluster), err), "4 <nil>")
	sampler := sample.Sampler{Graph: g, Fanout: []int{15, 10}, Seed: 1}
	is(t, "sampler", sampler.Check(), nil)
}

func TestPyGMessages(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 1}))
	both := graph.Batch(g, g)
	x, w := grad.Const(tensor.Of([]tensor.Float{1, 2, 4}, 3, 1)), grad.Const(tensor.Of([]tensor.Float{1, 1, 3}, 3, 1))
	twice := grad.Const(tensor.Of([]tensor.Float{1, 2, 4, 1, 1, 1}, 6, 1))
	y := message.UpdateAll(g, message.U(x), message.Sum)
	is(t, "sum", y.Value().Data, "[0 5 2]")
	m := message.U(x).Sub(message.V(x))
	is(t, "difference", message.UpdateAll(g, m, message.Sum).Value().Data, "[0 1 -2]")
	m = message.U(x).Mul(message.E(w))
	is(t, "weights", message.ApplyEdges(g, m).Value().Data, "[1 4 6]")
	y = message.UpdateAll(g, m, message.Mean, message.Max)
	is(t, "several", y.Value().Data, "[0 0 2.5 4 6 6]")
	a := message.EdgeSoftmax(g, w)
	is(t, "softmax", a.Value().Data, "[0.5 0.5 1]")
	z := message.ApplyEdges(g, m)
	is(t, "edges", z.Value().Data, "[1 4 6]")
	r := message.Readout(both, twice, message.Sum)
	is(t, "readout", r.Value().Data, "[7 3]")
}

// Each layer of the page has names there.
func TestPyGLayers(t *testing.T) {
	rel := hetero.Rel{Src: "user", Name: "rates", Dst: "film"}
	gcn := &layers.GCNConv{In: 16, Out: 8}
	gat := &layers.GATConv{In: 16, Out: 8, Heads: 4, AttnDrop: 0.6}
	pair := &layers.GATConv{In: 16, InDst: 12, Out: 8}
	gatv2 := &layers.GATv2Conv{In: 16, Out: 8, Heads: 4}
	transformer := &layers.TransformerConv{In: 16, Out: 8, Heads: 4, Gate: true}
	super := &layers.SuperGATConv{In: 16, Out: 8, Heads: 4}
	agnn := &layers.AGNNConv{}
	sage := &layers.SAGEConv{In: 16, Out: 8}
	morris := &layers.SAGEConv{In: 16, Out: 8, Aggregate: layers.AggregateSum}
	gin := &layers.GINConv{Net: layers.MLP{Widths: []int{16, 32, 8}}, TrainEps: true}
	gine := &layers.GINEConv{Net: layers.MLP{Widths: []int{16, 32, 8}}, EdgeIn: 4}
	sgc, tag := &layers.SGConv{In: 16, Out: 8, K: 2}, &layers.TAGConv{In: 16, Out: 8, K: 3}
	appnp := &layers.APPNP{K: 10, Alpha: 0.1}
	cheb := &layers.ChebConv{In: 16, Out: 8, K: 3, Norm: layers.NormOut}
	arma := &layers.ARMAConv{In: 16, Out: 8, Stacks: 2, Steps: 3}
	gcn2 := &layers.GCN2Conv{Width: 16, Alpha: 0.1, Lambda: 0.5, Layer: 2, NoBias: true}
	rgcn := &layers.RGCNConv{In: 16, Out: 8, Relations: 3, Bases: 2}
	edge := &layers.EdgeConv{Net: layers.MLP{Widths: []int{32, 32, 8}}}
	nn := &layers.NNConv{In: 16, Out: 8, EdgeIn: 4, Hidden: []int{32}, Residual: layers.ResidualLinear}
	gmm := &layers.MoNetConv{In: 16, Out: 8, EdgeIn: 2, Kernels: 3, Aggregate: layers.AggregateMean, Residual: layers.ResidualLinear}
	gated := &layers.ResGatedConv{In: 16, Out: 8}
	ggnn := &layers.GatedGraphConv{In: 16, Out: 16, Steps: 2, PerStep: true, NoBias: true}
	pna := &layers.PNAConv{In: 16, Out: 8, EdgeIn: 4, EncodeEdges: true}
	gps := &layers.GPSConv{Width: 16, Heads: 2}
	hgt := &relational.HGTConv{In: map[string]int{"user": 16, "film": 16}, Out: 8, Heads: 2, Rels: []hetero.Rel{rel}}
	norms := []any{&layers.BatchNorm{Width: 16}, &layers.LayerNorm{Width: 16}}
	more := []any{&layers.GraphNorm{Width: 16}, &layers.PairNorm{}}
	jump := &layers.JumpingKnowledge{Mode: layers.JumpLSTM, Width: 16, Hidden: 32}
	lstm := &sequence.Stack{Layers: []sequence.Cell{&sequence.LSTM{In: 16, Hidden: 8}}}
	block := &attention.EncoderBlock{Block: attention.Block{Model: 16, Heads: 2, Hidden: 64}}
	all := slices.Concat(norms, more, []any{gcn, gat, pair, gatv2, transformer, super, agnn, sage, gin, gine, sgc, tag, appnp, cheb, arma, gcn2, rgcn, edge, nn, gmm, gated, ggnn, pna, gps, hgt, jump, lstm, block})
	for _, l := range append(all, morris) {
		if l, ok := l.(interface{ Init(rng *rand.Rand) }); ok {
			l.Init(rand.New(rand.NewPCG(5, 5)))
		}
	}
	for _, l := range append(all, convert.GraphConv{Layer: morris}) {
		state, err := convert.Modules{"a": l}.State(convert.PyG)
		if err != nil {
			t.Error(err)
		}
		params := 0
		for range grad.Params(l) {
			params++
		}
		if (params > 0) != (len(state) > 0) {
			t.Errorf("a %T with %d Params has the arrays\n%v", l, params, state)
		}
	}
}
