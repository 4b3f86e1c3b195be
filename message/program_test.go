package message

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// treeOf returns a tree of m.
func treeOf(m Msg) *expr { return new(forest).tree(&m) }

// msgOf returns what a tree says.
func msgOf(e *expr) Msg {
	n := node{kind: e.kind, mark: e.mark, c: e.c, k: int32(e.k)}
	switch {
	case e.kind <= leafW:
		return leaf(e.kind, e.x)
	case n.aside():
		return msgOf(e.a).beside(e.kind, aside{e.drop, e.rows})
	case e.kind == unary:
		n.fn = uint8(e.un)
	case n.paired():
		n.fn = uint8(e.bin)
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
	if other := one.Abs(); longer.long.code[shortCode+1].fn == other.long.code[shortCode+1].fn {
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
	if n := len(vars.besides()); n != 1 {
		t.Errorf("%d lists of kinds, want the one of all", n)
	}
	if !(&Msg{}).empty() || (&front).empty() || (&one).empty() {
		t.Error("only a Msg that says nothing is empty")
	}
}
