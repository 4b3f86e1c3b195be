package rules

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/attend"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// dotWalk is what blocks is, on any graph: dot-product attention without a bias, of eight heads
// of eight elements. [attend.Listed] has the arithmetic.
type dotWalk struct{ blocks }

func matchDotWalk(p *plan.Plan) Kernel {
	const n = attend.ListedHeads
	m, ok := matchBlocks(p).(blocks)
	if !ok || m.bias != none || m.keys.Width() != n*n || m.keys.Last() != n || m.values.Last() != n {
		return nil
	}
	return dotWalk{m}
}

// Takes takes every call of a build and processor that have the walk.
func (dotWalk) Takes(*exec.Call) bool { return attend.HasListed() }

// Forward runs a call.
func (m dotWalk) Forward(c *exec.Call) *grad.Var {
	q, k, x := c.Vars[m.q], c.Vars[m.k], c.Vars[m.x]
	if m.queries.Moved {
		q = q.Rows(c.Graph.DstRows())
	}
	op := grad.Begin("UpdateAll.DotProducts", q, k, x)
	n := grad.Notes[dotWalkBack](op)
	*n = dotWalkBack{q: q, k: k, x: x}
	n.kernel = attend.Listed{In: c.Graph.In(), Q: q.Value().Data, K: k.Value().Data, V: x.Value().Data, Scale: m.scale}
	if m.drop != none {
		n.kernel.Drop = (*tensor.Mask)(c.Attributes[m.drop].Drop)
	}
	var shape [tensor.MaxAxes]int
	y := op.Fresh(c.Shape(shape[:], x)...)
	var records *attend.ListedRecords
	if op.Needs() {
		n.records.Data, records = op.FreshFloats(n.kernel.RecordsLen()), &n.records
	}
	if !op.Dry(0) {
		n.kernel.Forward(y.Value().Data, records)
	}
	return op.RecordBy(y, n)
}

// dotWalkBack is the pullback of dot-product attention on listed edges.
type dotWalkBack struct {
	q, k, x *grad.Var
	kernel  attend.Listed
	records attend.ListedRecords // none where no gradient is wanted
}

// Pull adds to the gradients of the operands. Those of x and k are added up together, each
// source's first of x: if they share elements otherwise, as those of views may, k's has
// an array of its own.
func (n *dotWalkBack) Pull(dy *tensor.Dense) {
	g := attend.ListedGrads{Out: dy.Data}
	g.Q, g.SetQ = freshOf(n.q)
	g.V, g.SetV = freshOf(n.x)
	g.K, g.SetK = freshOf(n.k)
	to := g.K
	if exec.Overlap(g.K, g.V) && unsafe.SliceData(g.K) != unsafe.SliceData(g.V) {
		g.K, g.SetK = make([]tensor.Float, len(to)), true
	}
	n.kernel.Backward(&n.records, &g)
	if len(to) > 0 && unsafe.SliceData(g.K) != unsafe.SliceData(to) {
		tensor.Of(to, len(to)).Add(tensor.Of(g.K, len(to)))
	}
}

// freshOf returns the gradient of x, nil if it is not wanted, and whether it is to be set.
func freshOf(x *grad.Var) (dx []tensor.Float, fresh bool) {
	d, fresh := x.FreshGrad()
	if d == nil {
		return nil, false
	}
	return d.Data, fresh
}
