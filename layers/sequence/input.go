package sequence

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// input is a projection of the rows of every node: x·W + b. With a gain x·W is
// normalised, and of several parts the columns before cut and those after it apart.
type input struct {
	x, w, b, gain *grad.Var
	cut           int
	drop          rowDropout // of x in the order of the levels
}

// masked returns the projection of what d leaves of x.
func (in input) masked(d membersDropout) input {
	if d.mask != nil && in.x.IsSparse() {
		panic(&grad.TapeError{Op: "sequence.InputDropout", Why: "x is sparse, and a mask for each chain wants it dense; drop in the layer before"})
	}
	in.drop = d.all()
	return in
}

// project returns the projection of rows as they stand.
func (in input) project() *grad.Var {
	if in.gain == nil {
		return in.x.Linear(in.w, in.b, grad.Identity)
	}
	if in.cut == 0 {
		return in.x.MatMul(in.w).LayerNorm(in.gain, in.b, normEps)
	}
	y := newNormer(in.gain, in.cut).apply(in.x.MatMul(in.w))
	if in.b != nil {
		y = y.AddBias(in.b, grad.Identity)
	}
	return y
}

// normEps is what a norm within a cell adds to the variance.
const normEps = 1e-5

// normer normalises each row, the columns before cut and those after it apart; a cut of 0
// makes them one part.
type normer struct {
	gain []*grad.Var // of each part
	cut  int
	pair []*grad.Var // room for both parts, as a level must not allocate
}

// newNormer returns the normer of a gain.
func newNormer(gain *grad.Var, cut int) *normer {
	if cut == 0 {
		return &normer{gain: []*grad.Var{gain}}
	}
	return &normer{gain: gain.Split(cut, gain.Dim(0)-cut), cut: cut, pair: make([]*grad.Var, 2)}
}

func (n *normer) apply(x *grad.Var) *grad.Var {
	if n.cut == 0 {
		return x.LayerNorm(n.gain[0], nil, normEps)
	}
	n.pair[0] = x.Columns(0, n.cut).LayerNorm(n.gain[0], nil, normEps)
	n.pair[1] = x.Columns(n.cut, x.Dim(-1)).LayerNorm(n.gain[1], nil, normEps)
	return grad.Concat(n.pair...)
}

// cell is what the layer op has to be like: it carries on states of Hidden numbers
// through the products with w and u, which make so many gates of them.
type cell struct {
	op     string
	w, u   *grad.Param
	hidden int
	gates  int
	arity  int // of a tree, how many states side by side u reads; 0 is one
	in     int // the columns of x, where w is not what multiplies it
}

// check panics unless Init has made the layer as its fields say, and it can read x
// on g.
func (c cell) check(g *graph.Graph, x *grad.Var) {
	compose.WantNodes(c.op, g, x)
	c.checkInput(x)
	c.checkColumns(x)
}

func (c cell) bad(shape []int, why string) {
	panic(&tensor.ShapeError{Op: c.op, Shapes: [][]int{slices.Clone(shape)}, Why: why})
}

// checkInput panics unless there is an x and Init has made the layer as its fields say.
func (c cell) checkInput(x *grad.Var) {
	compose.WantVar(c.op, "x", x)
	compose.WantMade(c.op, "weights", c.w != nil && c.w.Value != nil && c.u != nil && c.u.Value != nil)
	w, columns := c.w.Value.Shape(), c.hidden*c.gates
	if u := c.u.Value.Shape(); c.hidden == 0 || w[1] != columns || u[0] != max(1, c.arity)*c.hidden || u[1] != columns {
		c.bad(w, fmt.Sprintf("the weights are not of Hidden %d: set Hidden first, then call Init", c.hidden))
	}
}

// checkColumns panics unless x has In columns.
func (c cell) checkColumns(x *grad.Var) {
	in := c.in
	if in == 0 {
		in = c.w.Value.Dim(0)
	}
	if n := x.Dim(-1); n != in {
		c.bad(x.Shape(), fmt.Sprintf("x has %d columns, In is %d", n, in))
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
	if in.x.IsSparse() {
		return in.project().Permute(levels.Order, levels.Rank)
	}
	if !in.x.Needs() {
		in.x = t.Input(in.x.Value()) // so that the copy is the tape's
	}
	in.x = in.drop.apply(in.x.Permute(levels.Order, levels.Rank))
	return in.project()
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

// before checks the operands of a step and returns the state before it, of n Vars with a
// row for each of x's.
func (c cell) before(t *grad.Tape, x *grad.Var, prev message.State, n int, dropout float64) message.State {
	c.checkInput(x)
	c.checkColumns(x)
	if dropout > 0 && t.Recording() {
		panic(&grad.TapeError{Op: c.op, Why: "a Step cannot know its chain's dropout mask, which is that of all steps; call it on an eval tape, or ForwardFrom"})
	}
	rows := x.Dim(0)
	if prev == nil {
		prev = make(message.State, n)
		for i := range prev {
			prev[i] = grad.Begin(c.op, x).New(rows, c.hidden)
		}
		return prev
	}
	prev = slices.Clone(c.start(t, prev, n))
	for i, v := range prev {
		switch {
		case v == nil:
			panic(&grad.TapeError{Op: c.op, Why: "a Var of the state before the step is nil"})
		case v.Dim(0) == rows:
		case v.Dim(0) == 1:
			prev[i] = v.Expand(rows, c.hidden)
		default:
			c.bad(v.Shape(), fmt.Sprintf("the state before the step wants a row for each of x's %d, or one for all", rows))
		}
	}
	return prev
}

// arrived returns the sum of what the predecessors hand on: of a chain the
// state itself.
func arrived(lv *message.Level, x *grad.Var) *grad.Var {
	return message.UpdateAll(lv.In, message.CopyU(x), message.Sum)
}
