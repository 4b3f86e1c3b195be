package attention

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

// Transformer reads sentences with an [Encoder] and says others with a [Decoder], which hears
// what the first made of them:
//
//	m = encoder(√d·e(x) + p),   logits = decoder(√d·e'(y) + p, m)·Eᵀ
//
// of Vaswani and others, "Attention Is All You Need", NeurIPS 2017, with p the places of the
// tokens and E the table of e', which is one with that of e where both sides have the same
// words. Three graphs say who hears whom ([Masks]); nothing is padded.
type Transformer struct {
	Block
	Source             int  `json:",omitempty"` // how many tokens the sources are of; 0: those of the targets, and the same table
	Target             int  // how many tokens the targets are of
	Encoders, Decoders int  // how many blocks
	Untied             bool `json:",omitempty"` // E is a matrix of its own

	SourceWords  *grad.Param `json:"-"` // Source×Model; nil: Words
	SourcePlaces *grad.Param `json:"-"` // Longest×Model, of Learned
	Words        *grad.Param `json:"-"` // Target×Model
	Places       *grad.Param `json:"-"` // Longest×Model, of Learned
	Out          *grad.Param `json:"-"` // Target×Model, if Untied
	Encoder      *Encoder    `json:"-"`
	Decoder      *Decoder    `json:"-"`
}

// Masks are the graphs of a [Transformer]: who hears whom in the sources, in the targets, and
// which tokens of the sources each token of the targets hears.
type Masks struct{ Source, Target, Cross *graph.Graph }

// Pairs returns the graphs of pairs of sentences of these lengths: a source hears all of itself,
// a target itself so far and all of its source. A side may be empty.
func Pairs(source, target []int) Masks {
	if len(source) != len(target) {
		panic(&tensor.ShapeError{Op: "attention.Pairs", Shapes: [][]int{{len(source)}, {len(target)}}, Why: "there is a target for each source"})
	}
	all, past, across := make([]*graph.Graph, len(source)), make([]*graph.Graph, len(source)), make([]*graph.Graph, len(source))
	for i, n := range source {
		all[i], past[i], across[i] = graph.Complete(n), graph.Causal(target[i]), graph.CompleteBipartite(n, target[i])
	}
	return Masks{graph.Batch(all...), graph.Batch(past...), graph.Batch(across...)}
}

// Init makes the Params: tables normal, of deviation 1/√Model, the rest as [EncoderBlock] and
// [DecoderBlock] do.
func (l *Transformer) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Target")
	l.SourceWords, l.Out = nil, nil
	if l.Source > 0 {
		l.SourceWords = newWords(rng, l.Source, l.Model)
	}
	l.Words = newWords(rng, l.Target, l.Model)
	if l.Untied {
		l.Out = newWords(rng, l.Target, l.Model)
	}
	l.SourcePlaces = newPlaces(rng, l.Position, l.Longest, l.Model)
	l.Places = newPlaces(rng, l.Position, l.Longest, l.Model)
	l.Encoder = &Encoder{Block: l.Block, Depth: l.Encoders}
	l.Encoder.Init(rng)
	l.Decoder = &Decoder{Block: l.Block, Depth: l.Decoders}
	l.Decoder.Init(rng)
}

const transformer = "attention.Transformer"

// Forward returns the logits of the token after each one that the targets are fed: the begin
// token and then the target.
func (l *Transformer) Forward(t *grad.Tape, m Masks, source, fed []int32) *grad.Var {
	y, _ := l.Apply(t, m, source, fed)
	return y
}

// Apply is Forward with the weights that the sources' tokens have at each target's, of each
// block.
func (l *Transformer) Apply(t *grad.Tape, m Masks, source, fed []int32) (logits *grad.Var, weights []message.Msg) {
	memory := l.Encode(t, m.Source, source)
	wantWords(transformer, l.Words, m.Target, fed)
	x := t.Dropout(l.targets().of(t, fed, placesOf(m.Target).dst), l.Drop)
	y, weights := l.Decoder.Apply(t, m.Target, m.Cross, x, memory)
	return l.logits(t, y), weights
}

// Encode returns what the encoder makes of sources.
func (l *Transformer) Encode(t *grad.Tape, g *graph.Graph, source []int32) *grad.Var {
	e := placed{l.SourceWords, l.SourcePlaces, l.Position}
	if e.words == nil {
		e.words = l.Words
	}
	wantWords(transformer, e.words, g, source)
	return l.Encoder.Forward(t, g, t.Dropout(e.of(t, source, placesOf(g).dst), l.Drop))
}

func (l *Transformer) targets() placed { return placed{l.Words, l.Places, l.Position} }

func (l *Transformer) logits(t *grad.Tape, y *grad.Var) *grad.Var {
	if l.Out != nil {
		return y.MatMulT(t.Use(l.Out))
	}
	return y.MatMulT(t.Use(l.Words))
}

// Start encodes sources, of which each member of g is one, for Step: it fills c and returns the
// state of hypotheses that have said nothing, one for each source.
func (l *Transformer) Start(t *grad.Tape, c *Cache, g *graph.Graph, source []int32) message.State {
	c.remember(t, l.crosses(), l.Encode(t, g, source), g.NodeOffsets())
	x := tensor.New(len(g.NodeOffsets())-1, stateWidth)
	for i := range x.Rows() {
		x.Row(i)[0], x.Row(i)[2] = -1, tensor.Float(i)
	}
	return message.State{grad.Const(x)}
}

// Step returns the logits after one more token of each hypothesis, and the state then: what
// package decode searches with, to the bits of Forward on [graph.Causal].
func (l *Transformer) Step(t *grad.Tape, c *Cache, last []int32, before message.State) (logits *grad.Var, after message.State) {
	c.begin(transformer, l.selves())
	c.enter(transformer, len(last), before)
	c.listen(transformer)
	x := l.targets().of(t, last, c.places)
	for i, b := range l.Decoder.Blocks {
		x = b.run(t, x, func(x *grad.Var) *grad.Var {
			return b.Self.step(t, x, c, &c.self[i])
		}, func(x *grad.Var) *grad.Var {
			return b.Cross.stepCross(t, x, c, &c.cross[i])
		})
	}
	return l.logits(t, end(t, l.Decoder.Norm, x)), c.leave()
}

func (l *Transformer) selves() (out []*MultiHead) {
	for _, b := range l.Decoder.Blocks {
		out = append(out, b.Self)
	}
	return out
}

func (l *Transformer) crosses() (out []*MultiHead) {
	for _, b := range l.Decoder.Blocks {
		out = append(out, b.Cross)
	}
	return out
}

// wantWords panics unless there is a token for each node, and Init was called.
func wantWords(op string, words *grad.Param, g *graph.Graph, tokens []int32) {
	compose.WantMade(op, "Params", words != nil)
	compose.WantGraph(op, g)
	if len(tokens) != g.NumDst() {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{len(tokens)}, {g.NumDst()}}, Why: fmt.Sprintf("the graph has %d nodes, want a token for each", g.NumDst())})
	}
	if n := int32(words.Value.Dim(0)); len(tokens) > 0 && (slices.Max(tokens) >= n || slices.Min(tokens) < 0) {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{int(n)}}, Why: fmt.Sprintf("a token is %d or %d, and the table has rows 0 to %d", slices.Min(tokens), slices.Max(tokens), n-1)})
	}
}
