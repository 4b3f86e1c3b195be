// Package sequence holds recurrent networks: layers that carry a state along
// the edges of an acyclic graph.
//
// A sentence is a chain, a batch of sentences of any lengths is a disjoint union
// of chains, and a parse is a tree:
//
//	g := graph.Chains(3, 5, 2) // ten nodes, a word each
//	lstm := &sequence.LSTM{In: 64, Hidden: 32}
//	lstm.Init(rng)
//	h := lstm.Forward(t, g, x) // 10×32
//
// Nothing is padded. A network that reads backwards is the same layer on
// graph.Reverse(g); one that reads both ways, or of several layers, is a [Stack] of
// cells. A long sequence is cut into segments: the state after one, kept, is the
// state before the next, and back-propagation ends there. A step at a time, as a
// generator goes, is a cell's Step: without a graph, and with the same bits. A [CRF] behind any of
// them tags a chain as a whole.
//
// The variants of the cells are fields: what an [LSTM] forgets, what its gates see, a
// [GRU]'s conventions, a leak, norms and dropout within the cells. A [TreeLSTM] and a
// [Recursive] network read trees, whose edges' kinds say which child is which. A
// [Conv1D] and a [TCN] read chains without a state. docs/models/sequences.md has a table of
// them all, and the way from a chain to an [EncoderDecoder].
//
// These rules hold for every layer:
//
//   - x has a row for each node, and so has the result, in the graph's order.
//   - Weights are in×out. The columns of a gate stand together.
//   - A node with several predecessors takes the sum of their states, unless
//     the layer says otherwise.
//   - A graph with a cycle panics with a [*graph.CycleError].
//     [graph.Graph.Levels] says so beforehand.
package sequence
