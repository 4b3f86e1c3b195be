package docs_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/graph/gonumgraph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/graph/nearest"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

func TestDGLBuilding(t *testing.T) {
	n, rng := 4, rand.New(rand.NewPCG(1, 1))
	src, dst := []int32{0, 0, 1, 2, 2}, []int32{1, 1, 2, 2, 0}

	g, err := graph.New(n, src, dst)
	is(t, "graph", fmt.Sprint(g, err), "Graph(4 nodes, 5 edges) <nil>")
	named, ids, err := graph.NewCompact([]string{"b", "x"}, []string{"x", "y"})
	is(t, "compact", fmt.Sprint(named, ids, err), "Graph(3 nodes, 2 edges) [b x y] <nil>")
	rates, err := graph.NewBipartite(3, 2, []int32{0, 1, 2}, []int32{0, 0, 1})
	is(t, "bipartite", fmt.Sprint(rates.NumSrc(), rates.NumDst(), err), "3 2 <nil>")
	counts := map[string]int{"user": 3, "film": 2}
	rel := hetero.Rel{Src: "user", Name: "rates", Dst: "film"}
	h, err := hetero.New(counts, map[hetero.Rel]*graph.Graph{rel: rates})
	is(t, "hetero", err, nil)
	ratings := h.Graph(rel)
	is(t, "relation", ratings == rates, true)
	types, rels := h.Types(), h.Rels()
	is(t, "types", fmt.Sprint(types, rels), "[film user] [user -rates-> film]")
	all, ends := hetero.Homogeneous(h)
	is(t, "homogeneous", fmt.Sprint(all, ends), "Graph(5 nodes, 3 edges) [0 2 5]")
	kinds := all.Kinds()
	is(t, "kinds", kinds, "[0 0 0]")

	a, b := g, graph.Star(3)
	both := graph.Batch(a, b)
	is(t, "batch", both.NumNodes(), 7)
	parts := graph.Unbatch(both)
	is(t, "unbatch", fmt.Sprint(len(parts), parts[1]), "2 Graph(3 nodes, 4 edges)")
	offsets := both.NodeOffsets()
	is(t, "offsets", offsets, "[0 4 7]")

	chance := random.Uniform(rng, 10, 30)
	is(t, "random", chance, "Graph(10 nodes, 30 edges)")
	hubs := random.PowerLaw(rng, 10, 30, 0.75)
	is(t, "power law", hubs, "Graph(10 nodes, 30 edges)")
	grown := random.BarabasiAlbert(rng, 10, 2)
	is(t, "grown", grown.Symmetric(), true)
	points := tensor.Of([]tensor.Float{0, 1, 3, 7}, 4, 1)
	near, err := nearest.KNN(points, 1)
	is(t, "nearest", fmt.Sprint(near.In().Cols, err), "[1 0 1 2] <nil>")
	within, err := nearest.Radius(points, 2)
	is(t, "radius", fmt.Sprint(within.In().Cols, err), "[1 0 2 1] <nil>")
	csr := g.In()
	same, err := graph.FromCSR(csr)
	is(t, "CSR", fmt.Sprint(same, err), "Graph(4 nodes, 5 edges) <nil>")
	view := gonumgraph.Of(g)
	weighed, err := gonumgraph.Weighted(g, []float64{1, 2, 3, 4, 5})
	sum, _ := weighed.Weight(0, 1)
	is(t, "weights", fmt.Sprint(sum, err), "5 <nil>") // of a pair of parallel edges
	copied, nodeIDs, _, err := gonumgraph.From(view)
	is(t, "gonum", fmt.Sprint(copied, nodeIDs, err), "Graph(4 nodes, 4 edges) [0 1 2 3] <nil>") // a pair of parallel edges shows as one
}

func TestDGLTransforms(t *testing.T) {
	src, dst := []int32{0, 0, 1, 2, 2}, []int32{1, 1, 2, 2, 0}
	g := graph.Must(graph.New(4, src, dst)) // own order: 2→0, 0→1, 0→1, 1→2, 2→2

	looped := graph.WithSelfLoops(g)
	is(t, "loops", fmt.Sprint(looped.NumEdges(), graph.WithSelfLoops(looped).NumEdges()), "8 8")
	bare := graph.WithoutSelfLoops(g)
	is(t, "no loops", bare.NumEdges(), 4)
	again := graph.WithSelfLoops(graph.WithoutSelfLoops(g))
	is(t, "a loop each", again.NumEdges(), 8)
	simple, counts, into := graph.Coalesce(g)
	is(t, "simple", fmt.Sprint(simple.NumEdges(), counts, into), "4 [1 2 1 1] [0 1 1 2 3]")
	symmetric := graph.Undirected(simple)
	is(t, "symmetric", fmt.Sprint(symmetric.NumEdges(), symmetric.Symmetric()), "7 true")
	doubled, err := graph.New(4, slices.Concat(src, dst), slices.Concat(dst, src))
	is(t, "doubled", fmt.Sprint(doubled.NumEdges(), err), "10 <nil>")
	turned := graph.Reverse(g)
	is(t, "reverse", turned.InDegrees(), g.OutDegrees())
	line, err := graph.LineGraph(g)
	is(t, "line graph", fmt.Sprint(line.NumNodes(), err), "5 <nil>")
	renumbered, err := graph.Permute(g, []int32{3, 2, 1, 0})
	is(t, "permuted", fmt.Sprint(renumbered.InDegrees(), err), "[0 2 2 1] <nil>")
	clustered := graph.Reorder(g)
	is(t, "reordered", clustered.NumEdges(), 5)

	sub, err := graph.Subgraph(g, []int32{2, 1})
	is(t, "subgraph", fmt.Sprint(sub, err), "Graph(2 nodes, 2 edges) <nil>")
	some, err := graph.EdgeSubgraph(g, []int32{0, 3})
	is(t, "edge subgraph", fmt.Sprint(some, err), "Graph(4 nodes, 2 edges) <nil>")
	into2, err := graph.Dst(g, []int32{2})
	is(t, "in-edges", fmt.Sprint(into2.NumSrc(), into2.NumDst(), into2.NumEdges(), err), "4 1 2 <nil>")
	hood, err := graph.Neighbourhood(g, []int32{2}, 1)
	is(t, "neighbourhood", fmt.Sprint(hood.From().Src, err), "[2 1] <nil>")
	block, err := graph.Block(g, []int32{2})
	is(t, "block", fmt.Sprint(block.From().Src, err), "[2 1] <nil>")
	blocks, err := graph.Blocks(g, []int32{2}, 2)
	is(t, "first block", fmt.Sprint(blocks[0].From().Src, err), "[2 1 0] <nil>")

	x, w := column(10, 11, 12, 13), column(0, 1, 2, 3, 4)
	xs, ws := x.Rows(sub.From().Src), w.Rows(sub.From().Edges)
	is(t, "rows of a subgraph", fmt.Sprint(xs.Value().Data, ws.Value().Data), "[12 11] [3 4]")
	levels, err := graph.Chains(2, 1).Levels()
	is(t, "levels", fmt.Sprint(levels.Order, levels.Offsets, err), "[0 2 1] [0 2 3] <nil>")
	count, of := analysis.Components(g)
	is(t, "components", fmt.Sprint(count, of), "2 [0 0 0 1]")
	report := g.Check()
	is(t, "check", report.NoIn, "[3]")
}

func TestDGLQueries(t *testing.T) {
	g := graph.Must(graph.New(4, []int32{0, 0, 1, 2, 2}, []int32{1, 1, 2, 2, 0}))
	nodes, edges := g.NumNodes(), g.NumEdges()
	is(t, "numbers", fmt.Sprint(nodes, edges), "4 5")
	sources, destinations := g.NumSrc(), g.NumDst()
	is(t, "sides", fmt.Sprint(sources, destinations), "4 4")
	yes := gonumgraph.Of(g).HasEdgeFromTo(0, 1)
	is(t, "has an edge", yes, true)
	in, out := g.InDegrees(), g.OutDegrees()
	is(t, "degrees", fmt.Sprint(in, out), "[1 2 2 0] [2 1 2 0]")
	u, v := g.In().Cols, g.Destinations()
	is(t, "ends", fmt.Sprint(u, v), "[2 0 0 1 2] [0 1 1 2 2]")
	order := g.EdgeOrder()
	is(t, "order", order, "[4 0 1 2 3]")
	var heard, told []int32
	for e, u := range g.Sources(2) {
		heard = append(heard, e, u)
	}
	for e, v := range g.Targets(2) {
		told = append(told, e, v)
	}
	is(t, "neighbours", fmt.Sprint(heard, told), "[3 1 4 2] [0 0 4 2]")
}

// sameMsg fails the test unless the messages are x op y on every edge.
func sameMsg(t *testing.T, g *graph.Graph, rows [][2]*grad.Var, msgs []message.Msg) {
	t.Helper()
	ops := []func(x, y *grad.Var) *grad.Var{(*grad.Var).Add, (*grad.Var).Sub, (*grad.Var).Mul, (*grad.Var).Div, (*grad.Var).Dot}
	for i, m := range msgs {
		x := rows[i/len(ops)]
		compare.Array(t, fmt.Sprint("message ", i), message.ApplyEdges(g, m).Value(), ops[i%len(ops)](x[0], x[1]).Value(), compare.Part(1e-5))
	}
}

func TestDGLMessages(t *testing.T) {
	g := odd()
	x, y := grad.Const(param(1, 8, 3).Value), grad.Const(param(2, 8, 3).Value)
	w := grad.Const(param(3, 13, 3).Value)
	u, v := x.Rows(g.In().Cols), y.Rows(g.Destinations())
	sameMsg(t, g, [][2]*grad.Var{{u, v}, {u, w}, {v, u}, {v, w}, {w, u}, {w, v}}, []message.Msg{
		message.UAddV(x, y),
		message.USubV(x, y),
		message.UMulV(x, y),
		message.UDivV(x, y),
		message.UDotV(x, y),
		message.UAddE(x, w),
		message.USubE(x, w),
		message.UMulE(x, w),
		message.UDivE(x, w),
		message.UDotE(x, w),
		message.V(y).Add(message.U(x)),
		message.V(y).Sub(message.U(x)),
		message.V(y).Mul(message.U(x)),
		message.V(y).Div(message.U(x)),
		message.V(y).Dot(message.U(x)),
		message.V(y).Add(message.E(w)),
		message.V(y).Sub(message.E(w)),
		message.V(y).Mul(message.E(w)),
		message.V(y).Div(message.E(w)),
		message.V(y).Dot(message.E(w)),
		message.E(w).Add(message.U(x)),
		message.E(w).Sub(message.U(x)),
		message.E(w).Mul(message.U(x)),
		message.E(w).Div(message.U(x)),
		message.E(w).Dot(message.U(x)),
		message.E(w).Add(message.V(y)),
		message.E(w).Sub(message.V(y)),
		message.E(w).Mul(message.V(y)),
		message.E(w).Div(message.V(y)),
		message.E(w).Dot(message.V(y)),
	})
	copies := []message.Msg{
		message.CopyU(x),
		message.CopyE(w),
	}
	compare.Array(t, "copy_u", message.ApplyEdges(g, copies[0]).Value(), u.Value(), compare.Part(1e-5))
	compare.Array(t, "copy_e", message.ApplyEdges(g, copies[1]).Value(), w.Value(), compare.Part(1e-5))
}

func TestDGLPassing(t *testing.T) {
	g := graph.Must(graph.New(3, []int32{0, 1, 1}, []int32{2, 2, 1})) // own order: 1→1, 0→2, 1→2
	x, w := column(1, 2, 3), column(5, 6, 7)
	m := message.UMulE(x, w) // 10, 6, 14
	var y *grad.Var

	y = message.UpdateAll(g, m, message.Sum)
	compare.Equal(t, "sum", y.Value().Data, []tensor.Float{0, 10, 20})
	y = message.UpdateAll(g, m, message.Mean)
	compare.Equal(t, "mean", y.Value().Data, []tensor.Float{0, 10, 10})
	y = message.UpdateAll(g, m, message.Max)
	compare.Equal(t, "max", y.Value().Data, []tensor.Float{0, 10, 14})
	y = message.UpdateAll(g, m, message.Min)
	compare.Equal(t, "min", y.Value().Data, []tensor.Float{0, 10, 6})
	y = message.UpdateAll(g, m, message.Mean, message.Max)
	compare.Equal(t, "two reducers", y.Value().Data, []tensor.Float{0, 0, 10, 10, 10, 14})
	y = message.ApplyEdges(g, m)
	compare.Equal(t, "edges", y.Value().Data, []tensor.Float{10, 6, 14})
	hidden := message.ApplyEdges(g, message.UAddV(x, x)).MatMul(vars([]int{1, 1}, 2)).ReLU()
	y = message.UpdateAll(g, message.CopyE(hidden), message.Sum)
	compare.Equal(t, "function of edges", y.Value().Data, []tensor.Float{0, 8, 18})
	y = y.Linear(vars([]int{1, 1}, 1), nil, grad.ReLU)
	compare.Equal(t, "function of nodes", y.Value().Data, []tensor.Float{0, 8, 18})

	even := column(0, 0, 0)
	y = message.EdgeSoftmax(g, even)
	compare.Equal(t, "softmax", y.Value().Data, []tensor.Float{1, 0.5, 0.5})
	y = message.EdgeSoftmaxBySource(g, even)
	compare.Equal(t, "softmax by source", y.Value().Data, []tensor.Float{0.5, 1, 0.5})
	y = message.ApplyEdges(g, message.UAddV(x, x).Softmax())
	is(t, "fused softmax", y.Value().Data[0], 1)
	listed := message.OnEdges(g, column(60, 70, 50))
	compare.Equal(t, "list order", listed.Value().Data, []tensor.Float{50, 60, 70})

	h := graph.Must(graph.New(3, []int32{0}, []int32{0}))
	one := message.Relation{Graph: g, Msg: message.CopyU(x), By: message.Sum}
	two := message.Relation{Graph: h, Msg: message.CopyU(x), By: message.Max}
	y = message.UpdateRelations(message.Sum, one, two)
	compare.Equal(t, "relations", y.Value().Data, []tensor.Float{1, 2, 3})
	y = message.StackRelations(one, two)
	compare.Equal(t, "stack", y.Value().Data, []tensor.Float{0, 1, 2, 0, 3, 0})
	alphas := message.SoftmaxRelations(one, two)
	y = message.UpdateAll(g, message.CopyE(alphas[0]), message.Sum).Add(message.UpdateAll(h, message.CopyE(alphas[1]), message.Sum))
	compare.Equal(t, "weights of relations", y.Value().Data, []tensor.Float{1, 1, 1})

	some := graph.Must(graph.Dst(g, []int32{2}))
	y = message.UpdateAll(some, message.CopyU(x), message.Sum)
	compare.Equal(t, "pull", y.Value().Data, []tensor.Float{3})
	few := graph.Must(graph.EdgeSubgraph(g, []int32{2}))
	y = message.UpdateAll(few, message.CopyU(x), message.Sum)
	compare.Equal(t, "some edges", y.Value().Data, []tensor.Float{0, 0, 2})

	chain := graph.Chains(3)
	step := func(l *message.Level, prev message.State) message.State {
		h := message.UpdateAll(l.In, message.CopyU(prev[0]), message.Sum)
		return message.State{h.Add(l.Rows(x))}
	}
	s := message.Sweep(chain, message.State{column(0)}, step)
	compare.Equal(t, "sweep", s[0].Value().Data, []tensor.Float{1, 3, 6})
	back := message.Sweep(graph.Reverse(chain), message.State{column(0)}, step)
	compare.Equal(t, "backwards", back[0].Value().Data, []tensor.Float{6, 5, 3})
}

func TestDGLReadout(t *testing.T) {
	both := graph.Batch(graph.Chains(2), graph.Chains(3))
	x, w, e := column(1, 2, 3, 4, 5), column(1, 1, 0, 0, 1), column(7, 8, 9)
	var y *grad.Var

	y = message.Readout(both, x, message.Sum)
	compare.Equal(t, "sum", y.Value().Data, []tensor.Float{3, 12})
	y = message.Readout(both, x, message.Mean)
	compare.Equal(t, "mean", y.Value().Data, []tensor.Float{1.5, 4})
	y = message.Readout(both, x, message.Max)
	compare.Equal(t, "max", y.Value().Data, []tensor.Float{2, 5})
	y = message.UpdateAll(graph.Membership(both), message.UMulE(x, w), message.Sum)
	compare.Equal(t, "weighted", y.Value().Data, []tensor.Float{3, 5})
	y = message.ApplyEdges(graph.Membership(both), message.CopyU(w).Softmax())
	is(t, "softmax", y.Value().Data[0], 0.5)
	y = message.ReadoutSoftmax(both, x, column(0, 0, 0, 0, 0))
	compare.Array(t, "attention", y.Value(), column(1.5, 4).Value(), compare.Part(1e-5))
	y = message.ApplyEdges(graph.Membership(both), message.CopyU(x).TopK(1))
	compare.Near(t, "best", y.Value().Data, []float64{-inf, 2, -inf, -inf, 5}, compare.Exactly)
	y = message.Readout(both, message.UpdateAll(both, message.CopyE(e), message.Sum), message.Sum)
	compare.Equal(t, "edges", y.Value().Data, []tensor.Float{7, 17})
	y = message.ApplyEdges(graph.Membership(both), message.V(column(100, 200)))
	compare.Equal(t, "broadcast", y.Value().Data, []tensor.Float{100, 100, 200, 200, 200})
}

func TestDGLSparse(t *testing.T) {
	n := 3
	row, col, values := []int32{2, 2, 1}, []int32{0, 1, 1}, []tensor.Float{6, 7, 5}
	a, order, err := sparse.FromCOO(n, n, row, col, values)
	is(t, "COO", fmt.Sprint(order, err), "[2 0 1] <nil>")
	g := graph.Must(graph.FromCSR(a))
	x, w := column(1, 2, 3), column(5, 6, 7)
	var y *grad.Var

	y = message.UpdateAll(g, message.UMulE(x, w), message.Sum)
	compare.Equal(t, "spmm", y.Value().Data, []tensor.Float{0, 10, 20})
	y = grad.Const(a).MatMul(x)
	compare.Equal(t, "constant matrix", y.Value().Data, []tensor.Float{0, 10, 20})
	dst := tensor.New(n, 1)
	sparse.Product{A: a}.Into(dst, x.Value())
	compare.Equal(t, "kernel", dst.Data, []tensor.Float{0, 10, 20})
	y = message.UpdateAll(graph.Reverse(g), message.UMulE(x, w.Rows(graph.Reverse(g).From().Edges)), message.Sum)
	compare.Equal(t, "transposed", y.Value().Data, []tensor.Float{18, 31, 0})
	y = message.ApplyEdges(g, message.UDotV(x, x).Mul(message.E(w)))
	compare.Equal(t, "sddmm", y.Value().Data, []tensor.Float{20, 18, 42})
	y = message.EdgeSoftmax(g, w)
	is(t, "softmax", y.Value().Data[0], 1)
	y = message.UpdateAll(g, message.CopyE(w), message.Sum)
	compare.Equal(t, "sums of rows", y.Value().Data, []tensor.Float{0, 5, 13})
	y = message.UpdateAll(graph.Reverse(g), message.CopyE(w.Rows(graph.Reverse(g).From().Edges)), message.Sum)
	compare.Equal(t, "sums of columns", y.Value().Data, []tensor.Float{6, 12, 0})
	y = message.ApplyEdges(g, message.UMulE(x, w))
	compare.Equal(t, "scaled columns", y.Value().Data, []tensor.Float{10, 6, 14})
}

func TestDGLLayers(t *testing.T) {
	g, x, rng := graph.Star(5), grad.Const(param(1, 5, 4).Value), rand.New(rand.NewPCG(1, 1))
	gcn := &layers.GCNConv{In: 4, Out: 3, Norm: layers.NormBoth}
	gat := &layers.GATConv{In: 4, Out: 3, Heads: 2, FeatDrop: 0.6, AttnDrop: 0.6, Residual: layers.ResidualIdentity}
	gatv2 := &layers.GATv2Conv{In: 4, Out: 3, Heads: 2, Shared: true}
	tree := &sequence.TreeLSTM{In: 4, Hidden: 3}
	lin := &layers.Linear{In: 4, Out: 3, NoBias: true}
	gcn.Init(rng)
	gat.Init(rng)
	gatv2.Init(rng)
	tree.Init(rng)
	lin.Init(rng)
	is(t, "GraphConv", gcn.Forward(nil, g, x), "Var[5 3]")
	is(t, "GATConv", gat.Forward(nil, g, x), "Var[5 6]")
	is(t, "GATv2Conv", gatv2.Forward(nil, g, x), "Var[5 6]")
	is(t, "TreeLSTM", tree.Forward(nil, graph.Chains(5), x), "Var[5 3]")
	is(t, "Linear", lin.Forward(nil, x), "Var[5 3]")
	out := gat.Apply(nil, g, layers.In{Src: x, Weight: grad.Const(param(2, 8, 1).Value)})
	alpha := message.ApplyEdges(g, out.Attention)
	is(t, "attention", alpha, "Var[8 2 1]")
	weight := layers.SymmetricWeights(g, nil)
	is(t, "EdgeWeightNorm", weight, "Var[8 1]")
}

func TestDGLLoading(t *testing.T) {
	dir := t.TempDir()
	d, err := cora.Load()
	is(t, "Cora", fmt.Sprint(d.Graph, err), "Graph(2708 nodes, 10556 edges) <nil>")
	karate := datasets.Karate()
	is(t, "Karate", karate.Graph.NumNodes(), 34)
	seer, err := datasets.Open(dir, "citeseer")
	is(t, "there or not", seer == nil, err != nil)
	stored, err := datasets.LoadGraph(dir + "/graph.npz")
	is(t, "a file that does not exist", fmt.Sprint(stored == nil, err != nil), "true true")

	p := param(1, 2, 2)
	step := func(x *grad.Var) grad.Grads {
		t := grad.NewTape(1)
		return t.Backward(x.MatMul(t.Use(p)).Sum())
	}
	first, second := step(vars([]int{1, 2}, 1, 2)), step(vars([]int{1, 2}, 3, 4))
	grads := grad.SumGrads(first, second)
	compare.Equal(t, "gradient of two tapes", grads.Param(p).Data, []tensor.Float{4, 4, 6, 6})
	there, not := column(2, 0.5), column(0, 0)
	loss := grad.Loss{}.Ranking(there, not, 1)
	compare.Equal(t, "ranking", loss.Value().Data, []tensor.Float{0.25})
}
