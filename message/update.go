package message

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// UpdateAll returns, for every destination of g, the reduction of the messages
// that arrive there. Several reducers give several results in one traversal,
// joined along the last axis. No array with a row for each edge is made.
func UpdateAll(g *graph.Graph, m Msg, rs ...Reducer) *grad.Var {
	if len(rs) == 0 {
		panic(&grad.TapeError{Op: "message.UpdateAll", Why: "no reducer"})
	}
	given("message.UpdateAll", g)
	if y := arrived(g, &m, rs); y != nil {
		return y
	}
	return update(g, m, rs)
}

// UpdateAllAdd returns UpdateAll(g, m, Sum) as a matrix, a row for each destination,
// with b added to each row, of which it has an element for each: the bias of a
// layer, or nil. Graph attention, and messages without a kernel of their own, are
// stored with it, so that it costs no pass over them.
func UpdateAllAdd(g *graph.Graph, m Msg, b *grad.Var) *grad.Var {
	if b == nil {
		return matrix(UpdateAll(g, m, Sum))
	}
	given("message.UpdateAllAdd", g)
	if y := arrived(g, &m, sums); y != nil {
		return matrix(y).AddBias(b, grad.Identity)
	}
	if y := fusedAdd(g, &m, b); y != nil {
		return y
	}
	p := planned("message.UpdateAllAdd", g, &m, sums)
	if n := p.out().width; len(b.Value().Data) != n {
		panic(&tensor.ShapeError{Op: "message.UpdateAllAdd", Shapes: [][]int{slices.Clone(b.Shape())}, Why: fmt.Sprintf("want a bias of %d elements, as many as a message has", n)})
	}
	return matrix(evaluate("UpdateAll", g, &m, p, b)).BiasAdded(b)
}

var sums = []Reducer{Sum}

// matrix returns y as a matrix.
func matrix(y *grad.Var) *grad.Var { return y.Reshape(y.Dim(0), y.Value().RowLen()) }

// given panics if there is no graph.
func given(op string, g *graph.Graph) {
	if g == nil {
		panic(&grad.TapeError{Op: op, Why: "the graph is nil"})
	}
}

// update is [UpdateAll] of what has to be kept.
func update(g *graph.Graph, m Msg, rs []Reducer) *grad.Var {
	if y := fusedUpdate(g, &m, rs); y != nil {
		return y
	}
	return evaluate("UpdateAll", g, &m, planned("message.UpdateAll", g, &m, rs), nil)
}

// ApplyEdges returns the message of every edge of g, in the graph's edge order.
func ApplyEdges(g *graph.Graph, m Msg) *grad.Var {
	given("message.ApplyEdges", g)
	if y := fusedEdges(g, &m); y != nil {
		return y
	}
	return evaluate("ApplyEdges", g, &m, planned("message.ApplyEdges", g, &m, nil), nil)
}

// EdgeSoftmax normalises x, with a row for each edge in the graph's order, over
// the in-edges of each destination.
func EdgeSoftmax(g *graph.Graph, x *grad.Var) *grad.Var { return ApplyEdges(g, E(x).Softmax()) }

// EdgeSoftmaxBySource normalises x over the out-edges of each source.
func EdgeSoftmaxBySource(g *graph.Graph, x *grad.Var) *grad.Var {
	wantEdges("message.EdgeSoftmaxBySource", g, x)
	r := g.Reverse()
	edges := r.From().Edges
	back := make([]int32, len(edges))
	for i, e := range edges {
		back[e] = int32(i)
	}
	return EdgeSoftmax(r, x.Rows(edges)).Rows(back)
}

// OnEdges brings rows that are in the order of the edge list a graph was made
// from into the graph's own edge order, in which [E] wants them.
func OnEdges(g *graph.Graph, x *grad.Var) *grad.Var {
	wantEdges("message.OnEdges", g, x)
	return x.Rows(g.EdgeOrder())
}

// wantEdges panics unless x has a row for each edge of g.
func wantEdges(op string, g *graph.Graph, x *grad.Var) {
	if x.Value().Rows() != g.NumEdges() {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("the graph has %d edges, want a row for each", g.NumEdges())})
	}
}
