package message

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// checkLeaves panics unless every leaf has the rows that g wants.
func checkLeaves(op string, g *graph.Graph, m *Msg) {
	for i := range m.nodes() {
		n := &m.nodes()[i]
		if !n.Kind.IsLeaf() {
			continue
		}
		x := m.operands()[n.K]
		if x.IsSparse() {
			panic(misfit(op, x.Shape(), fmt.Sprintf("%s wants a dense Var, and this one is sparse: multiply it by a matrix first", n.Kind)))
		}
		rows, want := arrayOf(x).Rows(), g.NumSrc()
		switch n.Kind {
		case ops.LeafW:
			if len(x.Shape()) == tensor.MaxAxes && !onlyPicked(m.nodes(), int32(i)) {
				panic(misfit(op, x.Shape(), "an array of four axes leaves none for the edges"))
			}
			continue
		case ops.LeafE:
			want = g.NumEdges()
		case ops.LeafV:
			want = g.NumDst()
		}
		if rows != want {
			why := fmt.Sprintf("%s wants %d rows on a graph of %d sources, %d destinations and %d edges",
				n.Kind, want, g.NumSrc(), g.NumDst(), g.NumEdges())
			if n.Kind == ops.LeafV && rows == g.NumSrc() && g.DstRows() != nil {
				why += "; message.OnDst(g, x) takes the destinations' rows of x"
			}
			panic(misfit(op, x.Shape(), why))
		}
	}
}

// onlyPicked reports whether all that reads a leaf picks a row of it.
func onlyPicked(code []ir.Node, leaf int32) bool {
	for i := range code {
		n := &code[i]
		reads := !n.Kind.IsLeaf() && n.A == leaf || n.Kind.Paired() && n.B == leaf
		if reads && n.Kind != ops.Pick {
			return false
		}
	}
	return int(leaf) != len(code)-1
}

// checkPicks panics unless every edge has a row to take.
func checkPicks(op string, g *graph.Graph, m *Msg, p *plan.Plan) {
	for i := range p.Steps {
		s := &p.Steps[i]
		if !s.Picks() {
			continue
		}
		pick := &m.attributeList()[s.Attribute]
		rows, shape := pick.Rows, append([]int{s.PickFrom}, s.Shape...)
		if n := int(pick.Hi-pick.Lo) + 1; pick.ByOffset {
			if n != s.PickFrom {
				panic(misfit(op, shape, fmt.Sprintf("PickOffset from %d to %d wants %d rows, the message has %d", pick.Lo, pick.Hi, n, s.PickFrom)))
			}
			continue
		}
		if len(rows) != g.NumEdges() {
			panic(misfit(op, shape, fmt.Sprintf("Pick wants a kind for each of %d edges, got %d", g.NumEdges(), len(rows))))
		}
		for e, k := range rows {
			if uint(k) >= uint(s.PickFrom) {
				panic(misfit(op, shape, fmt.Sprintf("edge %d has kind %d, the message has %d rows", e, k, s.PickFrom)))
			}
		}
	}
}

func misfit(op string, shape []int, why string) *tensor.ShapeError {
	return &tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(shape)}, Why: why}
}

// wantRows panics unless x, which is what it is called, is there and has so many rows: one for each of something.
func wantRows(op, name string, x *grad.Var, rows int, each string) {
	if x == nil {
		panic(&grad.TapeError{Op: op, Why: name + " is nil"})
	}
	if x.Dim(0) != rows {
		panic(misfit(op, x.Shape(), fmt.Sprintf("the graph has %d %s, want a row for each", rows, each)))
	}
}

// arrayOf returns x's array, for its shape: a projection that is not held has no elements.
func arrayOf(x *grad.Var) *tensor.Dense {
	if p := tape.Projected(x); p != nil {
		return p.Shape()
	}
	return x.Value()
}
