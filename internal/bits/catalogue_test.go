package bits

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// catalogueOptions are the layers that are compositions of messages, one or two of each.
func catalogueOptions() []option {
	whole, edges := fed{in: 6, whole: true}, fed{in: 6, edge: 3, weight: true}
	return []option{
		{"cheb", whole, func() conv { return &layers.ChebConv{In: 6, Out: 5, K: 4, LambdaMax: 1.5} }},
		{"tag", fed{in: 60, sparse: true, whole: true}, func() conv { return &layers.TAGConv{In: 60, Out: 8} }},
		{"arma", whole, func() conv { return &layers.ARMAConv{In: 6, Out: 5, Stacks: 2, Steps: 3, Drop: 0.3} }},
		{"gcn2", whole, func() conv { return &layers.GCN2Conv{Width: 6, TwoWeights: true, Activation: grad.ReLU} }},
		{"lightgcn", whole, func() conv { return &layers.LightGCN{} }},
		{"h2gcn", whole, func() conv { return &layers.H2GCNConv{} }},
		{"gine", edges, func() conv {
			return &layers.GINEConv{Net: layers.MLP{Widths: []int{6, 8, 5}}, EdgeIn: 3, TrainEps: true}
		}},
		{"supergat", fed{in: 6, attention: true}, func() conv { return &layers.SuperGATConv{In: 6, Out: 4, Heads: 3, AttnDrop: 0.3} }},
		{"edgeconv", fed{in: 6}, func() conv { return &layers.EdgeConv{Net: layers.MLP{Widths: []int{12, 8, 5}}} }},
		{"nn", edges, func() conv { return &layers.NNConv{In: 6, Out: 5, EdgeIn: 3, Hidden: []int{4}} }},
		{"resgated", edges, func() conv { return &layers.ResGatedConv{In: 6, Out: 8, EdgeIn: 3} }},
		{"monet", edges, func() conv { return &layers.MoNetConv{In: 6, Out: 5, EdgeIn: 3, Kernels: 4} }},
		{"pna", edges, func() conv { return &layers.PNAConv{In: 6, Out: 8, Towers: 2, Divide: true, EdgeIn: 3, Delta: 1.5} }},
		{"gatedgraph", whole, func() conv { return &layers.GatedGraphConv{In: 6, Out: 8, Steps: 3} }},
	}
}
