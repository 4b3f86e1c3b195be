package attention

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// constant is a number on every edge.
func constant(c float64) message.Msg {
	x := tensor.New(1)
	x.Fill(tensor.Float(c))
	return message.W(grad.Const(x))
}

// onFirst has, for the edges of g, columns of zeros, but in the first column a one on the
// first edge into each destination: all attention is on the first of a sequence.
func onFirst(g *graph.Graph, columns int) *grad.Var {
	x := tensor.New(g.NumEdges(), columns)
	off := g.In().Offsets
	for v := range g.NumDst() {
		if off[v] < off[v+1] {
			x.Row(int(off[v]))[0] = 1
		}
	}
	return grad.Const(x)
}
