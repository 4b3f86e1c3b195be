package layers

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// In is what a layer reads. Edge and Weight have a row for each edge, in the
// graph's own order: [message.OnEdges] brings rows into it.
type In struct {
	Src    *grad.Var // features of the sources
	Dst    *grad.Var // of the destinations; nil: these are sources too
	Edge   *grad.Var // features of the edges; nil: none
	Weight *grad.Var // a weight for each edge; nil: all 1
}

// Out is what a layer returns.
type Out struct {
	Y         *grad.Var   // a row for each destination
	Attention message.Msg // what each edge is multiplied by; costs nothing until [message.ApplyEdges]; empty where a layer has none
}

// drop applies dropout to the features of the nodes.
func (in In) drop(t *grad.Tape, p float64) In {
	in.Src = t.Dropout(in.Src, p)
	if in.Dst != nil {
		in.Dst = t.Dropout(in.Dst, p)
	}
	return in
}

// onDst returns f of the features of the destinations, where f takes each row
// on its own. A sparse array has no rows to gather, so there f comes first.
func (in In) onDst(g *graph.Graph, f func(x *grad.Var) *grad.Var) *grad.Var {
	switch {
	case in.Dst != nil:
		return f(in.Dst)
	case in.Src.IsSparse():
		return message.OnDst(g, f(in.Src))
	}
	return f(message.OnDst(g, in.Src))
}

// weigh multiplies the attention by the weights of the edges.
func (in In) weigh(alpha message.Msg) message.Msg {
	if in.Weight == nil {
		return alpha
	}
	return alpha.Mul(message.E(in.Weight))
}

// checkDense panics if the features of the sources are sparse; why says what to
// do.
func (in In) checkDense(op, why string) {
	compose.WantDense(op, "x", in.Src, why)
}
