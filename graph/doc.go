// Package graph holds who is connected to whom: no features and no gradients.
//
// Its one noun is [Graph], an immutable set of directed edges, each from a
// source u to a destination v, stored by destination. A graph whose sources
// and destinations are the same nodes is homogeneous; any other is bipartite.
//
//	g, err := graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 0}) // a ring of three
//	g = g.WithSelfLoops()
//	for _, u := range g.In().Cols[g.In().Offsets[1]:g.In().Offsets[2]] {
//		fmt.Println(u, "→ 1")
//	}
//
// Three more nouns describe a graph: [Origin] says which nodes and edges of its
// parent a derived graph is made of, [Levels] orders an acyclic graph, and
// [Report] lists what training on a graph may stumble over.
//
// # Edge order
//
// Every graph has two orders of its edges. Its list is the order in which the
// caller gave them. Its own order is by destination, and within a destination
// as in the list; "edge e" and the rows of edge features mean this one, which
// is also the order of the nonzeros of [Graph.In]. [Graph.EdgeOrder] leads from
// one to the other. It is always a permutation, of derived graphs too, whose
// lists are documented where they are made; their [Graph.From] leads to the
// edges of the parent, in the parent's own order:
//
//	own order:   y[e] = x[g.EdgeOrder()[e]]     // x: rows in the order of the list
//	derived:     y[e] = x[h.From().Edges[e]]    // x: rows of the parent's edges; −1: a new edge
//
// # Limits
//
// There are at most 2³¹−1 nodes on a side and 2³¹−1 edges. Parallel edges are
// distinct edges. Slices that methods return belong to the graph: they must not
// be modified. A Graph may be used by any number of goroutines at once.
package graph
