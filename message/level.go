package message

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Level is one level of a [Sweep]: nodes whose predecessors are all computed.
type Level struct {
	N  int          // its number; the roots are level 0
	In *graph.Graph // from the rows of prev to the level's nodes, with the kinds and offsets of the swept graph's edges

	sweep *sweep
	at    *place
}

// span returns the places of the level's nodes in the order of the levels.
func (l *Level) span() (lo, hi int) {
	o := l.sweep.levels.Offsets
	return o[l.N], o[l.N+1]
}

// Nodes returns the level's nodes, in the order of l.In's destinations.
func (l *Level) Nodes() []int32 {
	lo, hi := l.span()
	return l.sweep.levels.Order[lo:hi]
}

// Rows returns the level's rows of x, which has one for each node of the graph.
// All levels share one arranged copy of x.
func (l *Level) Rows(x *grad.Var) *grad.Var {
	sw := l.sweep
	y := sw.arranged[x]
	if y == nil {
		l.wantNodes("message.Level.Rows", x)
		y = x.Permute(sw.levels.Order, sw.levels.Rank)
		sw.arranged[x] = y
	}
	return l.Part(y)
}

// Part returns the level's rows of x, whose rows are in the order of the levels,
// as x.Rows(levels.Order) has them (see [graph.Graph.Levels]): a view. A layer
// that arranges its inputs itself, before it projects them, saves a copy of the
// projections.
func (l *Level) Part(x *grad.Var) *grad.Var {
	l.wantNodes("message.Level.Part", x)
	return x.RowRange(l.span())
}

// Take is [Level.Part] of an x that nothing reads again, and gives the level's rows
// up: a product that the step adds to them, h.MatMul(w).Add(l.Take(x)), may lie in
// their place, and an activation after it, too, so that the rows of all levels take
// no memory of their own. Reading x, or such a sum behind its activation, panics
// with a [*grad.TapeError] from then on.
func (l *Level) Take(x *grad.Var) *grad.Var {
	l.wantNodes("message.Level.Take", x)
	return x.TakeRows(l.span())
}

// Room returns where the level's rows of state i will lie, for an operation that sets all of
// them and whose result the step returns as that state: it need not be copied there then.
// It is nil where they have no place yet.
func (l *Level) Room(i int) *grad.Var {
	sw := l.sweep
	if i < 0 || i >= len(sw.init) {
		panic(&grad.TapeError{Op: "message.Level.Room", Why: fmt.Sprintf("there is no state %d: the sweep carries %d", i, len(sw.init))})
	}
	if sw.frames == nil || sw.edges(i) != nil {
		return nil
	}
	lo, hi := l.span()
	return sw.frames[i].Room(l.at.row, l.at.row+hi-lo)
}

// wantNodes panics unless x has a row for each node of the swept graph.
func (l *Level) wantNodes(op string, x *grad.Var) {
	wantRows(op, "x", x, len(l.sweep.levels.Order), "nodes")
}

// Edges returns the rows of x, which has one for each edge of the graph, for the
// edges of l.In. The edge from a root's init has a row of zeros. All levels
// share one arranged copy of x.
func (l *Level) Edges(x *grad.Var) *grad.Var {
	sw := l.sweep
	wantRows("message.Level.Edges", "x", x, sw.g.NumEdges(), "edges")
	if l.N == 0 {
		shape := slices.Clone(x.Shape())
		shape[0] = l.In.NumEdges()
		return grad.Begin("Level.Edges", x).New(shape...)
	}
	y := sw.byEdge[x]
	if y == nil {
		if sw.byEdge == nil {
			sw.byEdge = map[*grad.Var]*grad.Var{}
		}
		y = x.Rows(sw.schedule.edges)
		sw.byEdge[x] = y
	}
	return y.RowRange(l.at.edge, l.at.edge+l.In.NumEdges())
}

// Of returns the level's part of a bipartite graph whose destinations are the
// nodes of the swept graph: its sources stay, its destinations are the level's
// nodes. Through it a decoder attends to its inputs inside its sweep.
func (l *Level) Of(att *graph.Graph) *graph.Graph {
	given("message.Level.Of", att)
	if att.NumDst() != l.sweep.g.NumDst() {
		panic(&tensor.ShapeError{Op: "message.Level.Of", Shapes: [][]int{{att.NumSrc(), att.NumDst()}}, Why: fmt.Sprintf("the swept graph has %d nodes", l.sweep.g.NumDst())})
	}
	parts := graph.Derive(att, partsKey{l.sweep.levels}, func() []*graph.Graph {
		out := make([]*graph.Graph, l.sweep.levels.Len())
		o := l.sweep.levels.Offsets
		for n := range out {
			out[n] = graph.Must(graph.Dst(att, l.sweep.levels.Order[o[n]:o[n+1]]))
		}
		return out
	})
	return parts[l.N]
}

type partsKey struct{ levels *graph.Levels }
