// Package random draws graphs at random, for tests, benchmarks and comparisons.
//
// Its functions return a [graph.Graph] of a given size: [Uniform] joins any two nodes, [PowerLaw] and [RMAT] have hubs,
// [Citation] is like a citation network with communities, and [BarabasiAlbert] has grown by preferential attachment.
//
//	rng := rand.New(rand.NewPCG(1, 2))
//	g := random.Uniform(rng, 1000, 5000)
//	h := graph.WithSelfLoops(graph.Undirected(g))
//
// The same state of the generator gives the same graph. Sizes are the program's, so that one that cannot be panics with a
// [*tensor.ShapeError]: check a number that a user gave before you draw.
package random
