package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// DecoderBlock is self-attention, attention to the rows of an encoder, and a feed-forward
// network, each with a sum and a norm as [Block] says. x is N×Model, memory M×Model, the result
// N×Model. self leads from a token to those that hear it, often [graph.Causal]; cross from the
// rows of memory to the tokens.
type DecoderBlock struct {
	Block

	Self  *MultiHead        `json:"-"`
	Cross *MultiHead        `json:"-"`
	Feed  *layers.MLP       `json:"-"`
	Norm1 *layers.LayerNorm `json:"-"` // of Self
	Norm2 *layers.LayerNorm `json:"-"` // of Cross
	Norm3 *layers.LayerNorm `json:"-"` // of Feed
}

// Init makes the Params, as [MultiHead], [layers.MLP] and [layers.LayerNorm] do.
func (l *DecoderBlock) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Self, l.Feed = l.self(rng), l.feed(rng)
	l.Cross = &MultiHead{Model: l.Model, Heads: l.Heads, Drop: l.Drop}
	l.Cross.Init(rng)
	l.Norm1, l.Norm2, l.Norm3 = l.norm(rng), l.norm(rng), l.norm(rng)
}

// Forward returns the block's result at each node of self.
func (l *DecoderBlock) Forward(t *grad.Tape, self, cross *graph.Graph, x, memory *grad.Var) *grad.Var {
	y, _ := l.Apply(t, self, cross, x, memory)
	return y
}

// Apply is Forward with the weights that the rows of memory have at each token.
func (l *DecoderBlock) Apply(t *grad.Tape, self, cross *graph.Graph, x, memory *grad.Var) (y *grad.Var, weights message.Msg) {
	compose.WantMade("attention.DecoderBlock", "Params", l.Self != nil)
	compose.WantRows("attention.DecoderBlock", x, l.Model, "Model")
	compose.WantRows("attention.DecoderBlock", memory, l.Model, "Model")
	compose.WantDense("attention.DecoderBlock", "x", x, "it is added to what attention makes of it")
	y = l.run(t, x, func(x *grad.Var) *grad.Var {
		return l.Self.Forward(t, self, x)
	}, func(x *grad.Var) *grad.Var {
		x, weights = l.Cross.Apply(t, cross, QKV{Query: x, Key: memory})
		return x
	})
	return y, weights
}

// run is the block around some attention.
func (l *DecoderBlock) run(t *grad.Tape, x *grad.Var, self, cross func(x *grad.Var) *grad.Var) *grad.Var {
	x = l.add(t, x, l.Norm1, self)
	x = l.add(t, x, l.Norm2, cross)
	return l.add(t, x, l.Norm3, func(x *grad.Var) *grad.Var { return l.Feed.Forward(t, x) })
}

// Decoder is blocks one after another, and a norm, as in PyTorch's nn.Transformer.
type Decoder struct {
	Block
	Depth  int  // how many blocks
	NoNorm bool `json:",omitempty"` // without the norm at the end

	Blocks []*DecoderBlock   `json:"-"`
	Norm   *layers.LayerNorm `json:"-"`
}

// Init makes the Params, block by block.
func (l *Decoder) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Blocks, l.Norm = nil, nil
	for range l.Depth {
		b := &DecoderBlock{Block: l.Block}
		b.Init(rng)
		l.Blocks = append(l.Blocks, b)
	}
	if !l.NoNorm {
		l.Norm = l.norm(rng)
	}
}

// Forward returns the result at each node of self.
func (l *Decoder) Forward(t *grad.Tape, self, cross *graph.Graph, x, memory *grad.Var) *grad.Var {
	y, _ := l.Apply(t, self, cross, x, memory)
	return y
}

// Apply is Forward with the weights that the rows of memory have, of each block.
func (l *Decoder) Apply(t *grad.Tape, self, cross *graph.Graph, x, memory *grad.Var) (y *grad.Var, weights []message.Msg) {
	for _, b := range l.Blocks {
		var w message.Msg
		x, w = b.Apply(t, self, cross, x, memory)
		weights = append(weights, w)
	}
	return end(t, l.Norm, x), weights
}
