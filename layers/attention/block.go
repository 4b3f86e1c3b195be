package attention

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// Block is what the blocks of a Transformer have in common. f is attention or a feed-forward
// network of two layers, and every f has a sum and a norm of its own:
//
//	x ← norm( x + drop(f(x)) ),   or with PreNorm   x ← x + drop(f(norm(x)))
type Block struct {
	Model, Heads int
	Hidden       int             `json:",omitempty"` // of the feed-forward network; 0: 4·Model
	Drop         float64         `json:",omitempty"` // dropout of α, of hidden layers and of every f
	PreNorm      bool            `json:",omitempty"`
	Activation   grad.Activation `json:",omitempty"` // of the feed-forward network; empty: ReLU
	Position     Position        `json:",omitempty"` // a block alone knows of Rotary and Relative
	Longest      int             `json:",omitempty"` // of Learned, how many places; of Relative, the furthest offset that has a bias of its own
}

// self returns the block's attention to its own sequence.
func (b *Block) self(rng *rand.Rand) *MultiHead {
	b.Position.check()
	l := &MultiHead{Model: b.Model, Heads: b.Heads, Drop: b.Drop, Rotary: b.Position == Rotary}
	if b.Position == Relative {
		l.Relative = cmp.Or(b.Longest, 16)
	}
	l.Init(rng)
	return l
}

func (b *Block) feed(rng *rand.Rand) *layers.MLP {
	l := &layers.MLP{Widths: []int{b.Model, cmp.Or(b.Hidden, 4*b.Model), b.Model}, Activation: b.Activation, Drop: b.Drop}
	l.Init(rng)
	return l
}

func (b *Block) norm(rng *rand.Rand) *layers.LayerNorm {
	l := &layers.LayerNorm{Width: b.Model}
	l.Init(rng)
	return l
}

// add is one f, with its sum and its norm.
func (b *Block) add(t *grad.Tape, x *grad.Var, norm *layers.LayerNorm, f func(x *grad.Var) *grad.Var) *grad.Var {
	if b.PreNorm {
		return x.Add(t.Dropout(f(norm.Forward(t, x)), b.Drop))
	}
	return norm.Forward(t, x.Add(t.Dropout(f(x), b.Drop)))
}
