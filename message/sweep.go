package message

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Sweep computes a state for every node of the acyclic graph g from the states
// of its predecessors, one level at a time: a recurrent network is a Sweep over
// chains, a tree network one over trees.
//
// step is called for each level with the states that it may read. l.In is a
// bipartite graph from the rows of prev to the level's nodes; step returns a row
// for each of these, in that order.
//
// init has a row for each of g.Roots(), in that order, or one row for all: the
// states before the roots. A root has one in-edge in l.In, from its row of init. Where g
// has kinds, l.In has those of its edges, and a root's in-edge is of kind 0: so a step
// that picks by the child's ordinal takes the state before a leaf for its first child.
//
// Sweep returns the states of all nodes, in g's order. A next segment starts
// from State.Rows(g.Sinks()). It panics with a [*graph.CycleError] if g has a
// cycle; [graph.Graph.Levels] says so beforehand. Of a graph without nodes step is called
// once, for no rows: what it uses has a gradient of zero.
//
// On the tape a Sweep is a constant number of operations, however many levels g
// has, and what step multiplies by a Param adds to its gradient once, after the
// last level. A step must not Watch. Its Vars and Msgs, whose memory later steps
// use again, must not leave it otherwise than by its result; l and prev are good
// until it returns, and it may return prev with other Vars in it.
func Sweep(g *graph.Graph, init State, step func(l *Level, prev State) State) State {
	return SweepOn(g, nil, init, step)
}

// sweep is what the levels of one Sweep share. Its frames hold the states before
// the roots, a row for each node of level 0, and then those of all levels.
type sweep struct {
	g        *graph.Graph
	levels   *graph.Levels
	init     State
	schedule *schedule
	onEdges  []*edgeSchedule         // of each state, where it has rows for edges; nil: all have rows for nodes
	arranged map[*grad.Var]*grad.Var // by Var, its rows in level order
	byEdge   map[*grad.Var]*grad.Var // by Var, its rows in the order of the levels' edges
	loop     tape.Loop
	frames   []tape.Frame
	level    Level // the one that is computed
	prev     State // what it reads
}

// run computes all levels, as one operation.
func (sw *sweep) run(step func(l *Level, prev State) State) {
	defer func() { sw.loop.End() }()
	sw.begin(sw.init)
	var first State
	if sw.loop.OnTape() {
		sw.newFrames(sw.init)
		sw.write(-1, sw.first())
	} else {
		first = sw.first()
	}
	sw.prev = make(State, len(sw.init))
	for n, at := range sw.schedule.places {
		for i, x := range first {
			sw.prev[i] = sw.loop.Read(x)
		}
		if sw.frames != nil {
			sw.view(n, at)
		}
		sw.level = Level{N: n, In: at.in, sweep: sw, at: at}
		next := step(&sw.level, sw.prev)
		sw.checkStep(n, next)
		if !sw.loop.OnTape() {
			sw.begin(next)
		}
		if sw.frames == nil { // init is constant: the tape is that of the first level
			sw.newFrames(next)
			sw.write(-1, first)
		}
		sw.write(n, next)
	}
}

// begin begins the loop if one of xs is on a tape.
func (sw *sweep) begin(xs State) {
	sw.loop = tape.BeginLoop(sw.schedule.rows, xs...)
	sw.loop.Seal()
}

// first returns the states before the roots, a row for each node of level 0.
func (sw *sweep) first() State {
	out := make(State, len(sw.init))
	for i, x := range sw.init {
		rows, inOrder := sw.schedule.first, sw.schedule.inOrder
		if p := sw.edges(i); p != nil {
			rows, inOrder = p.first, p.inOrder
		}
		if out[i] = x; !inOrder {
			out[i] = x.Rows(rows)
		}
	}
	return out
}

// newFrames makes room for all states, on the tape of xs.
func (sw *sweep) newFrames(xs State) {
	op := grad.Begin("Sweep", xs...)
	for i, x := range xs {
		shape := slices.Clone(x.Shape())
		shape[0] = sw.schedule.rows
		if p := sw.edges(i); p != nil {
			shape[0] = p.rows()
		}
		sw.frames = append(sw.frames, tape.NewFrame(op, shape...))
	}
}

// write sets the rows of the frames that level n writes; those of level −1 are before
// the roots.
func (sw *sweep) write(n int, s State) {
	for i, f := range sw.frames {
		row := 0
		if p := sw.edges(i); n >= 0 && p != nil {
			row = p.places[n].row
		} else if n >= 0 {
			row = sw.schedule.places[n].row
		}
		f.Write(row, s[i])
	}
}

// view makes prev the rows of the frames that level n reads.
func (sw *sweep) view(n int, at *place) {
	for i, f := range sw.frames {
		if p := sw.edges(i); p != nil {
			sw.prev[i] = p.places[n].read(f)
		} else {
			sw.prev[i] = f.View(at.lo, at.hi)
		}
	}
}

// states returns the states of all nodes in the graph's order. All but the first are
// brought into it when they are read, if ever; the first is the last on the tape, where
// Backward may take its gradient as it is given.
func (sw *sweep) states() State {
	out := make(State, len(sw.frames))
	for i, f := range slices.Backward(sw.frames) {
		sorted := f.SortedLater
		if i == 0 {
			sorted = f.Sorted
		}
		if p := sw.edges(i); p != nil {
			out[i] = sorted(p.before, p.order, p.rank)
		} else {
			out[i] = sorted(sw.schedule.roots(), sw.levels.Order, sw.levels.Rank)
		}
	}
	return out
}

// checkInit reports whether init has one row for all roots. What has rows for edges is
// not looked at.
func checkInit(g *graph.Graph, on []*graph.Graph, init State) (shared bool) {
	if len(init) == 0 {
		panic(&grad.TapeError{Op: "message.Sweep", Why: "the state has no Vars"})
	}
	if slices.Contains(init, nil) {
		panic(&grad.TapeError{Op: "message.Sweep", Why: "a Var of the state is nil"})
	}
	roots, rows := len(g.Roots()), -1
	for i, x := range init {
		if x.IsSparse() {
			panic(misfit("message.Sweep", x.Shape(), "a state is dense, and this Var of init is sparse"))
		}
		if on != nil && on[i] != nil {
			continue
		}
		if rows < 0 {
			rows = x.Value().Rows()
		}
		if n := x.Value().Rows(); n != rows || n != 1 && n != roots {
			panic(&tensor.ShapeError{Op: "message.Sweep", Shapes: [][]int{slices.Clone(x.Shape())},
				Why: fmt.Sprintf("init wants one row, or one for each of %d roots, in every Var", roots)})
		}
	}
	return rows >= 0 && rows != roots
}

func (sw *sweep) checkStep(n int, next State) {
	if len(next) != len(sw.init) {
		panic(&grad.TapeError{Op: "message.Sweep", Why: fmt.Sprintf("step returned %d Vars, init has %d", len(next), len(sw.init))})
	}
	if slices.Contains(next, nil) {
		panic(&grad.TapeError{Op: "message.Sweep", Why: "step returned a Var that is nil"})
	}
	for i, x := range next {
		want, what := sw.levels.Offsets[n+1]-sw.levels.Offsets[n], "nodes"
		if p := sw.edges(i); p != nil {
			want, what = p.places[n].edges, "edges into the nodes"
		}
		if like := sw.init[i].Shape(); x.Value().Rows() != want || !slices.Equal(x.Shape()[1:], like[1:]) {
			panic(&tensor.ShapeError{Op: "message.Sweep", Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(like)},
				Why: fmt.Sprintf("step must return, for the %d %s of level %d, rows like those of init", want, what, n)})
		}
	}
}

// State is what a node of a sweep hands on: any number of Vars with a row for
// each node. A GRU has h; an LSTM has h and c.
type State []*grad.Var

// Rows returns the given rows of every Var.
func (s State) Rows(rows []int32) State {
	out := make(State, len(s))
	for i, x := range s {
		s.want("message.State.Rows", i)
		out[i] = x.Rows(rows)
	}
	return out
}

// Keep returns a copy of every Var as a constant: the state that truncated
// back-propagation carries into the next segment.
func (s State) Keep() State {
	out := make(State, len(s))
	for i, x := range s {
		s.want("message.State.Keep", i)
		out[i] = x.Keep()
	}
	return out
}

// want panics if Var i is nil.
func (s State) want(op string, i int) {
	if s[i] == nil {
		panic(&grad.TapeError{Op: op, Why: fmt.Sprintf("Var %d of the state is nil", i)})
	}
}
