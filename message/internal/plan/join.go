package plan

import (
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
)

// Join says whether steps that follow each other are joined to one, which reads the
// rows of their leaves where they stand and makes nothing in between. Tests switch it
// off, to compare joined steps with their parts.
var Join = true

// rewrites are the joins, in the order in which they are tried on a step. Each
// returns the steps that it made part of step i.
var rewrites = []struct {
	from ops.Kind
	join func(p *Plan, i int) (taken []int)
}{
	{ops.DotLast, (*Plan).joinScore}, // Dot(LeakyReLU(U + V), W)
	{ops.Binary, (*Plan).joinAffine}, // U·c + V
}

// join replaces steps by joined ones, and finds a sum that needs no message.
func (p *Plan) join() {
	if !Join {
		return
	}
	gone := make([]bool, len(p.Steps))
	for i := range p.Steps {
		for _, r := range rewrites {
			if p.Steps[i].Kind == r.from {
				for _, x := range r.join(p, i) {
					gone[x] = true
				}
			}
		}
	}
	last := p.Out()
	if p.Program.Reduces(ops.Sum) && last.Kind == ops.ScaleBy && last.Run%8 == 0 && p.isNear(last.A, ops.LeafU) {
		p.Result = SumWithoutMessage
	}
	p.drop(gone)
	p.settleLeaves()
	p.findScoreIsValue()
}

// isNear reports whether step i is a leaf that an edge reads without a choice.
func (p *Plan) isNear(i int, k ops.Kind) bool {
	s := &p.Steps[i]
	return s.Kind == k && !s.Picked
}

// pairUV returns the steps of U and V if x and y are these.
func (p *Plan) pairUV(x, y int) (n Near, ok bool) {
	if p.isNear(y, ops.LeafU) {
		x, y = y, x
	}
	return Near{U: x, V: y}, p.isNear(x, ops.LeafU) && p.isNear(y, ops.LeafV)
}

// joinScore joins the product of LeakyReLU(U + V) with W.
func (p *Plan) joinScore(i int) (taken []int) {
	s := &p.Steps[i]
	x, w := s.A, s.B
	if p.isNear(x, ops.LeafW) {
		x, w = w, x
	}
	leaky := &p.Steps[x]
	d := leaky.Width / max(s.Width, 1)
	if !p.isNear(w, ops.LeafW) || leaky.Kind != ops.Unary || leaky.Unary != vec.LeakyReLU || leaky.Uses != 1 || d == 0 || d%8 != 0 {
		return nil
	}
	sum := &p.Steps[leaky.A]
	if sum.Kind != ops.Binary || sum.Binary != vec.Add || sum.Uses != 1 {
		return nil
	}
	near, ok := p.pairUV(sum.A, sum.B)
	if !ok {
		return nil
	}
	near.W = w
	taken = []int{x, leaky.A}
	s.Kind, s.C = ops.Score, leaky.C
	s.A, s.B, s.Near, s.Run = -1, -1, near, d
	return taken
}

// joinAffine joins the sum of V and a product of U with one number for each run.
func (p *Plan) joinAffine(i int) (taken []int) {
	s := &p.Steps[i]
	if s.Binary != vec.Add {
		return nil
	}
	x, v := s.A, s.B
	if p.isNear(x, ops.LeafV) {
		x, v = v, x
	}
	scaled := &p.Steps[x]
	if scaled.Kind != ops.ScaleBy || scaled.Uses != 1 || scaled.Run%8 != 0 || !p.isNear(scaled.A, ops.LeafU) || !p.isNear(v, ops.LeafV) {
		return nil
	}
	s.Kind = ops.Affine
	s.A, s.B, s.Near, s.Run = -1, scaled.B, Near{U: scaled.A, V: v}, scaled.Run
	return []int{x}
}

// findScoreIsValue finds the score from which the weights of a sum without message
// come, if it reads the rows that are summed: attention by GATv2. Nothing else in
// such a plan does. Backward then reads these once for the score and for the gradients
// of the weights, and keeps of an edge what tells both their gradients for the source.
func (p *Plan) findScoreIsValue() {
	out := p.Out()
	if p.Result != SumWithoutMessage || !p.Steps[out.A].Needs {
		return
	}
	at := out.B
	for s := &p.Steps[at]; s.Kind != ops.Score; s = &p.Steps[at] {
		if s.A < 0 || s.B >= 0 || !s.Needs {
			return
		}
		at = s.A
	}
	if s := &p.Steps[at]; s.Near.U == out.A && s.Run == out.Run {
		p.ScoreIsValue = at
	}
}

// drop takes steps that are gone out of the plan.
func (p *Plan) drop(gone []bool) {
	to, n := make([]int, len(p.Steps)), 0
	for i := range p.Steps {
		to[i] = n
		if !gone[i] {
			p.Steps[n] = p.Steps[i]
			n++
		}
	}
	p.Steps = p.Steps[:n]
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, x := range []*int{&s.A, &s.B} {
			if *x >= 0 {
				*x = to[*x]
			}
		}
		s.Near = Near{to[s.Near.U], to[s.Near.V], to[s.Near.W]}
		s.Uses = 0
	}
}

// settleLeaves counts the uses of each step again, and finds the leaves of which
// no copy is read.
func (p *Plan) settleLeaves() {
	last := len(p.Steps) - 1
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, x := range []int{s.A, s.B} {
			if x >= 0 && !(p.Result == SumWithoutMessage && i == last && x == s.A) {
				p.Steps[x].Uses++
			}
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Kind.IsLeaf() && s.Uses == 0 && i != last {
			s.InPlace = true
			if s.Kind == ops.LeafU {
				p.NearWidth += s.Width
			}
		}
	}
}
