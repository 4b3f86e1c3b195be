package layers

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// NNConv multiplies each neighbour by a matrix that a network makes of the edge.
//
//	y_v = act( agg_u weight_uv·x_u·Θ(e_uv) + b  [+ residual_v] ),   Θ(e) = net(e)·W + b_Θ, as In×Out
//
// of Gilmer, Schoenholz, Riley, Vinyals and Dahl, "Neural Message Passing for Quantum
// Chemistry", ICML 2017, which calls it the edge network. net has the hidden layers
// that Hidden says; without any Θ is linear in e. Src is NumSrc×In, dense; Dst
// NumDst×InDst; Edge E×EdgeIn; Weight E or E×1. The result is NumDst×Out. A node
// without in-edges aggregates zero. PyG's root weight is [ResidualLinear].
//
// A matrix for each edge is not made: x_u·Θ is linear in the product of x_u and
// net(e), so sums and means are taken of that, width of net(e) times In, and
// multiplied by W once a node. Only a maximum needs what each edge says on its own:
// AggregateMax holds E×Out, and with MaxEach E×In×Out.
type NNConv struct {
	In, Out    int
	InDst      int             `json:",omitempty"` // width of the destinations' features; 0: In
	EdgeIn     int             // width of the edges' features
	Hidden     []int           `json:",omitempty"` // widths of net's layers, ReLU after each
	Aggregate  Aggregator      `json:",omitempty"` // empty: sum
	MaxEach    bool            `json:",omitempty"` // of AggregateMax: the largest of each product of an element of x and of Θ, then their sum, as DGL has it
	Residual   Residual        `json:",omitempty"` // of the destination's features
	NoBias     bool            `json:",omitempty"` // without b; Θ keeps its own
	Activation grad.Activation `json:",omitempty"`

	Net    *MLP        `json:"-"` // nil without Hidden
	W      *grad.Param `json:"-"` // H×(In·Out), of H the last of Hidden or EdgeIn
	BTheta *grad.Param `json:"-"` // In·Out
	WRes   *grad.Param `json:"-"` // of a linear residual
	B      *grad.Param `json:"-"` // Out
}

// Init makes the Params: matrices by Glorot's uniform distribution, biases zero.
func (l *NNConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	width := l.EdgeIn
	l.Net = nil
	if len(l.Hidden) > 0 {
		l.Net = &MLP{Widths: slices.Concat([]int{l.EdgeIn}, l.Hidden)}
		l.Net.Init(rng)
		width = l.Hidden[len(l.Hidden)-1]
	}
	l.W, l.BTheta = grad.Glorot(rng, width, l.In*l.Out), compose.Bias(true, l.In*l.Out)
	l.WRes = l.Residual.param("layers.NNConv", rng, cmp.Or(l.InDst, l.In), l.Out)
	l.B = compose.Bias(!l.NoBias, l.Out)
}

// Forward is Apply without features of edges, which the layer wants: it panics. All
// layers on a graph have it.
func (l *NNConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply returns the layer's result. There is no attention.
func (l *NNConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantInit("layers.NNConv", l.W, l.In*l.Out)
	read := in
	if l.Residual == NoResidual {
		read.Dst = nil
	}
	read.check(g, wants{op: "layers.NNConv", own: l.Residual != NoResidual, width: &l.In, dst: l.WRes, dstField: "InDst", edge: l.EdgeIn})
	in.checkDense("layers.NNConv", "give it the product with a matrix, such as a Linear's result")
	if l.Net != nil {
		in.Edge = l.Net.Forward(t, in.Edge).ReLU()
	}
	r := l.Aggregate.reducer("layers.NNConv", message.Sum)
	var y *grad.Var
	switch {
	case r != message.Max:
		y = l.theta(t, message.UpdateAll(g, l.products(in), r), aggregate(g, r, in.Src, in.Weight))
	case l.MaxEach:
		theta := compose.Affine(t, in.Edge, l.W, l.BTheta).Reshape(g.NumEdges(), l.In, l.Out)
		m := in.weighHeads(message.U(in.Src.Reshape(g.NumSrc(), l.In, 1)).Mul(message.E(theta)))
		y = message.UpdateAll(g, m, r).SumAxis(1).Reshape(g.NumDst(), l.Out)
	default:
		m := l.theta(t, message.ApplyEdges(g, l.products(in)), message.ApplyEdges(g, weighted(in.Src, in.Weight)))
		y = message.UpdateAll(g, message.E(m), r)
	}
	y = l.Residual.add(t, g, in, skip{"layers.NNConv", y, l.WRes})
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation)}
}

// products is the message net(e)ᵀ·x_u, H×In.
func (l *NNConv) products(in In) message.Msg {
	e := in.Edge.Reshape(in.Edge.Dim(0), in.Edge.Dim(1), 1)
	return in.weighHeads(message.E(e).Mul(message.U(in.Src.Reshape(in.Src.Dim(0), 1, l.In))))
}

// theta is Σ x_u·Θ(e) of rows where p is the Σ of net(e)ᵀ·x_u and x that of x_u.
func (l *NNConv) theta(t *grad.Tape, p, x *grad.Var) *grad.Var {
	w := t.Use(l.W)
	rows := w.Dim(0) * l.In
	return p.Reshape(p.Dim(0), rows).MatMul(w.Reshape(rows, l.Out)).Add(x.MatMul(t.Use(l.BTheta).Reshape(l.In, l.Out)))
}

// weighHeads is weigh of a message of two axes.
func (in In) weighHeads(m message.Msg) message.Msg {
	if in.Weight == nil {
		return m
	}
	return m.Mul(message.E(in.Weight.Reshape(in.Weight.Dim(0), 1, 1)))
}
