// Package message passes messages along the edges of a graph.
//
// A [Msg] says what every edge carries, as an expression over the rows at its
// source ([U]), at its destination ([V]), of its own ([E]) and shared by all
// ([W]). Building one computes nothing. Then
//
//	ApplyEdges(g, m)       evaluates it on every edge,
//	UpdateAll(g, m, Sum)   reduces it onto the destinations and never stores it,
//	Sweep(g, init, step)   does so level by level through an acyclic graph,
//	SweepOn(g, on, …)      with states of the edges of other graphs, too.
//
// [UpdateRelations] reduces several graphs into one, [UpdateKinds] edges of several
// kinds with a matrix each, [Readout] the nodes of a batch, and [Attention] is scaled
// dot-product attention in one call.
//
// Graph attention is three lines:
//
//	score := message.UAddV(el, er).LeakyReLU(0.2)
//	alpha := score.Softmax().Dropout(t, 0.6)
//	y := message.UpdateAll(g, message.U(ft).Mul(alpha), message.Sum)
//
// On a block or a view of a graph, which has fewer destinations than sources, V wants a row
// for each destination; [OnDst] takes these from the rows of the sources:
//
//	score := message.UAddV(el, message.OnDst(g, er))
//
// Everything is differentiable. An expression is evaluated over tiles of edges
// that stay in cache, on all threads, and in backward once more; the shapes that
// matter most have rules of their own, which run them in faster ways, and some steps that follow each other
// are joined, so that rows are read in place and not copied. [Explain] says how an
// expression will run. Memory grows with the nodes: of the edges, only tiles, and in backward a
// window of a fixed size, are ever held; additive scores on blocks keep a number an edge.
//
// These rules hold for every expression and reducer:
//
//   - A node without messages gets zero, and a bias where there is one. An infinite
//     message gives an infinite result; Std gives NaN.
//   - Parallel edges are distinct: each sends and each counts. Max and Min give
//     a tie to the lowest edge.
//   - Self-loops belong to the data: see [graph.WithSelfLoops].
//   - A softmax over logits of −∞ alone is zero; over several of +∞ it is
//     shared evenly among them; a NaN makes the destination's column NaN. So is
//     a Sparsemax.
//   - A sum runs in the order of the edges; the gradient of W, and of V at a
//     destination with very many edges, is summed in parts that follow from the
//     graph and the message alone. No bit of a result depends on the threads, or
//     on the size of a tile.
//   - In an evaluation the result of a destination follows from its own edges and what they
//     read, to the bit: on a block or a view it is that of the whole graph.
//   - Dropout is a function of seed, step, place in the program, edge and
//     column: backward sees the mask that forward saw.
//
// The step of a recurrent cell is a function of rows, which any sweep can call, also one
// that makes the cell's input in its own step, as a decoder with attention does, or one
// inside the step of another. It gives the same bits everywhere if the product with the
// state is added to rows that are given up:
//
//	z := h.MatMul(u).Add(l.Take(xw))          // xw of all nodes, made before the sweep
//	z := h.MatMul(u).Add(xw.TakeRows(0, n))   // xw of the level's n nodes, made in the step
//
// For then the product is added up from xw on. One step outside of any sweep, as in
// generation, is a Sweep over graph.Chains(1, 1, …), a chain for each row.
package message
