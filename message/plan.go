package message

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// plan is an expression made ready to run on a graph: its operations in an order
// in which operands come first, each with its shape and its place in scratch.
type plan struct {
	g     *graph.Graph
	steps []step
	leaf  []*grad.Var
	width int // scratch elements an edge needs, for the values of all steps
}

// step is one operation of a plan.
type step struct {
	*expr
	a, b  int     // the operands' steps
	shape []int   // of one edge's message
	width int     // its elements
	at    int     // where its values begin in an edge's scratch
	idx   []int32 // expand: which element of the operand each is
	drow  []int32 // leafV: the row of each destination; nil: its own number
	stat  int     // softmax, logSoftmax: where its statistics begin in a destination's
	needs bool    // its gradient is wanted
}

// newPlan checks m against g. It panics with a [*tensor.ShapeError] where an
// operand does not fit.
func newPlan(op string, g *graph.Graph, m Msg) *plan {
	if m.n == nil {
		panic(&grad.TapeError{Op: op, Why: "the Msg is empty"})
	}
	c := compiler{plan: &plan{g: g}, op: op, done: map[*expr]int{}}
	c.compile(m.n)
	return c.plan
}

// out is the step that is the message.
func (p *plan) out() *step { return &p.steps[len(p.steps)-1] }

// stats is the number of softmax columns, each of which has statistics for every
// destination.
func (p *plan) stats() int {
	n := 0
	for i := range p.steps {
		if p.steps[i].normalises() {
			n += p.steps[i].width
		}
	}
	return n
}

func (s *step) normalises() bool { return s.kind == softmax || s.kind == logSoftmax }

type compiler struct {
	*plan
	op    string
	done  map[*expr]int
	nStat int
}

// compile adds e and what it needs to the plan, and returns its step. What is
// used several times is computed once.
func (c *compiler) compile(e *expr) int {
	if i, ok := c.done[e]; ok {
		return i
	}
	s := step{expr: e, a: -1, b: -1}
	switch e.kind {
	case leafU, leafV, leafE, leafW:
		c.place(&s)
	case binary:
		s.a, s.b = c.compile(e.a), c.compile(e.b)
		shape, ok := tensor.Broadcast(c.steps[s.a].shape, c.steps[s.b].shape)
		if !ok {
			panic(c.clash(s.a, s.b))
		}
		s.a, s.b, s.shape = c.stretch(s.a, shape), c.stretch(s.b, shape), shape
	case dotLast:
		c.placeDot(&s)
	case pick:
		c.placePick(&s)
	default:
		s.a = c.compile(e.a)
		s.shape = slices.Clone(c.steps[s.a].shape)
		if e.kind == sumLast || e.kind == maxLast || e.kind == logSumExpLast {
			s.shape[len(s.shape)-1] = 1
		}
	}
	i := c.add(s)
	c.done[e] = i
	return i
}

// add places a step and returns its number.
func (c *compiler) add(s step) int {
	s.width, s.at = tensor.Size(s.shape...), c.width
	c.width += s.width
	if s.a >= 0 {
		s.needs = s.needs || c.steps[s.a].needs
	}
	if s.b >= 0 {
		s.needs = s.needs || c.steps[s.b].needs
	}
	if s.normalises() {
		s.stat = c.nStat
		c.nStat += s.width
	}
	c.steps = append(c.steps, s)
	return len(c.steps) - 1
}

// stretch returns a step that has step i's message in a larger shape.
func (c *compiler) stretch(i int, shape []int) int {
	from := c.steps[i].shape
	if slices.Equal(from, shape) {
		return i
	}
	return c.add(step{expr: &expr{kind: expand}, a: i, b: -1, shape: shape, idx: tensor.Stretch(from, shape)})
}

// place finds the rows that a leaf reads.
func (c *compiler) place(s *step) {
	shape := s.x.Value().Shape()
	s.needs = s.x.Needs()
	c.leaf = append(c.leaf, s.x)
	if s.kind == leafW {
		s.shape = shape
		if len(shape) == tensor.MaxAxes {
			panic(c.misfit(s, "an array of four axes leaves none for the edges"))
		}
		return
	}
	s.shape = shape[1:]
	if len(s.shape) == 0 {
		s.shape = []int{1}
	}
	rows, want := shape[0], c.g.NumSrc()
	switch s.kind {
	case leafE:
		want = c.g.NumEdges()
	case leafV:
		want = c.g.NumDst()
		if c.g.Bipartite() && rows == c.g.NumSrc() {
			if d := c.g.DstRows(); d != nil {
				want, s.drow = rows, d
			}
		}
	}
	if rows != want {
		panic(c.misfit(s, fmt.Sprintf("%s wants %d rows on a graph of %d sources, %d destinations and %d edges",
			leafNames[s.kind], want, c.g.NumSrc(), c.g.NumDst(), c.g.NumEdges())))
	}
}

func (c *compiler) placeDot(s *step) {
	s.a, s.b = c.compile(s.expr.a), c.compile(s.expr.b)
	x, y := c.steps[s.a].shape, c.steps[s.b].shape
	shape, ok := tensor.Broadcast(x, y)
	if !ok || x[len(x)-1] != y[len(y)-1] {
		panic(c.clash(s.a, s.b))
	}
	s.a, s.b = c.stretch(s.a, shape), c.stretch(s.b, shape)
	s.shape = slices.Clone(shape)
	s.shape[len(shape)-1] = 1
}

// placePick checks that every edge has a row to take. Of a leaf the row is read
// where it stands, so a message of all rows is never made.
func (c *compiler) placePick(s *step) {
	e := s.expr
	if e.a.kind <= leafW {
		s.expr = &expr{kind: e.a.kind, x: e.a.x, rows: e.rows}
		c.place(s)
	} else {
		s.a = c.compile(e.a)
		s.shape = c.steps[s.a].shape
	}
	all := s.shape
	if len(all) < 2 {
		all = append(slices.Clone(all), 1)
	}
	s.shape = all[1:]
	bad := func(why string) {
		panic(&tensor.ShapeError{Op: c.op, Shapes: [][]int{slices.Clone(all)}, Why: why})
	}
	if len(e.rows) != c.g.NumEdges() {
		bad(fmt.Sprintf("Pick wants a kind for each of %d edges, got %d", c.g.NumEdges(), len(e.rows)))
	}
	for i, k := range e.rows {
		if uint(k) >= uint(all[0]) {
			bad(fmt.Sprintf("edge %d has kind %d, the message has %d rows", i, k, all[0]))
		}
	}
}

func (c *compiler) misfit(s *step, why string) *tensor.ShapeError {
	shape := s.shape
	if s.x != nil {
		shape = s.x.Shape()
	}
	return &tensor.ShapeError{Op: c.op, Shapes: [][]int{slices.Clone(shape)}, Why: why}
}

func (c *compiler) clash(i, j int) *tensor.ShapeError {
	return &tensor.ShapeError{Op: c.op, Shapes: [][]int{c.steps[i].shape, c.steps[j].shape}, Why: "the messages of one edge do not broadcast"}
}

var leafNames = [...]string{leafU: "U", leafV: "V", leafE: "E", leafW: "W"}
