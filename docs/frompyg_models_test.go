package docs_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/explain"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/graph/gonumgraph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/graph/nearest"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

func TestPyGUtilities(t *testing.T) {
	g := graph.Must(graph.New(4, []int32{0, 1, 2, 0}, []int32{1, 0, 1, 1}))
	rel := hetero.Rel{Src: "user", Name: "rates", Dst: "film"}
	h, err := hetero.New(map[string]int{"user": 4, "film": 4}, map[hetero.Rel]*graph.Graph{rel: graph.CompleteBipartite(4, 4)})
	is(t, "hetero", err, nil)
	all, ends := hetero.Homogeneous(h)
	is(t, "one type", fmt.Sprint(all, ends), "Graph(8 nodes, 16 edges) [0 4 8]")
	typed, nodes, err := hetero.Of(g, []string{"a", "b"}, []int32{0, 0, 1, 1}, []string{"cites"})
	is(t, "types", fmt.Sprint(typed.Types(), nodes["b"], err), "[a b] [2 3] <nil>")
	left, kept := (&layers.DropEdge{P: 0.5}).Apply(grad.NewTape(1), g, layers.In{Weight: column(1, 2, 3, 4)})
	is(t, "dropout_edge", left.NumEdges(), kept.Weight.Dim(0))
	weight := layers.SymmetricWeights(g, nil)
	is(t, "gcn_norm", weight.Shape(), "[4 1]")
	same, alone := g.Symmetric(), g.Check().Isolated
	is(t, "questions", fmt.Sprint(same, alone), "false [3]")
	csr, err := graph.FromCSR(g.In())
	is(t, "from CSR", fmt.Sprint(csr.NumEdges(), err), "4 <nil>")
	copied, ids, _, err := gonumgraph.From(gonumgraph.Of(g))
	is(t, "from gonum", fmt.Sprint(copied.NumNodes(), len(ids), err), "4 4 <nil>")
	count, of := analysis.Components(g)
	is(t, "components", fmt.Sprint(count, of), "2 [0 0 0 1]")
	largest, err := graph.Subgraph(g, analysis.LargestComponent(g))
	is(t, "largest", fmt.Sprint(largest.NumNodes(), err), "3 <nil>")
	pairs, err := (&sample.Negatives{Graph: g, Directed: true}).Draw(3, 1)
	is(t, "negatives", fmt.Sprint(pairs.NumEdges(), err), "3 <nil>")
	wrong, at := sample.Corruptions{Number: 1, Ends: sample.ReplaceDestination}.Draw(g, 1)
	is(t, "corrupted", fmt.Sprint(wrong.NumEdges(), len(at)), "4 4")
	walks, err := (&sample.Walks{Graph: g, Length: 4}).From([]int32{0, 1}, 0)
	is(t, "walks", fmt.Sprint(len(walks), err), "2 <nil>")
	sums := column(1, 2, 3, 4).ScatterAdd([]int32{0, 1, 0, 1}, 2)
	is(t, "scatter", sums.Value().Data, "[4 6]")
}

func TestPyGTransforms(t *testing.T) {
	g, rng := graph.Undirected(graph.Ring(6, 1)), rand.New(rand.NewPCG(1, 1))
	points := tensor.Of([]tensor.Float{0, 1, 3, 7, 8, 10}, 6, 1)
	d := &datasets.Dataset{Graph: g, Features: sparse.FromDense(points), Labels: []int32{0, 1, 0, 1, 0, 1}, Classes: 2}
	many := datasets.SBM(rng, 4, datasets.Blocks{Count: 2, Least: 2, Most: 3, Inside: 1})
	x, err := (&datasets.Dataset{Graph: g, Features: points}).Normalised()
	is(t, "rows that sum to one", fmt.Sprint(x.(*tensor.Dense).Data, err), "[0 1 1 1 1 1] <nil>")
	z, err := d.Standardised()
	is(t, "standardised", fmt.Sprint(z.Shape(), err), "[6 1] <nil>")
	degrees := many.WithDegrees(8)
	is(t, "degrees", degrees.Features.Dim(1), many.Features.Dim(1)+9)
	hub := graph.WithVirtualNodes(g)
	is(t, "virtual node", hub.NumEdges(), 24)
	walked, err := analysis.ReturnProbabilities(g, 3)
	is(t, "walks", fmt.Sprint(walked.Shape(), err), "[6 3] <nil>")
	within, err := nearest.Radius(points, 2)
	is(t, "radius", fmt.Sprint(within.NumEdges(), err), "8 <nil>")
	angles, err := nearest.Neighbours{K: 2, Cosine: true, Members: []int{0, 3, 6}}.Graph(points)
	is(t, "of members", fmt.Sprint(angles.NumEdges(), err), "12 <nil>")
	far, err := graph.AtDistance(g, 2)
	is(t, "two hops", fmt.Sprint(far.NumEdges(), err), "12 <nil>")
	line, err := graph.LineGraph(g)
	is(t, "line graph", fmt.Sprint(line.NumNodes(), err), "12 <nil>")
	big := d.LargestComponent()
	is(t, "largest", big.Graph.NumNodes(), 6)
	diffused, err := d.Diffused(analysis.Diffusion{Keep: 2})
	is(t, "diffused", fmt.Sprint(diffused.Graph.NumEdges(), err), "12 <nil>")
	split, err := d.RandomSplit(rng, 1, 2, 2)
	is(t, "split", fmt.Sprint(len(split.Test), err), "2 <nil>")
	links, err := sample.LinkSplit{Val: 0.2, Test: 0.2, Seed: 1}.Of(g)
	is(t, "links", fmt.Sprint(links.Val.Links.NumEdges(), err), "1 <nil>")
	away := message.ApplyEdges(g, message.USubV(grad.Const(points), grad.Const(points)))
	is(t, "cartesian", away.Shape(), "[12 1]")
}

func TestPyGReadouts(t *testing.T) {
	g, x, rng := graph.Batch(graph.Complete(2), graph.Complete(3)), grad.Const(tensor.New(5, 4)), rand.New(rand.NewPCG(1, 1))
	r := message.Readout(g, x, message.Mean, message.Max)
	is(t, "readout", r.Shape(), "[2 8]")
	read := &pool.Attention{Gate: layers.MLP{Widths: []int{4, 1}}}
	asked := &pool.Set2Set{In: 4, Steps: 3}
	sorted := &pool.Sort{K: 2}
	for want, l := range map[string]interface {
		Init(rng *rand.Rand)
		Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
	}{"[2 4]": read, "[2 8]": asked} {
		l.Init(rng)
		is(t, fmt.Sprintf("%T", l), l.Forward(nil, g, x).Shape(), want)
	}
	is(t, "sorted", sorted.Forward(nil, g, x).Shape(), "[2 8]")
	top := &pool.TopK{In: 4, Ratio: 0.5}
	top.Init(rng)
	is(t, "best", top.Forward(nil, g, x).Nodes, "[0 2 3]")
	sag := &pool.SAG{In: 4, Ratio: 0.5}
	sag.Init(rng)
	is(t, "best", sag.Forward(nil, g, x).Graph.NumEdges(), 5)
	diff := &pool.Diff{In: 4, Clusters: 2}
	diff.Init(rng)
	is(t, "clusters", diff.Forward(nil, g, x).Graph.NumNodes(), 4)
	coarse := (&pool.Graclus{Aggregate: layers.AggregateMean}).Forward(nil, g, x, nil)
	is(t, "coarse", coarse.Graph.NumNodes(), 3)
}

func TestPyGModels(t *testing.T) {
	g, x, rng := graph.Undirected(graph.Ring(6, 1)), grad.Const(tensor.New(6, 4)), rand.New(rand.NewPCG(1, 1))
	light := &layers.LightGCN{K: 3}
	light.Init(rng)
	y := light.Forward(nil, g, x)
	is(t, "LightGCN", light.Loss(y, []int32{0}, []int32{1}, []int32{2}).Shape(), "[1]")
	h2gcn := &layers.H2GCNConv{}
	h2gcn.Init(rng)
	is(t, "H2GCN", h2gcn.Forward(nil, g, x).Shape(), "[6 8]")
	decode := &layers.InnerProduct{}
	logits := decode.Forward(nil, g, x)
	is(t, "logits", logits.Shape(), "[12 1]")
	loss := decode.Loss(nil, g, graph.Ring(6, 2), x)
	is(t, "GAE", loss.Shape(), "[1]")
	vgae := &layers.VGAE{In: 4, Hidden: 8, Out: 2}
	vgae.Init(rng)
	z, kl := vgae.Encode(nil, g, x)
	is(t, "VGAE", fmt.Sprint(z.Shape(), kl.Shape()), "[6 2] [1]")
	dgi := &layers.DGI{Width: 4}
	dgi.Init(rng)
	is(t, "DGI", dgi.Loss(nil, x, dgi.Shuffle(nil, x)).Shape(), "[1]")
	node2vec := &layers.SkipGram{Nodes: 6, Width: 4}
	node2vec.Init(rng)
	is(t, "node2vec", node2vec.Loss(nil, g, g).Shape(), "[1]")
	facts := graph.Must(graph.WithKinds(g, make([]int32, 12)))
	transE := &knowledge.TransE{Relations: 1, Width: 4, Margin: 1}
	distMult := &knowledge.DistMult{Relations: 1, Width: 4}
	complEx := &knowledge.ComplEx{Relations: 1, Width: 4}
	rotatE := &knowledge.RotatE{Relations: 1, Width: 4, Margin: 9}
	for _, scorer := range []knowledge.Scorer{transE, distMult, complEx, rotatE} {
		scorer.Init(rng)
		is(t, fmt.Sprintf("%T", scorer), scorer.Forward(nil, facts, x).Shape(), "[12 1]")
	}
	ranks := knowledge.Ranks(distMult, x, facts, facts)
	is(t, "ranks", len(ranks), 24)
	hits := train.HitsAbove([]float64{3, 1}, []float64{2, 0}, 1)
	is(t, "hits", hits, 0.5)
	one := message.Relation{Graph: g, Msg: message.U(x), By: message.Sum}
	y = message.UpdateRelations(message.Sum, one, one)
	is(t, "relations", y.Shape(), "[6 4]")
}

func TestPyGLoaders(t *testing.T) {
	g, rng, dir := graph.Complete(6), rand.New(rand.NewPCG(1, 1)), t.TempDir()
	ids, features := []int32{0, 1, 2}, tensor.New(6, 2)
	loader := &sample.Loader{Sampler: sample.Sampler{Graph: g, Fanout: []int{2, 3}}, Nodes: ids, Size: 2, Features: features}
	widths := 0
	for b, err := range loader.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		widths += b.X.Shape()[1]
	}
	is(t, "loader", fmt.Sprint(loader.Steps(), widths), "2 4")
	many := datasets.SBM(rng, 4, datasets.Blocks{Count: 2, Least: 2, Most: 3, Inside: 1})
	for _, part := range many.Batches(rng, ids, 2) {
		batch := many.Batch(part)
		is(t, "batch", len(batch.IDs) > 0, true)
	}
	even := many.BucketedBatches(rng, ids, 2)
	is(t, "even batches", len(even), 2)
	missing := func(what string, there bool, err error) {
		t.Helper()
		is(t, what+" of an empty folder", fmt.Sprint(there, err != nil), "false true")
	}
	cora, err := datasets.Load(dir)
	missing("Planetoid", cora != nil, err)
	proteins, err := datasets.LoadGraphs(dir)
	missing("TUDataset", proteins != nil, err)
	arxiv, err := datasets.Load(dir)
	missing("OGB", arxiv != nil, err)
	texas, err := datasets.Load(dir)
	missing("WebKB", texas != nil, err)
	facts, err := datasets.LoadKnowledge(dir)
	missing("triples", facts != nil, err)
	movies, err := datasets.LoadInteractions(dir)
	missing("interactions", movies != nil, err)
	karate := datasets.Karate()
	is(t, "karate", karate.Graph.NumNodes(), 34)
	houses, err := datasets.Houses{Houses: 2, Base: 10}.Dataset()
	is(t, "houses", fmt.Sprint(houses.Graph.NumNodes(), err), "20 <nil>")
	cluster := datasets.Cluster(rng, 1)
	is(t, "CLUSTER", cluster.Classes, 6)
}

func TestPyGExplained(t *testing.T) {
	g, x := graph.Star(5), tensor.New(5, 3)
	x.Fill(1)
	model := func(_ *grad.Tape, g *graph.Graph, x, weight *grad.Var) *grad.Var {
		if weight == nil {
			return message.UpdateAll(g, message.U(x), message.Sum)
		}
		return message.UpdateAll(g, message.UMulE(x, weight), message.Sum)
	}
	why, err := explain.New(model, g, x, explain.Node{Number: 0, Hops: 1})
	is(t, "case", err, nil)
	masks := (&explain.GNNExplainer{Steps: 2}).Explain(why)
	learnt := &explain.PGExplainer{Epochs: 1}
	is(t, "fitted", learnt.Fit(x, []*explain.Case{why}), nil)
	slopes, path := why.Saliency(), why.Integrated(4)
	is(t, "edges", fmt.Sprint(len(slopes.Edges), len(path.Edges)), "8 8")
	fidelity := why.Fidelity(masks, explain.Part{Edges: 2})
	is(t, "fidelity", fidelity.Probability > 0, true)
}
