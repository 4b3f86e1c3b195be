package bench

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/attend"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// attentionKernels are graph attention without its linear part: of the two
// parts of the logits and the features carried, to the gradients of all three.
func attentionKernels() []sparseKernel {
	on := []sparseCase{
		{"cora", sparseShape{8, 8}}, {"pubmed", sparseShape{8, 8}},
		{"arxiv", sparseShape{8, 8}}, {"arxiv", sparseShape{4, 64}},
	}
	return []sparseKernel{
		{"gat_attention", on, attentionCost, prepareAttention},
		{"gat_message", []sparseCase{{"arxiv", sparseShape{8, 8}}}, attentionCost, prepareGATMessage},
	}
}

// attentionCost counts, for each edge, the row and the logit of the source in
// forward, and in backward the gradient, the logit and the statistics of the
// destination.
func attentionCost(g *Graph, s sparseShape) (flops, bytes, gathered float64) {
	ends, to, e := float64(g.nodes+g.rows), float64(g.rows), float64(g.edges)
	f, h := float64(s.width()*floatSize), float64(s.heads*floatSize)
	flops = e * (6*float64(s.width()) + 60*float64(s.heads)) // 20 for each exponential
	return flops, ends*(3*f+4*h) + 2*e*indexBytes, e*(2*f+5*h+2*indexBytes) + to*(2*f+4*h)
}

// prepareAttention times the fused kernels; the rival keeps the softmax of every
// edge in an array.
func prepareAttention(b *Graph, s sparseShape) workload {
	g := b.get()
	a := newAttentionTask(g, s)
	return workload{
		call:    func() { a.both(fusedAttention) },
		forward: a.forward,
		walk:    walk(g, a.ft.Reshape(-1, s.width()), walkParts),
		plain:   newPlainAttention(a, s).reference(),
		rival:   reference{name: "unfused", share: 1, call: func() { a.both(unfusedAttention) }},
	}
}

// prepareGATMessage times the same message through UpdateAll and a tape; the rival
// is its kernel called by hand, on arrays that stand.
func prepareGATMessage(b *Graph, s sparseShape) workload {
	g := b.get()
	a := newAttentionTask(g, s)
	return workload{
		call:    func() { a.both(fusedAttention) },
		forward: a.forward,
		plain:   newPlainAttention(a, s).reference(),
		rival:   reference{name: "by hand", share: 1, call: a.byHand()},
	}
}

func newAttentionTask(g *graph.Graph, s sparseShape) *attentionTask {
	return &attentionTask{
		g: g, t: grad.NewTape(1), eval: grad.NewEval(),
		el: newOperand(g.NumSrc(), s.heads, 1), er: newOperand(g.NumDst(), s.heads, 1),
		ft: newOperand(g.NumSrc(), s.heads, s.dim), seed: newOperand(g.NumDst(), s.heads, s.dim),
	}
}

// byHand returns a call of the kernel for the result and all gradients.
func (a *attentionTask) byHand() func() {
	k := &attend.GAT{In: a.g.In(), El: a.el, Er: a.er, Ft: a.ft, Slope: 0.2}
	like := func(x *tensor.Dense) *tensor.Dense { return tensor.New(x.Shape()...) }
	y, records := like(a.seed), &attend.Records{Data: make([]tensor.Float, k.RecordsLen())}
	into := &attend.GATGrads{El: like(a.el), Er: like(a.er), Ft: like(a.ft)}
	return func() {
		k.Forward(y, records)
		into.Sets = attend.SetEl | attend.SetEr | attend.SetFt
		k.Backward(a.seed, y, records, into)
	}
}

// attentionTask has the operands of graph attention.
type attentionTask struct {
	g                *graph.Graph
	t, eval          *grad.Tape
	el, er, ft, seed *tensor.Dense
}

// gatOf is a way to compute graph attention.
type gatOf func(g *graph.Graph, el, er, ft *grad.Var) *grad.Var

func fusedAttention(g *graph.Graph, el, er, ft *grad.Var) *grad.Var {
	alpha := message.UAddV(el, er).LeakyReLU(0.2).Softmax()
	return message.UpdateAll(g, message.U(ft).Mul(alpha), message.Sum)
}

func unfusedAttention(g *graph.Graph, el, er, ft *grad.Var) *grad.Var {
	alpha := message.EdgeSoftmax(g, message.ApplyEdges(g, message.UAddV(el, er).LeakyReLU(0.2)))
	return message.UpdateAll(g, message.UMulE(ft, alpha), message.Sum)
}

// both computes the result and the gradients.
func (a *attentionTask) both(f gatOf) {
	a.t.Reset()
	y := f(a.g, a.t.Watch(a.el), a.t.Watch(a.er), a.t.Watch(a.ft))
	a.t.BackwardFrom(y, a.seed)
}

// forward computes the result alone.
func (a *attentionTask) forward() {
	a.eval.Reset()
	fusedAttention(a.g, a.eval.Input(a.el), a.eval.Input(a.er), a.eval.Input(a.ft))
}

// plainAttention is graph attention as loops, forward and backward, with the softmax of
// every edge in an array.
type plainAttention struct {
	*attentionTask
	in                      *sparse.CSR
	dim                     int
	alpha, y, del, der, dft *tensor.Dense
}

func newPlainAttention(a *attentionTask, s sparseShape) *plainAttention {
	return &plainAttention{
		attentionTask: a, in: a.g.In(), dim: s.dim,
		alpha: tensor.New(a.g.NumEdges(), s.heads), y: tensor.New(a.seed.Shape()...),
		del: tensor.New(a.el.Shape()...), der: tensor.New(a.er.Shape()...), dft: tensor.New(a.ft.Shape()...),
	}
}

// reference is the loops over the first rows with about plainFlops.
func (p *plainAttention) reference() reference {
	heads := p.alpha.RowLen()
	rows, share := firstRows(p.in, 3*heads*p.dim+30*heads) // by attentionCost
	return reference{share: share, call: func() {
		for _, x := range []*tensor.Dense{p.y, p.del, p.der, p.dft} {
			x.Zero()
		}
		for i := range rows {
			for h := range heads {
				p.sumInto(i, h)
				p.gradOf(i, h)
			}
		}
	}}
}

// logit is that of nonzero k in row i before its leaky ReLU, whose slope is 0.2.
func (p *plainAttention) logit(i, h int, k int64) float64 {
	return float64(p.el.Row(int(p.in.Cols[k]))[h] + p.er.Row(i)[h])
}

func leaky(z float64) float64 { return max(z, 0.2*z) }

// sumInto sets the weights of the edges into node i and its sum, of one head.
func (p *plainAttention) sumInto(i, h int) {
	first, end := p.in.Offsets[i], p.in.Offsets[i+1]
	top, sum := math.Inf(-1), 0.0
	for k := first; k < end; k++ {
		top = max(top, leaky(p.logit(i, h, k)))
	}
	for k := first; k < end; k++ {
		e := math.Exp(leaky(p.logit(i, h, k)) - top)
		sum += e
		p.alpha.Row(int(k))[h] = tensor.Float(e)
	}
	part := func(x []tensor.Float) []tensor.Float { return x[h*p.dim : (h+1)*p.dim] }
	for k := first; k < end; k++ {
		p.alpha.Row(int(k))[h] /= tensor.Float(sum)
		addScaled(part(p.y.Row(i)), part(p.ft.Row(int(p.in.Cols[k]))), p.alpha.Row(int(k))[h])
	}
}

// gradOf adds the gradients that come through them.
func (p *plainAttention) gradOf(i, h int) {
	part := func(x []tensor.Float) []tensor.Float { return x[h*p.dim : (h+1)*p.dim] }
	dy := part(p.seed.Row(i))
	through := tensor.Float(0) // Σ α·dα is the same for all edges
	for j, v := range part(p.y.Row(i)) {
		through += v * dy[j]
	}
	for k := p.in.Offsets[i]; k < p.in.Offsets[i+1]; k++ {
		u, alpha := int(p.in.Cols[k]), p.alpha.Row(int(k))[h]
		addScaled(part(p.dft.Row(u)), dy, alpha)
		d := tensor.Float(0)
		for j, v := range part(p.ft.Row(u)) {
			d += v * dy[j]
		}
		if d = alpha * (d - through); p.logit(i, h, k) < 0 {
			d *= 0.2
		}
		p.del.Row(u)[h] += d
		p.der.Row(i)[h] += d
	}
}
