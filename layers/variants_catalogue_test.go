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
		{name: "GCN2", runs: "UpdateAll.SumWeighted", layer: &gcn2{Width: 3, Layer: 3}, in: 3, weight: true, dense: true},
		{name: "GCN2 two weights", runs: "UpdateAll.SumWeighted", layer: &gcn2{Width: 3, Alpha: 0.3, Lambda: 1.5, TwoWeights: true, NoBias: true, Activation: grad.Tanh}, in: 3, dense: true},
		{name: "GCN2 two sides", runs: "UpdateAll.SumWeighted", layer: &gcn2{Width: 3, Norm: layers.NormBoth}, in: 3, inDst: 3, dense: true},
		{name: "LightGCN", runs: "UpdateAll.SumWeighted", layer: &layers.LightGCN{}, in: 3, weight: true, dense: true},
		{name: "LightGCN one hop", runs: "UpdateAll.SumWeighted", layer: &layers.LightGCN{K: 1, Norm: layers.NormBoth}, in: 3, inDst: 3, dense: true},
		{name: "AGNN", layer: &layers.AGNNConv{Activation: grad.Tanh}, in: 3, weight: true, dense: true},
		{name: "AGNN two sides", layer: &layers.AGNNConv{}, in: 3, inDst: 3, dense: true},
	}
}

// edged is the layers whose messages are made of more than a product.
func edged() []variant {
	net := func(widths ...int) layers.MLP { return layers.MLP{Widths: widths, Activation: grad.Tanh} }
	type gine = layers.GINEConv
	return []variant{
		{name: "GINE", layer: &gine{Net: net(3, 4, 2), Eps: 0.5, Activation: grad.Tanh}, in: 3, edge: 3, weight: true, dense: true},
		{name: "GINE projected", layer: &gine{Net: net(3, 2), EdgeIn: 2, TrainEps: true}, in: 3, inDst: 3, edge: 2, dense: true},
	}
}
