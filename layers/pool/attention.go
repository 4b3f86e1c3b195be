package pool

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// Attention adds up the nodes of each graph, weighted by a softmax over them:
//
//	α_v = softmax over the nodes of a graph of Gate(x_v)      y = Σ_v α_v·Net(x_v)
//
// of Li, Tarlow, Brockschmidt and Zemel, "Gated Graph Sequence Neural Networks", ICLR 2016,
// without its tanh. It is DGL's GlobalAttentionPooling and PyG's AttentionalAggregation. x
// is N×F; the result has a row for each graph, of Net's last width, or F. Gate's last width
// is 1, or that of the result: then each column has weights of its own. A graph without nodes
// gets zero. What runs are the two networks and a message on the edges of Membership.
type Attention struct {
	Gate layers.MLP
	Net  layers.MLP // without Widths x is added up as it is
}

// Init makes the Params of Gate and of Net.
func (l *Attention) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Gate.Init(rng)
	if len(l.Net.Widths) > 0 {
		l.Net.Init(rng)
	}
}

// Forward returns a row for each member of g.
func (l *Attention) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	compose.WantNodes("pool.Attention", g, x)
	score := l.Gate.Forward(t, x)
	if len(l.Net.Widths) > 0 {
		x = l.Net.Forward(t, x)
	}
	return message.ReadoutSoftmax(g, x, score)
}

// Weights returns α: a row for each node.
func (l *Attention) Weights(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	compose.WantNodes("pool.Attention", g, x)
	return message.ApplyEdges(graph.Membership(g), message.U(l.Gate.Forward(t, x)).Softmax())
}
