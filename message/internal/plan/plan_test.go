package plan_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// programOf is a program whose leaves have these shapes of one message, by node.
func programOf(reducers []*ops.Reducer, code []ir.Node, shapes ...[]int) *ir.Program {
	p := &ir.Program{Code: code, Leaves: make([]ir.Leaf, len(code)), Reducers: reducers}
	for i, s := range shapes {
		p.Leaves[i] = ir.Leaf{Shape: s, Needs: true}
	}
	return p
}

// TestResult says for some programs how their messages are taken, with and without
// joins, and how many steps are left.
func TestResult(t *testing.T) {
	u, v, w, e := ir.Node{Kind: ops.LeafU}, ir.Node{Kind: ops.LeafV, K: 1}, ir.Node{Kind: ops.LeafW, K: 2}, ir.Node{Kind: ops.LeafE, K: 1}
	binary := func(b vec.Binary, x, y int32) ir.Node { return ir.Node{Kind: ops.Binary, Fn: uint8(b), A: x, B: y} }
	leaky := ir.Node{Kind: ops.Unary, Fn: uint8(vec.LeakyReLU), A: 3, C: 0.2}
	rows, heads := []int{2, 8}, []int{2, 1}
	sum := []*ops.Reducer{ops.Sum}
	gatv2 := []ir.Node{u, v, w, binary(vec.Add, 0, 1), leaky, {Kind: ops.DotLast, A: 4, B: 2}, {Kind: ops.Softmax, A: 5}, binary(vec.Mul, 0, 6)}
	for _, c := range []struct {
		name          string
		p             *ir.Program
		joined, apart plan.Result
		steps, parts  int
	}{
		{"no reducer", programOf(nil, []ir.Node{u}, rows), plan.Stored, plan.Stored, 1, 1},
		{"two reducers", programOf([]*ops.Reducer{ops.Sum, ops.Max}, []ir.Node{u}, rows), plan.Reduced, plan.Reduced, 1, 1},
		{"the largest", programOf([]*ops.Reducer{ops.Max}, []ir.Node{u}, rows), plan.Reduced, plan.Reduced, 1, 1},
		{"a mean", programOf([]*ops.Reducer{ops.Mean}, []ir.Node{u}, rows), plan.SumOfMessages, plan.SumOfMessages, 1, 1},
		{"a weighted sum", programOf(sum, []ir.Node{u, e, binary(vec.Mul, 1, 0)}, rows, heads), plan.SumWithoutMessage, plan.SumOfMessages, 3, 3},
		{"a weighted mean", programOf([]*ops.Reducer{ops.Mean}, []ir.Node{u, e, binary(vec.Mul, 1, 0)}, rows, heads), plan.SumOfMessages, plan.SumOfMessages, 3, 3},
		{"heads of other widths", programOf(sum, []ir.Node{u, e, binary(vec.Mul, 1, 0)}, []int{2, 3}, heads), plan.SumOfMessages, plan.SumOfMessages, 3, 3},
		{"a common factor", programOf(sum, []ir.Node{u, {Kind: ops.LeafW, K: 1}, binary(vec.Mul, 0, 1)}, rows, rows), plan.CommonFactor, plan.CommonFactor, 3, 3},
		{"GATv2", programOf(sum, gatv2, rows, rows, rows), plan.SumWithoutMessage, plan.SumOfMessages, 6, 8},
	} {
		for _, join := range []bool{true, false} {
			plan.Join = join
			p, want, steps := plan.New("test", c.p), c.joined, c.steps
			if !join {
				want, steps = c.apart, c.parts
			}
			if p.Result != want || len(p.Steps) != steps {
				t.Errorf("%s, joined %v: result %d in %d steps, want %d in %d", c.name, join, p.Result, len(p.Steps), want, steps)
			}
			if scored := p.ScoreIsValue >= 0; scored != (join && c.name == "GATv2") {
				t.Errorf("%s, joined %v: the rows that are scored are those that are summed is %v", c.name, join, scored)
			}
		}
	}
	plan.Join = true
}
