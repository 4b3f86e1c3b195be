package attention

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Start reads prompts, all of them in one pass, into c, whatever it held, and returns the state
// after them, a row for each. The token that the next Step is given comes after the prompt, so a
// search whose Begin is the last token of a text starts from the text before it. Prompts are of
// any lengths, and may be empty. To the bits it is a Step for each token.
func (l *LanguageModel) Start(t *grad.Tape, c *Cache, prompts ...[]int32) message.State {
	c.begin(languageModel, l.selves())
	state := tensor.New(len(prompts), stateWidth)
	if len(prompts) == 0 {
		return message.State{grad.Const(state)}
	}
	g, tokens := c.prompts(prompts)
	wantWords(languageModel, l.Words, g, tokens)
	x := l.words().of(t, tokens, placesOf(g).dst)
	for i, b := range l.Encoder.Blocks {
		x = b.run(t, x, func(x *grad.Var) *grad.Var { return b.Self.read(t, g, x, c, &c.self[i]) })
	}
	for i, p := range prompts {
		state.Row(i)[0], state.Row(i)[1] = tensor.Float(i), tensor.Float(len(p))
	}
	return message.State{grad.Const(state)}
}

// prompts makes a region for each prompt, and returns the graph of all and their tokens.
func (c *Cache) prompts(all [][]int32) (*graph.Graph, []int32) {
	parts, tokens, longest := make([]*graph.Graph, len(all)), []int32{}, 0
	for i, p := range all {
		if parts[i] = graph.Causal(len(p)); c.window > 0 {
			parts[i] = graph.CausalBand(len(p), c.window)
		}
		tokens, longest = append(tokens, p...), max(longest, len(p))
	}
	if len(c.lens) < len(all) {
		c.regionsTo(len(all))
	}
	c.reserve(longest)
	clear(c.lens)
	clear(c.bases)
	for i, p := range all {
		c.lens[i] = int32(len(p))
		if c.window > 0 && len(p) > c.room {
			c.bases[i] = int32(fused.PastBegin(len(p), c.window))
		}
	}
	return graph.Batch(parts...), tokens
}

// read is self-attention of whole prompts, whose keys and values are kept.
func (l *MultiHead) read(t *grad.Tape, g *graph.Graph, x *grad.Var, c *Cache, k *kept) *grad.Var {
	a := l.project(t, g, QKV{Query: x})
	k.fill(a.K, a.V, g.NodeOffsets(), c.bases)
	y, _ := l.attend(t, g, a)
	return y
}
