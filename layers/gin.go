package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GINConv adds up a node's in-neighbours and, a little heavier, the node itself,
// and lets a network tell such sums apart: it distinguishes all graphs that the
// Weisfeiler-Lehman test distinguishes.
//
//	y_v = act( Net( (1+ε)·x_v + agg_u(weight_uv·x_u) ) )
//
// of Xu, Hu, Leskovec and Jegelka, "How Powerful are Graph Neural Networks?",
// ICLR 2019. Src is NumSrc×Net.Widths[0], dense or, but for AggregateMax,
// sparse; Dst NumDst wide as Src; Weight E or E×1. The result is NumDst rows of
// Net's last width. A node without in-edges aggregates zero.
type GINConv struct {
	Net        MLP
	Aggregate  Aggregator      `json:",omitempty"` // empty: sum
	Eps        float64         `json:",omitempty"` // ε, or with TrainEps where its training begins
	TrainEps   bool            `json:",omitempty"` // ε is a Param
	Activation grad.Activation `json:",omitempty"` // of the result

	Epsilon *grad.Param `json:"-"` // ε, one element; nil without TrainEps
}

// Init makes the Params of Net, and ε.
func (l *GINConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Net.Init(rng)
	l.Epsilon = nil
	if l.TrainEps {
		l.Epsilon = grad.NewParam(1)
		l.Epsilon.Value.Fill(tensor.Float(l.Eps))
	}
}

// Forward returns the layer's result for the features x of g's sources.
func (l *GINConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges and other nodes as destinations.
// There is no attention.
func (l *GINConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	l.Net.wantInit("layers.GINConv")
	in.check(g, wants{op: "layers.GINConv", own: true, src: l.Net.Layers[0].W, srcField: "the first of Net.Widths"})
	r := l.Aggregate.reducer("layers.GINConv", message.Sum)
	if r == message.Max {
		in.checkDense("layers.GINConv", "aggregate by their sum or mean, or give it the product with a matrix")
	}
	if in.Src.IsSparse() || r != message.Max && l.narrows() {
		w := t.Use(l.Net.Layers[0].W)
		y := l.Net.after(t, l.own(t, in.onDst(g, func(x *grad.Var) *grad.Var { return x.MatMul(w) })).Add(aggregateOf(g, r, in, w)))
		return Out{Y: y.Activate(l.Activation)}
	}
	own := l.own(t, in.onDst(g, func(x *grad.Var) *grad.Var { return x }))
	if r == message.Sum {
		return Out{Y: l.Net.Forward(t, message.AddAll(own, g, weighted(in.Src, in.Weight))).Activate(l.Activation)}
	}
	return Out{Y: l.Net.Forward(t, own.Add(aggregate(g, r, in.Src, in.Weight))).Activate(l.Activation)}
}

// narrows reports whether the first product makes the rows shorter, so that
// sums, which commute with it, are taken after it.
func (l *GINConv) narrows() bool { return l.Net.Widths[1] < l.Net.Widths[0] }

// own returns (1+ε)·x.
func (l *GINConv) own(t *grad.Tape, x *grad.Var) *grad.Var {
	return scaledOwn(t, x, l.Epsilon, l.Eps)
}

// scaledOwn returns (1+ε)·x, where ε is a Param or, without one, eps.
func scaledOwn(t *grad.Tape, x *grad.Var, epsilon *grad.Param, eps float64) *grad.Var {
	switch {
	case epsilon != nil:
		return x.Mul(t.Use(epsilon).Shift(1))
	case eps != 0:
		return x.Scale(1 + eps)
	}
	return x
}
