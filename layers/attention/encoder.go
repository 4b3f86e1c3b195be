package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// EncoderBlock is self-attention and then a feed-forward network, each with a sum and a norm as
// [Block] says. x is N×Model, and so is the result. On [graph.Complete] it is a Transformer's
// encoder, on [graph.Causal] a language model, on the data's own graph a Graph Transformer. A
// node without in-edges hears the attention's bias alone.
type EncoderBlock struct {
	Block

	Self  *MultiHead        `json:"-"`
	Feed  *layers.MLP       `json:"-"`
	Norm1 *layers.LayerNorm `json:"-"` // of Self
	Norm2 *layers.LayerNorm `json:"-"` // of Feed
}

// Init makes the Params, as [MultiHead], [layers.MLP] and [layers.LayerNorm] do.
func (l *EncoderBlock) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Self, l.Feed = l.self(rng), l.feed(rng)
	l.Norm1, l.Norm2 = l.norm(rng), l.norm(rng)
}

// Forward returns the block's result at each node of g.
func (l *EncoderBlock) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	y, _ := l.Apply(t, g, x, message.Msg{})
	return y
}

// Apply is Forward with a bias of the scores, which may be the zero Msg, and the weights of
// each edge, which cost nothing until [message.ApplyEdges].
func (l *EncoderBlock) Apply(t *grad.Tape, g *graph.Graph, x *grad.Var, bias message.Msg) (y *grad.Var, weights message.Msg) {
	l.check(g, x)
	y = l.run(t, x, func(x *grad.Var) *grad.Var {
		x, weights = l.Self.Apply(t, g, QKV{Query: x, Bias: bias})
		return x
	})
	return y, weights
}

// run is the block around some self-attention.
func (l *EncoderBlock) run(t *grad.Tape, x *grad.Var, self func(x *grad.Var) *grad.Var) *grad.Var {
	x = l.add(t, x, l.Norm1, self)
	return l.add(t, x, l.Norm2, func(x *grad.Var) *grad.Var { return l.Feed.Forward(t, x) })
}

func (l *EncoderBlock) check(g *graph.Graph, x *grad.Var) {
	compose.WantMade("attention.EncoderBlock", "Params", l.Self != nil)
	compose.WantRows("attention.EncoderBlock", x, l.Model, "Model")
	compose.WantDense("attention.EncoderBlock", "x", x, "it is added to what attention makes of it")
	compose.WantGraph("attention.EncoderBlock", g)
	if g.Bipartite() {
		compose.BadGraph("attention.EncoderBlock", g, "the graph's sources and destinations differ; attention to other rows is MultiHead.Cross, or a DecoderBlock")
	}
}

// Encoder is blocks one after another, and a norm, as in PyTorch's nn.Transformer.
type Encoder struct {
	Block
	Depth  int  // how many blocks
	NoNorm bool `json:",omitempty"` // without the norm at the end

	Blocks []*EncoderBlock   `json:"-"`
	Norm   *layers.LayerNorm `json:"-"`
}

// Init makes the Params, block by block.
func (l *Encoder) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Blocks, l.Norm = nil, nil
	for range l.Depth {
		b := &EncoderBlock{Block: l.Block}
		b.Init(rng)
		l.Blocks = append(l.Blocks, b)
	}
	if !l.NoNorm {
		l.Norm = l.norm(rng)
	}
}

// Forward returns the result at each node of g.
func (l *Encoder) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	y, _ := l.Apply(t, g, x)
	return y
}

// Apply is Forward with the weights of each block.
func (l *Encoder) Apply(t *grad.Tape, g *graph.Graph, x *grad.Var) (y *grad.Var, weights []message.Msg) {
	for _, b := range l.Blocks {
		var w message.Msg
		x, w = b.Apply(t, g, x, message.Msg{})
		weights = append(weights, w)
	}
	return end(t, l.Norm, x), weights
}

// end is the norm after all blocks.
func end(t *grad.Tape, norm *layers.LayerNorm, x *grad.Var) *grad.Var {
	if norm == nil {
		return x
	}
	return norm.Forward(t, x)
}
