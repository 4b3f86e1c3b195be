package sequence

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// EncoderDecoder is the RNN Encoder–Decoder: a GRU reads a sequence of tokens into one
// vector c, and another GRU, which sees c at every step, says a sequence of others.
//
//	c = tanh(h_N·V)                 h_N the encoder's last state, reset before the product
//	h'_0 = tanh(c·V')               x_t = e(y_t−1), and e(y_0) = 0
//	r, z = σ(x_t·W' + h'·U' + c·C)  n = tanh(x_t·W' + b + r·(h'·U' + c·C))
//	h'_t = (1−z)·n + z·h'_t−1
//	logits_t = maxout₂(h'_t·O_h + x_t·O_y + c·O_c)·G + b_g
//
// of Cho and others, "Learning Phrase Representations using RNN Encoder–Decoder for
// Statistical Machine Translation", EMNLP 2014. W', U' and C have the columns of r, z and n
// side by side. Nothing is padded: sources and targets are chains of any lengths, the
// i-th source going with the i-th target.
type EncoderDecoder struct {
	Source, Target int // how many tokens there are on either side
	Begin          int32
	Embed, Hidden  int
	Maxout         int     // units of two pieces; 0: Hidden/2
	Dropout        float64 `json:",omitempty"` // of the maxout units, while training

	SourceEmbed *grad.Param `json:"-"` // Source×Embed
	TargetEmbed *grad.Param `json:"-"` // Target×Embed
	Encoder     *GRU
	V           *grad.Param `json:"-"` // Hidden×Hidden
	VOut        *grad.Param `json:"-"` // V', Hidden×Hidden
	W           *grad.Param `json:"-"` // W', Embed×3·Hidden
	U           *grad.Param `json:"-"` // U', Hidden×3·Hidden
	C           *grad.Param `json:"-"` // Hidden×3·Hidden
	B           *grad.Param `json:"-"` // 3·Hidden
	OutH        *grad.Param `json:"-"` // Hidden×2·Maxout
	OutY        *grad.Param `json:"-"` // Embed×2·Maxout
	OutC        *grad.Param `json:"-"` // Hidden×2·Maxout
	G           *grad.Param `json:"-"` // Maxout×Target
	BG          *grad.Param `json:"-"` // Target
}

// Init makes the Params: embeddings normal, of deviation 1; the matrices uniform up to
// 1/√Hidden; biases zero.
func (l *EncoderDecoder) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Source", "Target", "Hidden")
	m, k := l.Hidden, 2*l.maxout()
	matrix := func(rows, cols int) *grad.Param { return compose.Uniform(rng, rows, cols, m) }
	embed := func(n int) *grad.Param {
		p := grad.NewParam(n, l.Embed)
		p.Value.Normal(rng, 0, 1)
		return p
	}
	l.SourceEmbed, l.TargetEmbed = embed(l.Source), embed(l.Target)
	l.Encoder = &GRU{In: l.Embed, Hidden: m, ResetBefore: true}
	l.Encoder.Init(rng)
	l.V, l.VOut = matrix(m, m), matrix(m, m)
	l.W, l.U, l.C, l.B = matrix(l.Embed, 3*m), matrix(m, 3*m), matrix(m, 3*m), grad.NewParam(3*m)
	l.OutH, l.OutY, l.OutC = matrix(m, k), matrix(l.Embed, k), matrix(m, k)
	l.G, l.BG = matrix(l.maxout(), l.Target), grad.NewParam(l.Target)
}

// maxout is how many units there are before the logits.
func (l *EncoderDecoder) maxout() int {
	if l.Maxout > 0 {
		return l.Maxout
	}
	return max(1, l.Hidden/2)
}

// Forward returns the logits at each node of target, whose tokens are what a decoder is
// fed: Begin, then the target.
func (l *EncoderDecoder) Forward(t *grad.Tape, source *graph.Graph, tokens []int32, target *graph.Graph, fed []int32) *grad.Var {
	c := l.Encode(t, source, tokens)
	l.check("target", target, fed)
	of := compose.ChainOf(target)
	if n := len(target.NodeOffsets()) - 1; n != c.Dim(0) {
		l.bad(c, fmt.Sprintf("there are %d targets for %d sources; the i-th target goes with the i-th source", n, c.Dim(0)))
	}
	x := t.Use(l.TargetEmbed).Embedding(l.words(fed), grad.NoLabel)
	h := l.decode(t, target, x, c.Rows(of), c.MatMul(t.Use(l.VOut)).Tanh())
	return l.logits(t, h, x, c.Rows(of))
}

// Encode returns c of each chain of source, a row for each.
func (l *EncoderDecoder) Encode(t *grad.Tape, source *graph.Graph, tokens []int32) *grad.Var {
	l.check("source", source, tokens)
	h := l.Encoder.Forward(t, source, t.Use(l.SourceEmbed).Rows(tokens))
	ends := message.UpdateAll(compose.LastNodes(source), message.CopyU(h), message.Sum)
	return ends.MatMul(t.Use(l.V)).Tanh()
}

// Start returns the state before the first step of a decoder that is called step by step:
// its own, and what it reads of c.
func (l *EncoderDecoder) Start(t *grad.Tape, c *grad.Var) message.State {
	return message.State{c.MatMul(t.Use(l.VOut)).Tanh(), c}
}

// Step returns the logits after one more token of each sequence, and the state then: what
// package decode searches with, to the bits of Forward.
func (l *EncoderDecoder) Step(t *grad.Tape, last []int32, before message.State) (logits *grad.Var, after message.State) {
	compose.WantParam(encoderDecoder, l.V, true)
	compose.Vocabulary{Op: encoderDecoder, Side: "target", Field: "Target", Size: l.Target, Begin: l.Begin}.WantEach(last)
	l.checkState(before, len(last))
	x := t.Use(l.TargetEmbed).Embedding(l.words(last), grad.NoLabel)
	h, c := before[0], before[1]
	xp, cp := x.Linear(t.Use(l.W), t.Use(l.B), grad.Identity), c.MatMul(t.Use(l.C))
	h = GRUGates(xp, h.MatMul(t.Use(l.U)).Add(cp), h, nil)
	return l.logits(t, h, x, c), message.State{h, c}
}

// words returns tokens with none in the place of Begin, whose embedding is zero.
func (l *EncoderDecoder) words(tokens []int32) []int32 {
	out := slices.Clone(tokens)
	for i, w := range out {
		if w == l.Begin {
			out[i] = grad.NoLabel
		}
	}
	return out
}

// decode returns the decoder's state at each node of g, from h0 on; c is that of each node.
func (l *EncoderDecoder) decode(t *grad.Tape, g *graph.Graph, x, c, h0 *grad.Var) *grad.Var {
	xp := x.Linear(t.Use(l.W), t.Use(l.B), grad.Identity)
	cp, u := c.MatMul(t.Use(l.C)), t.Use(l.U)
	return message.Sweep(g, message.State{h0}, func(lv *message.Level, prev message.State) message.State {
		h := arrived(lv, prev[0])
		prev[0] = GRUGates(lv.Rows(xp), h.MatMul(u).Add(lv.Rows(cp)), h, nil)
		return prev
	})[0]
}

// logits are those of the decoder's states.
func (l *EncoderDecoder) logits(t *grad.Tape, h, x, c *grad.Var) *grad.Var {
	s := h.MatMul(t.Use(l.OutH)).Add(x.MatMul(t.Use(l.OutY))).Add(c.MatMul(t.Use(l.OutC)))
	return t.Dropout(s.Maxout(2), l.Dropout).Linear(t.Use(l.G), t.Use(l.BG), grad.Identity)
}

const encoderDecoder = "sequence.EncoderDecoder"

// check panics unless Init was called and each node of a side has a token of it.
func (l *EncoderDecoder) check(side string, g *graph.Graph, tokens []int32) {
	compose.WantParam(encoderDecoder, l.V, true)
	if side == "target" {
		compose.Vocabulary{Op: encoderDecoder, Side: side, Field: "Target", Size: l.Target, Begin: l.Begin}.Want(g, tokens)
	} else {
		compose.Vocabulary{Op: encoderDecoder, Side: side, Field: "Source", Size: l.Source, Begin: compose.NoBegin}.Want(g, tokens)
	}
}

// checkState panics unless s is what Start or a Step returned for n sequences.
func (l *EncoderDecoder) checkState(s message.State, n int) {
	if len(s) != 2 || s[0] == nil || s[1] == nil {
		panic(&grad.TapeError{Op: encoderDecoder, Why: "a step wants the state of the one before, h' and c; begin with Start"})
	}
	for _, v := range s {
		if v.Dim(0) != n || v.Dim(-1) != l.Hidden {
			l.bad(v, fmt.Sprintf("the state before the step wants %d rows, one a token, and %d columns, Hidden; begin with Start", n, l.Hidden))
		}
	}
}

func (l *EncoderDecoder) bad(x *grad.Var, why string) {
	panic(&tensor.ShapeError{Op: encoderDecoder, Shapes: [][]int{slices.Clone(x.Shape())}, Why: why})
}
