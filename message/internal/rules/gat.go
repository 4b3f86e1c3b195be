package rules

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// gat is the whole of GAT:
//
//	Σ U(ft) × softmax(LeakyReLU(U(el) + V(er) [+ E(ee)])) [with dropout] [× E(weight)]
//
// [fused.GAT] has the arithmetic.
type gat struct {
	ft, el, er int
	ee, weight int // none: there is none
	drop       int // the attribute of a dropout, or none
	slope      tensor.Float
}

// none says that there is no such operand.
const none = -1

func matchGAT(p *plan.Plan) Way {
	ft, w, ok := p.Program.Message().Product(ops.LeafU)
	if !ok || !p.Program.Reduces(ops.Sum) {
		return nil
	}
	k := gat{ft: ft.Var(), ee: none, weight: none, drop: none}
	var weight *ir.Leaf
	for !w.Is(ops.Softmax) {
		x, y, ok := w.Pair(vec.Mul)
		switch {
		case w.Is(ops.Dropout) && k.drop == none:
			k.drop, w = w.Attribute(), w.Operand()
		case ok && y.Is(ops.LeafE) && k.weight == none && k.drop == none:
			k.weight, weight, w = y.Var(), y.Leaf(), x
		default:
			return nil
		}
	}
	slope, ok := w.Operand().Function(vec.LeakyReLU)
	if !ok {
		return nil
	}
	var t gatTerms
	if !t.take(w.Operand().Operand()) || !t.fit(ft.Leaf(), weight) {
		return nil
	}
	if t.ee.found {
		k.ee = t.ee.Var()
	}
	k.el, k.er, k.slope = t.el.Var(), t.er.Var(), slope
	return k
}

// gatTerms are the terms of a logit.
type gatTerms struct{ el, er, ee gatTerm }

type gatTerm struct {
	ir.Expr
	found bool
}

// take takes the terms out of a tree of additions. It reports whether there is nothing
// else, and each once.
func (t *gatTerms) take(e ir.Expr) bool {
	if x, y, ok := e.Pair(vec.Add); ok {
		return t.take(x) && t.take(y)
	}
	var to *gatTerm
	switch {
	case e.Is(ops.LeafU):
		to = &t.el
	case e.Is(ops.LeafV):
		to = &t.er
	case e.Is(ops.LeafE):
		to = &t.ee
	default:
		return false
	}
	again := to.found
	*to = gatTerm{e, true}
	return !again
}

// fit reports whether the two terms of nodes are there, and all have one element for
// each head of ft. A weight may have one number for all heads.
func (t *gatTerms) fit(ft, weight *ir.Leaf) bool {
	if !t.el.found || !t.er.found {
		return false
	}
	el := t.el.Leaf()
	same := func(x *ir.Leaf) bool { return x.Flat == el.Flat && slices.Equal(x.Shape, el.Shape) }
	whole := el.Axes() == ft.Axes() || el.Width() == 1
	return ir.Heads(el, ft) && whole && same(t.er.Leaf()) && (!t.ee.found || same(t.ee.Leaf())) &&
		(weight == nil || same(weight) || weight.Axes() <= el.Axes() && weight.Width() == 1)
}

// Takes takes every call.
func (gat) Takes(*exec.Call) bool { return true }

// Forward prepares a call. The pass runs in Run: at once, or when the result is read.
func (k gat) Forward(c *exec.Call) *grad.Var {
	var room [5]*grad.Var
	ft := c.Vars[k.ft]
	vars := append(room[:0], ft, c.Vars[k.el], c.Vars[k.er])
	for _, i := range [...]int{k.ee, k.weight} {
		if i != none {
			vars = append(vars, c.Vars[i])
		}
	}
	from, aside := tape.Projected(ft), ft
	if from == nil || k.ee != none || k.weight != none || k.drop != none {
		from, aside = nil, nil
	}
	op := tape.BeginWithout("UpdateAll.Attention", aside, vars...)
	waits := tape.Own(op, vars)
	a := tape.Notes[gatBack](op)
	a.op, a.ft, a.el, a.er, a.from = op, vars[0], vars[1], vars[2], from
	a.pass = fused.GAT{In: c.Graph.In(), El: a.el.Value(), Er: a.er.Value(), Slope: k.slope}
	if from != nil {
		a.pass.Ft = from.Shape()
	} else {
		a.pass.Ft = a.ft.Value()
	}
	if k.drop != none {
		a.pass.Drop = (*tensor.Mask)(c.Attributes[k.drop].Drop)
	}
	if k.ee != none {
		a.ee = vars[3]
		a.pass.Ee = a.ee.Value()
	}
	if k.weight != none {
		a.weight = vars[len(vars)-1]
		a.pass.Weight = a.weight.Value()
	}
	var shape [tensor.MaxAxes]int
	y := op.Fresh(c.Shape(shape[:], ft)...)
	if op.Needs() {
		a.records.Data = tape.FreshFloats(op, a.pass.RecordsLen())
	}
	tape.Dry(op, 0)
	return exec.Record(op, y, a, waits)
}

// gatBack is the pullback of graph attention.
type gatBack struct {
	op         grad.Op
	ft, el, er *grad.Var
	ee, weight *grad.Var       // nil: none
	from       tape.Projection // ft if that is not held; nil: it is
	pass       fused.GAT
	y          *grad.Var
	records    fused.Records // none where no gradient is wanted
}

// Run implements [tape.Late].
func (a *gatBack) Run(op grad.Op, y *grad.Var) {
	a.y = y
	var records *fused.Records
	if op.Needs() {
		if records = &a.records; records.Data == nil {
			records.Data = tape.FreshFloats(op, a.pass.RecordsLen())
		}
	}
	switch {
	case tape.Dry(op, 0) || a.byHeads(y.Value()):
	case a.from != nil:
		a.pass.Ft = a.from.All(op)
		fallthrough
	default:
		a.pass.Forward(y.Value(), records)
	}
}

// byHeads sets y by some heads of a projection at a time, and reports whether that is
// possible.
func (a *gatBack) byHeads(y *tensor.Dense) bool {
	return a.from != nil && a.pass.ByHeads() && a.pass.ForwardByHeads(y, a.from)
}

// Borrows reports whether the operation reads what is not the tape's.
func (a *gatBack) Borrows() bool { return a.from != nil }

// Biased implements [tape.Biasing].
func (a *gatBack) Biased(b, y *grad.Var) tape.Late {
	with := tape.Note(a.op, *a)
	with.pass.Bias = b.Value()
	if with.y = y; y == nil {
		a.records = fused.Records{}
	}
	return with
}

// Pull adds to the gradients of the operands.
func (a *gatBack) Pull(dy *tensor.Dense) {
	into, more := a.grads()
	a.pass.Backward(dy, a.y.Value(), &a.records, into)
	for _, m := range more {
		m.to.Add(m.x)
	}
}

// grads returns where the gradients of the operands go, and what is to be added
// elsewhere when they are there. The pass takes edges in any order, so a gradient
// that shares elements with one before it, as those of views may, has an array of
// its own; not that of er, which the pass adds when it has done all others.
func (a *gatBack) grads() (into *fused.GATGrads, more []addition) {
	into = new(fused.GATGrads)
	places := [...]struct {
		v    *grad.Var
		to   **tensor.Dense
		sets fused.Sets
	}{{a.ft, &into.Ft, fused.SetFt}, {a.el, &into.El, fused.SetEl}, {a.er, &into.Er, fused.SetEr}, {a.ee, &into.Ee, 0}, {a.weight, &into.Weight, 0}}
	for i, x := range places {
		if x.v == nil {
			continue
		}
		dx, fresh := tape.FreshGrad(x.v)
		switch {
		case fresh && x.sets == 0:
			dx.Zero()
		case fresh:
			into.Sets |= x.sets
		case dx != nil && x.sets != fused.SetEr:
			for _, o := range places[:i] {
				if *o.to != nil && exec.Overlap(dx.Data, (*o.to).Data) {
					more = append(more, addition{dx, dx.Like()})
					dx = more[len(more)-1].x
					break
				}
			}
		}
		*x.to = dx
	}
	return into, more
}

// addition is an array and what is added to it.
type addition struct{ to, x *tensor.Dense }
