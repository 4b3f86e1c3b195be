package kernels

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// messageKernels are messages that no kernel is made for.
func messageKernels() []kernel {
	return []kernel{{"message", bench.At(1, 64, "pubmed", "arxiv"), nil, messageCost, prepareMessage}}
}

// messageCost counts what both passes gather: the source's row and, in backward,
// the gradient of the destination too.
func messageCost(g *bench.Graph, s bench.Shape) (flops, bytes, gathered float64) {
	ends, e, f := float64(g.Nodes+g.Rows), float64(g.Edges), float64(s.Width()*bench.FloatSize)
	return e * float64(s.Width()) * 60, ends*3*f + 4*e*bench.IndexBytes, e * (3*f + 4*bench.IndexBytes)
}

// prepareMessage is the mean of tanh(u·e + v)·w, with one number e for each
// edge, and the gradients of all four.
func prepareMessage(b *bench.Graph, s bench.Shape) bench.Work {
	g := b.Get()
	u, v := bench.Operand(g.NumSrc(), s.Width()), bench.Operand(g.NumDst(), s.Width())
	e, w := bench.Operand(g.NumEdges(), 1), bench.Operand(s.Width())
	seed := bench.Operand(g.NumDst(), s.Width())
	loops := newPlainMessage(g.In(), u, v, e, w, seed)
	rows, share := firstRows(g.In(), 30*s.Width())
	out := bench.BothWays(func(_ *grad.Tape, in func(*tensor.Dense) *grad.Var) *grad.Var {
		m := message.U(in(u)).Mul(message.E(in(e))).Add(message.V(in(v))).Tanh().Mul(message.W(in(w)))
		return message.UpdateAll(g, m, message.Mean)
	}, func(...int) *tensor.Dense { return seed })
	out.Plain = bench.Reference{Share: share, Call: func() { loops.run(rows) }}
	return out
}

// plainMessage is the mean of tanh(u·e + v)·w as loops, with the gradients of all four.
type plainMessage struct {
	in                *sparse.CSR
	u, v, e, w, seed  *tensor.Dense
	y, du, dv, de, dw *tensor.Dense
}

func newPlainMessage(in *sparse.CSR, u, v, e, w, seed *tensor.Dense) *plainMessage {
	like := func(x *tensor.Dense) *tensor.Dense { return tensor.New(x.Shape()...) }
	return &plainMessage{in: in, u: u, v: v, e: e, w: w, seed: seed, y: like(seed), du: like(u), dv: like(v), de: like(e), dw: like(w)}
}

// run computes the first rows.
func (p *plainMessage) run(rows int) {
	for _, x := range []*tensor.Dense{p.y, p.du, p.dv, p.de, p.dw} {
		x.Zero()
	}
	for i := range rows {
		first, end := p.in.Offsets[i], p.in.Offsets[i+1]
		part := 1 / tensor.Float(max(end-first, 1))
		v, dv, y, dy := p.v.Row(i), p.dv.Row(i), p.y.Row(i), p.seed.Row(i)
		for k := first; k < end; k++ {
			u, du, e, de := p.u.Row(int(p.in.Cols[k])), p.du.Row(int(p.in.Cols[k])), p.e.Data[k], tensor.Float(0)
			for j, w := range p.w.Data {
				h := tensor.Float(math.Tanh(float64(u[j]*e + v[j])))
				y[j] += part * h * w
				d := part * dy[j]
				p.dw.Data[j] += d * h
				d *= w * (1 - h*h)
				du[j] += d * e
				dv[j] += d
				de += d * u[j]
			}
			p.de.Data[k] = de
		}
	}
}
