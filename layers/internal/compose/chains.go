package compose

import "github.com/edgewise-ml/edgewise/graph"

// ChainOf returns the number of the chain of each node of g, chains of any lengths.
func ChainOf(g *graph.Graph) []int32 { return g.Membership().Destinations() }

type endsKey struct{ last bool }

// FirstNodes returns the graph from the first node of each chain of g to the chain. An empty
// chain hears nothing.
func FirstNodes(g *graph.Graph) *graph.Graph { return chainEnds(g, false) }

// LastNodes is FirstNodes of the last node of each chain.
func LastNodes(g *graph.Graph) *graph.Graph { return chainEnds(g, true) }

func chainEnds(g *graph.Graph, last bool) *graph.Graph {
	return g.Derived(endsKey{last}, func() any {
		nodes := g.Roots()
		if last {
			nodes = g.Sinks()
		}
		of, dst := ChainOf(g), make([]int32, len(nodes))
		for i, v := range nodes {
			dst[i] = of[v]
		}
		return graph.Must(graph.NewBipartite(g.NumNodes(), len(g.NodeOffsets())-1, nodes, dst))
	}).(*graph.Graph)
}
