package attention

import (
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// RNNsearch translates by searching, at each word that it writes, for where to look: a GRU
// reads a sequence of tokens in both directions, and another writes.
//
//	h_j = [→h_j ‖ ←h_j]      s_0 = tanh(←h_1·S)      x_i = e(y_i−1), and e(y_0) = 0
//	α_i = Align(s_i−1, h)    c_i = Σ_j α_ij·h_j      s_i = GRU([x_i ‖ c_i], s_i−1)
//	logits_i = maxout₂(s_i−1·O_s + x_i·O_y + c_i·O_c)·G + b_g
//
// of Bahdanau, Cho and Bengio, "Neural Machine Translation by Jointly Learning to Align
// and Translate", ICLR 2015. The GRUs reset before the product, and their update gate
// admits the new state. With ReadNew the logits read s_i instead. Nothing is padded:
// sources and targets are chains of any lengths, the i-th source going with the i-th
// target. Of an empty source nothing is heard: s_0 and c are zero. Where all scores are −∞
// c is zero, too.
type RNNsearch struct {
	Source, Target int // how many tokens there are on either side
	Begin          int32
	Embed, Hidden  int
	Maxout         int     // units of two pieces; 0: Hidden/2
	ReadNew        bool    `json:",omitempty"`
	Dropout        float64 `json:",omitempty"` // of embeddings, and of what the logits are made of

	Align Aligner // keys of 2·Hidden, queries of Hidden; Init makes a nil one additive

	SourceEmbed *grad.Param `json:"-"` // Source×Embed
	TargetEmbed *grad.Param `json:"-"` // Target×Embed
	Encoder     *sequence.Stack
	Decoder     *sequence.GRU
	S           *grad.Param `json:"-"` // Hidden×Hidden
	OutS        *grad.Param `json:"-"` // Hidden×2·Maxout
	OutY        *grad.Param `json:"-"` // Embed×2·Maxout
	OutC        *grad.Param `json:"-"` // 2·Hidden×2·Maxout
	G           *grad.Param `json:"-"` // Maxout×Target
	BG          *grad.Param `json:"-"` // Target
}

// Init makes the Params: embeddings normal, of deviation 1; the matrices uniform up to
// 1/√Hidden; biases zero.
func (l *RNNsearch) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Source", "Target", "Hidden")
	m, k := l.Hidden, 2*l.maxout()
	matrix := func(rows, cols int) *grad.Param { return compose.Uniform(rng, rows, cols, m) }
	gru := func(in int) *sequence.GRU {
		return &sequence.GRU{In: in, Hidden: m, ResetBefore: true, UpdateAdmits: true}
	}
	l.SourceEmbed, l.TargetEmbed = embedding(rng, l.Source, l.Embed), embedding(rng, l.Target, l.Embed)
	l.Encoder = &sequence.Stack{Layers: []sequence.Cell{gru(l.Embed)}, Back: []sequence.Cell{gru(l.Embed)}}
	l.Decoder = gru(l.Embed + 2*m)
	if l.Align == nil {
		l.Align = &Content{Score: &Additive{Key: 2 * m, Query: m, Hidden: m}}
	}
	l.Encoder.Init(rng)
	l.Decoder.Init(rng)
	l.Align.Init(rng)
	l.S = matrix(m, m)
	l.OutS, l.OutY, l.OutC = matrix(m, k), matrix(l.Embed, k), matrix(2*m, k)
	l.G, l.BG = matrix(l.maxout(), l.Target), grad.NewParam(l.Target)
}

// embedding returns a normal row for each of n tokens.
func embedding(rng *rand.Rand, n, width int) *grad.Param {
	p := grad.NewParam(n, width)
	p.Value.Normal(rng, 0, 1)
	return p
}

// maxout is how many units there are before the logits.
func (l *RNNsearch) maxout() int {
	if l.Maxout > 0 {
		return l.Maxout
	}
	return max(1, l.Hidden/2)
}

// Forward returns the logits at each node of target, whose tokens are what a decoder is
// fed: Begin, then the target.
func (l *RNNsearch) Forward(t *grad.Tape, source *graph.Graph, tokens []int32, target *graph.Graph, fed []int32) *grad.Var {
	y, _ := l.Apply(t, source, tokens, target, fed)
	return y
}

// Apply is Forward, with where each step looked.
func (l *RNNsearch) Apply(t *grad.Tape, source *graph.Graph, tokens []int32, target *graph.Graph, fed []int32) (*grad.Var, Alignment) {
	compose.WantParam("attention.RNNsearch", l.S, true)
	compose.Vocabulary{Op: "attention.RNNsearch", Side: "target", Field: "Target", Size: l.Target, Begin: l.Begin}.Want(target, fed)
	e := l.Encode(t, source, tokens)
	x := l.target(t, fed)
	states, carried, att := l.recurrent(t, e).sweep(t, e, target, x, l.begin(e))
	s, c := states[0], states[1]
	old := before(target, e.State[0], s)
	a := Alignment{Graph: att, Carried: carried}
	if carried != nil {
		a.Weights = message.E(carried.Columns(0, 1))
	} else {
		a.Weights, _ = l.Align.Weigh(t, e.look(att), old, nil)
	}
	if l.ReadNew {
		old = s
	}
	return l.logits(t, old, x, c), a
}

// Encode reads the chains of source.
func (l *RNNsearch) Encode(t *grad.Tape, source *graph.Graph, tokens []int32) *Encoded {
	compose.WantParam("attention.RNNsearch", l.S, true)
	compose.Vocabulary{Op: "attention.RNNsearch", Side: "source", Field: "Source", Size: l.Source, Begin: compose.NoBegin}.Want(source, tokens)
	h := l.Encoder.Forward(t, source, t.Dropout(t.Use(l.SourceEmbed).Rows(tokens), l.Dropout))
	first := atEnds(source, h, true).Columns(l.Hidden, 2*l.Hidden)
	return encoded(t, source, l.Align, h, message.State{first.MatMul(t.Use(l.S)).Tanh()})
}

// Start returns the state before the first step of a search, a row for each source.
func (l *RNNsearch) Start(t *grad.Tape, e *Encoded) message.State {
	return l.recurrent(t, e).start(t, e, l.begin(e))
}

// Step returns the logits after one more token of each row, and the state then: what
// package decode searches with, to the bits of Forward.
func (l *RNNsearch) Step(t *grad.Tape, e *Encoded, live Live, before message.State) (logits *grad.Var, after message.State) {
	x := l.target(t, live.Last)
	after = l.recurrent(t, e).one(e, live, x, before, 2)
	s := before[0]
	if l.ReadNew {
		s = after[0]
	}
	return l.logits(t, s, x, after[1]), after
}

// begin is the state before the first step: s, and c, which no step reads.
func (l *RNNsearch) begin(e *Encoded) message.State {
	return message.State{e.State[0], grad.Const(tensor.New(e.State[0].Dim(0), 2*l.Hidden))}
}

// recurrent is the recurrence.
func (l *RNNsearch) recurrent(t *grad.Tape, e *Encoded) recurrent {
	return recurrent{op: "attention.RNNsearch", align: l.Align, step: func(x *grad.Var, look Look, prev message.State, last *grad.Var) (message.State, *grad.Var) {
		c, carried := meanBy(t, l.Align, look, e.H, prev[0], last)
		s := l.Decoder.Step(t, grad.Concat(x, c), message.State{prev[0]})[0]
		return message.State{s, c}, carried
	}}
}

// target is the embeddings of what is fed: zero for Begin.
func (l *RNNsearch) target(t *grad.Tape, fed []int32) *grad.Var {
	return t.Dropout(t.Use(l.TargetEmbed).Embedding(withoutBegin(fed, l.Begin), grad.NoLabel), l.Dropout)
}

// logits are those of a state, what was fed and what was seen.
func (l *RNNsearch) logits(t *grad.Tape, s, x, c *grad.Var) *grad.Var {
	z := s.MatMul(t.Use(l.OutS)).Add(x.MatMul(t.Use(l.OutY))).Add(c.MatMul(t.Use(l.OutC)))
	return t.Dropout(z.Maxout(2), l.Dropout).Linear(t.Use(l.G), t.Use(l.BG), grad.Identity)
}

// withoutBegin returns tokens with none in the place of begin, whose embedding is zero.
func withoutBegin(tokens []int32, begin int32) []int32 {
	out := slices.Clone(tokens)
	for i, w := range out {
		if w == begin {
			out[i] = grad.NoLabel
		}
	}
	return out
}
