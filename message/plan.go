package message

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// plan is an expression made ready to run on a graph: its operations in an order
// in which operands come first, each with its shape and its place in scratch.
type plan struct {
	g     *graph.Graph
	steps []step
	leaf  []*grad.Var
	width int  // scratch elements an edge needs where values make room for later ones
	all   int  // for the values and gradients of backward; before that is laid out, for all values
	near  int  // elements of the rows that an edge's steps read where they stand
	lazy  bool // the message, U times a number for each run, is summed without being made
}

// step is one operation of a plan.
type step struct {
	*expr
	a, b  int     // the operands' steps
	shape []int   // of one edge's message
	width int     // its elements
	at    int     // where its values begin in an edge's scratch; see layout
	full  int     // and in that of backward; see backLayout
	grad  int     // where its gradient begins there; −1: has no place
	dead  bool    // backward does not need its values
	uses  int     // by later steps
	fixed bool    // its values are the same on every edge
	run   int     // expand, scaleBy: each element of the small operand stands for such a run; 0: see idx
	idx   []int32 // expand: which element of the operand each is
	drow  []int32 // leafV: the row of each destination; nil: its own number
	stat  int     // across the in-edges: where its statistics begin in a destination's
	needs bool    // its gradient is wanted
	ends  ends    // score, affine: the leaves that are read where they stand
	there bool    // of a leaf: no step reads a copy of it
}

// newPlan checks m against g. It panics with a [*tensor.ShapeError] where an
// operand does not fit. rs are the reducers, if the message is reduced.
func newPlan(op string, g *graph.Graph, m Msg, rs ...Reducer) *plan {
	if m.n == nil {
		panic(&grad.TapeError{Op: op, Why: "the Msg is empty"})
	}
	c := compiler{plan: &plan{g: g, steps: make([]step, 0, 12)}, op: op, done: map[*expr]int{}, read: map[source]int{}}
	c.compile(m.n)
	c.join(len(rs) == 1 && rs[0] == Sum)
	c.layout()
	return c.plan
}

// out is the step that is the message.
func (p *plan) out() *step { return &p.steps[len(p.steps)-1] }

// stats is the number of columns of the steps across the in-edges, each of which
// has statistics for every destination.
func (p *plan) stats() int {
	n := 0
	for i := range p.steps {
		if p.steps[i].across() {
			n += p.steps[i].width
		}
	}
	return n
}

// ranked reports whether a statistic is an edge.
func (p *plan) ranked() bool {
	return slices.ContainsFunc(p.steps, func(s step) bool { return s.kind == topK })
}

// across reports whether a step sees all in-edges of a destination.
func (s *step) across() bool { return s.kind >= softmax }

type compiler struct {
	*plan
	op    string
	done  map[*expr]int
	read  map[source]int
	nStat int
}

// source is what a leaf reads: two that read the same are one step.
type source struct {
	kind kind
	x    *grad.Var
	rows *int32
}

func (s *step) source() source {
	from := source{kind: s.kind, x: s.x}
	if len(s.rows) > 0 {
		from.rows = &s.rows[0]
	}
	return from
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
		c.pair(&s)
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

// pair broadcasts the operands of a binary step. A factor that is one number for
// each run of the other operand is never stretched.
func (c *compiler) pair(s *step) {
	s.a, s.b = c.compile(s.expr.a), c.compile(s.expr.b)
	x, y := c.steps[s.a].shape, c.steps[s.b].shape
	shape, ok := tensor.Broadcast(x, y)
	if !ok {
		panic(c.clash(s.a, s.b))
	}
	s.shape = shape
	if s.bin == simd.Mul {
		if slices.Equal(y, shape) {
			s.a, s.b, x, y = s.b, s.a, y, x
		}
		if n := runOf(y, shape); n > 1 && slices.Equal(x, shape) {
			s.expr, s.run = &expr{kind: scaleBy}, n
			return
		}
	}
	s.a, s.b = c.stretch(s.a, shape), c.stretch(s.b, shape)
}

// runOf returns how many elements in a row of a larger shape each element of a
// shape stands for, 0 if they do not stand side by side.
func runOf(from, to []int) int {
	n := tensor.Size(from...)
	if n == 0 {
		return 0
	}
	run := tensor.Size(to...) / n
	for k, i := range tensor.Stretch(from, to) {
		if int(i) != k/run {
			return 0
		}
	}
	return run
}

// add appends a step and returns its number. A leaf that reads what an earlier
// one reads is that one.
func (c *compiler) add(s step) int {
	if s.kind <= leafW {
		if i, ok := c.read[s.source()]; ok {
			return i
		}
		c.read[s.source()] = len(c.steps)
	}
	s.width = tensor.Size(s.shape...)
	s.fixed = s.kind == leafW && s.rows == nil || s.kind > leafW && s.steady()
	for _, i := range []int{s.a, s.b} {
		if i >= 0 {
			s.needs = s.needs || c.steps[i].needs
			s.fixed = s.fixed && c.steps[i].fixed
			c.steps[i].uses++
		}
	}
	if s.kind == topK && s.mark || s.kind == unary && s.un == simd.Sign {
		s.needs = false
	}
	if s.across() {
		s.stat = c.nStat
		c.nStat += s.width
	}
	c.steps = append(c.steps, s)
	return len(c.steps) - 1
}

// steady reports whether a step has the same result on every edge if its
// operands have.
func (s *step) steady() bool {
	return s.kind != dropout && s.kind != gumbel && s.kind != pick && !s.across()
}

// stretch returns a step that has step i's message in a larger shape.
func (c *compiler) stretch(i int, shape []int) int {
	from := c.steps[i].shape
	if slices.Equal(from, shape) {
		return i
	}
	s := step{expr: &expr{kind: expand}, a: i, b: -1, shape: shape, run: runOf(from, shape)}
	if s.run == 0 {
		s.idx = tensor.Stretch(from, shape)
	}
	return c.add(s)
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
