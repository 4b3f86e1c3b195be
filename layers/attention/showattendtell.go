package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// ShowAttendTell describes pictures: an LSTM writes, and before each word it looks at the
// cells of the picture.
//
//	h_0 = tanh(ā·H + b_h)     c_0 = tanh(ā·C + b_c)           ā the mean of the cells a_i
//	α_t = Align(h_t−1, a)     z_t = σ(h_t−1·w + b)·Σ_i α_ti·a_i
//	h_t, c_t = LSTM([x_t ‖ z_t], h_t−1, c_t−1)                x_t = e(y_t−1), and e(y_0) = 0
//	logits_t = (x_t + h_t·L_h + z_t·L_z)·L_o + b_o
//
// of Xu and others, "Show, Attend and Tell: Neural Image Caption Generation with Visual
// Attention", ICML 2015, with soft attention. The cells are rows that a network made of a picture, such as
// layers.Conv2D, and the pictures are the members of a graph, whose edges are not read: often that of the cells
// themselves. Pictures may have any number of cells. The i-th picture goes with the i-th target, a chain. Of a
// picture without cells nothing is seen: ā and z are zero.
type ShowAttendTell struct {
	Cell          int // width of the cells
	Target        int // how many words there are
	Begin         int32
	Embed, Hidden int
	NoGate        bool    `json:",omitempty"` // z is not multiplied by σ(h·w + b)
	Dropout       float64 `json:",omitempty"` // of embeddings, and of what the logits are made of

	Align Aligner // keys of Cell, queries of Hidden; Init makes a nil one additive

	Embedding *grad.Param    `json:"-"` // Target×Embed
	StartH    *layers.Linear `json:"-"` // H and b_h
	StartC    *layers.Linear `json:"-"` // C and b_c
	Gate      *layers.Linear `json:"-"` // w and b; nil with NoGate
	Decoder   *sequence.LSTM `json:"-"`
	OutH      *grad.Param    `json:"-"` // L_h, Hidden×Embed
	OutZ      *grad.Param    `json:"-"` // L_z, Cell×Embed
	Out       *layers.Linear `json:"-"` // L_o and b_o
}

// Init makes the Params: embeddings normal, of deviation 1; the matrices of the logits
// uniform up to 1/√Hidden; the others as their layers say.
func (l *ShowAttendTell) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Cell", "Target", "Embed", "Hidden")
	linear := func(in, out int) *layers.Linear {
		y := &layers.Linear{In: in, Out: out}
		y.Init(rng)
		return y
	}
	l.Embedding = embedding(rng, l.Target, l.Embed)
	l.StartH, l.StartC, l.Gate = linear(l.Cell, l.Hidden), linear(l.Cell, l.Hidden), nil
	if !l.NoGate {
		l.Gate = linear(l.Hidden, 1)
	}
	l.Decoder = &sequence.LSTM{In: l.Embed + l.Cell, Hidden: l.Hidden}
	l.Decoder.Init(rng)
	if l.Align == nil {
		l.Align = &Content{Score: &Additive{Key: l.Cell, Query: l.Hidden, Hidden: l.Hidden}}
	}
	l.Align.Init(rng)
	l.OutH, l.OutZ = compose.Uniform(rng, l.Hidden, l.Embed, l.Hidden), compose.Uniform(rng, l.Cell, l.Embed, l.Hidden)
	l.Out = linear(l.Embed, l.Target)
}

// Forward returns the logits at each node of target, whose tokens are what a decoder is
// fed: Begin, then the words. a has a row for each node of cells.
func (l *ShowAttendTell) Forward(t *grad.Tape, cells *graph.Graph, a *grad.Var, target *graph.Graph, fed []int32) *grad.Var {
	y, _ := l.Apply(t, cells, a, target, fed)
	return y
}

// Apply is Forward, with where each step looked.
func (l *ShowAttendTell) Apply(t *grad.Tape, cells *graph.Graph, a *grad.Var, target *graph.Graph, fed []int32) (*grad.Var, Alignment) {
	e := l.Encode(t, cells, a)
	compose.Vocabulary{Op: showAttendTell, Side: "target", Field: "Target", Size: l.Target, Begin: l.Begin}.Want(target, fed)
	x := l.target(t, fed)
	states, carried, att := l.recurrent(t, e).sweep(t, e, target, x, l.begin(e))
	look := Alignment{Graph: att, Carried: carried}
	if carried != nil {
		look.Weights = message.E(carried.Columns(0, 1))
	} else {
		look.Weights, _ = l.Align.Weigh(t, e.look(att), before(target, e.State[0], states[0]), nil)
	}
	return l.logits(t, x, states[0], states[2]), look
}

const showAttendTell = "attention.ShowAttendTell"

// Encode looks at the pictures as a whole.
func (l *ShowAttendTell) Encode(t *grad.Tape, cells *graph.Graph, a *grad.Var) *Encoded {
	compose.WantNodes(showAttendTell, cells, a)
	compose.WantDense(showAttendTell, "x", a, "cells are added up, and a network stands before them")
	compose.WantWidth(showAttendTell, "x", a, l.Cell, "Cell")
	compose.WantParam(showAttendTell, l.OutH, true)
	if l.Gate == nil && !l.NoGate {
		compose.SetBefore(showAttendTell, "NoGate")
	}
	mean := message.Readout(cells, a, message.Mean)
	return encoded(t, inOrder(cells), l.Align, a, message.State{l.StartH.Forward(t, mean).Tanh(), l.StartC.Forward(t, mean).Tanh()})
}

type inOrderKey struct{ members *int }

// inOrder returns the nodes of each member of g as a chain, which is what places are counted along.
func inOrder(g *graph.Graph) *graph.Graph {
	ends, key := g.NodeOffsets(), inOrderKey{}
	if len(ends) != 2 { // graphs of the same edges, of which one is a batch
		key.members = &ends[0]
	}
	return graph.Derive(g, key, func() *graph.Graph {
		lengths := make([]int, len(ends)-1)
		for i := range lengths {
			lengths[i] = ends[i+1] - ends[i]
		}
		return graph.Chains(lengths...)
	})
}

// Start returns the state before the first step of a search, a row for each picture.
func (l *ShowAttendTell) Start(t *grad.Tape, e *Encoded) message.State {
	return l.recurrent(t, e).start(t, e, l.begin(e))
}

// Step returns the logits after one more word of each row, and the state then: what
// package decode searches with, to the bits of Forward.
func (l *ShowAttendTell) Step(t *grad.Tape, e *Encoded, live Live, before message.State) (logits *grad.Var, after message.State) {
	x := l.target(t, live.Last)
	after = l.recurrent(t, e).one(e, live, x, before, 3)
	return l.logits(t, x, after[0], after[2]), after
}

// Penalty is the mean over the pictures of Σ_i (1 − Σ_t α_ti)², which the paper adds to the
// loss, times a λ, so that a caption looks at all of its picture.
func (l *ShowAttendTell) Penalty(look Alignment) *grad.Var {
	w := message.ApplyEdges(look.Graph, look.Weights)
	left := w.ScatterAdd(look.Graph.In().Cols, look.Graph.NumSrc()).OneMinus()
	return left.Mul(left).Sum().Scale(1 / float64(max(1, len(look.Graph.SrcOffsets())-1)))
}

// begin is the state before the first step: h, c, and z, which no step reads.
func (l *ShowAttendTell) begin(e *Encoded) message.State {
	return message.State{e.State[0], e.State[1], grad.Const(tensor.New(e.State[0].Dim(0), l.Cell))}
}

// recurrent is the recurrence.
func (l *ShowAttendTell) recurrent(t *grad.Tape, e *Encoded) recurrent {
	return recurrent{op: showAttendTell, align: l.Align, step: func(x *grad.Var, look Look, prev message.State, last *grad.Var) (message.State, *grad.Var) {
		h, c := prev[0], prev[1]
		z, carried := meanBy(t, l.Align, look, e.H, h, last)
		if !l.NoGate {
			z = z.Mul(l.Gate.Forward(t, h).Sigmoid())
		}
		s := l.Decoder.Step(t, grad.Concat(x, z), message.State{h, c})
		return message.State{s[0], s[1], z}, carried
	}}
}

// target is the embeddings of what is fed: zero for Begin.
func (l *ShowAttendTell) target(t *grad.Tape, fed []int32) *grad.Var {
	return t.Dropout(t.Use(l.Embedding).Embedding(withoutBegin(fed, l.Begin), grad.NoLabel), l.Dropout)
}

// logits are those of what was fed, the states and what was seen.
func (l *ShowAttendTell) logits(t *grad.Tape, x, h, z *grad.Var) *grad.Var {
	y := x.Add(h.MatMul(t.Use(l.OutH))).Add(z.MatMul(t.Use(l.OutZ)))
	return l.Out.Forward(t, t.Dropout(y, l.Dropout))
}
