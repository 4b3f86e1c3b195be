package plan

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
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
	p.countKept()
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
	case p.Program.Reduces(ir.Sum) || p.Program.Reduces(ir.Mean):
		return SumOfMessages
	}
	return Reduced
}

// sharesFactor reports whether the last step multiplies with what is the same on
// every edge, and messages are summed.
func (p *Plan) sharesFactor() bool {
	s := p.Out()
	if p.Result != SumOfMessages || s.Kind != ir.Binary || s.Binary != vec.Mul || s.A == s.B {
		return false
	}
	x, f := &p.Steps[s.A], &p.Steps[s.B]
	if x.Fixed {
		x, f = f, x
	}
	return !x.Fixed && f.Fixed && (!f.Needs || f.Kind == ir.LeafW)
}
