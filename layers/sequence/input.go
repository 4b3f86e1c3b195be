package sequence

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// input is a projection of the rows of every node: x·W + b.
type input struct{ x, w, b *grad.Var }

// cell is what the layer op has to be like: it carries on states of Hidden numbers
// through the products with w and u, which make so many gates of them.
type cell struct {
	op     string
	w, u   *grad.Param
	hidden int
	gates  int
}

// check panics unless Init has made the layer as its fields say, and it can read x
// on g.
func (c cell) check(g *graph.Graph, x *grad.Var) {
	bad := func(shape []int, why string) {
		panic(&tensor.ShapeError{Op: c.op, Shapes: [][]int{slices.Clone(shape)}, Why: why})
	}
	switch {
	case g == nil:
		panic(&grad.TapeError{Op: c.op, Why: "the graph is nil"})
	case x == nil:
		panic(&grad.TapeError{Op: c.op, Why: "x is nil"})
	case c.w == nil || c.w.Value == nil || c.u == nil || c.u.Value == nil:
		panic(&grad.TapeError{Op: c.op, Why: "it has no weights; was Init called?"})
	}
	w, columns := c.w.Value.Shape(), c.hidden*c.gates
	if u := c.u.Value.Shape(); c.hidden == 0 || w[1] != columns || u[0] != c.hidden || u[1] != columns {
		bad(w, fmt.Sprintf("the weights are not of Hidden %d: set Hidden first, then call Init", c.hidden))
	}
	if s := x.Shape(); s[0] != g.NumNodes() {
		bad(s, fmt.Sprintf("the graph has %d nodes, want a row for each", g.NumNodes()))
	} else if n := s[len(s)-1]; n != w[0] {
		bad(s, fmt.Sprintf("x has %d columns, In is %d", n, w[0]))
	}
}

// inLevels returns the projection with its rows in the order of g's levels, for
// [message.Level.Part]. The narrow x is arranged, not the wide result, unless x
// is sparse.
func (in input) inLevels(t *grad.Tape, g *graph.Graph) *grad.Var {
	levels, err := g.Levels()
	if err != nil {
		panic(err)
	}
	x := in.x
	if x.IsSparse() {
		return x.Linear(in.w, in.b, grad.Identity).Permute(levels.Order, levels.Rank)
	}
	if !x.Needs() {
		x = t.Input(x.Value()) // so that the copy is the tape's
	}
	return x.Permute(levels.Order, levels.Rank).Linear(in.w, in.b, grad.Identity)
}

// start returns init or, for nil, a state of n Vars of zeros, one row for all
// roots.
func (c cell) start(t *grad.Tape, init message.State, n int) message.State {
	if init == nil {
		s := make(message.State, n)
		for i := range s {
			s[i] = t.Input(tensor.New(1, c.hidden))
		}
		return s
	}
	if len(init) != n {
		panic(&grad.TapeError{Op: c.op, Why: fmt.Sprintf("the initial state has %d Vars, want %d", len(init), n)})
	}
	for _, x := range init {
		if x != nil && x.Dim(-1) != c.hidden {
			panic(&tensor.ShapeError{Op: c.op, Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("the initial state has %d columns, Hidden is %d", x.Dim(-1), c.hidden)})
		}
	}
	return init
}

// arrived returns the sum of what the predecessors hand on: of a chain the
// state itself.
func arrived(lv *message.Level, x *grad.Var) *grad.Var {
	return message.UpdateAll(lv.In, message.CopyU(x), message.Sum)
}
