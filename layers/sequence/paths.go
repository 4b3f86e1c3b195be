package sequence

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// paths is the chains of a graph, node after node.
type paths struct {
	nodes     []int32 // of all chains
	starts    []int   // chain c is nodes[starts[c]:starts[c+1]]
	member    []int32 // the sequence that each chain belongs to
	parts     []int   // chains parts[i] to parts[i+1] are done together
	longest   int
	sequences int

	cycle error  // instead of all this
	why   string // or this
}

// partNodes is how many nodes the chains of a part have at least.
const partNodes = 64

func (p *paths) len() int            { return len(p.starts) - 1 }
func (p *paths) chain(c int) []int32 { return p.nodes[p.starts[c]:p.starts[c+1]] }

type pathsKey struct{}

// pathsOf returns the chains of g. It panics in the name of op if g is anything else.
func pathsOf(op string, g *graph.Graph) *paths {
	p := graph.Derive(g, pathsKey{}, func() *paths { return walkPaths(g) })
	switch {
	case p.cycle != nil:
		panic(p.cycle)
	case p.why != "":
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{g.NumNodes()}}, Why: p.why})
	}
	return p
}

// walkPaths returns the chains, or why there are none.
func walkPaths(g *graph.Graph) *paths {
	next := make([]int32, g.NumNodes())
	for v := range next {
		next[v] = -1
	}
	in, ends := g.In(), g.NodeOffsets()
	p := &paths{nodes: make([]int32, 0, len(next)), starts: []int{0}, parts: []int{0}, sequences: len(ends) - 1}
	for v := range next {
		from := in.Cols[in.Offsets[v]:in.Offsets[v+1]]
		switch {
		case len(from) > 1:
			return &paths{why: fmt.Sprintf("node %d has %d predecessors, want chains: at most one", v, len(from))}
		case len(from) == 1 && next[from[0]] >= 0:
			return &paths{why: fmt.Sprintf("node %d has several successors, want chains: at most one", from[0])}
		case len(from) == 1:
			next[from[0]] = int32(v)
		}
	}
	member := int32(0)
	for _, root := range g.Roots() {
		for int(root) >= ends[member+1] {
			member++
		}
		for v := root; v >= 0; v = next[v] {
			p.nodes = append(p.nodes, v)
		}
		p.longest = max(p.longest, len(p.nodes)-p.starts[len(p.starts)-1])
		p.starts, p.member = append(p.starts, len(p.nodes)), append(p.member, member)
		if len(p.nodes)-p.starts[p.parts[len(p.parts)-1]] >= partNodes {
			p.parts = append(p.parts, p.len())
		}
	}
	if p.parts[len(p.parts)-1] < p.len() {
		p.parts = append(p.parts, p.len())
	}
	if len(p.nodes) < len(next) {
		_, err := g.Levels()
		return &paths{cycle: err}
	}
	return p
}
