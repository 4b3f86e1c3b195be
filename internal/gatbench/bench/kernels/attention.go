package kernels

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// attentionKernels are graph attention without its linear part: of the two
// parts of the logits and the features carried, to the gradients of all three.
func attentionKernels() []kernel {
	on := append(bench.At(8, 8, "cora", "pubmed", "arxiv"), bench.At(4, 64, "arxiv")...)
	return []kernel{
		{"gat_attention", on, headSweep, attentionCost, prepareAttention},
		{"gat_message", bench.At(8, 8, "arxiv"), nil, attentionCost, prepareGATMessage},
	}
}

// attentionCost counts, for each edge, the row and the logit of the source in
// forward, and in backward the gradient, the logit and the statistics of the
// destination.
func attentionCost(g *bench.Graph, s bench.Shape) (flops, bytes, gathered float64) {
	ends, to, e := float64(g.Nodes+g.Rows), float64(g.Rows), float64(g.Edges)
	f, h := float64(s.Width()*bench.FloatSize), float64(s.Heads*bench.FloatSize)
	flops = e * (6*float64(s.Width()) + 60*float64(s.Heads)) // 20 for each exponential
	return flops, ends*(3*f+4*h) + 2*e*bench.IndexBytes, e*(2*f+5*h+2*bench.IndexBytes) + to*(2*f+4*h)
}

// prepareAttention times the fused kernels; the rival keeps the softmax of every
// edge in an array.
func prepareAttention(b *bench.Graph, s bench.Shape) bench.Work {
	a := newAttentionTask(b.Get(), s)
	w := a.work(fusedAttention)
	w.Walk, w.Plain = bench.Walk(a.g, a.ft.Reshape(-1, s.Width())), newPlainAttention(a, s).reference()
	w.Rival = bench.Reference{Name: "unfused", Share: 1, Call: a.work(unfusedAttention).Call}
	return w
}

// prepareGATMessage times the same message through UpdateAll and a tape; the rival
// is its kernel called by hand, on arrays that stand.
func prepareGATMessage(b *bench.Graph, s bench.Shape) bench.Work {
	a := newAttentionTask(b.Get(), s)
	w := a.work(fusedAttention)
	w.Plain, w.Rival = newPlainAttention(a, s).reference(), bench.Reference{Name: "by hand", Share: 1, Call: a.byHand()}
	return w
}

func newAttentionTask(g *graph.Graph, s bench.Shape) *attentionTask {
	return &attentionTask{
		g: g, el: bench.Operand(g.NumSrc(), s.Heads, 1), er: bench.Operand(g.NumDst(), s.Heads, 1),
		ft: bench.Operand(g.NumSrc(), s.Heads, s.Dim), seed: bench.Operand(g.NumDst(), s.Heads, s.Dim),
	}
}

// byHand returns a call of the kernel for the result and all gradients.
func (a *attentionTask) byHand() func() {
	k := &fused.GAT{In: a.g.In(), El: a.el, Er: a.er, Ft: a.ft, Slope: 0.2}
	like := func(x *tensor.Dense) *tensor.Dense { return tensor.New(x.Shape()...) }
	y, records := like(a.seed), &fused.Records{Data: make([]tensor.Float, k.RecordsLen())}
	into := &fused.GATGrads{El: like(a.el), Er: like(a.er), Ft: like(a.ft)}
	return func() {
		k.Forward(y, records)
		into.Sets = fused.SetEl | fused.SetEr | fused.SetFt
		k.Backward(a.seed, y, records, into)
	}
}

// attentionTask has the operands of graph attention.
type attentionTask struct {
	g                *graph.Graph
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

// work computes the result and the gradients.
func (a *attentionTask) work(f gatOf) bench.Work {
	return bench.BothWays(func(_ *grad.Tape, in func(*tensor.Dense) *grad.Var) *grad.Var {
		return f(a.g, in(a.el), in(a.er), in(a.ft))
	}, func(...int) *tensor.Dense { return a.seed })
}

// plainAttention is graph attention as loops, forward and backward, with the softmax of
// every edge in an array.
type plainAttention struct {
	*attentionTask
	in                      *sparse.CSR
	dim                     int
	alpha, y, del, der, dft *tensor.Dense
}

func newPlainAttention(a *attentionTask, s bench.Shape) *plainAttention {
	return &plainAttention{
		attentionTask: a, in: a.g.In(), dim: s.Dim,
		alpha: tensor.New(a.g.NumEdges(), s.Heads), y: tensor.New(a.seed.Shape()...),
		del: tensor.New(a.el.Shape()...), der: tensor.New(a.er.Shape()...), dft: tensor.New(a.ft.Shape()...),
	}
}

// reference is the loops over the first rows with about plainFlops.
func (p *plainAttention) reference() bench.Reference {
	heads := p.alpha.RowLen()
	rows, share := firstRows(p.in, 3*heads*p.dim+30*heads) // by attentionCost
	return bench.Reference{Share: share, Call: func() {
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
