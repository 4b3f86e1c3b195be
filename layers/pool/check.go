package pool

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// wantNodes panics unless g is homogeneous and x has a row for each of its nodes.
func wantNodes(op string, g *graph.Graph, x *grad.Var) {
	switch {
	case g == nil:
		panic(&grad.TapeError{Op: op, Why: "the graph is nil"})
	case x == nil:
		panic(&grad.TapeError{Op: op, Why: "x is nil"})
	case g.Bipartite():
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{g.NumSrc(), g.NumDst()}}, Why: "the graph is bipartite, so its nodes have no members"})
	}
	if s := x.Shape(); len(s) != 2 || s[0] != g.NumNodes() {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(s)}, Why: fmt.Sprintf("the graph has %d nodes, want a row for each", g.NumNodes())})
	}
}
