// Package layers holds graph convolutions, one in each file.
//
// A layer is a struct whose exported fields say what it is; their zero values
// give the formula of the paper without regularisation. Init makes its Params,
// Forward applies it:
//
//	conv := &layers.GATConv{In: 1433, Out: 8, Heads: 8, Activation: grad.ELU}
//	conv.Init(rand.New(rand.NewPCG(1, 2)))
//	y := conv.Forward(t, g, x)
//
// Apply takes more than one array of features, as [In] holds them, and returns
// more than one result, as [Out] does: features or weights of edges, different
// nodes on either side of a bipartite graph, and the attention.
//
// Attention is [GATConv], [GATv2Conv], [DotGATConv], [TransformerConv], [AGNNConv] and
// [SuperGATConv], and among all nodes of a graph [GPSConv]; sums under a fixed normalisation are [GCNConv], [SGConv], [APPNP],
// [TAGConv], [ChebConv], [ARMAConv], [GCN2Conv], [LightGCN] and [H2GCNConv]; [SAGEConv], [GINConv],
// [GINEConv], [PNAConv], [EdgeConv], [NNConv], [ResGatedConv] and [MoNetConv] aggregate;
// [RGCNConv] and [GatedGraphConv] know kinds of edges. [Linear], [MLP], [LayerNorm],
// [BatchNorm] and [JumpingKnowledge] take rows and no graph: their Forward has none.
// [GraphNorm], [PairNorm], [DropEdge], [InnerProduct], [VGAE], [DGI] and
// [SkipGram] stand around a
// convolution. docs/models/layers.md is the catalogue, docs/library/writing-a-layer.md builds a layer
// from its formula.
//
// These rules hold for every layer:
//
//   - Weights are in×out: y = xW + b. The columns of a head stand together.
//   - Self-loops belong to the data: see [graph.WithSelfLoops]. No layer
//     adds one.
//   - On a block, or a view of some destinations, x has a row for each source
//     and the result a row for each destination.
//   - x may be sparse wherever it is only multiplied by weights.
//   - A layer is not changed by Forward: any number of goroutines, each with a
//     tape of its own, may use one model.
//
// Wrong shapes panic with a [*tensor.ShapeError].
package layers
