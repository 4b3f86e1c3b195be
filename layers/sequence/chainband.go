package sequence

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
)

// chainBand are the taps of a convolution over chains.
type chainBand struct {
	width, dilation int
	causal          bool
}

// graphOf returns the graph in which every node of the chains g hears those of its own chain that
// its taps reach; the kind of an edge is the tap. What lies beyond an end of the chain is
// not there. It is kept with g.
func (b chainBand) graphOf(op string, g *graph.Graph) *graph.Graph {
	return graph.Derive(g, b, func() *graph.Graph {
		order, start := alongChains(op, g)
		at := make([]int, len(order))
		for i, v := range order {
			at[v] = i
		}
		var src, dst, kinds []int32
		for v := range order {
			for tap := range b.width {
				if u := at[v] + b.offset(tap); u >= 0 && u < len(order) && start[u] == start[at[v]] {
					src, dst, kinds = append(src, order[u]), append(dst, int32(v)), append(kinds, int32(tap))
				}
			}
		}
		band := graph.Must(graph.New(g.NumNodes(), src, dst))
		return graph.Must(graph.WithKinds(band, kinds))
	})
}

// offset is how far tap reads from its node: the last is the node itself, or the middle.
func (b chainBand) offset(tap int) int {
	if b.causal {
		return (tap - b.width + 1) * b.dilation
	}
	return (tap - b.width/2) * b.dilation
}

// alongChains returns the nodes chain by chain, each from its root, and for each of these
// places where its chain begins.
func alongChains(op string, g *graph.Graph) (order []int32, start []int) {
	out, _ := g.Out()
	next := func(v int32) []int32 { return out.Cols[out.Offsets[v]:out.Offsets[v+1]] }
	for v := range g.NumNodes() {
		if g.InDegree(v) > 1 || len(next(int32(v))) > 1 {
			panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("node %d has several predecessors or successors; a convolution wants chains, see graph.Chains", v)})
		}
	}
	for _, root := range g.Roots() {
		from := len(order)
		for to := []int32{root}; len(to) > 0; to = next(to[0]) {
			order, start = append(order, to[0]), append(start, from)
		}
	}
	if len(order) < g.NumNodes() {
		_, err := g.Levels()
		panic(err) // what no root leads to is a cycle
	}
	return order, start
}
