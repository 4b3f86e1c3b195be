package convert_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/golden"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/message"
)

// conv is a layer of this library for a golden case of DGL.
type conv interface {
	initer
	Apply(t *grad.Tape, g *graph.Graph, in layers.In) layers.Out
}

// dglCase is a golden case: a layer's state dict, and what it computed there.
type dglCase struct{ *golden.Case }

func (c dglCase) number(name string) float64 { v, _ := c.Config[name].(float64); return v }
func (c dglCase) int(name string) int        { v, _ := c.Config[name].(float64); return int(v) }
func (c dglCase) is(name string) bool        { v, _ := c.Config[name].(bool); return v }
func (c dglCase) text(name string) string {
	v, _ := c.Config[name].(string)
	return v
}

// not reports whether an argument that is true unless it is given was given as false.
func (c dglCase) not(name string) bool { v, ok := c.Config[name].(bool); return ok && !v }

// sides reads a width, or one for each side.
func (c dglCase) sides() (in, inDst int) {
	if v, ok := c.Config["in_feats"].([]any); ok {
		return int(v[0].(float64)), int(v[1].(float64))
	}
	return c.int("in_feats"), 0
}

func (c dglCase) residual() layers.Residual {
	if c.is("residual") {
		return layers.ResidualIdentity
	}
	return layers.NoResidual
}

func (c dglCase) activation() grad.Activation { return grad.Activation(c.text("activation")) }

// widths are those of the network of a GIN, a single Linear there.
func (c dglCase) net() layers.MLP {
	w := c.Params["apply_func.weight"].Shape
	return layers.MLP{Widths: []int{w[1], w[0]}}
}

// dglLayers are the layers of the cases whose files begin so.
var dglLayers = map[string]func(c dglCase) conv{
	"gatconv_": func(c dglCase) conv {
		in, inDst := c.sides()
		return &layers.GATConv{In: in, InDst: inDst, Out: c.int("out_feats"), Heads: c.int("num_heads"), Slope: c.number("negative_slope"),
			NoBias: c.not("bias"), Activation: c.activation(), Residual: c.residual()}
	},
	"gatv2conv": func(c dglCase) conv {
		in, inDst := c.sides()
		return &layers.GATv2Conv{In: in, InDst: inDst, Out: c.int("out_feats"), Heads: c.int("num_heads"), Shared: c.is("share_weights"),
			NoProjBias: c.not("bias"), NoBias: !c.Has("params", "res_fc.bias"), Activation: c.activation(), Residual: c.residual()}
	},
	"dotgatconv": func(c dglCase) conv {
		in, inDst := c.sides()
		return &layers.DotGATConv{In: in, InDst: inDst, Out: c.int("out_feats"), Heads: c.int("num_heads")}
	},
	"graphconv_": func(c dglCase) conv {
		return &layers.GCNConv{In: c.int("in_feats"), Out: c.int("out_feats"), NoBias: c.not("bias"), Norm: layers.Norm(c.text("norm")), Activation: c.activation()}
	},
	"sageconv_": func(c dglCase) conv {
		in, inDst := c.sides()
		l := &layers.SAGEConv{In: in, InDst: inDst, Out: c.int("out_feats"), NoBias: c.not("bias"), Aggregate: layers.Aggregator(c.text("aggregator_type"))}
		if l.Aggregate == "pool" {
			l.Aggregate, l.Project = layers.AggregateMax, true
		}
		return l
	},
	"ginconv_": func(c dglCase) conv {
		return &layers.GINConv{Net: c.net(), Aggregate: layers.Aggregator(c.text("aggregator_type")), TrainEps: c.is("learn_eps")}
	},
	"gineconv": func(c dglCase) conv { return &layers.GINEConv{Net: c.net(), TrainEps: c.is("learn_eps")} },
	"sgconv_k2.": func(c dglCase) conv {
		return &layers.SGConv{In: c.int("in_feats"), Out: c.int("out_feats"), K: 2, Norm: layers.NormIn}
	},
	"chebconv_": func(c dglCase) conv {
		return &layers.ChebConv{In: c.int("in_feats"), Out: c.int("out_feats"), K: c.int("k"), LambdaMax: c.number("lambda_max"), Norm: layers.NormIn}
	},
	"tagconv_k2.": func(c dglCase) conv {
		return &layers.TAGConv{In: c.int("in_feats"), Out: c.int("out_feats"), K: c.int("k"), Norm: layers.NormIn}
	},
	"gcn2conv": func(c dglCase) conv {
		return &layers.GCN2Conv{Width: c.Params["weight1"].Shape[0], Layer: c.int("layer"), Alpha: c.number("alpha"), Lambda: c.number("lambda_"),
			TwoWeights: c.Has("params", "weight2"), Norm: layers.NormIn}
	},
	"agnnconv": func(dglCase) conv { return &layers.AGNNConv{} },
	"edgeconv": func(c dglCase) conv {
		return &layers.EdgeConv{Net: layers.MLP{Widths: []int{2 * c.int("in_feat"), c.int("out_feat")}}, BatchNorm: c.is("batch_norm")}
	},
	"nnconv_": func(c dglCase) conv {
		return &layers.NNConv{In: c.int("in_feats"), Out: c.int("out_feats"), EdgeIn: c.Params["edge_func.weight"].Shape[1], MaxEach: true,
			Aggregate: layers.Aggregator(c.text("aggregator_type")), Residual: c.residual()}
	},
	"relgraphconv": func(c dglCase) conv {
		l := &layers.RGCNConv{In: c.int("in_feat"), Out: c.int("out_feat"), Relations: c.int("num_rels"), Aggregate: layers.AggregateSum,
			LayerNorm: c.is("layer_norm"), NoRoot: c.not("self_loop"), Activation: c.activation()}
		switch c.text("regularizer") {
		case "basis":
			l.Bases = c.int("num_bases")
		case "bdd":
			l.Blocks = c.int("num_bases")
		}
		return l
	},
	"gatedgraphconv": func(c dglCase) conv {
		return &layers.GatedGraphConv{In: c.int("in_feats"), Out: c.int("out_feats"), Steps: c.int("n_steps"), Kinds: c.int("n_etypes")}
	},
	"pnaconv_": func(c dglCase) conv {
		l := &layers.PNAConv{In: c.int("in_size"), Out: c.int("out_size"), Towers: c.int("num_towers"), Divide: true, EdgeIn: c.int("edge_feat_size"),
			Delta: c.number("delta"), BatchNorm: true, Slope: 0.01}
		for _, a := range c.Config["aggregators"].([]any) {
			l.Aggregators = append(l.Aggregators, layers.Aggregator(a.(string)))
		}
		for _, a := range c.Config["scalers"].([]any) {
			l.Scalers = append(l.Scalers, layers.Scaler(a.(string)))
		}
		l.Residual = l.In == l.Out
		return l
	},
}

// The state dict of each golden case of DGL is read, computes here what it computed there, and
// is written back: the same names, the same shapes, the same numbers but where two biases
// there are one here.
func TestDGL(t *testing.T) {
	seen := 0
	for start, make := range dglLayers {
		files, err := filepath.Glob("../layers/testdata/dgl/" + strings.TrimSuffix(start, ".") + "*.json")
		if err != nil || len(files) == 0 {
			t.Fatalf("no files begin with %s (%v)", start, err)
		}
		for _, file := range files {
			if base := filepath.Base(file); strings.Contains(base, "block") || !strings.HasPrefix(base, start) {
				continue // a block is a graph, and no other layer
			}
			seen++
			t.Run(filepath.Base(file), func(t *testing.T) {
				c := dglCase{golden.Load(t, file)}
				runDGL(t, c, initialised(make(c)))
			})
		}
	}
	if seen < 50 {
		t.Errorf("%d cases", seen)
	}
}

func runDGL(t *testing.T, c dglCase, l conv) {
	state := convert.State{}
	for name, a := range c.Params {
		d := a.Dense()
		state["conv."+name] = convert.Array{Shape: a.Shape, Data: d.Data}
	}
	m := convert.Modules{"conv": l}
	if err := m.Load(convert.DGL, state); err != nil {
		t.Fatal(err)
	}
	g, in := c.stage(t)
	want := c.Tensor(t, "outputs", "y")
	check := func(when string) {
		if strings.HasSuffix(c.Name, "_train") { // of its batch norm; the names alone are compared
			return
		}
		compare.Near(t, when+": the result", l.Apply(grad.NewEval(), g, in).Y.Value().Data, want.Data, compare.Off(1e-5, 0))
	}
	check("loaded")
	back, err := m.State(convert.DGL)
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range state {
		b, ok := back[name]
		summed := strings.HasSuffix(name, "lstm.bias_ih_l0") || strings.HasSuffix(name, "lstm.bias_hh_l0") || strings.HasSuffix(name, ".phi.bias") || strings.HasSuffix(name, ".theta.bias")
		if !ok || !slices.Equal(a.Shape, b.Shape) && len(a.Data) != 1 || !summed && !slices.Equal(a.Data, b.Data) {
			t.Errorf("%s of shape %v comes back as %v, or with other numbers", name, a.Shape, b.Shape)
		}
	}
	if len(back) != len(state) {
		t.Errorf("%d arrays come back, of %d:\n%v", len(back), len(state), back)
	}
	if err := m.Load(convert.DGL, back); err != nil {
		t.Error(err)
	}
	check("brought back")
}

// stage returns the graph and the inputs of a case.
func (c dglCase) stage(t *testing.T) (*graph.Graph, layers.In) {
	var in layers.In
	e := c.Graph
	g := graph.Must(graph.New(e.NumSrc, e.Src, e.Dst))
	if e.NumSrc != e.NumDst {
		g = graph.Must(graph.NewBipartite(e.NumSrc, e.NumDst, e.Src, e.Dst))
	}
	for name, a := range c.Inputs {
		if a.Dtype == "int64" {
			g = graph.Must(graph.WithKinds(g, c.Ints(t, "inputs", name)))
			continue
		}
		x := grad.Const(a.Dense())
		switch name {
		case "x", "x_src":
			in.Src = x
		case "x_dst", "x_0":
			in.Dst = x
		case "edge_attr":
			in.Edge = message.OnEdges(g, x)
		default:
			in.Weight = message.OnEdges(g, x)
		}
	}
	return g, in
}

// A layer that DGL has not, or not so, is refused, and so is what no module takes.
func TestNotConvertible(t *testing.T) {
	self := []hetero.Rel{{Src: "a", Name: "self", Dst: "a"}}
	for want, m := range map[string]convert.Modules{
		`DGL's has no features of edges`:                                 {"a": initialised(&layers.GATConv{In: 2, Out: 1, EdgeIn: 1})},
		`DGL has no layer like a *layers.ResGatedConv`:                   {"a": initialised(&layers.ResGatedConv{In: 2, Out: 1})},
		`"a", a *layers.GATConv: it has no Params; was its Init called?`: {"a": &layers.GATConv{In: 2, Out: 1}},
		`DGL has no layer like a layers.GATConv`:                         {"a": layers.GATConv{}},
		`what stands under "a" is nil`:                                   {"a": (*layers.GATConv)(nil)},
		`two modules have an array "a.weight"`:                           {"a": initialised(&layers.Linear{In: 2, Out: 1}), "": convert.Modules{"a.weight": grad.NewParam(1)}},
		`DGL has no layer like a *pool.TopK`:                             {"a": initialised(&pool.TopK{In: 2})},
		`DGL's has no biases and no GELU: set NoBias and NoActivation`:   {"a": initialised(&relational.HGTConv{In: map[string]int{"a": 2}, Out: 2, Rels: self})},
		`DGL's has no type without the residual: let In be Out`:          {"a": initialised(&relational.HGTConv{In: map[string]int{"a": 3}, Out: 2, Rels: self, NoBias: true, NoActivation: true})},
		`the Param under "" is nil, or has no name`:                      {"": grad.NewParam(1)},
	} {
		if _, err := m.State(convert.DGL); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %s", err, want)
		}
	}
	if _, err := (convert.Modules{}).State("TensorFlow"); err == nil || !strings.Contains(err.Error(), `no framework is called "TensorFlow"`) {
		t.Errorf("%v", err)
	}
}

// Each layer of DGL computes here what it computes there, and its weights go back.
// check_written.py has loaded the file in DGL 2.1.0: all keys matched, and what the modules
// computed was what they had before to 1.2e-07, that of an EdgeConv, whose two biases are one
// here; all but the two EdgeConvs to the bit.
func TestWrittenDGL(t *testing.T) {
	s := newStage(t, convert.DGL, "dgl.pt")
	all := s.dglAttention()
	for _, more := range []map[string]module{s.dglConvs(), s.dglNets(), s.dglEdges(), s.dglRest(), s.dglMore()} {
		for name, m := range more {
			all[name] = m
		}
	}
	s.written(s.check(all), "written_dgl.safetensors")
}

func (s *stage) dglAttention() map[string]module {
	g, none, pair := s.graph(), layers.In{}, layers.In{Dst: s.input("dst")}
	return map[string]module{
		"gat":          s.conv(&layers.GATConv{In: 4, Out: 3, Heads: 2}, g, none),
		"gat_linear":   s.conv(&layers.GATConv{In: 4, Out: 3, Heads: 2, Residual: layers.ResidualIdentity, Activation: grad.ELU}, g, none),
		"gat_identity": s.conv(&layers.GATConv{In: 4, Out: 2, Heads: 2, Residual: layers.ResidualIdentity, NoBias: true}, g, none),
		"gat_pair":     s.conv(&layers.GATConv{In: 4, InDst: 3, Out: 3, Heads: 2}, g, pair),
		"gatv2":        s.conv(&layers.GATv2Conv{In: 4, Out: 3, Heads: 2, NoBias: true}, g, none),
		"gatv2_shared": s.conv(&layers.GATv2Conv{In: 4, Out: 3, Heads: 2, Shared: true, Residual: layers.ResidualIdentity}, g, none),
		"gatv2_bare":   s.conv(&layers.GATv2Conv{In: 4, Out: 3, Heads: 2, NoBias: true, NoProjBias: true}, g, none),
		"gatv2_pair":   s.conv(&layers.GATv2Conv{In: 4, InDst: 3, Out: 3, Heads: 2, NoBias: true}, g, pair),
		"dotgat":       s.conv(&layers.DotGATConv{In: 4, Out: 3, Heads: 2}, g, none),
		"dotgat_pair":  s.conv(&layers.DotGATConv{In: 4, InDst: 3, Out: 3, Heads: 2}, g, pair),
		"agnn":         s.conv(&layers.AGNNConv{}, g, none),
	}
}

func (s *stage) dglConvs() map[string]module {
	g, none, first := s.graph(), layers.In{}, layers.In{Dst: s.flipped()}
	appnp := &layers.APPNP{K: 4, Alpha: 0.2, Norm: layers.NormIn}
	return map[string]module{
		"graphconv":       s.conv(&layers.GCNConv{In: 4, Out: 3, Norm: layers.NormBoth}, g, none),
		"graphconv_right": s.conv(&layers.GCNConv{In: 4, Out: 3, Norm: layers.NormRight, NoBias: true}, g, none),
		"sgc":             s.conv(&layers.SGConv{In: 4, Out: 3, K: 2, Norm: layers.NormIn}, g, none),
		"tag":             s.conv(&layers.TAGConv{In: 4, Out: 3, K: 2, Norm: layers.NormIn}, g, none),
		"cheb":            s.conv(&layers.ChebConv{In: 4, Out: 3, K: 3, Norm: layers.NormIn}, g, none),
		"gcn2":            s.conv(&layers.GCN2Conv{Width: 4, Layer: 2, Alpha: 0.1, Lambda: 0.5, Norm: layers.NormIn}, g, first),
		"gcn2_two":        s.conv(&layers.GCN2Conv{Width: 4, Layer: 2, Alpha: 0.1, Lambda: 0.5, TwoWeights: true, Norm: layers.NormIn}, g, first),
		"appnp":           {appnp, func() *grad.Var { return appnp.Forward(s.tape, g, s.input("x")) }},
		"sage":            s.conv(&layers.SAGEConv{In: 4, Out: 3}, g, none),
		"sage_pool":       s.conv(&layers.SAGEConv{In: 4, Out: 3, Aggregate: layers.AggregateMax, Project: true}, g, none),
		"sage_gcn":        s.conv(&layers.SAGEConv{In: 4, Out: 3, Aggregate: layers.AggregateGCN}, g, none),
		"sage_lstm":       s.conv(&layers.SAGEConv{In: 4, Out: 3, Aggregate: layers.AggregateLSTM}, g, none),
		"sage_pair":       s.conv(&layers.SAGEConv{In: 4, InDst: 3, Out: 3}, g, layers.In{Dst: s.input("dst")}),
	}
}

// dglNets are the layers around a network.
func (s *stage) dglNets() map[string]module {
	g, none, edge := s.graph(), layers.In{}, s.input("edge")
	both := layers.In{Edge: message.OnEdges(g, grad.Concat(edge, edge))} // as wide as x
	net := layers.MLP{Widths: []int{4, 6, 3}}
	return map[string]module{
		"gin":           s.conv(&layers.GINConv{Net: net}, g, none), // ε is 0.3 there, and is loaded
		"gin_eps":       s.conv(&layers.GINConv{Net: layers.MLP{Widths: []int{4, 3}}, Aggregate: layers.AggregateMax, TrainEps: true}, g, none),
		"gine":          s.conv(&layers.GINEConv{Net: net}, g, both),
		"edgeconv":      s.conv(&layers.EdgeConv{Net: layers.MLP{Widths: []int{8, 3}}}, g, none),
		"edgeconv_norm": s.conv(&layers.EdgeConv{Net: layers.MLP{Widths: []int{8, 3}}, BatchNorm: true}, g, none),
	}
}

func (s *stage) dglEdges() map[string]module {
	g, edge, none := s.graph(), s.edge(), layers.In{}
	pna := layers.PNAConv{In: 4, Out: 3, Aggregators: []layers.Aggregator{"mean", "max", "min", "std", "sum", "var"}, Divide: true, Delta: 1.2, BatchNorm: true, Slope: 0.01}
	towers := pna
	towers.Out, towers.Towers, towers.EdgeIn, towers.Residual = 4, 2, 2, true
	return map[string]module{
		"nnconv":      s.conv(&layers.NNConv{In: 4, Out: 3, EdgeIn: 2, Hidden: []int{5}, Residual: layers.ResidualIdentity}, g, edge),
		"nnconv_mean": s.conv(&layers.NNConv{In: 4, Out: 3, EdgeIn: 2, Aggregate: layers.AggregateMean}, g, edge),
		"gmm":         s.conv(&layers.MoNetConv{In: 4, Out: 3, EdgeIn: 2, Kernels: 3}, g, edge),
		"gmm_mean":    s.conv(&layers.MoNetConv{In: 4, Out: 3, EdgeIn: 2, Kernels: 3, Aggregate: layers.AggregateMean, Residual: layers.ResidualIdentity, NoBias: true}, g, edge),
		"rgcn":        s.conv(&layers.RGCNConv{In: 4, Out: 6, Relations: 3, Aggregate: layers.AggregateSum}, g, none),
		"rgcn_basis":  s.conv(&layers.RGCNConv{In: 4, Out: 6, Relations: 3, Bases: 2, Aggregate: layers.AggregateSum}, g, none),
		"rgcn_bdd":    s.conv(&layers.RGCNConv{In: 4, Out: 6, Relations: 3, Blocks: 2, Aggregate: layers.AggregateSum}, g, none),
		"rgcn_norm":   s.conv(&layers.RGCNConv{In: 4, Out: 6, Relations: 3, Bases: 2, Aggregate: layers.AggregateSum, NoRoot: true, LayerNorm: true}, g, none),
		"gated":       s.conv(&layers.GatedGraphConv{In: 4, Out: 5, Steps: 2, Kinds: 3}, g, none),
		"gated_one":   s.conv(&layers.GatedGraphConv{In: 4, Out: 4, Steps: 2}, g, none),
		"pna":         s.conv(&pna, g, none),
		"pna_towers":  s.conv(&towers, g, edge),
	}
}

// dglRest are jumping knowledge, layers of torch.nn and a whole model, whose last layer has a
// bias for each head: the mean of the heads is taken after it.
func (s *stage) dglRest() map[string]module {
	g, x := s.graph(), s.input("x")
	jump := initialised(&layers.JumpingKnowledge{Mode: layers.JumpLSTM, Width: 4, Hidden: 6})
	linear, batch := initialised(&layers.Linear{In: 4, Out: 3}), initialised(&layers.BatchNorm{Width: 4})
	first := initialised(&layers.GATConv{In: 4, Out: 3, Heads: 2, Activation: grad.ELU})
	last := initialised(&layers.GATConv{In: 6, Out: 3, Heads: 2, Residual: layers.ResidualIdentity})
	return map[string]module{
		"jumping":   {jump, func() *grad.Var { return jump.Forward(s.tape, x, s.flipped(), x.Scale(-1)) }},
		"linear":    {linear, func() *grad.Var { return linear.Forward(s.tape, x) }},
		"batchnorm": {batch, func() *grad.Var { return batch.Forward(s.tape, x) }},
		"model": {convert.Modules{"gat_layers": convert.Modules{"0": first, "1": last}}, func() *grad.Var {
			return last.Forward(s.tape, g, first.Forward(s.tape, g, x)).Reshape(5, 2, 3).MeanAxis(1)
		}},
	}
}

// dglMore are readouts, and what learns from links.
func (s *stage) dglMore() map[string]module {
	x, batch := s.input("x"), graph.Batch(graph.Complete(3), graph.Complete(2))
	attend := initialised(&pool.Attention{Gate: layers.MLP{Widths: []int{4, 1}}, Net: layers.MLP{Widths: []int{4, 6, 3}}})
	set := initialised(&pool.Set2Set{In: 4, Steps: 3, Layers: 2})
	hgt := initialised(&relational.HGTConv{In: map[string]int{"a": 4, "b": 4}, Out: 4, Heads: 2, Rels: rels, NoBias: true, NoActivation: true})
	trans := initialised(&knowledge.TransE{Relations: 3, Width: 4})
	walk := initialised(&layers.SkipGram{Nodes: 5, Width: 3})
	return map[string]module{
		"attpool":  {attend, func() *grad.Var { return attend.Forward(s.tape, batch, x) }},
		"set2set":  {set, func() *grad.Var { return set.Forward(s.tape, batch, x) }},
		"hgt":      {hgt, func() *grad.Var { return s.types(hgt.Forward, rels, s.flipped()) }},
		"transe":   {trans, func() *grad.Var { return trans.Forward(s.tape, s.graph(), x) }},
		"deepwalk": {walk, func() *grad.Var { return s.tape.Use(walk.Z).MatMulT(s.tape.Use(walk.C)) }},
	}
}
