package attention

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// LanguageModel is a Transformer without a source: the blocks of an [Encoder] on a graph whose
// tokens hear what came before, [graph.Causal] or [graph.CausalBand].
//
//	logits = encoder(√d·e(x) + p)·Eᵀ
//
// E is the table of e. x has a token for each node, the result a row of logits for each: those
// of the token after it.
type LanguageModel struct {
	Block
	Tokens int  // how many there are
	Depth  int  // how many blocks
	Untied bool `json:",omitempty"` // E is a matrix of its own

	Words   *grad.Param `json:"-"` // Tokens×Model
	Places  *grad.Param `json:"-"` // Longest×Model, of Learned
	Out     *grad.Param `json:"-"` // Tokens×Model, if Untied
	Encoder *Encoder    `json:"-"`
}

// Init makes the Params: tables normal, of deviation 1/√Model, the rest as [EncoderBlock] does.
func (l *LanguageModel) Init(rng *rand.Rand) {
	compose.WantOptions(l, "Tokens")
	l.Words, l.Out = newWords(rng, l.Tokens, l.Model), nil
	if l.Untied {
		l.Out = newWords(rng, l.Tokens, l.Model)
	}
	l.Places = newPlaces(rng, l.Position, l.Longest, l.Model)
	l.Encoder = &Encoder{Block: l.Block, Depth: l.Depth}
	l.Encoder.Init(rng)
}

const languageModel = "attention.LanguageModel"

// Forward returns the logits at each node of g.
func (l *LanguageModel) Forward(t *grad.Tape, g *graph.Graph, tokens []int32) *grad.Var {
	wantWords(languageModel, l.Words, g, tokens)
	x := t.Dropout(l.words().of(t, tokens, placesOf(g).dst), l.Drop)
	return l.logits(t, l.Encoder.Forward(t, g, x))
}

func (l *LanguageModel) words() placed { return placed{l.Words, l.Places, l.Position} }

func (l *LanguageModel) logits(t *grad.Tape, y *grad.Var) *grad.Var {
	if l.Out != nil {
		return y.MatMulT(t.Use(l.Out))
	}
	return y.MatMulT(t.Use(l.Words))
}

// Step returns the logits after one more token of each hypothesis, and the state then, to the
// bits of Forward on [graph.Causal]. The first state is c.State().
func (l *LanguageModel) Step(t *grad.Tape, c *Cache, last []int32, before message.State) (logits *grad.Var, after message.State) {
	c.begin(languageModel, l.selves())
	c.enter(languageModel, len(last), before)
	x := l.words().of(t, last, c.places)
	for i, b := range l.Encoder.Blocks {
		x = b.run(t, x, func(x *grad.Var) *grad.Var { return b.Self.step(t, x, c, &c.self[i]) })
	}
	return l.logits(t, end(t, l.Encoder.Norm, x)), c.leave()
}

func (l *LanguageModel) selves() (out []*MultiHead) {
	for _, b := range l.Encoder.Blocks {
		out = append(out, b.Self)
	}
	return out
}
