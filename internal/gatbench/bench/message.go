package bench

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// messageKernels are messages that no kernel is made for.
func messageKernels() []sparseKernel {
	on := []sparseCase{{"pubmed", sparseShape{1, 64}}, {"arxiv", sparseShape{1, 64}}}
	return []sparseKernel{{"message", on, messageCost, prepareMessage}}
}

// messageCost counts what both passes gather: the source's row and, in backward,
// the gradient of the destination too.
func messageCost(g *Graph, s sparseShape) (flops, bytes, gathered float64) {
	ends, e, f := float64(g.nodes+g.rows), float64(g.edges), float64(s.width()*floatSize)
	return e * float64(s.width()) * 60, ends*3*f + 4*e*indexBytes, e * (3*f + 4*indexBytes)
}

// prepareMessage is the mean of tanh(u·e + v)·w, with one number e for each
// edge, and the gradients of all four.
func prepareMessage(b *Graph, s sparseShape) workload {
	g := b.get()
	u, v := newOperand(g.NumSrc(), s.width()), newOperand(g.NumDst(), s.width())
	e, w := newOperand(g.NumEdges(), 1), newOperand(s.width())
	seed := newOperand(g.NumDst(), s.width())
	mean := func(on func(*tensor.Dense) *grad.Var) *grad.Var {
		m := message.U(on(u)).Mul(message.E(on(e))).Add(message.V(on(v))).Tanh().Mul(message.W(on(w)))
		return message.UpdateAll(g, m, message.Mean)
	}
	t, eval := grad.NewTape(1), grad.NewEval()
	loops := newPlainMessage(g.In(), u, v, e, w, seed)
	rows, share := firstRows(g.In(), 30*s.width())
	return workload{
		plain: reference{share: share, call: func() { loops.run(rows) }},
		call: func() {
			t.Reset()
			t.BackwardFrom(mean(t.Watch), seed)
		},
		forward: func() {
			eval.Reset()
			mean(eval.Input)
		},
	}
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
