package grad

import (
	"fmt"
	"math"
	"strings"

	"github.com/edgewise-ml/edgewise/tensor"
)

// pull takes the memory that the pullback of n would take: the gradients of its results, the
// scratch, and then the gradients of the operands in their order.
func (tr *trace) pull(t *Tape, n *node) {
	for _, y := range n.outs {
		y.Grad()
	}
	if tr.scratch > 0 {
		buf := t.borrow(tr.scratch)
		defer t.recycle(buf)
	}
	for _, x := range tr.xs {
		if x != tr.over || !n.out.handOver(x) {
			x.Grad()
		}
	}
}

// Trace says whether the tape keeps the operands of each operation from now on,
// so that [Tape.FirstNonFinite] also finds the pullback that made a NaN. It costs
// an allocation an operation and, in Backward, a look at every gradient.
func (t *Tape) Trace(on bool) {
	if t != nil {
		t.traced = on || t.dry
	}
}

// FirstNonFinite names the first operation of this step whose result holds a NaN
// or an infinity, and says which element it is: "Conv1/Log: element 3 of [4 2]
// is NaN". A Param or a watched value that holds one comes before the
// operations. If all values are finite, it names the first operation in the last
// Backward whose pullback made one, if the tape was told to [Tape.Trace].
//
// What a checkpointed function made inside is found at its result. An infinity
// may be meant, such as the −Inf of a mask, which is why nothing
// stops by itself.
func (t *Tape) FirstNonFinite() (op string, found bool) {
	if t == nil {
		return "", false
	}
	t.settle()
	for _, l := range t.leaves {
		if why := nonFinite(l.v.val); why != "" {
			return "the value of a trained Param or watched array: " + why, true
		}
	}
	if why := badValue(t.nodes); why != "" {
		return why, true
	}
	return t.bad, t.bad != ""
}

// badValue describes the first value of nodes that is not finite.
func badValue(nodes []node) string {
	for i := range nodes {
		if why := nodes[i].badValue(); why != "" {
			return why
		}
	}
	return ""
}

// name returns the operation's name below its labels, behind that of an operation
// that it took along.
func (n *node) name() string {
	op := n.op
	if by, ok := n.by.(taker); ok && by.took() != "" {
		op = by.took() + "+" + op
	}
	if n.label == "" {
		return op
	}
	return strings.ReplaceAll(n.label, ".", "/") + "/" + op
}

func (n *node) badValue() string {
	if rounds, ok := n.by.(*loopPull); ok {
		return badValue(rounds.nodes)
	}
	ys := n.outs
	if n.out != nil {
		ys = []*Var{n.out}
	}
	for _, y := range ys {
		if l := y.late.Load(); l != nil && l.state != given { // it was only worked out as a part of another operation
			l.read("FirstNonFinite", false)
		} else if l != nil {
			continue // what lies there now is another operation's
		}
		if why := nonFinite(y.val); why != "" {
			return n.name() + ": " + why
		}
	}
	return ""
}

// badGrad says which operand's gradient is not finite.
func (n *node) badGrad() string {
	for i, x := range n.trace.xs {
		if !x.needs {
			continue
		}
		if why := nonFinite(*x.Grad()); why != "" {
			return fmt.Sprintf("the gradient of %s by operand %d: %s", n.name(), i, why)
		}
	}
	return ""
}

// nonFinite describes the first element of x that is no finite number.
func nonFinite(x tensor.Dense) string {
	for i, v := range x.Data {
		if v-v != 0 { // NaN for both
			f := float64(v)
			if math.IsInf(f, 0) {
				return fmt.Sprintf("element %d of %v is %+.0f", i, x.Shape(), f)
			}
			return fmt.Sprintf("element %d of %v is NaN", i, x.Shape())
		}
	}
	return ""
}
