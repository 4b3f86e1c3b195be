package message

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/tensor"
)

// expr is a node of a Msg as part of a tree, which oracles evaluate.
type expr struct {
	kind ops.Kind
	a, b *expr
	x    *grad.Var  // of a leaf
	un   vec.Unary  // of a Unary
	bin  vec.Binary // of a Binary
	c    tensor.Float
	drop *vec.Dropout
	rows []int32 // of a Pick
	k    int     // of a TopK: how many are kept
	mark bool    // of a TopK: 1 for what is kept, else 0
}

// treeOf returns a tree of m.
func treeOf(m Msg) *expr {
	all := make([]expr, len(m.nodes()))
	for i, n := range m.nodes() {
		e := &all[i]
		*e = expr{kind: n.Kind, c: n.C, mark: n.Mark}
		switch {
		case n.Kind.IsLeaf():
			e.x = m.operands()[n.K]
			continue
		case n.Kind == ops.Unary:
			e.un = vec.Unary(n.Fn)
		case n.Kind == ops.Binary:
			e.bin = vec.Binary(n.Fn)
		case n.Kind == ops.TopK:
			e.k = int(n.K)
		case n.Kind.HasAttribute():
			x := m.attributeList()[n.K]
			e.drop, e.rows = x.Drop, x.Rows
		}
		if e.a = &all[n.A]; n.Kind.Paired() {
			e.b = &all[n.B]
		}
	}
	return &all[len(all)-1]
}

// msgOf returns what a tree says.
func msgOf(e *expr) Msg {
	n := ir.Node{Kind: e.kind, Mark: e.mark, C: e.c, K: int32(e.k)}
	switch {
	case e.kind.IsLeaf():
		return leaf(e.kind, e.x)
	case e.kind.HasAttribute():
		return msgOf(e.a).withAttribute(e.kind, ops.Attribute{Drop: e.drop, Rows: e.rows})
	case e.kind == ops.Unary:
		n.Fn = uint8(e.un)
	case e.kind.Paired():
		n.Fn = uint8(e.bin)
		o := msgOf(e.b)
		return msgOf(e.a).with(&o, n)
	}
	return msgOf(e.a).then(n)
}

// TestProgram builds a message that is longer than a Msg holds in itself, beside
// another one made of the same front, and says parts of it several times.
func TestProgram(t *testing.T) {
	front := U(grad.Const(tensor.New(3, 2)))
	for i := range shortCode - 1 {
		front = front.Scale(float64(i))
	}
	one, two := front.Tanh(), front.Exp()
	if len(front.nodes()) != shortCode || len(one.nodes()) != shortCode+1 || len(two.nodes()) != shortCode+1 {
		t.Fatalf("%d, %d and %d operations", len(front.nodes()), len(one.nodes()), len(two.nodes()))
	}
	longer := one.Neg()
	if other := one.Abs(); longer.long.code[shortCode+1].Fn == other.long.code[shortCode+1].Fn {
		t.Error("two messages of one front share what was added to it")
	}
	both := one.Add(two)
	if n := len(both.nodes()); n != shortCode+3 {
		t.Errorf("the sum of two messages of one front has %d operations, want %d", n, shortCode+3)
	}
	var vars Msg
	for i := range 2 * shortVars {
		x := U(grad.Const(tensor.New(3, 2)))
		if i == 0 {
			vars = x
			continue
		}
		vars = vars.Add(x).Add(x.Pick(nil))
	}
	if n := len(vars.operands()); n != 2*shortVars {
		t.Errorf("%d arrays are read, want %d", n, 2*shortVars)
	}
	if n := len(vars.attributeList()); n != 1 {
		t.Errorf("%d lists of kinds, want the one of all", n)
	}
	if !(Msg{}).Empty() || W(grad.Const(tensor.New(1))).Empty() {
		t.Error("Empty is wrong")
	}
	if !(&Msg{}).empty() || (&front).empty() || (&one).empty() {
		t.Error("only a Msg that says nothing is empty")
	}
}
