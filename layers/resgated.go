package layers

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// ResGatedConv lets a gate, which both ends of an edge open, say for each column
// how much of the message passes.
//
//	y_v = act( Σ_u weight_uv·σ(x_v·K + x_u·Q + e_uv·G)·(x_u·V + e_uv·V_e) + x_v·W_root + b )
//
// of Bresson and Laurent, "Residual Gated Graph ConvNets", 2017, as PyG's
// ResGatedGraphConv has it; the products with K, Q and V have biases. Src is NumSrc×In,
// dense or sparse; Dst NumDst×InDst; Edge E×EdgeIn; Weight E or E×1. The result is
// NumDst×Out. A node without in-edges gets act(x_v·W_root + b). The message runs in
// tiles, the products of the edges' features inside it.
type ResGatedConv struct {
	In, Out    int
	InDst      int             `json:",omitempty"` // width of the destinations' features; 0: In
	EdgeIn     int             `json:",omitempty"` // width of the edges' features; 0: none
	NoRoot     bool            `json:",omitempty"` // without x_v·W_root
	NoBias     bool            `json:",omitempty"` // without b; the products keep theirs
	Activation grad.Activation `json:",omitempty"`

	WKey       *grad.Param `json:"-"` // K, InDst×Out
	BKey       *grad.Param `json:"-"` // Out, of K and Q together
	WQuery     *grad.Param `json:"-"` // Q, In×Out
	WValue     *grad.Param `json:"-"` // V, In×Out
	BValue     *grad.Param `json:"-"` // Out
	WEdge      *grad.Param `json:"-"` // G, EdgeIn×Out
	WEdgeValue *grad.Param `json:"-"` // V_e, EdgeIn×Out
	WRoot      *grad.Param `json:"-"` // InDst×Out
	B          *grad.Param `json:"-"` // Out
}

// Init makes the Params: matrices by Glorot's uniform distribution, biases zero.
func (l *ResGatedConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	inDst := cmp.Or(l.InDst, l.In)
	l.WKey, l.BKey = grad.Glorot(rng, inDst, l.Out), compose.Bias(true, l.Out)
	l.WQuery = grad.Glorot(rng, l.In, l.Out)
	l.WValue, l.BValue = grad.Glorot(rng, l.In, l.Out), compose.Bias(true, l.Out)
	l.WEdge, l.WEdgeValue, l.WRoot = nil, nil, nil
	if l.EdgeIn > 0 {
		l.WEdge, l.WEdgeValue = grad.Glorot(rng, l.EdgeIn, l.Out), grad.Glorot(rng, l.EdgeIn, l.Out)
	}
	if !l.NoRoot {
		l.WRoot = grad.Glorot(rng, inDst, l.Out)
	}
	l.B = compose.Bias(!l.NoBias, l.Out)
}

// Forward returns the layer's result for the features x of g's sources.
func (l *ResGatedConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with features and weights of the edges and other nodes as
// destinations. There is no attention.
func (l *ResGatedConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantInit("layers.ResGatedConv", l.WValue, l.Out)
	in.check(g, wants{op: "layers.ResGatedConv", own: true, src: l.WValue, dst: l.WKey, dstField: "InDst", edge: l.EdgeIn})
	key := in.onDst(g, func(x *grad.Var) *grad.Var { return compose.Affine(t, x, l.WKey, l.BKey) })
	gate := message.UAddV(in.Src.MatMul(t.Use(l.WQuery)), key)
	value := message.U(compose.Affine(t, in.Src, l.WValue, l.BValue))
	if in.Edge != nil {
		gate = gate.Add(message.E(in.Edge).MatMul(t.Use(l.WEdge)))
		value = value.Add(message.E(in.Edge).MatMul(t.Use(l.WEdgeValue)))
	}
	y := message.UpdateAll(g, in.weigh(value.Mul(gate.Sigmoid())), message.Sum)
	if !l.NoRoot {
		y = y.Add(in.onDst(g, func(x *grad.Var) *grad.Var { return x.MatMul(t.Use(l.WRoot)) }))
	}
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation)}
}
