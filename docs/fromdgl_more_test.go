package docs_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/graph/gonumgraph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/graph/nearest"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

func TestDGLMoreBuilding(t *testing.T) {
	src, dst := []int32{0, 0, 1, 2, 2}, []int32{1, 1, 2, 2, 0}
	g := graph.Must(graph.New(4, src, dst)) // own order: 2→0, 0→1, 0→1, 1→2, 2→2
	h := graph.Must(graph.New(4, []int32{3, 0}, []int32{0, 1}))
	points := tensor.Of([]tensor.Float{0, 1, 3, 7}, 4, 1)
	rng := rand.New(rand.NewPCG(1, 1))

	two, err := nearest.Neighbours{K: 1, Members: []int{0, 2, 4}}.Graph(points)
	is(t, "segments", fmt.Sprint(two.In().Cols, err), "[1 0 3 2] <nil>")
	typed, nodes, err := hetero.Of(g, []string{"paper", "author"}, []int32{0, 0, 1, 1}, []string{"cites"})
	is(t, "types", fmt.Sprint(len(typed.Rels()), nodes["author"], err), "4 [2 3] <nil>")
	places, err := analysis.LaplacianVectors(g, 2)
	is(t, "places", fmt.Sprint(places.Shape(), err), "[4 2] <nil>")
	spread, weights, err := analysis.Diffusion{Walk: true, Keep: 2}.Graph(g, nil)
	is(t, "diffusion", fmt.Sprint(spread.NumEdges(), len(weights), err), "7 7 <nil>")
	walked, err := analysis.ReturnProbabilities(g, 3)
	is(t, "walks", fmt.Sprint(walked.Shape(), err), "[4 3] <nil>")
	merged, err := graph.New(4, slices.Concat(g.In().Cols, h.In().Cols), slices.Concat(g.Destinations(), h.Destinations()))
	is(t, "merged", fmt.Sprint(merged, err), "Graph(4 nodes, 7 edges) <nil>")
	once, times, _ := graph.Coalesce(merged)
	is(t, "summed", fmt.Sprint(once, times), "Graph(4 nodes, 5 edges) [1 1 3 1 1]")
	dense, ids, err := graph.NewCompact([]int32{7, 7}, []int32{2, 5})
	is(t, "compacted", fmt.Sprint(dense, ids, err), "Graph(3 nodes, 2 edges) [2 5 7] <nil>")
	outOf := graph.Reverse(graph.Must(graph.Dst(graph.Reverse(g), []int32{2})))
	is(t, "out-edges", fmt.Sprint(outOf.NumSrc(), outOf.Destinations()), "1 [0 2]")
	ahead := graph.Reverse(graph.Must(graph.Neighbourhood(graph.Reverse(g), []int32{0}, 1)))
	is(t, "ahead", fmt.Sprint(ahead, ahead.From().Src), "Graph(2 nodes, 2 edges) [0 1]")

	for what, regular := range map[string]*graph.Graph{"[3 3]": graph.Ring(3, 1), "[3 4]": graph.Star(3), "[4 8]": graph.Grid(2, 2)} {
		is(t, "regular", fmt.Sprint([]int{regular.NumNodes(), regular.NumEdges()}), what)
	}
	web := random.RMAT(rng, 8, 20)
	is(t, "R-MAT", web, "Graph(8 nodes, 20 edges)")
	papers := random.Citation(rng, 8, 20)
	is(t, "Citation", fmt.Sprint(papers, papers.Symmetric()), "Graph(8 nodes, 20 edges) true")
	_, err = gonumgraph.Undirected(g)
	is(t, "not symmetric", err != nil, true)
	kinds := graph.Must(graph.WithKinds(g, []int32{0, 1, 0, 1, 1}))
	is(t, "kinds in the graph's order", kinds.Kinds(), "[1 0 1 0 1]")
	var ones []int32
	for e, k := range kinds.Kinds() {
		if k == 1 {
			ones = append(ones, int32(e))
		}
	}
	ofKind := graph.Must(graph.EdgeSubgraph(kinds, ones))
	is(t, "edges of a kind", fmt.Sprint(ofKind, ofKind.Kinds()), "Graph(4 nodes, 3 edges) [1 1 1]")
	var kept []int32
	for e := range g.NumEdges() {
		if rng.Float64() >= 0.5 {
			kept = append(kept, int32(e))
		}
	}
	thinned := graph.Must(graph.EdgeSubgraph(g, kept))
	is(t, "dropped edges", thinned.NumEdges(), len(kept))

	both := graph.Batch(graph.Chains(2), graph.Chains(3))
	second := graph.Unbatch(both)[1]
	is(t, "slice", second, "Graph(3 nodes, 2 edges)")
	members := len(both.NodeOffsets()) - 1
	is(t, "batch size", members, 2)
	perMember := graph.EdgeMembership(both).InDegrees()
	is(t, "edges of members", perMember, "[1 2]")
	wood := graph.WithSelfLoops(graph.Reverse(graph.Must(graph.Trees([]int32{-1, 0}, []int32{-1}))))
	is(t, "members that are kept", wood.NodeOffsets(), "[0 2 3]")
	_, numbers, err := graph.Compact([]int32{7, 2}, []int32{5})
	is(t, "numbers of ids", fmt.Sprint(numbers, err), "[[2 0] [1]] <nil>")
	is(t, "elements", mat.Sum(g.In().Matrix()), 5)
}

func TestDGLMoreQueries(t *testing.T) {
	g := graph.Must(graph.New(4, []int32{0, 0, 1, 2, 2}, []int32{1, 1, 2, 2, 0}))
	u3, v3 := g.In().Cols[3], g.Destinations()[3]
	is(t, "ends of an edge", fmt.Sprint(u3, v3), "1 2")
	there := 7 < g.NumNodes()
	is(t, "has a node", there, false)
	parallel := g.Check().Parallel > 0
	is(t, "multigraph", parallel, true)
	alone := g.Check().Isolated
	is(t, "isolated", alone, "[3]")
	oneKind, inBlock := !g.Bipartite(), g.Bipartite() && g.DstRows() != nil
	is(t, "homogeneous, block", fmt.Sprint(oneKind, inBlock), "true false")
	byDst := g.In()
	is(t, "CSR by destination", byDst.Offsets, "[0 1 3 5 5]")
	bySrc, edge := g.Out()
	is(t, "CSR by source", fmt.Sprint(bySrc.Offsets, edge), "[0 2 3 5 5] [1 2 3 0 4]")
	var between []int32
	for e, u := range g.Sources(1) {
		if u == 0 {
			between = append(between, e)
		}
	}
	is(t, "edges between", between, "[1 2]")
	labels := column(1, 1, 2, 2)
	alike := message.ApplyEdges(g, message.USubV(labels, labels).Sign().Abs().Neg().Shift(1))
	compare.Equal(t, "the same label", alike.Value().Data, []tensor.Float{0, 1, 1, 0, 1})
	share := alike.Mean()
	is(t, "homophily", fmt.Sprintf("%.3f", share.Value().Data[0]), "0.600")
	compare.Equal(t, "at nodes", message.UpdateAll(g, message.CopyE(alike), message.Mean).Value().Data, []tensor.Float{0, 1, 0.5, 0})
	even := message.ApplyEdges(g, message.CopyE(grad.Const(fill(g.NumEdges()))).Normalise())
	compare.Equal(t, "over the in-degree", even.Value().Data, []tensor.Float{1, 0.5, 0.5, 0.5, 0.5})
}

// fill returns n rows of one.
func fill(n int) *tensor.Dense {
	x := tensor.New(n, 1)
	x.Fill(1)
	return x
}

func TestDGLEdgeReadout(t *testing.T) {
	both := graph.Batch(graph.Chains(2), graph.Chains(3))
	x, w, e := column(1, 2, 3, 4, 5), column(0, 0, 0), column(-7, -8, -9)
	var y *grad.Var

	y = message.UpdateAll(graph.EdgeMembership(both), message.CopyU(e), message.Sum)
	compare.Equal(t, "sum", y.Value().Data, []tensor.Float{-7, -17})
	y = message.UpdateAll(graph.EdgeMembership(both), message.CopyU(e), message.Mean)
	compare.Equal(t, "mean", y.Value().Data, []tensor.Float{-7, -8.5})
	y = message.UpdateAll(graph.EdgeMembership(both), message.CopyU(e), message.Max)
	compare.Equal(t, "max", y.Value().Data, []tensor.Float{-7, -8})
	y = message.ApplyEdges(graph.EdgeMembership(both), message.CopyU(w).Softmax())
	compare.Equal(t, "softmax", y.Value().Data, []tensor.Float{1, 0.5, 0.5})
	y = message.ApplyEdges(graph.EdgeMembership(both), message.CopyU(e).TopK(1))
	compare.Near(t, "best", y.Value().Data, []float64{-7, -8, -inf}, compare.Exactly)
	y = message.ApplyEdges(graph.EdgeMembership(both), message.V(column(100, 200)))
	compare.Equal(t, "broadcast", y.Value().Data, []tensor.Float{100, 200, 200})
	y = message.UpdateAll(graph.Membership(both), message.U(x).Mul(message.U(column(0, 0, 0, 0, 0)).Sigmoid()), message.Sum)
	compare.Equal(t, "weights of a gate", y.Value().Data, []tensor.Float{1.5, 6})
}

func TestDGLMoreLayers(t *testing.T) {
	g, x, rng := graph.Star(5), grad.Const(param(1, 5, 4).Value), rand.New(rand.NewPCG(1, 1))
	sage := &layers.SAGEConv{In: 4, Out: 3}
	gin := &layers.GINConv{Net: layers.MLP{Widths: []int{4, 8, 3}}, TrainEps: true}
	sg := &layers.SGConv{In: 4, Out: 3, K: 2}
	walk := &layers.APPNP{K: 10, Alpha: 0.1}
	dot := &layers.DotGATConv{In: 4, Out: 3, Heads: 2}
	transformer := &layers.TransformerConv{In: 4, Out: 3, Heads: 2}
	type layer interface {
		Init(rng *rand.Rand)
		Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
	}
	for shape, ls := range map[string][]layer{"Var[5 3]": {sage, gin, sg}, "Var[5 4]": {walk}, "Var[5 6]": {dot, transformer}} {
		for _, l := range ls {
			l.Init(rng)
			is(t, fmt.Sprintf("%T", l), l.Forward(nil, g, x), shape)
		}
	}

	kinds := []int32{0, 1, 0, 1, 0, 1, 0, 1}
	typed := message.ApplyEdges(g, message.U(x.MatMul(grad.Const(param(2, 4, 6).Value)).Reshape(5, 2, 3)).Pick(kinds))
	is(t, "typed", typed, "Var[8 3]")
	for _, norm := range []interface {
		Init(rng *rand.Rand)
		Forward(t *grad.Tape, x *grad.Var) *grad.Var
	}{&layers.LayerNorm{Width: 4}, &layers.BatchNorm{Width: 4}} {
		norm.Init(rng)
		is(t, "normalised", norm.Forward(nil, x), "Var[5 4]")
	}
	is(t, "embedded", x.Embedding([]int32{4, 4}, grad.NoLabel), "Var[2 4]")

	scaled := sparse.FromDense(fill(3)).NormaliseRows()
	is(t, "rows that sum to one", scaled.Values, "[1 1 1]")
	tape := grad.NewTape(1)
	masked := tape.Dropout(x, 0.2)
	is(t, "masked", masked, "Var[5 4]")
	mixed := graph.Reorder(g)
	is(t, "renumbered", mixed.NumEdges(), 8)
	spread := x
	for range 3 {
		spread = message.UpdateAll(g, message.UMulE(spread, layers.SymmetricWeights(g, nil)), message.Sum)
	}
	is(t, "diffused", spread, "Var[5 4]")
	known, labels, guess := column(1, 0), column(7, 0), column(3, 4)
	compare.Equal(t, "put back", grad.Where(known, labels, guess).Value().Data, []tensor.Float{7, 4})
	set := graph.Batch(graph.Complete(2), graph.Complete(3))
	q := x
	y := message.UpdateAll(set, message.U(x).Mul(message.UDotV(x, q).Softmax()), message.Sum)
	is(t, "attention in sets", y, "Var[5 4]")
	d := datasets.Karate()
	x2, err := d.Normalised()
	is(t, "normalised features", x2.Shape()[0], 34)
	is(t, "normalising", err, nil)
}

// TestDGLTorch has what stands around a graph: dense mathematics and the tape.
func TestDGLTorch(t *testing.T) {
	p, running := param(1, 3, 4), &grad.Param{Value: tensor.New(4), Frozen: true}
	tape := grad.NewTape(1)
	x, w, b := tape.Use(p), grad.Const(param(2, 4, 2).Value), vars([]int{2}, 1, 2)
	shape := func(what string, y *grad.Var, want string) { t.Helper(); is(t, what, y, "Var"+want) }
	y := x

	y = x.MatMul(w)
	shape("product", y, "[3 2]")
	shape("rows with rows", x.MatMulT(x), "[3 3]")
	y = x.Linear(w, b, grad.ReLU)
	shape("linear", y, "[3 2]")
	y = x.Add(x).Mul(x).Max(x)
	shape("pointwise", y, "[3 4]")
	s0, m1, a1 := x.SumAxis(0), x.MeanAxis(1), x.MaxAxis(1)
	is(t, "axes", fmt.Sprint(s0, m1, a1), "Var[4] Var[3] Var[3]")
	is(t, "of all elements", fmt.Sprint(x.Sum(), x.Mean()), "Var[1] Var[1]")
	v, tr, r, c := x.Reshape(-1, 2), x.Transpose(), x.RowRange(1, 3), x.Columns(1, 3)
	is(t, "views", fmt.Sprint(v, tr, r, c), "Var[6 2] Var[4 3] Var[2 4] Var[3 2]")
	back := x.Rows([]int32{2, 2}).ScatterAdd([]int32{0, 1}, 3)
	shape("gathered and scattered", back, "[3 4]")
	j := grad.Where(x, grad.Concat(x, x).Split(4, 4)[0], x.Clamp(0, 1))
	shape("joined", j, "[3 4]")
	y = x.GELU().SELU().SiLU().Mish().Softplus()
	shape("activations", y, "[3 4]")
	shape("by name", x.Activate(grad.Activation("elu")), "[3 4]")
	best, places := x.CumSum().CumProd().Roll(1).TopK(2)
	is(t, "best", fmt.Sprint(best, len(places)), "Var[3 2] 6")
	y = x.L2Normalise().LayerNorm(nil, nil, 1e-5)
	shape("normalised", y, "[3 4]")

	classes, target := []int32{0, 3, grad.NoLabel}, x.Sigmoid().Detach()
	loss := x.CrossEntropy(classes)
	shape("cross-entropy", loss, "[1]")
	shape("smoothed", grad.CrossEntropy{Smoothing: 0.1}.Of(x, classes), "[1]")
	loss = x.LogSoftmax().NLL(classes).Add(grad.Hinge{}.Of(x, classes))
	shape("rows", loss, "[1]")
	loss = grad.BCE{PosWeight: []float64{1, 2, 1, 1}}.Of(x, target)
	shape("binary", loss, "[1]")
	shape("a loss each", grad.Loss{Reduction: grad.EachLoss}.MSE(x, target), "[3 4]")
	shape("their sum", grad.Loss{Reduction: grad.SumLoss}.MSE(x, target), "[1]")
	loss = x.MSE(target).Add(x.L1(target)).Add(grad.Loss{}.Huber(x, target, 1)).Add(grad.Loss{}.KL(x, target))
	shape("elements", loss, "[1]")
	y = tape.Checkpoint(func(xs ...*grad.Var) *grad.Var { return xs[0].Tanh() }, x)
	shape("checkpoint", y, "[3 4]")
	tape.Update(running, x.MeanAxis(0))
	still, asked := x.Detach(), tape.Watch(x.Value())
	loss = loss.Add(still.Mul(asked).Sum())
	tape.Trace(true)
	grads := tape.Backward(loss)
	is(t, "of what was asked", grads.Of(asked).Data[0], x.Value().Data[0])
	grads.ClipValue(100)
	grads.ClipNormOf(1, 100)
	norm := grads.ClipNorm(1)
	is(t, "clipped", norm > 0 && grads.Norm() < 1.001, true)
	is(t, "updated", running.Value.Data[0] != 0, true)
	op, found := tape.FirstNonFinite()
	is(t, "not finite", fmt.Sprint(op, found), "false")
	peak := tape.Stats().Peak
	is(t, "memory", peak > 0, true)
	before := grad.Measure(func(t *grad.Tape) *grad.Var { return t.Use(p).Sum() }).Peak
	is(t, "memory of a sum", before > 0, true)
	tape.Profile(true)
	tape.Profile(false)
	is(t, "recorded", slices.Contains(tape.Operations(), "TopK"), true)
}
