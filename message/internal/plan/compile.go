package plan

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/tensor"
)

// New makes a plan of a program. It panics with a [*tensor.ShapeError], in the name
// of op, where an operand does not fit.
func New(op string, program *ir.Program) *Plan {
	c := compiler{plan: &Plan{Program: program, ScoreIsValue: -1}, op: op, done: make([]int, len(program.Code))}
	for i := range c.done {
		c.done[i] = -1
	}
	c.compile(int32(len(program.Code) - 1))
	p := c.plan
	p.Result = p.resultOf()
	p.join()
	p.layout()
	for _, r := range p.Reducers() {
		p.KeptFloats, p.KeptEdges = p.KeptFloats+r.Floats, p.KeptEdges+r.Edges
	}
	if p.sharesFactor() {
		p.Result = CommonFactor
	}
	if p.Out().Needs {
		p.backLayout()
	}
	return p
}

// resultOf says how messages are taken before anything is joined.
func (p *Plan) resultOf() Result {
	switch {
	case len(p.Reducers()) == 0:
		return Stored
	case len(p.Reducers()) == 1 && p.Reducers()[0].Plain:
		return SumOfMessages
	}
	return Reduced
}

// sharesFactor reports whether the last step multiplies with what is the same on
// every edge, and messages are summed.
func (p *Plan) sharesFactor() bool {
	s := p.Out()
	if p.Result != SumOfMessages || s.Kind != ops.Binary || s.Binary != vec.Mul || s.A == s.B {
		return false
	}
	x, f := &p.Steps[s.A], &p.Steps[s.B]
	if x.Fixed {
		x, f = f, x
	}
	return !x.Fixed && f.Fixed && (!f.Needs || f.Kind == ops.LeafW)
}

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
	s := Step{Step: ops.Step{Kind: n.Kind, Mark: n.Mark, C: n.C}, A: -1, B: -1}
	switch o := n.Kind.Op(); {
	case n.Kind.IsLeaf():
		c.leaf(&s, i)
	case o.Extra == ops.Choice:
		c.pick(&s, n)
	default:
		c.operation(&s, n)
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

// operation compiles a node of one or two operands.
func (c *compiler) operation(s *Step, n *ir.Node) {
	o := n.Kind.Op()
	switch n.Kind {
	case ops.Unary:
		s.Unary = vec.Unary(n.Fn)
	case ops.Binary:
		s.Binary = vec.Binary(n.Fn)
	}
	if o.Extra == ops.Nothing {
		s.K = int(n.K)
	} else {
		s.Attribute = int(n.K)
	}
	s.A = c.compile(n.A)
	y := -1
	switch {
	case o.Whole:
		s.Near.W = c.compile(n.B)
		y = s.Near.W
	case o.Operands == 2:
		s.B = c.compile(n.B)
		y = s.B
	}
	c.shape(s, s.A, y)
	if o.Broadcast {
		c.broadcast(s)
	}
}

// shape asks the operation for the shape of a step with operands x and, unless it is −1, y.
func (c *compiler) shape(s *Step, x, y int) {
	shapes := [][]int{c.plan.Steps[x].Shape, nil}
	if y >= 0 {
		shapes[1] = c.plan.Steps[y].Shape
	}
	shape := s.Kind.Op().Shape
	if shape == nil {
		s.Shape = slices.Clone(shapes[0])
		return
	}
	if why := shape(&s.Step, shapes[0], shapes[1]); why != "" {
		panic(&tensor.ShapeError{Op: c.op, Shapes: shapes, Why: why})
	}
}

// broadcast stretches the operands of a step to one shape. A factor that is one number for
// each run of the other operand is never stretched.
func (c *compiler) broadcast(s *Step) {
	x, y := c.plan.Steps[s.A].Shape, c.plan.Steps[s.B].Shape
	shape, _ := tensor.Broadcast(x, y)
	if s.Kind == ops.Binary && s.Binary == vec.Mul {
		if slices.Equal(y, shape) {
			s.A, s.B, x, y = s.B, s.A, y, x
		}
		if n := runOf(y, shape); n > 1 && slices.Equal(x, shape) {
			s.Kind, s.Run = ops.ScaleBy, n
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
	s := Step{Step: ops.Step{Kind: ops.Expand, Shape: shape, Run: runOf(from, shape)}, A: i, B: -1}
	if s.Run == 0 {
		s.Index = tensor.Stretch(from, shape)
	}
	return c.add(s)
}

// add appends a step and returns its number.
func (c *compiler) add(s Step) int {
	p, o := c.plan, s.Kind.Op()
	s.Width = tensor.Size(s.Shape...)
	s.Fixed = s.Kind == ops.LeafW && !s.Picked || !s.Kind.IsLeaf() && o.Extra == ops.Nothing && o.Across == nil
	for _, i := range [2]int{s.A, s.B} {
		if i >= 0 {
			s.Needs = s.Needs || p.Steps[i].Needs
			s.Fixed = s.Fixed && p.Steps[i].Fixed
			p.Steps[i].Uses++
		}
	}
	if s.A >= 0 {
		s.From = p.Steps[s.A].Width
	}
	if o.Whole {
		s.Needs = s.Needs || p.Steps[s.Near.W].Needs
	}
	if o.Turn != nil && p.Steps[s.A].Needs {
		s.Turned = p.TurnWidth
		p.TurnWidth += p.Steps[s.Near.W].Width
	}
	if s.Reads(0)&ops.None != 0 {
		s.Needs = false
	}
	if o.Across != nil {
		s.Stat = p.Stats
		p.Stats += s.Width
		p.StatsEdges = p.StatsEdges || o.Across.Edges
	}
	p.Steps = append(p.Steps, s)
	return len(p.Steps) - 1
}

// pick takes rows of a message. Of a leaf the row is read where it stands, so a
// message of all rows is never made.
func (c *compiler) pick(s *Step, n *ir.Node) {
	if kind := c.plan.Program.Code[n.A].Kind; kind.IsLeaf() {
		c.leaf(s, n.A)
		s.PickFrom = s.Shape[0]
		n.Kind.Op().Shape(&s.Step, s.Shape, nil)
		s.Kind, s.Picked = kind, true
	} else {
		c.operation(s, n)
		s.PickFrom = c.plan.Steps[s.A].Shape[0]
	}
	s.Attribute = int(n.K)
}
