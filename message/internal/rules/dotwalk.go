package rules

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// dotWalk is what blocks is, on any graph: dot-product attention without a bias, of eight heads
// of eight elements. [fused.Listed] has the arithmetic.
type dotWalk struct{ blocks }

func matchDotWalk(p *plan.Plan) Way {
	const n = fused.ListedHeads
	m, ok := matchBlocks(p).(blocks)
	if !ok || m.bias != none || m.keys.Width() != n*n || m.keys.Last() != n || m.values.Last() != n {
		return nil
	}
	return dotWalk{m}
}

// Takes takes every call.
func (dotWalk) Takes(*exec.Call) bool { return true }

// Forward prepares a call. The walk runs in Run: at once, or when the result is read.
func (m dotWalk) Forward(c *exec.Call) *grad.Var {
	vars := [...]*grad.Var{c.Vars[m.q], c.Vars[m.k], c.Vars[m.x]}
	op := grad.Begin("UpdateAll.DotProducts", vars[:]...)
	waits := tape.Own(op, vars[:])
	n := tape.Note(op, dotWalkBack{op: op, q: vars[0], k: vars[1], x: vars[2]})
	n.pass = fused.Listed{In: c.Graph.In(), Q: n.q.Value().Data, K: n.k.Value().Data, V: n.x.Value().Data, Scale: m.scale}
	if m.drop != none {
		n.pass.Drop = (*tensor.Mask)(c.Attributes[m.drop].Drop)
	}
	var shape [tensor.MaxAxes]int
	y := op.Fresh(c.Shape(shape[:], n.x)...)
	if op.Needs() {
		n.records.Data = tape.FreshFloats(op, n.pass.RecordsLen())
	}
	tape.Dry(op, 0)
	return exec.Record(op, y, n, waits)
}

// dotWalkBack is the pullback of dot-product attention on listed edges.
type dotWalkBack struct {
	op      grad.Op
	q, k, x *grad.Var
	pass    fused.Listed
	records fused.ListedRecords // none where no gradient is wanted
}

// Run implements [tape.Late].
func (n *dotWalkBack) Run(op grad.Op, y *grad.Var) {
	var records *fused.ListedRecords
	if op.Needs() {
		if records = &n.records; records.Data == nil {
			records.Data = tape.FreshFloats(op, n.pass.RecordsLen())
		}
	}
	if !tape.Dry(op, 0) {
		n.pass.Forward(y.Value().Data, records)
	}
}

// Summed implements [tape.Summing]: the walk adds r's rows to those that it makes.
func (n *dotWalkBack) Summed(r *grad.Var) tape.Late {
	with := tape.Note(n.op, *n)
	with.pass.Add = r.Value().Data
	n.records = fused.ListedRecords{}
	return with
}

// Pull adds to the gradients of the operands. Those of x and k are added up together, each
// source's first of x: if they share elements otherwise, as those of views may, k's has
// an array of its own.
func (n *dotWalkBack) Pull(dy *tensor.Dense) {
	g := fused.ListedGrads{Out: dy.Data}
	g.Q, g.SetQ = freshOf(n.q)
	g.V, g.SetV = freshOf(n.x)
	g.K, g.SetK = freshOf(n.k)
	to := g.K
	if exec.Overlap(g.K, g.V) && unsafe.SliceData(g.K) != unsafe.SliceData(g.V) {
		g.K, g.SetK = make([]tensor.Float, len(to)), true
	}
	n.pass.Backward(&n.records, &g)
	if len(to) > 0 && unsafe.SliceData(g.K) != unsafe.SliceData(to) {
		tensor.Of(to, len(to)).Add(tensor.Of(g.K, len(to)))
	}
}

// freshOf returns the gradient of x, nil if it is not wanted, and whether it is to be set.
func freshOf(x *grad.Var) (dx []tensor.Float, fresh bool) {
	d, fresh := tape.FreshGrad(x)
	if d == nil {
		return nil, false
	}
	return d.Data, fresh
}
