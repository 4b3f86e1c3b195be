package sample

import "github.com/edgewise-ml/edgewise/graph"

// Needed returns what the layers of a network have to compute for the sake of some
// nodes, such as those of a loss: a block for each layer, of which the last gives the
// nodes' rows. Loss and gradients are those of the whole graph. It returns nil where
// the blocks have more than three quarters of the edges of all layers, so that the
// whole graph may as well be run.
//
// The first block's sources are the nodes whose features are read; where these are
// more than three quarters of all, it has all of the graph's sources under their own
// numbers (NumSrc is the graph's), and the features are read where they are.
//
// The error names a node that is repeated or not one of g's.
func Needed(g *graph.Graph, nodes []int32, layers int) ([]*graph.Graph, error) {
	blocks, err := g.Blocks(nodes, layers)
	if err != nil || layers == 0 {
		return nil, err
	}
	edges := 0
	for _, b := range blocks {
		edges += b.NumEdges()
	}
	if most(edges, layers*g.NumEdges()) {
		return nil, nil
	}
	if most(blocks[0].NumSrc(), g.NumSrc()) {
		blocks[0], err = g.Dst(blocks[0].From().Dst)
	}
	return blocks, err
}

// most reports whether n is more than three quarters of all.
func most(n, all int) bool { return 4*n > 3*all }
