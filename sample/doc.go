// Package sample cuts mini-batches from a large graph: batches of nodes, of edges or of whole
// graphs, with the neighbours that each layer looks at.
//
// Its nouns: a [Sampler] draws neighbours, a [Loader] cuts what trains into batches and makes
// the next ones on other goroutines while a step runs, and a [Batch] is what one step reads: a
// block for each layer, and the features of the nodes that the first one reads.
//
//	l := &sample.Loader{
//		Sampler: sample.Sampler{Graph: g, Fanout: []int{15, 10}, Seed: 1},
//		Nodes:   split.Train, Size: 1024, Features: x,
//	}
//	for b, err := range l.Batches(ctx) {
//		if err != nil {
//			return err
//		}
//		h := first.Forward(t, b.Blocks[0], grad.Const(b.X))
//		y := second.Forward(t, b.Blocks[1], h) // a row for each of b.Seeds
//	}
//
// A [train.Fit] takes its batches as Next: l.Into(&b).
//
// What trains is Nodes; or Edges, whose ends are the seeds, of which From and To say the
// rows, with Negatives beside them; or Graphs. Hetero is a graph of several types of nodes. How
// neighbours are drawn:
//
//	Fanout             so many of each node's in-edges, each as likely as any other; [All] is all
//	Kinds              so many of each kind of edge, a relation
//	Replace            with replacement
//	Odds               in proportion to a number for each edge
//	Times and Before   only edges before the time of a seed
//
// # Caveats
//
//   - What is drawn for a node follows from the seed, the epoch, the layer and the
//     node (and the time at which it is read) alone: not from the batch it is in, nor from
//     threads. Step n of a resumed run reads what step n of the whole run would have.
//   - A node's self-loop is always kept and does not count towards a fan-out, unless it is
//     of a kind that is not read, or later.
//   - Drawn neighbours represent all neighbours. A mean or an attention over uniform draws needs
//     nothing else: SAGEConv's mean, GATConv and its kin, TransformerConv, RGCNConv where relations
//     have fan-outs of their own. A sum needs [Batch.Weights], by which each drawn edge counts for as
//     many as it stands for, the inverse of the probability that it is drawn: of GCNConv and
//     ARMAConv with [Loader.Weights], of GINConv, GINEConv, ResGatedConv, NNConv and a sum of SAGEConv or
//     RGCNConv with [Loader.Sums]. With Odds the mean of a layer is one by odds; with Sums it can be a
//     sum that is divided by the degree in the whole graph. A maximum over drawn neighbours is not that over all.
//   - A node without in-edges hears nothing: its row is that of a sum or mean over none.
//   - Statistics over rows, as those of BatchNorm, are the batch's.
//
// [train.Fit]: https://pkg.go.dev/github.com/edgewise-ml/edgewise/train#Fit
package sample
