// Package sample cuts mini-batches from a large graph: batches of nodes with the
// neighbours that each layer looks at.
//
// Its nouns: a [Sampler] draws neighbours, a [Loader] cuts the nodes that train
// into batches and prepares the next ones on other goroutines while a step runs,
// and a [Batch] is what one step reads: a block for each layer, and the features of
// the nodes that the first one reads.
//
//	l := &sample.Loader{
//		Sampler: sample.Sampler{Graph: g, Fanout: []int{15, 10}, Seed: 1},
//		Nodes:   split.Train, Size: 1024, Features: x,
//	}
//	fit.Steps = l.Steps()
//	fit.Loss = func(t *grad.Tape) *grad.Var {
//		b := l.At(t.Step())
//		h := first.Forward(t, b.Blocks[0], grad.Const(b.X))
//		return second.Forward(t, b.Blocks[1], h).CrossEntropy(b.Of(labels))
//	}
//
// Where edges are told apart, Edges train in place of Nodes: the seeds are their ends, of which From and
// To say the rows.
//
// # Caveats
//
//   - What is drawn for a node follows from the seed, the epoch, the layer and the
//     node alone: not from the batch it is in, nor from threads. Step n of a resumed
//     run reads what step n of the whole run would have.
//   - A node's self-loop is always kept and does not count towards Fanout.
//   - Drawn neighbours represent all neighbours. A mean or an attention over them needs nothing
//     else; a sum needs [Loader.Weights], which the loader enlarges by the number
//     of edges for which each stands.
//   - Statistics over rows, as those of BatchNorm, are the batch's.
package sample
