package message

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/attend"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// attention is the whole of GAT as one kernel:
//
//	Σ U(ft) × softmax(LeakyReLU(U(el) + V(er) [+ E(ee)])) [with dropout] [× E(w)]
type attention struct {
	ft, el, er *grad.Var
	ee, weight *grad.Var // nil: none
	bias       *grad.Var // that run adds; nil: none
	drop       *simd.Dropout
	slope      tensor.Float

	kernel  attend.GAT
	y       *grad.Var
	records attend.Records // none where no gradient is wanted
}

// matchAttention returns the attention that w multiplies ft with, or nil.
func matchAttention(g *graph.Graph, ft *grad.Var, w *expr) *attention {
	a := attention{ft: ft}
	for w.kind != softmax {
		switch {
		case w.kind == dropout && a.drop == nil:
			a.drop, w = w.drop, w.a
		case w.kind == binary && w.bin == simd.Mul && a.weight == nil && a.drop == nil && w.b.plainLeaf(leafE):
			a.weight, w = w.b.x, w.a
		default:
			return nil
		}
	}
	z := w.a
	if z.kind != unary || z.un != simd.LeakyReLU || !a.sum(z.a) || a.el == nil || a.er == nil {
		return nil
	}
	a.slope = z.c
	if !perHead(a.el, ft) || !a.fits(g) {
		return nil
	}
	found := a // so that looking in vain allocates nothing
	return &found
}

// sum takes the terms of the logit out of a tree of additions.
func (a *attention) sum(e *expr) bool {
	take := func(to **grad.Var) bool {
		free := *to == nil
		*to = e.x
		return free
	}
	switch {
	case e.kind == binary && e.bin == simd.Add:
		return a.sum(e.a) && a.sum(e.b)
	case e.plainLeaf(leafU):
		return take(&a.el)
	case e.plainLeaf(leafV):
		return take(&a.er)
	case e.plainLeaf(leafE):
		return take(&a.ee)
	}
	return false
}

// fits reports whether all terms have one element a head, and g's rows.
func (a *attention) fits(g *graph.Graph) bool {
	same := func(x *grad.Var, rows int) bool {
		s, t := x.Shape(), a.el.Shape()
		if s[0] != rows || len(s) != len(t) {
			return false
		}
		for i := range s[1:] {
			if s[i+1] != t[i+1] {
				return false
			}
		}
		return true
	}
	rows := g.NumDst()
	if ofSources(g, a.er) {
		rows = g.NumSrc()
	}
	heads := a.el.Value().RowLen()
	whole := len(a.el.Shape()) == len(a.ft.Shape()) || heads == 1
	return whole && same(a.el, g.NumSrc()) && same(a.er, rows) && (a.ee == nil || same(a.ee, g.NumEdges())) &&
		(a.weight == nil || same(a.weight, g.NumEdges()) || a.scalarWeight(g))
}

// scalarWeight reports whether the weight is one number an edge, and adds no
// axis to the message.
func (a *attention) scalarWeight(g *graph.Graph) bool {
	s := a.weight.Shape()
	return s[0] == g.NumEdges() && len(s) <= len(a.el.Shape()) && a.weight.Value().RowLen() == 1
}

// grads returns where the gradients of the operands go, and what is to be added
// elsewhere when they are there. The kernel takes edges in any order, so a gradient
// that shares elements with one before it, as those of views may, has an array of
// its own; not that of er, which the kernel adds when it has done all others.
func (a *attention) grads() (into *attend.GATGrads, more []addition) {
	into = new(attend.GATGrads)
	places := [...]struct {
		v    *grad.Var
		to   **tensor.Dense
		sets attend.Sets
	}{{a.ft, &into.Ft, attend.SetFt}, {a.el, &into.El, attend.SetEl}, {a.er, &into.Er, attend.SetEr}, {a.ee, &into.Ee, 0}, {a.weight, &into.Weight, 0}}
	for i, x := range places {
		if x.v == nil {
			continue
		}
		dx, fresh := x.v.FreshGrad()
		switch {
		case fresh && x.sets == 0:
			dx.Zero()
		case fresh:
			into.Sets |= x.sets
		case dx != nil && x.sets != attend.SetEr:
			for _, o := range places[:i] {
				if *o.to != nil && overlap(dx.Data, (*o.to).Data) {
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

// add is run with a bias, which has an element for each of a row.
func (a *attention) add(g *graph.Graph, b *grad.Var) *grad.Var {
	wantBias(b, a.ft.Value().RowLen())
	a.bias = b
	return matrix(a.run(g)).BiasAdded(b)
}

func (a *attention) run(g *graph.Graph) *grad.Var {
	if ofSources(g, a.er) {
		a.er = a.er.Rows(g.DstRows())
	}
	vars := []*grad.Var{a.ft, a.el, a.er}
	k := &a.kernel
	*k = attend.GAT{In: g.In(), El: a.el.Value(), Er: a.er.Value(), Ft: a.ft.Value(), Slope: a.slope, Drop: (*tensor.Mask)(a.drop)}
	if a.ee != nil {
		vars, k.Ee = append(vars, a.ee), a.ee.Value()
	}
	if a.bias != nil {
		k.Bias = a.bias.Value()
	}
	if a.weight != nil {
		vars, k.Weight = append(vars, a.weight), a.weight.Value()
	}
	op := grad.Begin("UpdateAll.Attention", vars...)
	a.y = op.Fresh(append([]int{g.NumDst()}, a.ft.Shape()[1:]...)...)
	var records *attend.Records
	if op.Needs() {
		records = &a.records
		records.Data = op.FreshFloats(k.RecordsLen())
	}
	if !op.Dry(0) {
		k.Forward(a.y.Value(), records)
	}
	return op.RecordBy(a.y, a)
}

// Shift implements [grad.Shifter].
func (a *attention) Shift(b *grad.Var) bool {
	a.kernel.Bias = b.Value()
	return true
}

// Pull adds to the gradients of the operands.
func (a *attention) Pull(dy *tensor.Dense) {
	into, more := a.grads()
	a.kernel.Backward(dy, a.y.Value(), &a.records, into)
	for _, m := range more {
		m.to.Add(m.x)
	}
}
