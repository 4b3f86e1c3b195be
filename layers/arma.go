package layers

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// ARMAConv is a rational filter of the graph's spectrum, as an autoregressive
// moving average is one of time: the mean of stacks of recursive steps, each of
// which returns to the features it began with.
//
//	h⁰ = x,   h^{t+1} = act( S·h^t·W_t + drop(x)·V_t + b_t ),   y = mean over the stacks of h^T
//
// of Bianchi, Grattarola, Livi and Alippi, "Graph Neural Networks with
// Convolutional ARMA Filters", TPAMI 2021, with (S·h)_v = Σ_u weight_uv·c_uv·h_u.
// Norm says what c is; the paper's graph has no loops. Src is NumSrc×In, dense or
// sparse; Weight E or E×1. The result is NumDst×Out. A node without in-edges has no
// sum. With Shared all steps have one V and b, and all but the first one W.
//
// The stacks lie side by side: a step is one product with a sparse matrix. More
// than one step wants a graph whose nodes are sources and destinations, as
// [SGConv] does.
type ARMAConv struct {
	In, Out      int
	Stacks       int             `json:",omitempty"` // 0: 1
	Steps        int             `json:",omitempty"` // T; 0: 1
	Shared       bool            `json:",omitempty"` // the steps have the same weights
	Drop         float64         `json:",omitempty"` // dropout of x where a step returns to it
	Norm         Norm            `json:",omitempty"`
	NoBias       bool            `json:",omitempty"`
	Activation   grad.Activation `json:",omitempty"` // of each step; empty: ReLU
	NoActivation bool            `json:",omitempty"` // steps without an activation, as a network's last layer wants them

	W []*grad.Param `json:"-"` // In×(Stacks·Out), then Out×(Stacks·Out)
	V []*grad.Param `json:"-"` // In×(Stacks·Out)
	B []*grad.Param `json:"-"` // Stacks·Out
}

// Init makes the Params: matrices by Glorot's uniform distribution over their whole
// width, biases zero.
func (l *ARMAConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	width, steps := cmp.Or(l.Stacks, 1)*l.Out, cmp.Or(l.Steps, 1)
	l.W, l.V, l.B = nil, nil, nil
	for i := range steps {
		if i < 2 || !l.Shared {
			in := l.Out
			if i == 0 {
				in = l.In
			}
			l.W = append(l.W, grad.Glorot(rng, in, width))
		}
		if i < 1 || !l.Shared {
			l.V = append(l.V, grad.Glorot(rng, l.In, width))
			if !l.NoBias {
				l.B = append(l.B, compose.Bias(true, width))
			}
		}
	}
}

// Forward returns the layer's result for the features x of g's sources.
func (l *ARMAConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges and, on a bipartite graph, one step:
// then In.Dst is what it returns to. There is no attention.
func (l *ARMAConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	stacks, steps := cmp.Or(l.Stacks, 1), cmp.Or(l.Steps, 1)
	compose.WantInit("layers.ARMAConv", of(l.W, 0), stacks*l.Out)
	in.check(g, wants{op: "layers.ARMAConv", hops: steps, own: true, src: l.W[0]})
	s := l.Norm.propagation("layers.ARMAConv", g, in.Weight)
	root := In{Src: in.Src, Dst: in.Dst}.drop(t, l.Drop)
	var h *grad.Var
	for i := range steps {
		if i == 0 {
			h = s.project(in.Src, t.Use(l.W[0]), 1)
		} else {
			h = s.of(compose.TimesHeads(compose.SplitHeads(h, stacks, l.Out), t.Use(of(l.W, i))))
		}
		back := root.onDst(g, func(x *grad.Var) *grad.Var { return x.MatMul(t.Use(of(l.V, i))) })
		h = h.Add(back).AddBias(compose.Use(t, of(l.B, i)), l.activation())
	}
	return Out{Y: compose.MergeHeads(compose.SplitHeads(h, stacks, l.Out), true).Reshape(g.NumDst(), l.Out)}
}

// activation is that of each step.
func (l *ARMAConv) activation() grad.Activation {
	if l.NoActivation {
		return grad.Identity
	}
	return cmp.Or(l.Activation, grad.ReLU)
}

// of returns the Param of a step: the last there is serves all that follow. Of none
// it is nil.
func of(ps []*grad.Param, step int) *grad.Param {
	if len(ps) == 0 {
		return nil
	}
	return ps[min(step, len(ps)-1)]
}
