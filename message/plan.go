package message

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// plan is an expression made ready to run on any graph: its operations in an order
// in which operands come first, each with its shape and its place in scratch. It
// knows no Var and no graph, and serves any number of goroutines.
type plan struct {
	steps  []step
	rs     []Reducer // none: the message of every edge is stored
	width  int       // scratch elements an edge needs where values make room for later ones
	all    int       // for the values and gradients of backward; before that is laid out, for all values
	near   int       // elements of the rows that an edge's steps read where they stand
	lazy   bool      // the message, U times a number for each run, is summed without being made
	nStat  int       // columns of the steps across the in-edges, each of which has statistics for every destination
	even   bool      // see worker.pullEven
	both   int       // of a lazy plan, the score that backward joins with its sum; −1: none. See joinBoth
	scored bool      // it is attention by scores of the rows that are summed; see findScored
	turn   int       // elements of the matrices that backward reads turned
	kept   int       // floats that the reducers keep beside the result, of each element of a message
	won    int       // and edges
	edges  bool      // a statistic is an edge
	key    []uint64  // what it was made from
}

// step is one operation of a plan.
type step struct {
	kind  kind
	un    simd.Unary  // of a unary
	bin   simd.Binary // of a binary
	mark  bool        // of a topK
	k     int         // of a topK
	c     tensor.Float
	leaf  int     // of a leaf, its Var
	aside int     // where its rows or its mask are
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
	moved bool    // leafV: the row is that of the source that the destination is
	taken bool    // of a leaf: of the rows of its row one is picked
	from  int     // picks: so many rows there are
	stat  int     // across the in-edges: where its statistics begin in a destination's
	needs bool    // its gradient is wanted
	ends  ends    // score, affine, matMul: the leaves that are read where they stand
	turn  int     // matMul: where its matrix is kept, turned; see run.turn
	there bool    // of a leaf: no step reads a copy of it
}

// newPlan makes a plan of m, whose leaves fit g. It panics with a
// [*tensor.ShapeError] where an operand does not fit.
func newPlan(op string, g *graph.Graph, m *Msg, rs []Reducer) *plan {
	copied := *m // so that the caller's need not be on the heap
	c := compiler{plan: &plan{rs: slices.Clone(rs)}, op: op, g: g, m: &copied, done: make([]int, len(m.nodes()))}
	for i := range c.done {
		c.done[i] = -1
	}
	c.compile(m.last())
	c.both = -1
	c.join(len(rs) == 1 && rs[0] == Sum)
	c.layout()
	c.countKept()
	c.even = c.evens()
	if c.out().needs {
		c.backLayout(len(rs) > 0 && !c.plain())
	}
	return c.plan
}

// out is the step that is the message.
func (p *plan) out() *step { return &p.steps[len(p.steps)-1] }

// across reports whether a step sees all in-edges of a destination.
func (s *step) across() bool { return s.kind >= softmax }

type compiler struct {
	*plan
	op   string
	g    *graph.Graph
	m    *Msg
	done []int // the step of each node, or −1
}

// compile adds a node and what it needs to the plan, and returns its step.
func (c *compiler) compile(i int32) int {
	if c.done[i] >= 0 {
		return c.done[i]
	}
	n := &c.m.nodes()[i]
	s := step{kind: n.kind, mark: n.mark, c: n.c, a: -1, b: -1}
	switch n.kind {
	case leafU, leafV, leafE, leafW:
		c.place(&s, n)
	case binary:
		s.bin = simd.Binary(n.fn)
		c.pair(&s, n)
	case dotLast:
		c.placeDot(&s, n)
	case matMul:
		c.placeMatMul(&s, n)
	case pick:
		c.placePick(&s, n)
	default:
		c.placeRest(&s, n)
	}
	c.done[i] = c.add(s)
	return c.done[i]
}

func (c *compiler) placeRest(s *step, n *node) {
	s.a = c.compile(n.a)
	s.shape = slices.Clone(c.steps[s.a].shape)
	switch n.kind {
	case unary:
		s.un = simd.Unary(n.fn)
	case topK:
		s.k = int(n.k)
	case dropout, gumbel:
		s.aside = int(n.k)
	case sumLast, maxLast, logSumExpLast:
		s.shape[len(s.shape)-1] = 1
	}
}

// pair broadcasts the operands of a binary step. A factor that is one number for
// each run of the other operand is never stretched.
func (c *compiler) pair(s *step, n *node) {
	s.a, s.b = c.compile(n.a), c.compile(n.b)
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
			s.kind, s.run = scaleBy, n
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

// add appends a step and returns its number.
func (c *compiler) add(s step) int {
	s.width = tensor.Size(s.shape...)
	s.fixed = s.kind == leafW && !s.taken || s.kind > leafW && s.steady()
	for _, i := range [2]int{s.a, s.b} {
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
		c.edges = c.edges || s.kind == topK
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
	s := step{kind: expand, a: i, b: -1, shape: shape, run: runOf(from, shape)}
	if s.run == 0 {
		s.idx = tensor.Stretch(from, shape)
	}
	return c.add(s)
}

// place says what a leaf reads.
func (c *compiler) place(s *step, n *node) {
	x := c.m.operands()[n.k]
	s.leaf, s.needs = int(n.k), x.Needs()
	s.shape = slices.Clone(shapeOf(n.kind, x))
	s.moved = n.kind == leafV && ofSources(c.g, x)
}

// shapeOf returns the shape of the message that a leaf of x is.
func shapeOf(k kind, x *grad.Var) []int {
	shape := x.Value().Shape()
	switch {
	case k == leafW:
		return shape
	case len(shape) == 1:
		return oneElement
	}
	return shape[1:]
}

var oneElement = []int{1}

// ofSources reports whether V(x) reads rows of sources on g.
func ofSources(g *graph.Graph, x *grad.Var) bool {
	return g.Bipartite() && x.Value().Rows() == g.NumSrc() && g.DstRows() != nil
}

func (c *compiler) placeDot(s *step, n *node) {
	s.a, s.b = c.compile(n.a), c.compile(n.b)
	x, y := c.steps[s.a].shape, c.steps[s.b].shape
	shape, ok := tensor.Broadcast(x, y)
	if !ok || x[len(x)-1] != y[len(y)-1] {
		panic(c.clash(s.a, s.b))
	}
	s.a, s.b = c.stretch(s.a, shape), c.stretch(s.b, shape)
	s.shape = slices.Clone(shape)
	s.shape[len(shape)-1] = 1
}

// placePick takes rows of a message. Of a leaf the row is read where it stands, so
// a message of all rows is never made.
func (c *compiler) placePick(s *step, n *node) {
	if from := &c.m.nodes()[n.a]; from.kind <= leafW {
		s.kind, s.taken = from.kind, true
		c.place(s, from)
	} else {
		s.a = c.compile(n.a)
		s.shape = c.steps[s.a].shape
	}
	s.aside, s.from = int(n.k), s.shape[0]
	if s.shape = s.shape[1:]; len(s.shape) == 0 {
		s.shape = oneElement
	}
}

func (c *compiler) clash(i, j int) *tensor.ShapeError {
	return &tensor.ShapeError{Op: c.op, Shapes: [][]int{c.steps[i].shape, c.steps[j].shape}, Why: "the messages of one edge do not broadcast"}
}

var leafNames = [...]string{leafU: "U", leafV: "V", leafE: "E", leafW: "W"}
