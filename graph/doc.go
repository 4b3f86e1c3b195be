// Package graph holds who is connected to whom: no features and no gradients.
//
// Its one noun is [Graph], an immutable set of directed edges, each from a
// source u to a destination v, stored by destination. A graph whose sources
// and destinations are the same nodes is homogeneous; any other is bipartite.
//
//	g, err := graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 0}) // a ring of three
//	g = graph.WithSelfLoops(g)
//	for e, u := range g.Sources(1) {
//		fmt.Println("edge", e, "is", u, "→ 1")
//	}
//
// A method answers a question about a graph. A function makes another graph of it:
//
//	from a list     [New], [NewBipartite], [FromCSR], [Bags]; [NewCompact] where ids leave gaps or are names
//	from a formula  [Complete], [Causal], [Band], [Ring], [Star], [Grid], [Windows], [Chains], [Trees] and their kin
//	edges           [Reverse], [Undirected], [Coalesce], [WithSelfLoops], [WithoutSelfLoops], [EdgeSubgraph]
//	nodes           [Subgraph], [Neighbourhood], [Permute], [Reorder], [Contract], [WithVirtualNodes]
//	blocks          [Block], [Blocks], [BlockOf], [BlockFrom]; [Dst] and [DstOf] keep all sources
//	batches         [Batch], [Unbatch], [Members], [WithMembers]; [Membership] and [EdgeMembership] lead to the members
//	other edges     [LineGraph], [AtDistance]
//	labels          [WithKinds], [WithOffsets], [WithPlaces]
//	what you make   [WithOrigin], [WithDstRows], [Derive]
//
// Packages below this one draw graphs at random (graph/random), make them of points (graph/nearest), say what a graph is like
// (graph/analysis), hold nodes of several types (graph/hetero), and lead to gonum and back (graph/gonumgraph).
//
// More nouns describe graphs: [Origin] says which nodes and edges of its parent
// a derived graph is made of, [Span] is a dense block of edges, [Levels] orders
// an acyclic graph, and [Report] lists what is likely to go wrong in training on it.
//
// # Mistakes
//
// What stands in a list is data, and a mistake in it is an error that says where; how long lists are, sizes, settings and
// which graph is passed is the program, and a mistake in it panics with a [*tensor.ShapeError]. docs/library/primitives.md
// has the rule of the whole library.
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
