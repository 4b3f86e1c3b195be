package plan

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/tensor"
)

// compiler makes steps of nodes.
type compiler struct {
	plan *Plan
	op   string // what errors name
	done []int  // the step of each node, or −1
}

// compile adds a node and what it needs to the plan, and returns its step.
func (c *compiler) compile(i int32) int {
	if c.done[i] >= 0 {
		return c.done[i]
	}
	n := &c.plan.Program.Code[i]
	s := Step{Kind: n.Kind, Mark: n.Mark, C: n.C, A: -1, B: -1}
	switch n.Kind {
	case ir.LeafU, ir.LeafV, ir.LeafE, ir.LeafW:
		c.leaf(&s, i)
	case ir.Binary:
		s.Binary = vec.Binary(n.Fn)
		c.pair(&s, n)
	case ir.DotLast:
		c.dot(&s, n)
	case ir.MatMul:
		c.matMul(&s, n)
	case ir.Pick:
		c.pick(&s, n)
	default:
		c.rest(&s, n)
	}
	c.done[i] = c.add(s)
	return c.done[i]
}

// leaf says what a leaf reads.
func (c *compiler) leaf(s *Step, node int32) {
	x := &c.plan.Program.Leaves[node]
	s.Var, s.Needs = int(c.plan.Program.Code[node].K), x.Needs
	s.Shape = slices.Clone(x.Shape)
}

// rest compiles a node of one operand.
func (c *compiler) rest(s *Step, n *ir.Node) {
	s.A = c.compile(n.A)
	s.Shape = slices.Clone(c.plan.Steps[s.A].Shape)
	switch n.Kind {
	case ir.Unary:
		s.Unary = vec.Unary(n.Fn)
	case ir.TopK:
		s.K = int(n.K)
	case ir.Dropout, ir.Gumbel:
		s.Attribute = int(n.K)
	case ir.SumLast, ir.MaxLast, ir.LogSumExpLast:
		s.Shape[len(s.Shape)-1] = 1
	}
}

// pair broadcasts the operands of a binary step. A factor that is one number for
// each run of the other operand is never stretched.
func (c *compiler) pair(s *Step, n *ir.Node) {
	s.A, s.B = c.compile(n.A), c.compile(n.B)
	x, y := c.plan.Steps[s.A].Shape, c.plan.Steps[s.B].Shape
	shape, ok := tensor.Broadcast(x, y)
	if !ok {
		panic(c.clash(s.A, s.B))
	}
	s.Shape = shape
	if s.Binary == vec.Mul {
		if slices.Equal(y, shape) {
			s.A, s.B, x, y = s.B, s.A, y, x
		}
		if n := runOf(y, shape); n > 1 && slices.Equal(x, shape) {
			s.Kind, s.Run = ir.ScaleBy, n
			return
		}
	}
	s.A, s.B = c.stretch(s.A, shape), c.stretch(s.B, shape)
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

// stretch returns a step that has step i's message in a larger shape.
func (c *compiler) stretch(i int, shape []int) int {
	from := c.plan.Steps[i].Shape
	if slices.Equal(from, shape) {
		return i
	}
	s := Step{Kind: ir.Expand, A: i, B: -1, Shape: shape, Run: runOf(from, shape)}
	if s.Run == 0 {
		s.Index = tensor.Stretch(from, shape)
	}
	return c.add(s)
}

// add appends a step and returns its number.
func (c *compiler) add(s Step) int {
	p := c.plan
	s.Width = tensor.Size(s.Shape...)
	s.Fixed = s.Kind == ir.LeafW && !s.Picked || !s.Kind.IsLeaf() && s.steady()
	for _, i := range [2]int{s.A, s.B} {
		if i >= 0 {
			s.Needs = s.Needs || p.Steps[i].Needs
			s.Fixed = s.Fixed && p.Steps[i].Fixed
			p.Steps[i].Uses++
		}
	}
	if s.Kind == ir.TopK && s.Mark || s.Kind == ir.Unary && s.Unary == vec.Sign {
		s.Needs = false
	}
	if s.Kind.AcrossInEdges() {
		s.Stat = p.Stats
		p.Stats += s.Width
		p.StatsEdges = p.StatsEdges || s.Kind == ir.TopK || s.Kind == ir.Sparsemax
	}
	p.Steps = append(p.Steps, s)
	return len(p.Steps) - 1
}

// steady reports whether a step has the same result on every edge if its
// operands have.
func (s *Step) steady() bool {
	return s.Kind != ir.Dropout && s.Kind != ir.Gumbel && s.Kind != ir.Pick && !s.Kind.AcrossInEdges()
}

// dot compiles scalar products along the last axis.
func (c *compiler) dot(s *Step, n *ir.Node) {
	s.A, s.B = c.compile(n.A), c.compile(n.B)
	x, y := c.plan.Steps[s.A].Shape, c.plan.Steps[s.B].Shape
	shape, ok := tensor.Broadcast(x, y)
	if !ok || x[len(x)-1] != y[len(y)-1] {
		panic(c.clash(s.A, s.B))
	}
	s.A, s.B = c.stretch(s.A, shape), c.stretch(s.B, shape)
	s.Shape = slices.Clone(shape)
	s.Shape[len(shape)-1] = 1
}

// matMul checks that the last axis of a message fits a matrix.
func (c *compiler) matMul(s *Step, n *ir.Node) {
	p := c.plan
	s.A, s.Near.W = c.compile(n.A), c.compile(n.B)
	x, w := p.Steps[s.A].Shape, p.Steps[s.Near.W].Shape
	s.K = x[len(x)-1]
	bad := func(why string) {
		panic(&tensor.ShapeError{Op: c.op, Shapes: [][]int{x, w}, Why: why})
	}
	switch {
	case len(w) < 2 || w[0] != s.K:
		bad("MatMul wants a matrix with a row for each element of the message's last axis")
	case len(x)+len(w)-2 > tensor.MaxAxes-1:
		bad("the products of MatMul have too many axes")
	}
	s.Shape = append(slices.Clone(x[:len(x)-1]), w[1:]...)
	s.Run = tensor.Size(w[1:]...)
	if s.Needs = p.Steps[s.Near.W].Needs; p.Steps[s.A].Needs {
		s.Turned = p.TurnWidth
		p.TurnWidth += s.K * s.Run
	}
}

// pick takes rows of a message. Of a leaf the row is read where it stands, so a
// message of all rows is never made.
func (c *compiler) pick(s *Step, n *ir.Node) {
	if kind := c.plan.Program.Code[n.A].Kind; kind.IsLeaf() {
		s.Kind, s.Picked = kind, true
		c.leaf(s, n.A)
	} else {
		s.A = c.compile(n.A)
		s.Shape = c.plan.Steps[s.A].Shape
	}
	s.Attribute, s.PickFrom = int(n.K), s.Shape[0]
	if s.Shape = s.Shape[1:]; len(s.Shape) == 0 {
		s.Shape = []int{1}
	}
}

func (c *compiler) clash(i, j int) *tensor.ShapeError {
	return &tensor.ShapeError{Op: c.op, Shapes: [][]int{c.plan.Steps[i].Shape, c.plan.Steps[j].Shape}, Why: "the messages of one edge do not broadcast"}
}
