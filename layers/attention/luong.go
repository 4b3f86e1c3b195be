package attention

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Luong translates with attention after the recurrent step: the state that has read the
// last word asks where to look.
//
//	h_t = Decoder(x_t, h_t−1)    x_t = e(y_t−1), and with InputFeeding [e(y_t−1) ‖ ĥ_t−1]
//	α_t = Align(h_t, h̄)          c_t = Σ_s α_ts·h̄_s
//	ĥ_t = tanh([c_t ‖ h_t]·W_c)  logits_t = ĥ_t·W_s
//
// of Luong, Pham and Manning, "Effective Approaches to Attention-based Neural Machine
// Translation", 2015. e(y_0) and ĥ_0 are zero. h̄ is what Encoder says of each source
// token; the decoder begins with the encoder's last state. With Back the tokens are read
// from the end as well, h̄ is both side by side, and the decoder begins with the tanh of a
// product of both last states, B, as large as a state is.
//
// With a Window the step t sees the source tokens from t − Window to t + Window alone
// ("local-m"), and none where the source ends before; [LocalP] is "local-p". Nothing is
// padded: sources and targets are chains of any lengths, the i-th source going with the
// i-th target. Of an empty source nothing is heard: the first state and c are zero.
// Where all scores are −∞ c is zero, too.
type Luong struct {
	Source, Target int // how many tokens there are on either side
	Begin          int32
	Embed, Hidden  int
	Window         int     `json:",omitempty"` // 0: all
	InputFeeding   bool    `json:",omitempty"`
	Dropout        float64 `json:",omitempty"` // of embeddings, and of what the logits are made of

	Align   Aligner       // keys of Hidden, with Back 2·Hidden, and queries of Hidden; Init makes a nil one bilinear
	Encoder sequence.Cell // In is Embed; Init makes a nil one an LSTM
	Back    sequence.Cell `json:",omitempty"` // like Encoder; nil: none
	Decoder sequence.Cell // In is Embed, with InputFeeding Embed + Hidden; Init makes a nil one an LSTM

	SourceEmbed *grad.Param   `json:"-"` // Source×Embed
	TargetEmbed *grad.Param   `json:"-"` // Target×Embed
	B           []*grad.Param `json:"-"` // of each Var of the state, 2·Hidden×Hidden; nil without Back
	WC          *grad.Param   `json:"-"` // (keys' width + Hidden)×Hidden
	WS          *grad.Param   `json:"-"` // Hidden×Target
}

// Init makes the Params: embeddings normal, of deviation 1; the matrices uniform up to
// 1/√Hidden.
func (l *Luong) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Source", "Target", "Hidden")
	m, width, in := l.Hidden, l.Hidden, l.Embed
	if l.Back != nil {
		width *= 2
	}
	if l.InputFeeding {
		in += m
	}
	l.SourceEmbed, l.TargetEmbed = embedding(rng, l.Source, l.Embed), embedding(rng, l.Target, l.Embed)
	if l.Encoder == nil {
		l.Encoder = &sequence.LSTM{In: l.Embed, Hidden: m}
	}
	if l.Decoder == nil {
		l.Decoder = &sequence.LSTM{In: in, Hidden: m}
	}
	if l.Align == nil {
		l.Align = &Content{Score: &Bilinear{Key: width, Query: m}}
	}
	l.Encoder.Init(rng)
	l.Decoder.Init(rng)
	states := carries(l.Encoder, l.Embed)
	if n := carries(l.Decoder, in); n != states {
		panic(&grad.TapeError{Op: "attention.Luong", Why: fmt.Sprintf("Decoder carries %d Vars and Encoder %d: let both be the same kind of cell", n, states)})
	}
	l.B = nil
	if l.Back != nil {
		l.Back.Init(rng)
		for range states {
			l.B = append(l.B, compose.Uniform(rng, width, m, m))
		}
	}
	l.Align.Init(rng)
	l.WC, l.WS = compose.Uniform(rng, width+m, m, m), compose.Uniform(rng, m, l.Target, m)
}

// carries is how many Vars the state of a cell has that reads rows so wide.
func carries(c sequence.Cell, in int) int {
	return len(c.Step(grad.NewEval(), grad.Const(tensor.New(1, in)), nil))
}

// Forward returns the logits at each node of target, whose tokens are what a decoder is
// fed: Begin, then the target.
func (l *Luong) Forward(t *grad.Tape, source *graph.Graph, tokens []int32, target *graph.Graph, fed []int32) *grad.Var {
	y, _ := l.Apply(t, source, tokens, target, fed)
	return y
}

// Apply is Forward, with where each step looked.
func (l *Luong) Apply(t *grad.Tape, source *graph.Graph, tokens []int32, target *graph.Graph, fed []int32) (*grad.Var, Alignment) {
	compose.WantParam("attention.Luong", l.WC, true)
	compose.Vocabulary{Op: "attention.Luong", Side: "target", Field: "Target", Size: l.Target, Begin: l.Begin}.Want(target, fed)
	e := l.Encode(t, source, tokens)
	states, carried, att := l.recurrent(t, e).sweep(t, e, target, l.target(t, fed), l.begin(e))
	a := Alignment{Graph: att, Carried: carried}
	if carried != nil {
		a.Weights = message.E(carried.Columns(0, 1))
	} else {
		a.Weights, _ = l.Align.Weigh(t, e.look(att), states[0], nil)
	}
	return l.logits(t, states[len(states)-1]), a
}

// Encode reads the chains of source.
func (l *Luong) Encode(t *grad.Tape, source *graph.Graph, tokens []int32) *Encoded {
	compose.WantParam("attention.Luong", l.WC, true)
	compose.Vocabulary{Op: "attention.Luong", Side: "source", Field: "Source", Size: l.Source, Begin: compose.NoBegin}.Want(source, tokens)
	x := t.Dropout(t.Use(l.SourceEmbed).Rows(tokens), l.Dropout)
	read := l.Encoder.ForwardFrom(t, source, x, nil)
	h, state := read[0], make(message.State, len(read))
	for i, s := range read {
		state[i] = atEnds(source, s, false)
	}
	if l.Back != nil {
		back := l.Back.ForwardFrom(t, graph.Reverse(source), x, nil)
		h = grad.Concat(h, back[0])
		for i, s := range back {
			state[i] = grad.Concat(state[i], atEnds(source, s, true)).MatMul(t.Use(l.B[i])).Tanh()
		}
	}
	return encoded(t, source, l.Align, h, state)
}

// Start returns the state before the first step of a search, a row for each source.
func (l *Luong) Start(t *grad.Tape, e *Encoded) message.State {
	return l.recurrent(t, e).start(t, e, l.begin(e))
}

// Step returns the logits after one more token of each row, and the state then: what
// package decode searches with, to the bits of Forward.
func (l *Luong) Step(t *grad.Tape, e *Encoded, live Live, before message.State) (logits *grad.Var, after message.State) {
	n := len(e.State) + 1
	after = l.recurrent(t, e).one(e, live, l.target(t, live.Last), before, n)
	return l.logits(t, after[n-1]), after
}

// begin is the state before the first step, with ĥ_0.
func (l *Luong) begin(e *Encoded) message.State {
	return append(slices.Clone(e.State), grad.Const(tensor.New(e.Len(), l.Hidden)))
}

// recurrent is the recurrence. Its state is that of the cell, and then ĥ.
func (l *Luong) recurrent(t *grad.Tape, e *Encoded) recurrent {
	return recurrent{op: "attention.Luong", align: l.Align, window: l.Window, step: func(x *grad.Var, look Look, prev message.State, last *grad.Var) (message.State, *grad.Var) {
		n := len(prev) - 1
		if l.InputFeeding {
			x = grad.Concat(x, prev[n])
		}
		s := l.Decoder.Step(t, x, prev[:n:n])
		c, carried := meanBy(t, l.Align, look, e.H, s[0], last)
		return append(slices.Clone(s), grad.Concat(c, s[0]).MatMul(t.Use(l.WC)).Tanh()), carried
	}}
}

// target is the embeddings of what is fed: zero for Begin.
func (l *Luong) target(t *grad.Tape, fed []int32) *grad.Var {
	return t.Dropout(t.Use(l.TargetEmbed).Embedding(withoutBegin(fed, l.Begin), grad.NoLabel), l.Dropout)
}

// logits are those of ĥ.
func (l *Luong) logits(t *grad.Tape, h *grad.Var) *grad.Var {
	return t.Dropout(h, l.Dropout).MatMul(t.Use(l.WS))
}
