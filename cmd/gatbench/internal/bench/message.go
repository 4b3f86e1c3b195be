package bench

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message"
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
	n, e, f := float64(g.nodes), float64(g.edges), float64(s.width()*floatSize)
	return e * float64(s.width()) * 60, n*6*f + 4*e*indexBytes, e * (3*f + 4*indexBytes)
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
	return workload{
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
