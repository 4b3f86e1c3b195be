package docs_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/explain"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/attention"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
)

func TestDGLModelsStructure(t *testing.T) {
	g := graph.Must(graph.New(4, []int32{0, 0, 1, 2, 2}, []int32{1, 1, 2, 2, 0}))
	file, tape := filepath.Join(t.TempDir(), "graph.npz"), grad.NewTape(1)
	err := (&datasets.Dataset{Graph: g}).SaveNPZ(file)
	is(t, "written", err, nil)
	stored, err := datasets.LoadGraph(file)
	is(t, "read again", fmt.Sprint(stored, err), "Graph(4 nodes, 5 edges) <nil>")
	same, err := datasets.Load(file)
	is(t, "as a dataset", fmt.Sprint(same.Graph, err), "Graph(4 nodes, 5 edges) <nil>")
	halved, err := graph.WithMembers(g, []int{0, 3, 4})
	is(t, "members", fmt.Sprint(halved.NodeOffsets(), err), "[0 3 4] <nil>")
	which, err := graph.Members(halved, []int32{1, 0})
	is(t, "some members", fmt.Sprint(which.NodeOffsets(), which.From().Src, err), "[0 1 4] [3 0 1 2] <nil>")
	thinned := (&layers.DropEdge{P: 0.5}).Graph(tape, g)
	is(t, "thinned", thinned.NumNodes() == 4 && thinned.NumEdges() < 5, true)
	twoAway, err := graph.AtDistance(graph.Chains(3), 2)
	is(t, "two away", fmt.Sprint(twoAway.In().Cols, twoAway.Destinations(), err), "[0] [2] <nil>")
	cluster, err := analysis.Matching(g, rand.New(rand.NewPCG(1, 2)), nil)
	is(t, "matched", fmt.Sprint(len(cluster), err), "4 <nil>")
	coarse, into, err := graph.Contract(g, cluster)
	clustered := new(pool.Graclus).Forward(nil, g, grad.Const(tensor.New(4, 1)), nil)
	is(t, "by a layer", clustered.Graph.NumNodes(), coarse.NumNodes())
	is(t, "contracted", fmt.Sprint(coarse.NumNodes() < 4, len(into), err), "true 5 <nil>")
}

func TestDGLModelsReadouts(t *testing.T) {
	both, rng := graph.Batch(graph.Complete(2), graph.Complete(3)), rand.New(rand.NewPCG(1, 1))
	x := grad.Const(param(1, 5, 4).Value)
	gated := &pool.Attention{Gate: layers.MLP{Widths: []int{4, 1}}}
	sorted := &pool.Sort{K: 2}
	asked := &pool.Set2Set{In: 4, Steps: 3}
	for shape, l := range map[string]interface {
		Init(rng *rand.Rand)
		Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
	}{"Var[2 4]": gated, "Var[2 8]": sorted} {
		l.Init(rng)
		is(t, fmt.Sprintf("%T", l), l.Forward(nil, both, x), shape)
	}
	asked.Init(rng)
	is(t, "Set2Set", asked.Forward(nil, both, x), "Var[2 8]")
	set := &attention.EncoderBlock{Block: attention.Block{Model: 4, Heads: 2, Hidden: 8}}
	set.Init(rng)
	is(t, "sets", set.Forward(nil, both, x), "Var[5 4]")
}

func TestDGLModelsLayers(t *testing.T) {
	g, x, rng := graph.Star(5), grad.Const(param(1, 5, 4).Value), rand.New(rand.NewPCG(1, 1))
	jump := &layers.JumpingKnowledge{}
	most := &layers.JumpingKnowledge{Mode: layers.JumpMax}
	over := &layers.JumpingKnowledge{Mode: layers.JumpLSTM, Width: 4, Hidden: 4}
	for shape, l := range map[string]*layers.JumpingKnowledge{"Var[5 8]": jump, "Var[5 4]": most} {
		l.Init(rng)
		is(t, "jump", l.Forward(nil, x, x.Scale(2)), shape)
	}
	over.Init(rng)
	is(t, "attention over layers", over.Forward(nil, x, x.Scale(2)), "Var[5 4]")
	norms := []any{&layers.GraphNorm{Width: 4}, &layers.PairNorm{}}
	for _, l := range norms {
		l := l.(interface {
			Init(rng *rand.Rand)
			Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
		})
		l.Init(rng)
		is(t, fmt.Sprintf("%T", l), l.Forward(nil, g, x), "Var[5 4]")
	}
	fit := (&layers.InnerProduct{}).Forward(nil, g, x)
	is(t, "fit of edges", fit, "Var[8 1]")
	gated := &layers.ResGatedConv{In: 4, Out: 3}
	gated.Init(rng)
	is(t, "gated", gated.Forward(nil, g, x), "Var[5 3]")
	rates, rel := graph.CompleteBipartite(2, 3), hetero.Rel{Src: "user", Name: "rates", Dst: "film"}
	h, err := hetero.New(map[string]int{"user": 2, "film": 3}, map[hetero.Rel]*graph.Graph{rel: rates})
	is(t, "hetero", err, nil)
	hgt := &relational.HGTConv{In: map[string]int{"user": 4, "film": 4}, Out: 6, Heads: 2, Rels: []hetero.Rel{rel}}
	hgt.Init(rng)
	y := hgt.Forward(nil, h, map[string]*grad.Var{"user": x.RowRange(0, 2), "film": x.RowRange(2, 5)})
	is(t, "HGT", y["film"], "Var[3 6]")
	han := &relational.HANConv{In: map[string]int{"user": 4, "film": 4}, Out: 6, Heads: 2, Rels: []hetero.Rel{rel}}
	han.Init(rng)
	y = han.Forward(nil, h, map[string]*grad.Var{"user": x.RowRange(0, 2), "film": x.RowRange(2, 5)})
	is(t, "HAN", y["film"], "Var[3 6]")
	deepWalk := &layers.SkipGram{Nodes: 5, Width: 8}
	deepWalk.Init(rng)
	is(t, "SkipGram", deepWalk.Z.Value.Shape(), "[5 8]")
	facts := graph.Must(graph.WithKinds(g, []int32{0, 1, 0, 1, 0, 1, 0, 1}))
	moved := &knowledge.TransE{Relations: 2, Width: 4, Margin: 9}
	moved.Init(rng)
	is(t, "TransE", moved.Forward(nil, facts, x), "Var[8 1]")
	words := grad.NewParam(5, 4)
	entities := tape(words).Embedding([]int32{4, 4}, grad.NoLabel)
	is(t, "embedded", entities, "Var[2 4]")
}

// tape returns what a new tape makes of a Param.
func tape(p *grad.Param) *grad.Var { return grad.NewTape(1).Use(p) }

func TestDGLModelsExplained(t *testing.T) {
	g, x := graph.Star(5), param(1, 5, 3).Value
	model := func(_ *grad.Tape, g *graph.Graph, x, weight *grad.Var) *grad.Var {
		if weight == nil {
			return message.UpdateAll(g, message.CopyU(x), message.Sum)
		}
		return message.UpdateAll(g, message.UMulE(x, weight), message.Sum)
	}
	why, err := explain.New(model, g, x, explain.Node{Number: 0, Hops: 1})
	is(t, "case", err, nil)
	masks := (&explain.GNNExplainer{Steps: 2}).Explain(why)
	is(t, "scores", fmt.Sprint(len(masks.Edges), len(masks.Features)), fmt.Sprint(why.Graph.NumEdges(), 3))
	learnt := &explain.PGExplainer{Epochs: 1}
	is(t, "fitted", learnt.Fit(x, []*explain.Case{why}), nil)
}

func TestDGLModelsSampling(t *testing.T) {
	g, ids := graph.WithoutSelfLoops(graph.Complete(6)), []int32{0, 1, 2}
	features, rng := tensor.New(6, 2), rand.New(rand.NewPCG(1, 1))
	sampler := &sample.Sampler{Graph: g, Fanout: []int{2, 3}, Seed: 1}
	blocks, err := sampler.Blocks(ids, 1)
	is(t, "blocks", fmt.Sprint(len(blocks), blocks[1].NumEdges(), err), "2 9 <nil>")
	loader := &sample.Loader{Sampler: *sampler, Nodes: ids, Size: 2, Features: features}
	is(t, "batches of an epoch", loader.Steps(), 2)
	ctx := t.Context()
	for b, err := range loader.Batches(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		is(t, "rows", b.X.Shape()[0], len(b.Blocks[0].From().Src))
	}
	is(t, "loader", loader.Check(), nil)
	walks, err := (&sample.Walks{Graph: g, Length: 4, Seed: 1}).From(ids, 0)
	is(t, "walks", fmt.Sprint(len(walks), len(walks[0]), err), "3 5 <nil>")
	near, err := sample.Contexts(6, walks, 1)
	is(t, "contexts", fmt.Sprint(near.NumEdges(), err), "24 <nil>")
	node2vec := &sample.Walks{Graph: g, Length: 4, Return: 0.25, Explore: 4}
	is(t, "node2vec", node2vec.Check(), nil)
	sparse := graph.Ring(6, 1)
	pairs, err := (&sample.Negatives{Graph: sparse, Directed: true}).Draw(3, 1)
	is(t, "pairs without an edge", fmt.Sprint(pairs.NumEdges(), err), "3 <nil>")
	false2, at := sample.Corruptions{Number: 2, Ends: sample.ReplaceDestination}.Draw(sparse, 1)
	is(t, "corrupted", fmt.Sprint(false2.NumEdges(), len(at)), "12 12")
	g = graph.Undirected(sparse)
	links, err := sample.LinkSplit{Val: 0.2, Test: 0.2}.Of(g)
	is(t, "links", fmt.Sprint(links.Val.Links.NumEdges(), links.Test.Negatives.NumEdges(), err), "1 1 <nil>")
	d := datasets.SBM(rng, 4, datasets.Blocks{Count: 2, Least: 2, Most: 3, Inside: 1})
	batch := d.Batch(d.Batches(rng, ids, 2)[0])
	is(t, "batch", len(batch.IDs), 2)
	drawn := []*datasets.Graphs{datasets.Cluster(rng, 1), datasets.Pattern(rng, 1)}
	is(t, "drawn", fmt.Sprint(drawn[0].Classes, drawn[1].Classes), "6 2")
	dir := t.TempDir()
	molecules, err := datasets.OpenGraphs(dir, "PROTEINS")
	is(t, "there or not", molecules == nil, err != nil)
	papers, err := datasets.Load(dir)
	is(t, "no OGB", fmt.Sprint(papers == nil, err != nil), "true true")
	_, err = datasets.LoadGraphs(dir)
	is(t, "no graphs of OGB", err != nil, true)
	_, err = datasets.Load(dir)
	is(t, "no WebKB", err != nil, true)
	tables, err := datasets.Load(dir)
	is(t, "no tables", fmt.Sprint(tables == nil, err != nil), "true true")
	triples, err := datasets.LoadKnowledge(dir)
	is(t, "no triples", fmt.Sprint(triples == nil, err != nil), "true true")
	karate := datasets.Karate()
	houses, err := datasets.Houses{Houses: 2, Base: 10}.Dataset()
	is(t, "houses", fmt.Sprint(houses.Graph.NumNodes(), err), "20 <nil>")
	split, err := karate.RandomSplit(rng, 2, 5, 5)
	is(t, "split", fmt.Sprint(len(split.Val), err), "5 <nil>")
}
