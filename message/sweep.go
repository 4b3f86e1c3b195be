package message

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// State is what a node of a sweep hands on: any number of Vars with a row for
// each node. A GRU has h; an LSTM has h and c.
type State []*grad.Var

// Rows returns the given rows of every Var.
func (s State) Rows(rows []int32) State {
	out := make(State, len(s))
	for i, x := range s {
		out[i] = x.Rows(rows)
	}
	return out
}

// Keep returns a copy of every Var as a constant: the state that truncated
// back-propagation carries into the next segment.
func (s State) Keep() State {
	out := make(State, len(s))
	for i, x := range s {
		out[i] = x.Keep()
	}
	return out
}

// Sweep computes a state for every node of the acyclic graph g from the states
// of its predecessors, one level at a time: a recurrent network is a Sweep over
// chains, a tree network one over trees.
//
// step is called for each level with the states that it may read. l.In is a
// bipartite graph from the rows of prev to the level's nodes; step returns a row
// for each of these, in that order.
//
// init has a row for each of g.Roots(), in that order, or one row for all: the
// states before the roots. A root has one in-edge in l.In, from its row of init.
//
// Sweep returns the states of all nodes, in g's order. A next segment starts
// from State.Rows(g.Sinks()). It panics with a [*graph.CycleError] if g has a
// cycle; [graph.Graph.Levels] says so beforehand.
func Sweep(g *graph.Graph, init State, step func(l *Level, prev State) State) State {
	levels, err := g.Levels()
	if err != nil {
		panic(err)
	}
	shared := checkInit(g, init)
	frame := schedule(g, levels, shared)
	if levels.Len() == 0 {
		return init.empty()
	}
	sw := &sweep{g: g, levels: levels, arranged: map[*grad.Var]*grad.Var{}}
	var frames []*grad.Frame
	for n, at := range frame {
		prev := init
		if n > 0 {
			prev = make(State, len(frames))
			for i, f := range frames {
				prev[i] = f.View(at.lo, at.hi)
			}
		}
		next := step(&Level{N: n, In: at.in, sweep: sw, at: at}, prev)
		sw.checkStep(n, next, init)
		if n == 0 {
			frames = newFrames(len(levels.Order), next)
		}
		for i, f := range frames {
			f.Write(levels.Offsets[n], next[i])
		}
	}
	out := make(State, len(frames))
	for i, f := range frames {
		out[i] = f.Rows(levels.Rank)
	}
	return out
}

// sweep is what the levels of one Sweep share.
type sweep struct {
	g        *graph.Graph
	levels   *graph.Levels
	arranged map[*grad.Var]*grad.Var // by Var, its rows in level order
}

// checkInit reports whether init has one row for all roots.
func checkInit(g *graph.Graph, init State) (shared bool) {
	if len(init) == 0 {
		panic(&grad.TapeError{Op: "message.Sweep", Why: "the state has no Vars"})
	}
	roots := len(g.Roots())
	rows := init[0].Value().Rows()
	for _, x := range init {
		if n := x.Value().Rows(); n != rows || n != 1 && n != roots {
			panic(&tensor.ShapeError{Op: "message.Sweep", Shapes: [][]int{slices.Clone(x.Shape())},
				Why: fmt.Sprintf("init wants one row, or one for each of %d roots, in every Var", roots)})
		}
	}
	return rows != roots
}

func (sw *sweep) checkStep(n int, next, init State) {
	want := sw.levels.Offsets[n+1] - sw.levels.Offsets[n]
	if len(next) != len(init) {
		panic(&grad.TapeError{Op: "message.Sweep", Why: fmt.Sprintf("step returned %d Vars, init has %d", len(next), len(init))})
	}
	for i, x := range next {
		if x.Value().Rows() != want || !slices.Equal(x.Shape()[1:], init[i].Shape()[1:]) {
			panic(&tensor.ShapeError{Op: "message.Sweep", Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(init[i].Shape())},
				Why: fmt.Sprintf("step must return, for the %d nodes of level %d, rows like those of init", want, n)})
		}
	}
}

// newFrames returns room for n rows of each state, on the tape of the first
// level's.
func newFrames(n int, first State) []*grad.Frame {
	op := grad.Begin("Sweep", first...)
	out := make([]*grad.Frame, len(first))
	for i, x := range first {
		shape := slices.Clone(x.Shape())
		shape[0] = n
		out[i] = op.NewFrame(shape...)
	}
	return out
}

// empty returns the states of no nodes.
func (s State) empty() State {
	out := make(State, len(s))
	for i, x := range s {
		out[i] = x.RowRange(0, 0)
	}
	return out
}
