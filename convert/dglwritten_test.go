package convert_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/convert"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/layers/pool"
	"github.com/edgewise-ml/edgewise/layers/relational"
	"github.com/edgewise-ml/edgewise/message"
)

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
