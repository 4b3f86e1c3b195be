package layers_test

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// spread is the layers that propagate by a normalised adjacency and learn more than SGConv.
func spread() []variant {
	type cheb = layers.ChebConv
	type tag = layers.TAGConv
	type arma = layers.ARMAConv
	type gcn2 = layers.GCN2Conv
	return []variant{
		{name: "Cheb", runs: "UpdateAll.SumWeighted", layer: &cheb{In: 3, Out: 2}, in: 3, weight: true},
		{name: "Cheb one term", runs: "MatMul", layer: &cheb{In: 3, Out: 2, K: 1, Activation: grad.Tanh}, in: 3},
		{name: "Cheb one hop", runs: "UpdateAll.SumWeighted", layer: &cheb{In: 2, Out: 3, K: 2, LambdaMax: 1.5, Norm: layers.NormBoth}, in: 2},
		{name: "Cheb five terms", runs: "UpdateAll.SumWeighted", layer: &cheb{In: 2, Out: 3, K: 5, LambdaMax: 1.7, Norm: layers.NormIn, NoBias: true}, in: 2},
		{name: "TAG", runs: "UpdateAll.SumWeighted", layer: &tag{In: 3, Out: 2}, in: 3, weight: true},
		{name: "TAG one hop", runs: "UpdateAll.SumU", layer: &tag{In: 2, Out: 3, K: 1, Norm: layers.NormRight, NoBias: true, Activation: grad.Tanh}, in: 2},
		{name: "ARMA", runs: "UpdateAll.SumWeighted", layer: &arma{In: 3, Out: 2, Norm: layers.NormBoth, Activation: grad.Tanh}, in: 3, inDst: 3, weight: true},
		{name: "ARMA shared", runs: "UpdateAll.SumWeighted", layer: &arma{In: 3, Out: 2, Stacks: 2, Steps: 3, Shared: true, Activation: grad.Tanh}, in: 3, weight: true},
		{name: "ARMA dropout", runs: "UpdateAll.SumWeighted", layer: &arma{In: 2, Out: 3, Stacks: 2, Steps: 2, NoBias: true, Drop: 0.5}, in: 2, drops: true},
		{name: "ARMA without activation", runs: "UpdateAll.SumWeighted", layer: &arma{In: 3, Out: 2, NoActivation: true}, in: 3, weight: true},
		{name: "GCN2", runs: "UpdateAll.SumWeighted", layer: &gcn2{Width: 3, Layer: 3}, in: 3, weight: true, dense: true},
		{name: "GCN2 two weights", runs: "UpdateAll.SumWeighted", layer: &gcn2{Width: 3, Alpha: 0.3, Lambda: 1.5, TwoWeights: true, NoBias: true, Activation: grad.Tanh}, in: 3, dense: true},
		{name: "GCN2 two sides", runs: "UpdateAll.SumWeighted", layer: &gcn2{Width: 3, Norm: layers.NormBoth}, in: 3, inDst: 3, dense: true},
		{name: "LightGCN", runs: "UpdateAll.SumWeighted", layer: &layers.LightGCN{}, in: 3, weight: true, dense: true},
		{name: "LightGCN one hop", runs: "UpdateAll.SumWeighted", layer: &layers.LightGCN{K: 1, Norm: layers.NormBoth}, in: 3, inDst: 3, dense: true},
		{name: "H2GCN", runs: "UpdateAll.SumWeighted", layer: &layers.H2GCNConv{}, in: 3, dense: true, whole: true},
		{name: "H2GCN directed", runs: "UpdateAll.SumWeighted", layer: &layers.H2GCNConv{Directed: true}, in: 3, dense: true, whole: true},
		{name: "AGNN", layer: &layers.AGNNConv{Activation: grad.Tanh}, in: 3, weight: true, dense: true},
		{name: "AGNN two sides", layer: &layers.AGNNConv{}, in: 3, inDst: 3, dense: true},
	}
}

// edged is the layers whose messages are made of more than a product.
func edged() []variant {
	net := func(widths ...int) layers.MLP { return layers.MLP{Widths: widths, Activation: grad.Tanh} }
	type gine = layers.GINEConv
	type super = layers.SuperGATConv
	type points = layers.EdgeConv
	type nn = layers.NNConv
	type gated = layers.ResGatedConv
	type monet = layers.MoNetConv
	return []variant{
		{name: "GINE", layer: &gine{Net: net(3, 4, 2), Eps: 0.5, Activation: grad.Tanh}, in: 3, edge: 3, weight: true, dense: true},
		{name: "GINE projected", layer: &gine{Net: net(3, 2), EdgeIn: 2, TrainEps: true}, in: 3, inDst: 3, edge: 2, dense: true},
		{name: "SuperGAT", layer: &super{In: 3, Out: 2, Heads: 2, Activation: grad.Tanh}, in: 3, weight: true},
		{name: "SuperGAT scaled dot", layer: &super{In: 3, Out: 2, Heads: 3, ScaledDot: true, Average: true, NoBias: true, Slope: 0.1}, in: 3, inDst: 3},
		{name: "SuperGAT dropout", layer: &super{In: 3, Out: 2, FeatDrop: 0.3, AttnDrop: 0.4}, in: 3, drops: true},
		{name: "EdgeConv", layer: &points{Net: net(6, 4, 2)}, in: 3, weight: true},
		{name: "EdgeConv mean", layer: &points{Net: net(6, 2), Aggregate: layers.AggregateMean, Activation: grad.Tanh}, in: 3, inDst: 3},
		{name: "EdgeConv three layers", layer: &points{Net: net(4, 3, 4, 2), Aggregate: layers.AggregateSum}, in: 2},
		{name: "EdgeConv dropout", layer: &points{Net: layers.MLP{Widths: []int{4, 8, 2}, Drop: 0.5}}, in: 2, drops: true},
		{name: "NN", layer: &nn{In: 3, Out: 2, EdgeIn: 2, Hidden: []int{4, 3}, Activation: grad.Tanh}, in: 3, edge: 2, weight: true, dense: true},
		{name: "NN mean", layer: &nn{In: 3, InDst: 4, Out: 2, EdgeIn: 2, Aggregate: layers.AggregateMean, Residual: layers.ResidualLinear}, in: 3, inDst: 4, edge: 2, weight: true, dense: true},
		{name: "NN max", layer: &nn{In: 2, Out: 2, EdgeIn: 2, Aggregate: layers.AggregateMax, Residual: layers.ResidualIdentity, NoBias: true}, in: 2, edge: 2, weight: true, dense: true},
		{name: "NN max of each", layer: &nn{In: 3, Out: 2, EdgeIn: 2, Aggregate: layers.AggregateMax, MaxEach: true}, in: 3, edge: 2, weight: true, dense: true},
		{name: "ResGated", layer: &gated{In: 3, Out: 2, Activation: grad.Tanh}, in: 3, weight: true},
		{name: "ResGated edges", layer: &gated{In: 3, InDst: 4, Out: 2, EdgeIn: 2, NoBias: true}, in: 3, inDst: 4, edge: 2},
		{name: "ResGated without root", layer: &gated{In: 3, Out: 2, EdgeIn: 1, NoRoot: true}, in: 3, edge: 1},
		{name: "MoNet", layer: &monet{In: 3, Out: 2, EdgeIn: 2, Kernels: 3, Activation: grad.Tanh}, in: 3, edge: 2, weight: true},
		{name: "MoNet mean", layer: &monet{In: 3, Out: 2, EdgeIn: 1, Aggregate: layers.AggregateMean, Residual: layers.ResidualLinear, NoBias: true}, in: 3, edge: 1},
		{name: "MoNet two sides", layer: &monet{In: 3, InDst: 4, Out: 2, EdgeIn: 2, Kernels: 2, Residual: layers.ResidualLinear}, in: 3, inDst: 4, edge: 2, weight: true},
	}
}

// principal is PNAConv.
func principal() []variant {
	type pna = layers.PNAConv
	all := []layers.Aggregator{"mean", "max", "min", "std", "sum", "var"}
	return []variant{
		{name: "PNA", layer: &pna{In: 3, Out: 2, Delta: 1.2, Activation: grad.Tanh}, in: 3, weight: true, dense: true},
		{name: "PNA towers", layer: &pna{In: 4, Out: 4, Towers: 2, Divide: true, EdgeIn: 3, Aggregators: all, Slope: 0.01, Residual: true,
			Scalers: []layers.Scaler{"linear", "inverse_linear"}, MeanDegree: 1.5}, in: 4, edge: 3, dense: true},
		{name: "PNA two sides", layer: &pna{In: 2, Out: 2, Towers: 2, EdgeIn: 3, EncodeEdges: true, PostLayers: 2,
			Aggregators: []layers.Aggregator{"var", "sum"}, Delta: 1.2}, in: 2, inDst: 2, edge: 3, dense: true},
		{name: "PNA two layers", layer: &pna{In: 2, Out: 2, PreLayers: 2, Aggregators: []layers.Aggregator{"mean"}, Delta: 0.8}, in: 2, dense: true},
	}
}

// transformed is GPSConv.
func transformed() []variant {
	type gps = layers.GPSConv
	return []variant{
		{name: "GPS", runs: "UpdateAll.Dense", layer: &gps{Width: 4, Heads: 2, LayerNorm: true}, in: 4, weight: true, dense: true, whole: true},
		{name: "GPS edges", runs: "UpdateAll.Dense", layer: &gps{Width: 3, EdgeIn: 2, Hidden: 5, LayerNorm: true}, in: 3, edge: 2, dense: true, whole: true},
		{name: "GPS dropout", runs: "UpdateAll.Dense", layer: &gps{Width: 2, LayerNorm: true, Drop: 0.3, AttnDrop: 0.4}, in: 2, drops: true, dense: true, whole: true},
	}
}

// kinded is the layers whose edges have kinds.
func kinded() []variant {
	type rgcn = layers.RGCNConv
	type gated = layers.GatedGraphConv
	return []variant{
		{name: "RGCN", layer: &rgcn{In: 3, Out: 2, Relations: 3, Activation: grad.Tanh}, in: 3, kinds: 3, weight: true},
		{name: "RGCN bases", layer: &rgcn{In: 3, InDst: 4, Out: 2, Relations: 3, Bases: 2, Aggregate: layers.AggregateSum, LayerNorm: true}, in: 3, inDst: 4, kinds: 3, runs: "message.UpdateKinds"},
		{name: "RGCN blocks", layer: &rgcn{In: 4, Out: 6, Relations: 2, Blocks: 2, NoRoot: true, NoBias: true}, in: 4, kinds: 2, dense: true},
		{name: "GatedGraph", runs: "UpdateAll.SumWeighted", layer: &gated{In: 3, Out: 3, Steps: 2}, in: 3, weight: true, dense: true},
		{name: "GatedGraph kinds", layer: &gated{In: 2, Out: 3, Steps: 2, Kinds: 3, PerStep: true, NoBias: true}, in: 2, kinds: 3, dense: true},
		{name: "GatedGraph two sides", layer: &gated{In: 2, Out: 3, Kinds: 2}, in: 2, inDst: 2, kinds: 2, dense: true},
	}
}
