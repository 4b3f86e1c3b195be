package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// EdgeConv is the convolution of point clouds: a network reads each point beside
// what separates it from each neighbour, and the largest answers stay.
//
//	y_v = act( agg_u weight_uv·norm(Net([x_v ‖ x_u − x_v])) )
//
// of Wang, Sun, Liu, Sarma, Bronstein and Solomon, "Dynamic Graph CNN for Learning
// on Point Clouds", TOG 2019, whose graph is [nearest.KNN] of the rows of x, or
// [nearest.Neighbours] for a batch, made anew for each layer. Src is NumSrc×F, dense or sparse, where Net.Widths[0] is 2F; Dst NumDst×F;
// Weight E or E×1. The result is NumDst rows of Net's last width. A node without
// in-edges aggregates zero. With BatchNorm norm is a [BatchNorm] over all edges, as
// DGL has it, whose Θ(x_v − x_u) + Φ·x_v is the matrix [Φ; −Θ]; PyG has it in Net.
//
// Net's first layer is linear in both nodes, so its products are taken on nodes:
// x_v·(A−B) + x_u·B with A above B in its matrix. What is left runs on tiles of edges
// and is stored for none, unless there is a BatchNorm.
type EdgeConv struct {
	Net        MLP
	Aggregate  Aggregator      `json:",omitempty"` // empty: max
	BatchNorm  bool            `json:",omitempty"` // of the messages
	Activation grad.Activation `json:",omitempty"` // of the result

	Norm *BatchNorm `json:"-"` // nil without BatchNorm
}

// Init makes the Params of Net, and of the norm.
func (l *EdgeConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Net.Init(rng)
	l.Norm = nil
	if l.BatchNorm {
		l.Norm = &BatchNorm{Width: l.Net.Widths[len(l.Net.Widths)-1]}
		l.Norm.Init(rng)
	}
}

// Forward returns the layer's result for the features x of g's sources.
func (l *EdgeConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges and other nodes as destinations.
// There is no attention.
func (l *EdgeConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	l.Net.wantInit("layers.EdgeConv")
	first := l.Net.Layers[0].W
	width := first.Value.Dim(0) / 2
	in.check(g, wants{op: "layers.EdgeConv", own: true, width: &width, srcField: "half the first of Net.Widths"})
	w := t.Use(first)
	a, b := w.RowRange(0, width), w.RowRange(width, 2*width)
	own := in.onDst(g, func(x *grad.Var) *grad.Var { return x.MatMul(a.Sub(b)) })
	m := l.Net.along(t, g, message.UAddV(in.Src.MatMul(b), own))
	if l.BatchNorm {
		m = message.E(l.Norm.Forward(t, message.ApplyEdges(g, m)))
	}
	y := message.UpdateAll(g, in.weigh(m), l.Aggregate.reducer("layers.EdgeConv", message.Max))
	return Out{Y: y.Activate(l.Activation)}
}

// along returns the network's result for each edge, where z is the product of what
// the edge reads with the first matrix.
func (l *MLP) along(t *grad.Tape, g *graph.Graph, z message.Msg) message.Msg {
	act, ok := alongEdges[l.Activation]
	if l.BatchNorm || !ok {
		return message.E(l.after(t, message.ApplyEdges(g, z)))
	}
	for i, layer := range l.Layers {
		if i > 0 {
			z = z.MatMul(t.Use(layer.W))
		}
		if b := compose.Use(t, layer.B); b != nil {
			z = z.Add(message.W(b))
		}
		if i+1 < len(l.Layers) {
			z = act(z).Dropout(t, l.Drop)
		}
	}
	return z
}

// alongEdges is the activations that a message has; an MLP's empty one is ReLU.
var alongEdges = map[grad.Activation]func(m message.Msg) message.Msg{
	"":            message.Msg.ReLU,
	grad.ReLU:     message.Msg.ReLU,
	grad.ELU:      message.Msg.ELU,
	grad.SiLU:     message.Msg.SiLU,
	grad.Sigmoid:  message.Msg.Sigmoid,
	grad.Tanh:     message.Msg.Tanh,
	grad.Softplus: message.Msg.Softplus,
	grad.GELU:     message.Msg.GELU,
}
