package convert_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Each layer of PyG computes here what it computes there, and its weights go back.
// check_written.py has loaded the file in PyG 2.8.1: all keys matched, and what the modules
// computed was what they had before to 1.2e-07, that of a ResGatedGraphConv with features of
// edges, two biases of which are one here.
func TestWrittenPyG(t *testing.T) {
	s := newStage(t, convert.PyG, "pyg.pt")
	all := s.pygAttention()
	for _, more := range []map[string]module{s.pygConvs(), s.pygEdges(), s.pygRest(), s.pygPooling(), s.pygLinks()} {
		for name, m := range more {
			all[name] = m
		}
	}
	s.written(s.check(all), "written_pyg.safetensors")
}

func (s *stage) edge() layers.In {
	return layers.In{Edge: message.OnEdges(s.graph(), s.input("edge"))}
}

func (s *stage) pygAttention() map[string]module {
	g, looped, edge, none := s.graph(), s.looped(), s.edge(), layers.In{}
	return map[string]module{
		"gat":              s.conv(&layers.GATConv{In: 4, Out: 3, Heads: 2}, looped, none),
		"gat_mean":         s.conv(&layers.GATConv{In: 4, Out: 3, Heads: 2, Average: true, Residual: layers.ResidualLinear, NoBias: true}, looped, none),
		"gat_edge":         s.conv(&layers.GATConv{In: 4, Out: 3, Heads: 2, EdgeIn: 2}, g, edge),
		"gat_pair":         s.conv(&layers.GATConv{In: 4, InDst: 3, Out: 3, Heads: 2}, g, layers.In{Dst: s.input("dst")}),
		"gatv2":            s.conv(&layers.GATv2Conv{In: 4, Out: 3, Heads: 2}, looped, none),
		"gatv2_shared":     s.conv(&layers.GATv2Conv{In: 4, Out: 3, Heads: 2, Shared: true}, looped, none),
		"gatv2_edge":       s.conv(&layers.GATv2Conv{In: 4, Out: 3, Heads: 2, EdgeIn: 2, Residual: layers.ResidualLinear}, g, edge),
		"supergat":         s.conv(&layers.SuperGATConv{In: 4, Out: 3, Heads: 2}, looped, none),
		"supergat_sd":      s.conv(&layers.SuperGATConv{In: 4, Out: 3, Heads: 2, ScaledDot: true}, looped, none),
		"transformer":      s.conv(&layers.TransformerConv{In: 4, Out: 3, Heads: 2, Gate: true, EdgeIn: 2}, g, edge),
		"transformer_mean": s.conv(&layers.TransformerConv{In: 4, Out: 3, Heads: 2, Average: true, NoRoot: true}, g, none),
		"agnn":             s.conv(&layers.AGNNConv{}, looped, none),
	}
}

func (s *stage) pygConvs() map[string]module {
	g, looped, none := s.graph(), s.looped(), layers.In{}
	first := layers.In{Dst: s.flipped()}
	appnp := &layers.APPNP{K: 4, Alpha: 0.2}
	return map[string]module{
		"gcn":         s.conv(&layers.GCNConv{In: 4, Out: 3}, looped, none),
		"sgc":         s.conv(&layers.SGConv{In: 4, Out: 3, K: 2}, looped, none),
		"appnp":       {appnp, func() *grad.Var { return appnp.Forward(s.tape, looped, s.input("x")) }},
		"cheb":        s.conv(&layers.ChebConv{In: 4, Out: 3, K: 3}, g, none),
		"tag":         s.conv(&layers.TAGConv{In: 4, Out: 3, K: 2}, g, none),
		"arma":        s.conv(&layers.ARMAConv{In: 4, Out: 3, Stacks: 2, Steps: 3}, g, none),
		"arma_shared": s.conv(&layers.ARMAConv{In: 4, Out: 3, Stacks: 2, Steps: 3, Shared: true}, g, none),
		"arma_one":    s.conv(&layers.ARMAConv{In: 4, Out: 3}, g, none),
		"gcn2":        s.conv(&layers.GCN2Conv{Width: 4, Alpha: 0.1, Lambda: 0.5, Layer: 2, NoBias: true}, looped, first),
		"gcn2_two":    s.conv(&layers.GCN2Conv{Width: 4, Alpha: 0.1, Lambda: 0.5, Layer: 2, NoBias: true, TwoWeights: true}, looped, first),
		"sage":        s.conv(&layers.SAGEConv{In: 4, Out: 3}, g, none),
		"sage_max":    s.conv(&layers.SAGEConv{In: 4, Out: 3, Aggregate: layers.AggregateMax, Project: true, Normalise: true}, g, none),
		"sage_bare":   s.conv(&layers.SAGEConv{In: 4, Out: 3, NoRoot: true, NoBias: true}, g, none),
		"graphconv":   s.graphConv(),
		"gin":         s.conv(&layers.GINConv{Net: layers.MLP{Widths: []int{4, 6, 3}}}, g, none), // ε is 0.3 there, and is loaded
		"gin_eps":     s.conv(&layers.GINConv{Net: layers.MLP{Widths: []int{4, 6, 3}}, TrainEps: true}, g, none),
		"gin_mlp":     s.conv(&layers.GINConv{Net: layers.MLP{Widths: []int{4, 6, 3}, BatchNorm: true}}, g, none),
	}
}

// graphConv is PyG's GraphConv, for which there is no layer of its own.
func (s *stage) graphConv() module {
	l := initialised(&layers.SAGEConv{In: 4, Out: 3, Aggregate: layers.AggregateSum})
	return module{convert.GraphConv{Layer: l}, func() *grad.Var { return l.Forward(s.tape, s.graph(), s.input("x")) }}
}

func (s *stage) pygEdges() map[string]module {
	g, edge, none := s.graph(), s.edge(), layers.In{}
	wide := layers.MLP{Widths: []int{4, 6, 3}}
	pna := &layers.PNAConv{In: 4, Out: 6, Towers: 2, PreLayers: 2, EdgeIn: 2, EncodeEdges: true, Aggregators: []layers.Aggregator{"mean", "max"},
		Scalers: []layers.Scaler{"identity", "amplification"}}
	return map[string]module{
		"gine":          s.conv(&layers.GINEConv{Net: wide, EdgeIn: 2, TrainEps: true}, g, edge),
		"edgeconv":      s.conv(&layers.EdgeConv{Net: layers.MLP{Widths: []int{8, 6, 3}}}, g, none),
		"nnconv":        s.conv(&layers.NNConv{In: 4, Out: 3, EdgeIn: 2, Hidden: []int{5}, Residual: layers.ResidualLinear}, g, edge),
		"nnconv_plain":  s.conv(&layers.NNConv{In: 4, Out: 3, EdgeIn: 2, Aggregate: layers.AggregateMean}, g, edge),
		"gmm":           s.conv(&layers.MoNetConv{In: 4, Out: 3, EdgeIn: 2, Kernels: 3, Aggregate: layers.AggregateMean, Residual: layers.ResidualLinear}, g, edge),
		"resgated":      s.conv(&layers.ResGatedConv{In: 4, Out: 3}, g, none),
		"resgated_edge": s.conv(&layers.ResGatedConv{In: 4, Out: 3, EdgeIn: 2}, g, edge),
		"rgcn":          s.conv(&layers.RGCNConv{In: 4, Out: 6, Relations: 3}, g, none),
		"rgcn_bases":    s.conv(&layers.RGCNConv{In: 4, Out: 6, Relations: 3, Bases: 2}, g, none),
		"rgcn_blocks":   s.conv(&layers.RGCNConv{In: 4, Out: 6, Relations: 3, Blocks: 2}, g, none),
		"gated":         s.conv(&layers.GatedGraphConv{In: 4, Out: 6, Steps: 2, PerStep: true, NoBias: true}, g, none),
		"pna":           s.conv(pna, g, edge), // the mean degrees are loaded
		"gps":           s.conv(&layers.GPSConv{Width: 4, Heads: 2}, g, none),
		"gps_layer":     s.conv(&layers.GPSConv{Width: 4, Heads: 2, EdgeIn: 2, LayerNorm: true}, g, edge),
	}
}

// pygRest are norms, jumping knowledge and a whole model.
func (s *stage) pygRest() map[string]module {
	g, looped, x := s.graph(), s.looped(), s.input("x")
	batch, norm := initialised(&layers.BatchNorm{Width: 4}), initialised(&layers.GraphNorm{Width: 4})
	jump := initialised(&layers.JumpingKnowledge{Mode: layers.JumpLSTM, Width: 4, Hidden: 6})
	hgt := initialised(&relational.HGTConv{In: map[string]int{"a": 4, "b": 3}, Out: 4, Heads: 2, Rels: rels})
	han := initialised(&relational.HANConv{In: map[string]int{"a": 4, "b": 3}, Out: 4, Heads: 2, Rels: rels})
	first := initialised(&layers.GATConv{In: 4, Out: 3, Heads: 2, Activation: grad.ReLU})
	last := initialised(&layers.GATConv{In: 6, Out: 3, Heads: 2, Average: true})
	return map[string]module{
		"hgt":       {hgt, func() *grad.Var { return s.types(hgt.Forward, rels, s.input("dst")) }},
		"han":       {han, func() *grad.Var { return s.types(han.Forward, rels, s.input("dst")) }},
		"batchnorm": {batch, func() *grad.Var { return batch.Forward(s.tape, x) }},
		"graphnorm": {norm, func() *grad.Var { return norm.Forward(s.tape, g, x) }},
		"jumping":   {jump, func() *grad.Var { return jump.Forward(s.tape, x, s.flipped(), x.Scale(-1)) }},
		"model": {convert.Modules{"convs": convert.Modules{"0": first, "1": last}}, func() *grad.Var {
			return last.Forward(s.tape, looped, first.Forward(s.tape, looped, x))
		}},
	}
}

// rels are the relations of modules.RELATIONS.
var rels = []hetero.Rel{{Src: "a", Name: "to", Dst: "b"}, {Src: "b", Name: "back", Dst: "a"}, {Src: "a", Name: "self", Dst: "a"}}

// types returns the rows of two types of nodes, one below the other, of which the second has
// the features b.
func (s *stage) types(forward func(*grad.Tape, *hetero.Graph, map[string]*grad.Var) map[string]*grad.Var, rels []hetero.Rel, b *grad.Var) *grad.Var {
	g := s.graph()
	both := graph.Must(graph.NewBipartite(5, 5, g.In().Cols, g.Destinations()))
	h, err := hetero.New(map[string]int{"a": 5, "b": 5}, map[hetero.Rel]*graph.Graph{rels[0]: both, rels[1]: both, rels[2]: g})
	if err != nil {
		s.t.Fatal(err)
	}
	y := forward(s.tape, h, map[string]*grad.Var{"a": s.input("x"), "b": b})
	return grad.Const(tensor.Of(slices.Concat(y["a"].Value().Data, y["b"].Value().Data), 10, 4))
}

func (s *stage) pygPooling() map[string]module {
	x, batch := s.input("x"), graph.Batch(graph.Complete(3), graph.Complete(2))
	set := initialised(&pool.Set2Set{In: 4, Steps: 3, Layers: 2})
	attend := initialised(&pool.Attention{Gate: layers.MLP{Widths: []int{4, 5, 1}}, Net: layers.MLP{Widths: []int{4, 3}}})
	mlp := initialised(&pool.Attention{Gate: layers.MLP{Widths: []int{4, 5, 1}, BatchNorm: true}, Net: layers.MLP{Widths: []int{4, 3}}})
	top, sag := initialised(&pool.TopK{In: 4, Ratio: 0.6}), initialised(&pool.SAG{In: 4, Ratio: 0.6})
	return map[string]module{
		"set2set":     {set, func() *grad.Var { return set.Forward(s.tape, batch, x) }},
		"attpool":     {attend, func() *grad.Var { return attend.Forward(s.tape, batch, x) }},
		"attpool_mlp": {mlp, func() *grad.Var { return mlp.Forward(s.tape, batch, x) }},
		"topk":        {top, func() *grad.Var { return top.Forward(s.tape, s.graph(), x).Y }},
		"sag":         {sag, func() *grad.Var { return sag.Forward(s.tape, s.looped(), x).Y }},
	}
}

// pygLinks are what learns from links: encoders, tables, and scorers of facts with their
// entities. PyG's TransE divides the rows of entities by the sums of their moduli.
func (s *stage) pygLinks() map[string]module {
	g, looped, x := s.graph(), s.looped(), s.input("x")
	vgae, dgi := initialised(&layers.VGAE{In: 4, Hidden: 5, Out: 3}), initialised(&layers.DGI{Width: 4})
	encoder := initialised(&layers.GCNConv{In: 4, Out: 4})
	walk := initialised(&layers.SkipGram{Nodes: 5, Width: 4})
	walk.C = walk.Z
	scorer := func(l knowledge.Scorer, width int, as func(x *grad.Var) *grad.Var) module {
		all := convert.Knowledge{Scorer: initialised(l), Entities: grad.NewParam(5, width)}
		return module{all, func() *grad.Var { return l.Forward(s.tape, g, as(s.tape.Use(all.Entities))) }}
	}
	asIs := func(x *grad.Var) *grad.Var { return x }
	ones := tensor.New(4, 1)
	ones.Fill(1)
	return map[string]module{
		"vgae": {vgae, func() *grad.Var {
			h := vgae.First.Forward(s.tape, looped, x)
			return grad.Concat(vgae.Mu.Forward(s.tape, looped, h), vgae.LogStd.Forward(s.tape, looped, h))
		}},
		"dgi": {convert.Modules{"": dgi, "encoder": encoder}, func() *grad.Var {
			encode := func(x *grad.Var) *grad.Var { return encoder.Forward(s.tape, looped, x) }
			return dgi.Loss(s.tape, encode(x), encode(s.flipped())).Scale(2) // the sum there, the mean here
		}},
		"node2vec": {walk, func() *grad.Var { return s.tape.Use(walk.Z) }},
		"transe":   scorer(&knowledge.TransE{Relations: 3, Width: 4}, 4, func(x *grad.Var) *grad.Var { return x.Div(x.Abs().MatMul(grad.Const(ones))) }),
		"distmult": scorer(&knowledge.DistMult{Relations: 3, Width: 4}, 4, asIs),
		"complex":  scorer(&knowledge.ComplEx{Relations: 3, Width: 4}, 4, asIs),
		"rotate":   scorer(&knowledge.RotatE{Relations: 3, Width: 4, Margin: 1, Euclidean: true}, 4, asIs),
	}
}

// What computes something else in PyG is refused, and says what to set.
func TestOtherFormulaOfPyG(t *testing.T) {
	for want, l := range map[string]any{
		"PyG's has no sum of lengths: set Euclidean":                    initialised(&knowledge.RotatE{Relations: 1, Width: 2}),
		"PyG's has no Squared":                                          initialised(&knowledge.TransE{Relations: 1, Width: 2, Squared: true}),
		"PyG's has no table of contexts: let C be Z, one Param":         initialised(&layers.SkipGram{Nodes: 2, Width: 2}),
		"it has no Params; was its Init called?":                        convert.Knowledge{Scorer: &knowledge.DistMult{}, Entities: grad.NewParam(2, 2)},
		"PyG has no layer like a convert.Knowledge that is known":       convert.Knowledge{Entities: grad.NewParam(2, 2)},
		`"a", a *pool.SAG: it has no Params; was its Init called?`:      &pool.SAG{In: 2},
		`"a", a *pool.Set2Set: it has no Params; was its Init called?`:  &pool.Set2Set{In: 2},
		`"a", a *layers.VGAE: it has no Params; was its Init called?`:   &layers.VGAE{In: 2},
		`"a", a *pool.Attention: it has no Params; was its Init called`: &pool.Attention{},
	} {
		if _, err := (convert.Modules{"a": l}).State(convert.PyG); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %s", err, want)
		}
	}
}
