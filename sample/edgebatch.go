package sample

import "github.com/edgewise-ml/edgewise/graph"

// examples are the nodes that train, or the edges.
func (l *Loader) examples() []int32 {
	if l.Edges != nil {
		return l.Edges
	}
	return l.Nodes
}

// ends is the graph whose edges train.
func (l *Loader) ends() *graph.Graph {
	if l.Ends != nil {
		return l.Ends
	}
	return l.Graph
}

// end makes the seeds of a batch, which are edges of g, its Edges, and their ends the seeds: each
// once, in the order in which the edges name them.
func (b *Batch) end(g *graph.Graph) {
	b.Edges, b.Seeds = b.Seeds, nil
	b.From, b.To = make([]int32, len(b.Edges)), make([]int32, len(b.Edges))
	place := make(map[int32]int32, 2*len(b.Edges))
	seed := func(v int32) int32 {
		i, known := place[v]
		if !known {
			i = int32(len(b.Seeds))
			place[v], b.Seeds = i, append(b.Seeds, v)
		}
		return i
	}
	for i, e := range b.Edges {
		b.From[i], b.To[i] = seed(g.In().Cols[e]), seed(g.Destinations()[e])
	}
}
