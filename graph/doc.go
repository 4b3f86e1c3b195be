// Package graph holds who is connected to whom: no features and no gradients.
//
// Its one noun is [Graph], an immutable set of directed edges, each from a
// source u to a destination v, stored by destination. A graph whose sources
// and destinations are the same nodes is homogeneous; any other is bipartite.
//
//	g, err := graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 0}) // a ring of three
//	g = g.WithSelfLoops()
//	for e, u := range g.Sources(1) {
//		fmt.Println("edge", e, "is", u, "→ 1")
//	}
//
// A graph comes from a list of edges ([New], [NewBipartite], [NewCompact] where
// ids leave gaps, [FromCSR], [FromGonum]), from points ([KNN], [Nearest], [Radius]), from a
// formula ([Complete], [Causal], [Chains], [Trees], [Grid] and others), from a
// random generator ([Uniform], [PowerLaw], [RMAT], [Citation],
// [BarabasiAlbert]), or from other graphs: [Batch], [Diffusion] and the methods of Graph.
//
// More nouns describe graphs: [Origin] says which nodes and edges of its parent
// a derived graph is made of, [Span] is a dense block of edges, [Levels] orders
// an acyclic graph, [Report] lists what is likely to go wrong in training on it,
// [Hetero] is several relations between nodes of several types, or a block of them,
// and [View] is a graph as gonum's algorithms want it.
//
// # Edge order
//
// Every graph has two orders of its edges. Its list is the order in which the
// caller gave them. Its own order is by destination, and within a destination
// as in the list; "edge e" and the rows of edge features mean this one, which
// is also the order of the nonzeros of [Graph.In]. [Graph.EdgeOrder] leads from
// one to the other; it is always a permutation. A graph made from another has a
// list too, documented where it is made; its [Graph.From] gives each edge's number
// in the parent, in the parent's own order:
//
//	own order:   y[e] = x[g.EdgeOrder()[e]]     // x: rows in the order of the list
//	derived:     y[e] = x[h.From().Edges[e]]    // x: rows of the parent's edges; −1: a new edge
//
// # Blocks
//
// A complete, causal or banded graph, and a batch of them, is a list of blocks:
// [Complete] of 16,384 nodes takes a few bytes. Its edges are listed when
// [Graph.In] is first asked for, by a sparse kernel or by most methods here, and
// then they are kept: 2²⁸ edges are a gigabyte. Dense kernels read
// [Graph.Spans] instead.
//
// # Limits
//
// There are at most 2³¹−1 nodes on a side and 2³¹−1 edges. Parallel edges are
// distinct edges. Slices that methods return belong to the graph: they must not
// be modified. A Graph may be used by any number of goroutines at once.
package graph
