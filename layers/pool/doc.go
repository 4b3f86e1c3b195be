// Package pool reads graphs out, each into one row, or makes them smaller.
//
//	read := &pool.Set2Set{In: 64, Steps: 3}
//	read.Init(rng)
//	y := read.Forward(t, g, x) // a row for each member of the batch g
//
// The sum, mean, greatest or least of the nodes is [message.Readout]; what has Params, or an
// order, is here: [Attention], [Set2Set], [Sort]. [TopK] and [SAG] keep the nodes of a graph
// that score best, [Diff] makes a few nodes of all, [Graclus] one of each two that are joined
// closely.
//
// These rules hold for every layer:
//
//   - g is homogeneous, and x has a row for each of its nodes. Graphs are the members of g
//     ([graph.Graph.NodeOffsets]); a graph that is no batch is one.
//   - A graph without nodes gives zero, as does what is left over.
//   - Of equal scores the node of the lower number is the better.
package pool
